"""Requests to forget conversations, for a worker that has to know all of them before it tells anybody anything.

They are read from the beginning of `turnsignal.forget` and then followed, beside the worker's group: whichever
partitions it has, and however far it is with them, a request that was made before it started is known at its start.
"""

import threading
import time
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, TopicPartition

from turnsignal.agents.kafka.forgetting import named_conversation
from turnsignal.agents.kafka.logs import Ranges, find_log, read_log
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError

_AT_ONCE = 1_000  # requests that are asked for
_WAIT = 0.2  # seconds for them


class RequestRead(NamedTuple):
    """A request. asked: when the broker took it, in seconds since 1970."""

    conversation_id: str
    asked: float


class ForgetRequests:
    """Read requests; `read_all` first, then `read_new` as often as it pleases, from any thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._topic = topic_names(settings.prefix)["forget"]
        self._consumer: Consumer | None = None
        self._lock = threading.Lock()

    def read_all(self) -> list[RequestRead]:
        """Return the requests that the topic still holds; nothing where that is done already.

        Raises TurnsignalError when the topic is not there, may not be read, or the broker falls silent.
        """
        with self._lock:
            if self._consumer is not None:
                return []
            ranges = find_log(self._settings, self._topic)
            # Whoever asks within a transaction that is not finished is heeded, too.
            logs = read_log(self._settings, self._topic, ranges, committed=False)
            requests = [request for messages in logs for request in map(_read, messages) if request is not None]
            self._consumer = self._follow(ranges)
            return requests

    def read_new(self) -> list[RequestRead]:
        """Return requests that have come since; raises TurnsignalError when the topic may not be read any more."""
        with self._lock:
            messages = [] if self._consumer is None else self._consumer.consume(_AT_ONCE, _WAIT)
        requests = []
        for message in messages:
            error = message.error()
            if error is None and (request := _read(message)) is not None:
                requests.append(request)
            elif error is not None and error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                msg = f"expected to read {self._topic}, as nothing forgotten is sent to a judge; got: {error.str()};"
                msg += " `turnsignal topics show` lists the rights that a worker needs"
                raise TurnsignalError(msg)
        return requests

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._consumer is not None:
                self._consumer.close()
            self._consumer = None

    def _follow(self, ranges: Ranges) -> Consumer:
        options = {
            "group.id": f"{self._settings.prefix}-reading",  # which it never joins
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
        consumer = Consumer({**self._settings.confluent(), **options})
        consumer.assign([TopicPartition(self._topic, number, end) for number, (_, end) in ranges.items()])
        return consumer


def _read(message: Any) -> RequestRead | None:
    """Read a request; None for one under whose key nothing is ever kept."""
    kind, stamp = message.timestamp()
    name = named_conversation(message.key())
    return None if name is None else RequestRead(name, stamp / 1000 if kind else time.time())
