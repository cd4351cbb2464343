"""Logs: write each message at once, and repetitions once a minute with their count.

A Kafka client logs at every attempt that the broker is gone, a hundred times a second. An operator needs that line
once, and must be able to see everything else that happens in the same minute.
"""

import logging
import re
import sys
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TextIO

REPEAT_SECONDS = 60.0  #: a repeated message is written once in this time
MAX_KINDS = 1_000  #: messages remembered, so that a log of ever new texts has bounded memory

#: logger → the lowest level that is worth an operator's time, with the reason
LEVELS = {
    "aiokafka": logging.WARNING,  # every request at INFO
    "faust": logging.WARNING,
    "mode": logging.WARNING,
    # Faust's services take the module of their class as the name of their logger: each of our subclasses would say
    # Starting and Stopping. What ours have to say goes to turnsignal.….
    "turnsignal.agents": logging.WARNING,
    "aiohttp.access": logging.WARNING,
    "httpx2": logging.WARNING,  # a line for each request to a judge's endpoint
    "librdkafka": logging.WARNING,  # at INFO a line for each connection that ends; at ERROR why none could be made
}

#: parts of library messages that sound like errors but are normal, with their cause
_NORMAL = (
    "because it is rebalancing",  # aiokafka, whenever a worker joins or leaves
    "Coordinator load in progress",  # librdkafka, on topics and groups that are a moment old
    "Not coordinator: retrying",  # the same
    "GroupCoordinatorNotAvailableError",  # aiokafka, as an error, of a cluster that never had a group
    "Missing sensor state for rebalance",  # Faust, of a rebalance that began before its sensors did
    "Marking the coordinator dead",  # what it does about that; it asks for another one
)

#: errors of a connection: their text is enough, a traceback would show only the client's internals
_CONNECTION = (OSError, TimeoutError)
#: the same of modules that a process without a use for them does not load: of none that is not loaded can it meet one
_OF_MODULES = {"asyncio": "IncompleteReadError", "aiokafka.errors": "KafkaError", "confluent_kafka": "KafkaException"}

_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]+")


@dataclass(slots=True)
class _Kind:
    """A repeated message.

    until: when it may be written again; last: its last record; more: how often it came since it was written.
    """

    until: float
    last: logging.LogRecord
    more: int = 0


class RepeatHandler(logging.StreamHandler[TextIO]):
    """Write a message at once, and its repetitions after `seconds`, as one line with their count.

    Our errors are the same if their text is equal; library messages if their text is equal except for numbers. Our
    other messages report changes of state and are always written. Messages that have stopped are counted when the next
    record of any kind comes. clock: monotonic seconds.
    """

    def __init__(
        self, stream: TextIO, seconds: float = REPEAT_SECONDS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(stream)
        self._seconds = seconds
        self._clock = clock
        self._kinds: dict[tuple[str, int, str], _Kind] = {}  # in the order in which they may be said again

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, or only count it if it repeats a recent message."""
        if is_normal(record):
            return
        now = self._clock()
        if _is_ours(record) and record.levelno < logging.ERROR:
            self._write_counts(now)
            super().emit(record)
            return
        kind = _kind(record)
        known = self._kinds.get(kind)
        if known is not None and now < known.until:
            known.more, known.last = known.more + 1, record
            return
        self._kinds.pop(kind, None)
        self._write_counts(now)
        self._kinds[kind] = _Kind(now + self._seconds, record)
        super().emit(_shortened(record, known.more if known is not None else 0))

    def _write_counts(self, now: float) -> None:
        """Write the counts of messages whose time has passed, and forget them."""
        for kind, known in list(self._kinds.items()):
            if now < known.until and len(self._kinds) < MAX_KINDS:
                break
            del self._kinds[kind]
            if known.more:
                super().emit(_shortened(known.last, known.more))

    def close(self) -> None:
        """Write the remaining counts and close."""
        self.acquire()
        try:
            self._write_counts(float("inf"))
        finally:
            self.release()
        super().close()


def is_normal(record: logging.LogRecord) -> bool:
    """Return whether a library warns of something that happens whenever a worker joins, leaves or starts."""
    return not _is_ours(record) and any(part in record.getMessage() for part in _NORMAL)


def _kind(record: logging.LogRecord) -> tuple[str, int, str]:
    text = record.getMessage()[:500]
    return record.name, record.levelno, text if _is_ours(record) else _NUMBER.sub("#", text)


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.startswith("turnsignal") and not record.name.startswith("turnsignal.agents")


def _connection_errors() -> list[type[Exception]]:
    return [*_CONNECTION, *(getattr(sys.modules[at], name) for at, name in _OF_MODULES.items() if at in sys.modules)]


def _shortened(record: logging.LogRecord, more: int) -> logging.LogRecord:
    """Copy a record, with a connection's error in one line and the count of repetitions."""
    text = record.getMessage()
    error = record.exc_info[1] if record.exc_info else None
    short = logging.makeLogRecord(record.__dict__)
    if isinstance(error, tuple(_connection_errors())):
        text = f"{text}: {type(error).__name__}: {error}"
        short.exc_info = short.exc_text = None
    if more:
        text = f"{text} (and {more} more like it)"
    short.msg, short.args = text, None
    return short


class Formatter(logging.Formatter):
    """One line per record, followed by the traceback if there is one; secrets are masked."""

    def __init__(self, secrets: Collection[str] = ()) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._secrets = sorted((secret for secret in secrets if secret), key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        """Format the record and mask the secrets."""
        text = super().format(record)
        for secret in self._secrets:
            text = text.replace(secret, "•••")
        return text


def log_to_stderr(secrets: Collection[str] = ()) -> None:
    """Log to stderr, one line per event, without the routine messages of Faust and the Kafka clients."""
    handler = RepeatHandler(sys.stderr)
    handler.setFormatter(Formatter(secrets))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    for name, level in LEVELS.items():
        logging.getLogger(name).setLevel(level)
