"""Notify: posting incidents to an address, for those without Prometheus and Alertmanager.

It reads `turnsignal.regressions` in a group of its own, from a thread of its own: so it says only what is committed,
goes on after a crash where it stood, is shared by workers, and can never hold up the watch, however long an address
takes. What cannot be delivered is given up after an hour, with a line in the log that does not name the address.

Messages of one incident go in their order, and those of several beside each other: one that an address refuses holds up
no other incident's. What stands behind one that waits is committed with it, so after a stop meanwhile it is posted
again, under the same key.
"""

import asyncio
import logging
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import aiohttp
import orjson
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from mode import Service
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_before_delay,
    stop_when_event_set,
    wait_exponential,
)

from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.settings import Settings
from turnsignal.stream.records.regressions import CLOSED, OPENED, RAISED, Incident, read_incident
from turnsignal.stream.text.visible import visible

logger = logging.getLogger("turnsignal.notify")

GROUP = "notify"  #: ends the name of its consumer group
EVENTS = (OPENED, RAISED, CLOSED)  #: what is posted; what else changes about an incident stands on its page
TIMEOUT = 10.0  #: seconds for an answer, from the first byte that is sent to the last that comes
GIVE_UP = 3_600.0  #: seconds after which a message is given up
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds between attempts
_AGAIN = frozenset({408, 425, 429, *range(500, 600)})  # answers after which it is tried again
_SLACK_TEXT = 3_000  # characters that Slack shows of a block
_CUT_ENTITY = re.compile(r"&[a-z]{0,3}$")
_MAX_WAITING = 500  # messages that wait at a time; with more, nothing is read until some are done
_STEP, _POLL = 0.2, 0.2  # seconds between looks at whether to stop, and for which records are waited


def message_of(incident: Incident) -> dict[str, Any]:
    """Return what is posted of an incident as JSON: all of it, and its lines with nothing hidden in them."""
    return {"source": "turnsignal", **incident.as_json(), "text": [visible(line) for line in incident.text]}


def slack_message_of(incident: Incident) -> dict[str, Any]:
    """Return what is posted of an incident in Slack's form: its lines, with nothing in them that Slack would read."""
    title = {OPENED: "Opened", RAISED: "Raised", CLOSED: "Over"}.get(incident.event, incident.event.capitalize())
    text = "\n".join(visible(line.strip()) for line in incident.text)
    for char, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("`", "'")):
        text = text.replace(char, escaped)
    text = _CUT_ENTITY.sub("", text[:_SLACK_TEXT])
    return {"text": f"{title}\n```{text}```", "mrkdwn": True, "link_names": False}


def idempotency_key(incident: Incident) -> str:
    """Return what tells an attempt again from another message: the incident's id, and what is said of it."""
    return f"{incident.id}-{incident.event}"


class Poster:
    """Post messages, each until it is taken, refused for good, or given up.

    address: kept out of logs; slack: whose form; metrics: counts what became of each; stop: ends an attempt.
    """

    def __init__(self, address: str, metrics: WorkerMetrics, stop: threading.Event, *, slack: bool = False) -> None:
        self._address = address
        self._slack = slack
        self._metrics = metrics
        self._stop = stop

    async def post(self, incident: Incident, give_up: float = GIVE_UP) -> bool:
        """Post an incident; return whether it was taken. give_up: seconds after which nobody tries any more."""
        body = orjson.dumps(slack_message_of(incident) if self._slack else message_of(incident))
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key(incident)}
        again = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, _NotTakenError) and error.again),
            stop=stop_before_delay(give_up) | stop_when_event_set(self._stop),
            wait=wait_exponential(_FIRST_PAUSE, _LONGEST_PAUSE),
            sleep=self._pause,
            before_sleep=lambda state: self._warn(incident, state),
            reraise=True,
        )
        try:
            await again(self._attempt, body, headers)
        except _NotTakenError as error:
            if not self._stop.is_set():
                self._metrics.count("notifications_total", "failed")
                logger.error("%s of incident %s was not delivered: %s", incident.event, incident.id, error)
            return False
        self._metrics.count("notifications_total", "sent")
        return True

    def _warn(self, incident: Incident, state: RetryCallState) -> None:
        problem = state.outcome.exception() if state.outcome else None
        logger.warning("%s of incident %s: %s; trying again", incident.event, incident.id, problem)

    async def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stop.is_set() and (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, _STEP))

    async def _attempt(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Post once; raises _NotTakenError with what went wrong."""
        if self._stop.is_set():
            raise _NotTakenError("expected to go on, was told to stop", again=False)
        timeout = aiohttp.ClientTimeout(total=TIMEOUT)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(self._address, data=body, headers=headers, allow_redirects=False) as answer,
            ):
                status = answer.status
        except TimeoutError:
            msg = f"expected an answer within {TIMEOUT:.0f} s, got none"
            raise _NotTakenError(msg, again=True) from None
        except (aiohttp.InvalidURL, UnicodeError):
            raise _NotTakenError("expected an address that can be asked, got one that cannot", again=False) from None
        except Exception as error:  # whatever a client makes of an address; its text may name it
            msg = f"expected an answer, got {type(error).__name__}"
            raise _NotTakenError(msg, again=True) from None
        if not 200 <= status < 300:
            msg = f"expected the address of TURNSIGNAL_NOTIFY to take it, got status {status}"
            raise _NotTakenError(msg, again=status in _AGAIN)


class _NotTakenError(Exception):
    """A post that was not taken. again: whether another attempt may help."""

    def __init__(self, problem: str, *, again: bool) -> None:
        super().__init__(problem)
        self.again = again


class _Message(NamedTuple):
    """A message that is not done yet, and where it stood."""

    partition: int
    offset: int
    incident: Incident


class Deliveries:
    """The messages that wait: of one incident one after the other, of several beside each other.

    address, slack, metrics: as the poster has them; commit: is given the positions after each message that is done.
    """

    def __init__(
        self,
        address: str,
        metrics: WorkerMetrics,
        *,
        slack: bool = False,
        commit: Callable[[Mapping[int, int]], Awaitable[None]] | None = None,
    ) -> None:
        self._commit = commit
        self._ended = threading.Event()
        self._poster = Poster(address, metrics, self._ended, slack=slack)
        self._waiting: dict[str, deque[_Message]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._done: defaultdict[int, dict[int, bool]] = defaultdict(dict)  # by partition, of what was read, in order

    @property
    def full(self) -> bool:
        """Whether so many wait that no more are to be read."""
        return sum(map(len, self._waiting.values())) >= _MAX_WAITING

    def add(self, partition: int, offset: int, incident: Incident | None) -> None:
        """Take in what was read; incident: None where there is nothing to say."""
        self._done[partition][offset] = incident is None
        if incident is None:
            return
        message = _Message(partition, offset, incident)
        if incident.id in self._waiting:
            self._waiting[incident.id].append(message)
            return
        self._waiting[incident.id] = deque([message])
        task = asyncio.create_task(self._deliver(incident.id))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def positions(self) -> dict[int, int]:
        """Return from where to go on, by partition, where that has moved since it was asked last."""
        moved = {}
        for partition, read in self._done.items():
            for offset in list(read):
                if not read[offset]:
                    break
                del read[offset]
                moved[partition] = offset + 1
        return moved

    async def finish(self) -> None:
        """Wait until nothing waits."""
        await asyncio.gather(*self._tasks)

    async def end(self) -> None:
        """Begin no more attempts, and wait for those that are under way."""
        self._ended.set()
        await self.finish()

    async def _deliver(self, incident_id: str) -> None:
        waiting = self._waiting[incident_id]
        while waiting:
            partition, offset, incident = waiting[0]
            if not await self._poster.post(incident) and self._ended.is_set():
                return  # whoever goes on posts it
            waiting.popleft()
            self._done[partition][offset] = True
            if self._commit is not None:
                await self._commit(self.positions())
        del self._waiting[incident_id]


def run(settings: Settings, metrics: WorkerMetrics, stop: threading.Event) -> None:
    """Read incidents and post them until told to stop; what is done is committed, up to the first that is not."""
    asyncio.run(_run(settings, metrics, stop))


async def _run(settings: Settings, metrics: WorkerMetrics, stop: threading.Event) -> None:
    assert settings.notify is not None
    loop, address, topic = asyncio.get_running_loop(), settings.notify, topic_names(settings.prefix)["regressions"]
    consumer = Consumer(_options(settings))

    def commit(positions: Mapping[int, int]) -> None:
        if not positions:
            return
        offsets = [TopicPartition(topic, partition, offset) for partition, offset in positions.items()]
        try:
            consumer.commit(offsets=offsets, asynchronous=False)
        except KafkaException as error:  # such as of a partition that is another worker's by now
            logger.warning("expected to commit what was posted, got: %s", error)

    async def commit_aside(positions: Mapping[int, int]) -> None:
        await loop.run_in_executor(writer, commit, positions)

    def begin() -> Deliveries:
        return Deliveries(address.get_secret_value(), metrics, slack=settings.notifies_slack, commit=commit_aside)

    deliveries = begin()

    def give_back(_consumer: Consumer, _partitions: list[Any]) -> None:
        """Commit what is done before another worker goes on."""
        nonlocal deliveries
        ended, deliveries = deliveries, begin()
        asyncio.run_coroutine_threadsafe(ended.end(), loop).result()
        commit(ended.positions())

    paused = False
    # Posts are committed while the next record is waited for, so that one that is killed posts next to nothing again.
    with ThreadPoolExecutor(1, "notify-reader") as reader, ThreadPoolExecutor(1, "notify-writer") as writer:
        try:
            consumer.subscribe([topic], on_assign=_commit_beginnings, on_revoke=give_back)
            while not stop.is_set():
                message = await loop.run_in_executor(reader, consumer.poll, _POLL)
                if message is not None:
                    _take(message, deliveries)
                await commit_aside(deliveries.positions())
                if deliveries.full != paused:  # paused rather than not polled: who does not poll is taken for dead
                    paused = not paused
                    (consumer.pause if paused else consumer.resume)(consumer.assignment())
        finally:
            await deliveries.end()
            await loop.run_in_executor(reader, consumer.close)  # gives back


def _options(settings: Settings) -> dict[str, Any]:
    return {
        **settings.confluent(),
        "group.id": settings.app_id(GROUP),
        "enable.auto.commit": False,
        "auto.offset.reset": "latest",  # history is nobody's news
        "isolation.level": "read_committed",
        "max.poll.interval.ms": int((GIVE_UP + 600) * 1000),
        "session.timeout.ms": int(settings.session_timeout * 1000),
        "heartbeat.interval.ms": int(settings.heartbeat_interval * 1000),
        "log_level": 0,
    }


def _commit_beginnings(consumer: Consumer, partitions: list[Any]) -> None:
    """Commit where a partition without a position begins, so that what comes while nobody reads is not history."""
    for at in consumer.committed(partitions, timeout=30):
        if at.offset < 0:
            _, at.offset = consumer.get_watermark_offsets(at, timeout=30)
            consumer.commit(offsets=[at], asynchronous=False)
    consumer.assign(consumer.committed(partitions, timeout=30))


def _take(message: Message, deliveries: Deliveries) -> None:
    """Hand over a record, with the incident in it if there is anything to say."""
    problem = message.error()
    if problem is not None:
        if problem.code() != KafkaError._PARTITION_EOF:
            logger.warning("expected incidents to post, got: %s", problem.str())
        return
    incident = None
    try:
        read = read_incident(message.value() or b"")
        incident = read if read.event in EVENTS else None
    except ValueError as error:
        logger.error("%s; it is not posted", error)
    deliveries.add(message.partition() or 0, message.offset() or 0, incident)


def make_notifier(settings: Settings, metrics: WorkerMetrics) -> type[Service]:
    """Make the service that runs it beside the watch; without TURNSIGNAL_NOTIFY it does nothing."""

    class Notifier(Service):
        """Post incidents from a thread of its own."""

        _stop_posting: threading.Event
        _posting: threading.Thread | None = None

        async def on_start(self) -> None:
            self._stop_posting = threading.Event()
            if settings.notify is not None:
                self._posting = threading.Thread(target=self._run, name="notify", daemon=True)
                self._posting.start()

        async def on_stop(self) -> None:
            self._stop_posting.set()
            if self._posting is not None:
                await asyncio.to_thread(self._posting.join, TIMEOUT + 5)

        def _run(self) -> None:
            while not self._stop_posting.is_set():
                try:
                    run(settings, metrics, self._stop_posting)
                except Exception as error:
                    logger.error("posting incidents came to nothing: %s; beginning anew", type(error).__name__)
                    self._stop_posting.wait(_LONGEST_PAUSE)

    return Notifier
