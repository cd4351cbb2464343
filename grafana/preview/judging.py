"""Judging: a judge worker over one partition, whose scripted judges answer at once and without an endpoint."""

import asyncio
from collections.abc import Iterable, Sequence
from zlib import crc32

import orjson

from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.providers.protocol import ProviderCall, ProviderReply
from turnsignal.agents.providers.scripted import Scripted
from turnsignal.agents.providers.sending import CallSender
from turnsignal.agents.providers.throttling import ThrottledEndpoint
from turnsignal.stream.judging.docket_entries import ReservedCall
from turnsignal.stream.judging.judges import NANO, EndpointPart, make_judge
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.pipeline.docket_processor import DocketProcessor
from turnsignal.stream.pipeline.metric_family import JUDGE
from turnsignal.stream.records.verdicts import Verdict
from turnsignal.stream.records.wire import EXCHANGES, VERDICTS, OutputRecord
from turnsignal.stream.suite import Suite
from turnsignal.stream.testing import FakeRecord

#: two judges that cost something, which a few conversations are handed to; to be put behind a suite's text
JUDGES = """
[exchanges]
share = 0.12
[judging]
budget = 20.0
[judging.prices."scripted:fair"]
input = 2.0
output = 8.0
[[judges]]
name = "strong"
rubric = "follow_up"
model = "scripted:fair"
[[judges]]
name = "mini"
rubric = "groundedness"
model = "scripted:fair"
"""

_TOPIC = "turnsignal.exchanges"
_ENDPOINT = "scripted"
_DAY = 86_400.0


class _Moody:
    """Answers as the scripted judge does, but for each tenth answer, which has the last label that there is."""

    def __init__(self) -> None:
        self._scripted = Scripted()
        self._asked = 0

    async def ask(self, call: ProviderCall) -> ProviderReply:
        """Answer one prompt."""
        reply = await self._scripted.ask(call)
        self._asked += 1
        if self._asked % 10 or reply.text is None:
            return reply
        parts = call.prompt.schema["properties"]
        labels = {name: part["enum"][-1] for name, part in parts.items() if "enum" in part}
        return reply._replace(text=orjson.dumps(orjson.loads(reply.text) | labels).decode())

    async def close(self) -> None:
        """Nothing to let go of."""


class JudgeWorker:
    """A worker of the judge app, without a broker. suite: with `JUDGES`."""

    def __init__(self, suite: Suite, *, version: str, revision: str) -> None:
        judges = [make_judge(part, suite.judging, choose_rubric(part.rubric)) for part in suite.judges]
        budget = None if suite.judging.budget is None else round(suite.judging.budget * NANO)
        self.page = WorkerMetrics(
            app=JUDGE,
            version=version,
            revision=revision,
            topics=[_TOPIC],
            judges=[judge.part.name for judge in judges],
            endpoints=[_ENDPOINT],
        )
        for judge in judges:
            self.page.set("judge_info", 1, judge.part.name, judge.chosen.name, judge.endpoint_name, judge.model)
        line = ThrottledEndpoint(_Moody(), EndpointPart(), on_request=self._on_request)
        self._sender = CallSender(judges, {_ENDPOINT: line}, lambda _: None)
        self._processor = DocketProcessor(
            judges, budget, suite.judging.max_age, suite.redaction, {}, _TOPIC, 0, on_accepted=self._hand_on
        )
        self._calls: list[ReservedCall] = []
        self._read = self._requests = 0
        self._runner = asyncio.Runner()  # one for all batches: what a sender waits by belongs to one loop

    def close(self) -> None:
        """Let go of the loop that judges are asked on."""
        self._runner.close()

    def work(self, outputs: Iterable[OutputRecord], time: float) -> list[FakeRecord]:
        """Judge what a score worker has queued, and return the verdicts as their topic delivers them."""
        queued = [out for out in outputs if out.topic == EXCHANGES]
        records = [FakeRecord(self._read + at, out.key, out.value, round(time * 1000)) for at, out in enumerate(queued)]
        self._read += len(records)
        verdicts = self._runner.run(self._judge(records, time))
        self._measure(time)
        return verdicts

    async def _judge(self, records: Sequence[FakeRecord], time: float) -> list[FakeRecord]:
        verdicts: list[FakeRecord] = []
        while True:
            capacity = self._sender.capacity(0, self._processor.docket.lines_awaited()).calls
            batch = self._processor.process(records, time, capacity)
            records = records[(batch.consumed or {})[_TOPIC] :]
            self._processor.accept(batch)
            self.page.apply(batch.deltas, time)
            verdicts += [
                FakeRecord(0, out.key, out.value, round(time * 1000)) for out in batch.outputs if out.topic == VERDICTS
            ]
            if not self._calls and not records and not self._processor.waits:
                return verdicts
            calls, self._calls = self._calls, []
            self._sender.send(0, calls, self._settle)
            await self._sender.finish([0], 10.0)

    def _hand_on(self, _: DocketProcessor, batch: object) -> None:
        self._calls += getattr(batch, "calls", [])

    def _settle(self, call: ReservedCall, verdict: Verdict, cost: int) -> None:
        self._processor.settle(call, verdict, cost)

    def _on_request(self, outcome: str, _: float) -> None:
        self._requests += 1
        spread = crc32(str(self._requests).encode()) % 1000 / 1000
        self.page.count("judge_requests_total", _ENDPOINT, outcome)
        self.page.observe("judge_request_duration_seconds", [0.4 + 2.0 * spread**3], _ENDPOINT)

    def _measure(self, time: float) -> None:
        """Show what a worker measures of itself; made up, but for the money."""
        wave = crc32(str(int(time)).encode()) % 100 / 100
        if wave > 0.9:
            self.page.count("judge_requests_total", _ENDPOINT, "rate_limited")
        self.page.set("judge_in_flight_requests", round(4 * wave), _ENDPOINT)
        self.page.set("judge_circuit_open", 0, _ENDPOINT)
        self.page.set("judge_queue_exchanges", round(12 * wave))
        self.page.set("judge_queue_age_seconds", round(20 * wave, 1))
        self.page.set("judge_budget_remaining", (self._processor.docket.left(time) or 0) / NANO)
