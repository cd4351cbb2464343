"""Requests to forget conversations, for a worker that has to know all of them before it tells anybody anything.

They are read from the beginning of `turnsignal.forget` and then followed, beside the worker's group: whichever
partitions it has, and however far it is with them, a request that was made before it started is known at its start.
"""

import threading
import time
from typing import NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from turnsignal.agents.kafka.forgetting import named_conversation
from turnsignal.agents.kafka.logs import SILENCE_SECONDS
from turnsignal.agents.kafka.topics import topic_metadata, topic_names
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
            self._consumer = self._open()
            requests: list[RequestRead] = []
            left, last_answer = self._partitions, time.monotonic()
            while left:
                read, ended = self._consume(self._consumer)
                requests += read
                left = left - ended
                if read or ended:
                    last_answer = time.monotonic()
                elif time.monotonic() - last_answer > SILENCE_SECONDS:
                    msg = f"expected all of {self._topic}, got no answer for {SILENCE_SECONDS:.0f} s"
                    raise TurnsignalError(msg)
            return requests

    def read_new(self) -> list[RequestRead]:
        """Return requests that have come since; raises TurnsignalError when the topic may not be read any more."""
        with self._lock:
            return [] if self._consumer is None else self._consume(self._consumer)[0]

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._consumer is not None:
                self._consumer.close()
            self._consumer = None

    def _open(self) -> Consumer:
        metadata = topic_metadata(AdminClient({**self._settings.confluent(), "log_level": 0})).topics
        if self._topic not in metadata or not metadata[self._topic].partitions:
            msg = (
                f"expected a topic {self._topic} on {self._settings.brokers}, got none; try `turnsignal topics create`"
            )
            raise TurnsignalError(msg)
        self._partitions = frozenset(metadata[self._topic].partitions)
        options = {
            "group.id": f"{self._settings.prefix}-reading",  # which it never joins
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "log_level": 0,
        }
        consumer = Consumer({**self._settings.confluent(), **options})
        consumer.assign([TopicPartition(self._topic, number, OFFSET_BEGINNING) for number in self._partitions])
        return consumer

    def _consume(self, consumer: Consumer) -> tuple[list[RequestRead], set[int]]:
        """Return requests, and the partitions of which there are no more for now."""
        requests, ended = [], set()
        try:
            messages = consumer.consume(_AT_ONCE, _WAIT)
        except KafkaException as failure:
            raise self._unreadable(failure.args[0]) from None
        for message in messages:
            error = message.error()
            if error is None:
                kind, stamp = message.timestamp()
                name = named_conversation(message.key())
                if name is not None:
                    requests.append(RequestRead(name, stamp / 1000 if kind else time.time()))
            elif error.code() == KafkaError._PARTITION_EOF:
                ended.add(message.partition())
            elif error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED or error.fatal():
                raise self._unreadable(error)
        return requests, ended

    def _unreadable(self, error: KafkaError) -> TurnsignalError:
        msg = f"expected to read {self._topic}, as no forgotten conversation is sent to a judge; got: {error.str()};"
        msg += " `turnsignal topics show` lists the rights that a worker needs"
        return TurnsignalError(msg)
