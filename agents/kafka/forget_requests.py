"""Requests to forget conversations, for a worker that has to know all of them before it tells anybody anything.

They are read from the beginning of `turnsignal.forget` and then followed, beside the worker's group: whichever
partitions it has, and however far it is with them, a request that was made before it started is known at its start.
"""

import sys
import threading
import time
from contextlib import suppress
from typing import NamedTuple

from aiokafka.consumer.fetcher import READ_UNCOMMITTED
from confluent_kafka import KafkaError

from turnsignal.agents.kafka.fetching import PartitionFetch, TopicFetcher
from turnsignal.agents.kafka.forgetting import named_conversation
from turnsignal.agents.kafka.log_records import LogRecord, LogUnpacker
from turnsignal.agents.kafka.logs import find_log, read_log
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError

_WAIT = 1.0  # seconds for a broker to say whether there are new ones; it says so after half a second


class RequestRead(NamedTuple):
    """A request. asked: when the broker took it, in seconds since 1970."""

    conversation_id: str
    asked: float


class ForgetRequests:
    """Read requests; `read_all` first, then `read_new` as often as it pleases, from any thread without a loop.

    Whoever asks within a transaction that is not finished is heeded, too.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._topic = topic_names(settings.prefix)["forget"]
        self._fetcher: TopicFetcher | None = None
        self._unpacker = LogUnpacker(self._topic, settings.max_batch_bytes, READ_UNCOMMITTED)
        self._lock = threading.Lock()
        self._reached: dict[int, int] = {}  # partition → offset behind what was read

    def read_all(self) -> list[RequestRead]:
        """Return the newest request of each conversation that the topic still holds; none where that is done already.

        A conversation has one in every partition at least: all of them would fill the memory.

        Raises TurnsignalError when the topic is not there, may not be read, or the broker falls silent.
        """
        with self._lock:
            if self._fetcher is not None:
                return []
            ranges = find_log(self._settings, self._topic)
            logs = read_log(self._settings, self._topic, ranges, committed=False)
            newest: dict[str, RequestRead] = {}
            for request in (request for records in logs for request in map(_read, records) if request is not None):
                newest[request.conversation_id] = max(request, newest.get(request.conversation_id, request))
            self._reached = {number: end for number, (_, end) in ranges.items()}
            self._fetcher = TopicFetcher(self._settings, self._topic, READ_UNCOMMITTED)
            return list(newest.values())

    def read_new(self) -> list[RequestRead]:
        """Return requests that have come since; raises TurnsignalError when the topic may not be read any more."""
        with self._lock:
            answers = [] if self._fetcher is None else self._fetcher.fetch(self._reached, _WAIT)
            records = [record for fetched in answers for record in self._take(fetched)]
        return [request for request in map(_read, records) if request is not None]

    def _take(self, fetched: PartitionFetch) -> list[LogRecord]:
        number, code = fetched.partition, fetched.code
        if code == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            msg = f"expected to read {self._topic}, as nothing forgotten is sent to a judge; got:"
            msg += f" {KafkaError(code).str()}; `turnsignal topics show` lists the rights that a worker needs"
            raise TurnsignalError(msg)
        if code == KafkaError.OFFSET_OUT_OF_RANGE:  # of a topic that was emptied, or made anew: all of it is read
            with suppress(TurnsignalError, KeyError):  # the broker does not say: the next answer is soon enough
                self._reached[number] = find_log(self._settings, self._topic)[number][0]
        if code or fetched.offset != self._reached[number]:
            return []
        records, self._reached[number] = self._unpacker.unpack(fetched, sys.maxsize)
        return records

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._fetcher is not None:
                self._fetcher.close()
            self._fetcher = None


def _read(record: LogRecord) -> RequestRead | None:
    """Read a request; None for one under whose key nothing is ever kept."""
    name, asked = named_conversation(record.key), record.timestamp / 1000
    return None if name is None else RequestRead(name, asked if asked > 0 else time.time())
