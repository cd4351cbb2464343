"""Requests to forget conversations, for a worker that has to know all of them before it tells anybody anything.

They are read from the beginning of `turnsignal.forget` and then followed, beside the worker's group: whichever
partitions it has, and however far it is with them, a request that was made before it started is known at its start.
"""

import threading
import time
from contextlib import suppress
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, TopicPartition

from turnsignal.agents.kafka.forgetting import named_conversation
from turnsignal.agents.kafka.logs import Ranges, find_log, read_log
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError

_AT_ONCE = 1_000  # requests that are asked for
_WAIT = 0.2  # seconds for them
_LOOK_SECONDS = 30.0  # between two looks at whether a partition goes on


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
        self._reached: dict[int, int] = {}  # partition → offset behind the last request that was read
        self._waiting: dict[int, int] = {}  # what of it stood before the partition's end at the last look
        self._looked_at = 0.0

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
            for message in messages:
                if message.error() is None:
                    self._reached[message.partition()] = message.offset() + 1
            with suppress(TurnsignalError):  # the broker does not answer: the next look is soon enough
                messages += self._pass_what_holds_up()
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

    def _pass_what_holds_up(self) -> list[Any]:
        """Read partitions in which nothing moved between two looks although there is more, as behind damage."""
        if self._consumer is None or time.monotonic() - self._looked_at < _LOOK_SECONDS:
            return []
        self._looked_at = time.monotonic()
        ends = {number: end for number, (_, end) in find_log(self._settings, self._topic).items()}
        waiting = {number: at for number, at in self._reached.items() if at < ends.get(number, 0)}
        still = {number: (at, ends[number]) for number, at in waiting.items() if self._waiting.get(number) == at}
        self._waiting = waiting
        logs = read_log(self._settings, self._topic, still, committed=False) if still else ()
        messages = [message for part in logs for message in part]
        for number, (_, end) in still.items():
            self._reached[number] = end
            self._consumer.seek(TopicPartition(self._topic, number, end))
        return messages

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
        self._reached = {number: end for number, (_, end) in ranges.items()}
        self._waiting, self._looked_at = {}, time.monotonic()
        consumer.assign([TopicPartition(self._topic, number, end) for number, end in self._reached.items()])
        return consumer


def _read(message: Any) -> RequestRead | None:
    """Read a request; None for one under whose key nothing is ever kept."""
    kind, stamp = message.timestamp()
    name = named_conversation(message.key())
    return None if name is None else RequestRead(name, stamp / 1000 if kind else time.time())
