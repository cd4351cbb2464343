"""Notify: posting incidents to an address, for those without Prometheus and Alertmanager.

It reads `turnsignal.regressions` in a group of its own, from a thread of its own: so it says only what is committed,
goes on after a crash where it stood, is shared by workers, and can never hold up the watch, however long an address
takes. What cannot be delivered is given up after an hour, with a line in the log that does not name the address.
"""

import asyncio
import logging
import threading
from collections.abc import Mapping
from typing import Any

import aiohttp
import orjson
from confluent_kafka import Consumer, KafkaError
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

logger = logging.getLogger("turnsignal.notify")

GROUP = "notify"  #: ends the name of its consumer group
EVENTS = (OPENED, RAISED, CLOSED)  #: what is posted; what else changes about an incident stands on its page
TIMEOUT = 10.0  #: seconds for an answer, from the first byte that is sent to the last that comes
GIVE_UP = 3_600.0  #: seconds after which a message is given up
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0  # seconds between attempts
_AGAIN = frozenset({408, 425, 429, *range(500, 600)})  # answers after which it is tried again
_SLACK_TEXT = 3_000  # characters that Slack shows of a block


def message_of(incident: Incident) -> dict[str, Any]:
    """Return what is posted of an incident as JSON: all of it."""
    return {"source": "turnsignal", **incident.as_json()}


def slack_message_of(incident: Incident) -> dict[str, Any]:
    """Return what is posted of an incident in Slack's form: its lines, with nothing in them that Slack would read."""
    title = {OPENED: "Opened", RAISED: "Raised", CLOSED: "Over"}.get(incident.event, incident.event.capitalize())
    text = "\n".join(line.strip() for line in incident.text)
    for char, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("`", "'")):
        text = text.replace(char, escaped)
    return {"text": f"{title}\n```{text[:_SLACK_TEXT]}```", "mrkdwn": True, "link_names": False}


def idempotency_key(incident: Incident) -> str:
    """Return what tells an attempt again from another message: the incident's id, and what is said of it."""
    return f"{incident.id}-{incident.event}"


class Poster:
    """Post messages one after the other, each until it is taken, refused for good, or given up.

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
        await asyncio.to_thread(self._stop.wait, seconds)

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
        except aiohttp.InvalidURL:
            raise _NotTakenError("expected an address that can be asked, got one that cannot", again=False) from None
        except (aiohttp.ClientError, OSError) as error:  # its text may name the address
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


def run(settings: Settings, metrics: WorkerMetrics, stop: threading.Event) -> None:
    """Read incidents and post them until told to stop; what is done is committed, record by record."""
    assert settings.notify is not None
    poster = Poster(settings.notify.get_secret_value(), metrics, stop, slack=settings.notifies_slack)
    options = {
        "group.id": settings.app_id(GROUP),
        "enable.auto.commit": False,
        "auto.offset.reset": "latest",  # history is nobody's news
        "isolation.level": "read_committed",
        "max.poll.interval.ms": int((GIVE_UP + 600) * 1000),
        "session.timeout.ms": int(settings.session_timeout * 1000),
        "heartbeat.interval.ms": int(settings.heartbeat_interval * 1000),
        "log_level": 0,
    }
    consumer = Consumer({**settings.confluent(), **options})
    try:
        consumer.subscribe([topic_names(settings.prefix)["regressions"]], on_assign=_commit_beginnings)
        while not stop.is_set():
            message = consumer.poll(0.5)
            if message is None:
                continue
            problem = message.error()
            if problem is not None:
                if problem.code() != KafkaError._PARTITION_EOF:
                    logger.warning("expected incidents to post, got: %s", problem.str())
                continue
            if not _deliver(message.value() or b"", poster, stop):
                return
            consumer.commit(message, asynchronous=False)
    finally:
        consumer.close()


def _commit_beginnings(consumer: Consumer, partitions: list[Any]) -> None:
    """Commit where a partition without a position begins, so that what comes while nobody reads is not history."""
    for at in consumer.committed(partitions, timeout=30):
        if at.offset < 0:
            _, at.offset = consumer.get_watermark_offsets(at, timeout=30)
            consumer.commit(offsets=[at], asynchronous=False)
    consumer.assign(consumer.committed(partitions, timeout=30))


def _deliver(value: bytes, poster: Poster, stop: threading.Event) -> bool:
    """Post a record if there is anything to say; False when it was interrupted, and has to be posted again."""
    try:
        incident = read_incident(value)
    except ValueError as error:
        logger.error("%s; it is not posted", error)
        return True
    if incident.event not in EVENTS:
        return True
    return asyncio.run(poster.post(incident)) or not stop.is_set()


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
