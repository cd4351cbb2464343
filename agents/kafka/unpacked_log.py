"""Unpacked log: a partition read from where librdkafka stands still, at a batch that it cannot unpack.

A broker hands on what a stranger packed wrongly. librdkafka asks for such a batch again and again and says nothing.
Here batches are unpacked as workers do it (`agents.kafka.unpacking`): what cannot be read is passed over, with a line
in the log, and all that stands before and behind it is read.
"""

import asyncio
import logging
from collections.abc import Iterator
from typing import Any, NamedTuple

from aiokafka.client import AIOKafkaClient
from aiokafka.consumer.fetcher import READ_COMMITTED, READ_UNCOMMITTED
from aiokafka.errors import KafkaError, for_code
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.structs import TopicPartition
from confluent_kafka import TIMESTAMP_CREATE_TIME

from turnsignal.agents.kafka.unpacking import BoundedRecords, Bounds, RecordBatches
from turnsignal.agents.settings import Settings
from turnsignal.stream.records.wire import Undecodable
from turnsignal.stream.text.visible import one_line

logger = logging.getLogger("turnsignal.logs")

_WAIT_MS = 500  #: for a broker to have something
_BYTES = 8_388_608  #: that are asked for at once
_ATTEMPTS = 3  #: without a step forward, as where bytes were hurt on their way
_NAMES_REPLICA = 11  #: version of the answer that names one between what was aborted and the records
_SHOWN = 200  #: characters of what was wrong with a batch


class UnpackedMessage(NamedTuple):
    """A record, with what is asked of confluent_kafka's messages."""

    name: str
    number: int
    at: int
    key_bytes: bytes | None
    value_bytes: bytes | None
    milliseconds: int

    def error(self) -> None:
        """Return nothing: it is a record."""

    def topic(self) -> str:
        """Return the topic's name."""
        return self.name

    def partition(self) -> int:
        """Return the partition's number."""
        return self.number

    def offset(self) -> int:
        """Return where it stands."""
        return self.at

    def key(self) -> bytes | None:
        """Return the key."""
        return self.key_bytes

    def value(self) -> bytes | None:
        """Return the value."""
        return self.value_bytes

    def headers(self) -> None:
        """Return nothing: headers are not unpacked."""

    def timestamp(self) -> tuple[int, int]:
        """Return what kind of time it has, and the time in milliseconds since 1970."""
        return TIMESTAMP_CREATE_TIME, self.milliseconds


def read_unpacked(
    settings: Settings, topic: str, number: int, bounds: tuple[int, int], *, committed: bool
) -> Iterator[tuple[list[UnpackedMessage], int]]:
    """Give the messages of a partition in lists, each with the offset behind it, from the first bound to the second.

    Ends early where a transaction is open, if only committed messages are wanted, and where the broker does not answer.
    """
    at, end = bounds
    unpacking = Bounds(settings.max_batch_bytes)
    level = READ_COMMITTED if committed else READ_UNCOMMITTED
    attempts = _ATTEMPTS
    with asyncio.Runner() as runner:
        try:
            client = runner.run(_connect(settings, topic))
        except (KafkaError, OSError):
            return
        try:
            while at < end and attempts:
                unpacking.begin_fetch()
                records, reached, readable = runner.run(
                    _fetch(client, TopicPartition(topic, number), at, level, unpacking)
                )
                attempts = _ATTEMPTS if reached > at else attempts - 1
                at = reached
                messages = [
                    UnpackedMessage(topic, number, record.offset, record.key, record.value, record.timestamp)
                    for record in records
                    if not isinstance(record, Undecodable) and record.offset < end
                ]
                for record in records:
                    if isinstance(record, Undecodable):
                        _say(topic, number, record)
                if messages or attempts == _ATTEMPTS:
                    yield messages, min(at, end)
                if not records and at >= readable:
                    return
        except (KafkaError, OSError):
            return
        finally:
            runner.run(client.close())


async def _connect(settings: Settings, topic: str) -> AIOKafkaClient:
    client = AIOKafkaClient(client_id=settings.prefix, **settings.aiokafka())
    try:
        await client.bootstrap()
        await client.set_topics([topic])
    except BaseException:
        await client.close()
        raise
    return client


async def _fetch(
    client: AIOKafkaClient, place: TopicPartition, at: int, level: int, unpacking: Bounds
) -> tuple[list[Any], int, int]:
    """Return records from an offset on, where the next ones stand, and up to which offset any may be read."""
    wanted = [(place.topic, [(place.partition, at, _BYTES)])]
    leader = client.cluster.leader_for_partition(place)
    response = await client.send(leader, FetchRequest(_WAIT_MS, 1, _BYTES, level, wanted))
    ((_, ((_, code, high, stable, *more),)),) = response.topics
    if code:
        raise for_code(code)
    aborted = more[1] if response.API_VERSION >= _NAMES_REPLICA else more[-2]
    records = BoundedRecords(place, RecordBatches(more[-1], unpacking), aborted, at, None, None, False, level)
    return list(records), records.next_fetch_offset, stable if level == READ_COMMITTED else high


def _say(topic: str, number: int, record: Undecodable) -> None:
    logger.warning(
        "%s-%d, offsets %d to %d: passed over, as nobody can read them: %s",
        topic,
        number,
        record.first,
        record.offset,
        one_line(record.detail, _SHOWN),
    )
