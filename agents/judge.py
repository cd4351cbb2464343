"""The judge app: exchanges in, verdicts out; models are asked in between, and nothing waits for them.

It only wires: `stream.judging.docket` decides who is asked about what and for how much, `agents.providers` asks, and
`agents.worker.tasks` does everything about partitions. A call is sent only after the commit that names it.
"""

import asyncio
import logging
import os
import time
from collections.abc import Mapping, MutableMapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any, cast

from mode import Service

from turnsignal.agents.kafka.forget_requests import ForgetRequests, RequestRead
from turnsignal.agents.kafka.topics import admin_client, topic_metadata, topic_names
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.process.confining import keep_private
from turnsignal.agents.providers.finding import make_providers
from turnsignal.agents.providers.judges import load_judges
from turnsignal.agents.providers.sending import CallSender
from turnsignal.agents.providers.throttling import ThrottledEndpoint
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.apps import build_app
from turnsignal.agents.worker.consumer import PartitionApp
from turnsignal.agents.worker.partition_task import AppSpec, Deferral
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.judging.budget import Overruns, partition_budget
from turnsignal.stream.judging.forgotten import ForgottenConversations
from turnsignal.stream.judging.judges import NANO, Judge, warn_of_families
from turnsignal.stream.judging.reasons import ReasonWatch
from turnsignal.stream.pipeline.docket_processor import DocketProcessor, JudgedResult
from turnsignal.stream.pipeline.metric_deltas import MetricDeltas
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.suite import Suite

logger = logging.getLogger("turnsignal.judging")

NAME = "judge"
MEASURE_SECONDS = 1.0  #: between two looks at queue and money
FORGET_SECONDS = 0.5  #: between two looks for requests to forget


class JudgeWork:
    """The judges of a worker, and who answers them.

    judges: of the suite; sender: sends their calls, set when the app is built.
    """

    def __init__(self, settings: Settings, suite: Suite, judges: Sequence[Judge], metrics: WorkerMetrics) -> None:
        self.judges = judges
        self.sender: CallSender
        self._settings = settings
        self._suite = suite
        self._metrics = metrics
        self._reasons = ReasonWatch()
        self._down: set[str] = set()  # endpoints of which that was said
        self._requests = ForgetRequests(settings)
        self._forgotten = ForgottenConversations()
        self._overruns = Overruns()
        self._topic = topic_names(settings.prefix)["exchanges"]
        self._partitions = 0
        self._loop: asyncio.AbstractEventLoop | None = None

    def make(self, number: int, store: MutableMapping[bytes, bytes]) -> DocketProcessor:
        """Make the processor of a partition.

        Asks the broker for the count of partitions, which share the budget, and for all requests to forget, which have
        to be known before anything is sent.
        """
        self._forget(self._requests.read_all())
        judging, suite = self._suite.judging, self._suite
        budget = None if judging.budget is None else round(judging.budget * NANO)
        return DocketProcessor(
            self.judges,
            partition_budget(budget, self.count_partitions()),
            judging.max_age,
            suite.redaction or (Redaction() if judging.redact else None),
            store,
            self._topic,
            number,
            full_letters=self._settings.dead_letters == "full",
            on_accepted=self._send,
            forgotten=self._forgotten,
            overruns=self._overruns,
        )

    def work(self, processor: DocketProcessor, records: Mapping[str, list[Any]], _now: float) -> JudgedResult:
        """Work a batch through."""
        self._loop = self._loop or asyncio.get_running_loop()
        self.sender.end(processor.partition, processor.forget())
        docket = processor.docket
        calls, alone, trials = self.sender.capacity(processor.partition, docket.lines_awaited(), docket.suspects)
        return processor.process(records.get(self._topic, ()), time.time(), calls, alone=alone, trials=trials)

    async def follow_requests(self) -> bool:
        """Take in requests to forget that are new; return whether there are any."""
        return self._forget(await asyncio.to_thread(self._requests.read_new))

    async def close(self) -> None:
        """End what is in flight."""
        await self.sender.close()
        await asyncio.to_thread(self._requests.close)

    def _forget(self, requests: Sequence[RequestRead]) -> bool:
        for request in requests:
            self._forgotten.add(request.conversation_id, request.asked)
        return bool(requests)

    async def finish(self, processors: Sequence[DocketProcessor], seconds: float) -> None:
        """Wait for the answers to what is in flight, at most so long; what was not sent yet is not sent here."""
        for processor in processors:
            processor.take_back(self.sender.take_back(processor.partition))
        await self.sender.finish([processor.partition for processor in processors], seconds)

    def seal(self, processor: DocketProcessor) -> None:
        """Make a processor's next batch the last one before another worker may go on from there."""
        processor.leave()
        self.sender.go_on(processor.partition)

    def drop(self, processor: DocketProcessor) -> MetricDeltas:
        """End the calls of a partition that is another worker's now; may be called from any thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.sender.drop, processor.partition)
        return MetricDeltas()

    def count_partitions(self) -> int:
        """Ask once for the count of partitions: where some are added, a worker refuses to go on."""
        if not self._partitions:
            admin = admin_client(self._settings)
            self._partitions = len(topic_metadata(admin).topics[self._topic].partitions)
        return self._partitions

    def measure(self, processors: Sequence[DocketProcessor]) -> None:
        """Show queue, calls and money, and say what is over."""
        metrics, sender, now = self._metrics, self.sender, time.time()
        for name, endpoint in sender.endpoints.items():
            metrics.set("judge_in_flight_requests", endpoint.in_flight, name)
            metrics.set("judge_circuit_open", float(endpoint.is_suspect), name)
            self._say_whether_down(name, endpoint)
            if self._partitions and processors:
                endpoint.take_share(len(processors) / self._partitions)
        dockets = [processor.docket for processor in processors]
        metrics.set("judge_queue_exchanges", sum(docket.queued for docket in dockets))
        oldest = min((docket.oldest for docket in dockets if docket.oldest is not None), default=now)
        metrics.set("judge_queue_age_seconds", max(0.0, now - oldest))
        if self._suite.judging.budget is not None:
            metrics.set("judge_budget_remaining", sum(docket.left(now) or 0 for docket in dockets) / NANO)
        for change in self._reasons.on_time(time.monotonic()):
            logger.info("judge %s: no verdict without a value for the reason %s any more", change.judge, change.reason)

    def _say_whether_down(self, name: str, endpoint: ThrottledEndpoint) -> None:
        """Say once when an endpoint is left alone, and once when it answers again: a panel may decide without it."""
        if endpoint.is_suspect and name not in self._down:
            self._down.add(name)
            msg = "endpoint %s: it fails, and one call at a time tries it; judges that need it wait: %s"
            logger.warning(msg, name, endpoint.failure)
        elif not endpoint.is_suspect and name in self._down:
            self._down.remove(name)
            logger.info("endpoint %s: it answers again", name)

    def _send(self, processor: DocketProcessor, result: JudgedResult) -> None:
        for verdict in result.verdicts:
            change = self._reasons.on_verdict(verdict.judge.name, verdict.unscored, verdict.reasoning, time.monotonic())
            if change is not None:
                logger.warning("judge %s: exchanges are not judged: %s: %s", change.judge, change.reason, change.detail)
        if result.calls:
            self.sender.send(processor.partition, result.calls, processor.settle)


def make_spec(settings: Settings, judging: JudgeWork) -> AppSpec:
    """Say what the judge app reads, keeps and writes."""
    names = topic_names(settings.prefix)
    deferral = Deferral(
        room=lambda processor: processor.docket.room,
        waits=lambda processor: processor.waits,
        drain=judging.finish,
        seal=judging.seal,
        hold=DocketProcessor.hold,
    )
    return AppSpec(
        NAME,
        (names["exchanges"],),
        names["docket_changelog"],
        names,
        judging.make,
        judging.work,
        DocketProcessor.set_aside,
        "docket",
        hide=judging.drop,
        deferral=deferral,
    )


def make_judge_app(settings: Settings, suite: Suite) -> PartitionApp:
    """Build the judge app: not started, connected to nothing yet.

    Raises ConfigError where the suite has no judges or queues nothing for them, and for an endpoint without a URL or a
    key that it needs.
    """
    keep_private()  # the environment holds the keys of endpoints
    judges = _judges(suite)
    for warning in warn_of_families(suite.judges, suite.judging.judged):
        logger.warning(warning)
    providers = make_providers(judges, suite.judging, os.environ)
    metrics = WorkerMetrics(
        app=NAME,
        version=version("turnsignal"),
        revision=settings.revision,
        topics=[topic_names(settings.prefix)["exchanges"]],
        judges=[judge.part.name for judge in judges],
        endpoints=list(providers),
    )
    for judge in judges:
        metrics.set("judge_info", 1, judge.part.name, judge.chosen.name, judge.endpoint_name, judge.model)
    judging = JudgeWork(settings, suite, judges, metrics)
    task_manager = TaskManager(settings, make_spec(settings, judging), metrics)

    def on_request(endpoint: str, outcome: str, seconds: float) -> None:
        metrics.count("judge_requests_total", endpoint, outcome)
        metrics.observe("judge_request_duration_seconds", [seconds], endpoint)

    endpoints = {
        name: ThrottledEndpoint(provider, part, on_request=partial(on_request, name))
        for name, (provider, part) in providers.items()
    }
    judging.sender = CallSender(judges, endpoints, task_manager.buffer.queue_batch)
    app = build_app(settings, task_manager)
    app.service(_make_calls_service(judging, task_manager))
    return app


def _judges(suite: Suite) -> list[Judge]:
    if not suite.judges:
        raise ConfigError("judges: expected [[judges]] in the suite, as `worker judge` asks those; got none")
    if not suite.exchanges.share:
        msg = "exchanges.share: expected more than 0, the share of conversations that are queued for [[judges]]; got 0"
        raise ConfigError(msg)
    redaction = suite.redaction or (Redaction() if suite.judging.redact else None)
    return load_judges(suite.judges, suite.judging, redaction)


def _make_calls_service(judging: JudgeWork, task_manager: TaskManager) -> type[Service]:
    class Calls(Service):
        """Measure now and then, and end what is in flight when the worker ends."""

        @Service.task
        async def measure(self) -> None:
            while not self.should_stop:
                judging.measure([cast("DocketProcessor", task.processor) for task in task_manager.tasks.values()])
                await self.sleep(MEASURE_SECONDS)

        @Service.task
        async def forget(self) -> None:
            while not self.should_stop:
                if await judging.follow_requests():
                    for number in task_manager.tasks:
                        task_manager.buffer.queue_batch(number)
                await self.sleep(FORGET_SECONDS)

        async def on_stop(self) -> None:
            await judging.close()

    return Calls
