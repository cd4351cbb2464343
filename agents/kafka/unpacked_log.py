"""Unpacked log: past what a partition has that librdkafka stands still at, as it cannot unpack it.

A broker hands on what a stranger packed wrongly. librdkafka asks for such a batch again and again and says nothing.
Here it is unpacked as workers do it (`agents.kafka.unpacking`): what can be read of it is, and what cannot is passed
over, with a line in the log. All that is sound is left to librdkafka.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, NamedTuple

from aiokafka.client import AIOKafkaClient
from aiokafka.consumer.fetcher import READ_COMMITTED, READ_UNCOMMITTED
from aiokafka.errors import KafkaError, for_code
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.structs import TopicPartition
from confluent_kafka import TIMESTAMP_CREATE_TIME

from turnsignal.agents.kafka.unpacking import Bounds, EnoughError, RecordBatches
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

    number: int
    record: Any

    def error(self) -> None:
        """Return nothing: it is a record."""

    def partition(self) -> int:
        """Return the partition's number."""
        return self.number

    def offset(self) -> int:
        """Return where it stands."""
        return int(self.record.offset)

    def key(self) -> bytes | None:
        """Return the key."""
        key: bytes | None = self.record.key
        return key

    def value(self) -> bytes | None:
        """Return the value."""
        value: bytes | None = self.record.value
        return value

    def headers(self) -> None:
        """Return nothing: headers are not unpacked."""

    def timestamp(self) -> tuple[int, int]:
        """Return what kind of time it has, and the time in milliseconds since 1970."""
        return TIMESTAMP_CREATE_TIME, self.record.timestamp


def pass_damage(
    settings: Settings, topic: str, number: int, at: int, *, committed: bool, sound: bool = False
) -> tuple[list[UnpackedMessage], int]:
    """Read the batches from an offset on that cannot be unpacked whole; return what can be read of them, and their end.

    No more than one fetch brings. committed: leave out what is of a transaction that was aborted; sound: take one batch
    that can be unpacked, too, in case that librdkafka sees it otherwise. Where the first batch is sound, or the broker
    does not answer, the end is the offset itself: headers are not unpacked, so nothing else is read here.
    """
    return asyncio.run(_pass_damage(settings, TopicPartition(topic, number), at, committed=committed, sound=sound))


async def _pass_damage(
    settings: Settings, place: TopicPartition, at: int, *, committed: bool, sound: bool
) -> tuple[list[UnpackedMessage], int]:
    messages: list[UnpackedMessage] = []
    begin, unpacking = at, Bounds(settings.max_batch_bytes)
    with suppress(KafkaError, OSError):  # what was read until then counts
        async with _connected(settings, place.topic) as client:
            for _ in range(_ATTEMPTS):
                batches, aborted = await _fetch(client, place, at, unpacking, committed=committed)
                with suppress(EnoughError):  # bytes may have been hurt on their way: they are fetched once more
                    while (batch := batches.next_batch()) is not None:
                        records = [] if batch.is_control_batch else list(batch)
                        if batch.next_offset <= at:
                            continue
                        damage = [record for record in records if isinstance(record, Undecodable)]
                        if records and not damage and not sound:
                            return messages, at
                        sound = sound and bool(damage)
                        for record in damage:
                            _say(place, record)
                        if not _is_aborted(batch, aborted):
                            messages += _messages(place.partition, records, at)
                        at = batch.next_offset
                if at > begin:
                    break
    return messages, at


def _messages(number: int, records: list[Any], at: int) -> list[UnpackedMessage]:
    readable = [record for record in records if not isinstance(record, Undecodable)]
    return [UnpackedMessage(number, record) for record in readable if record.offset >= at]


def _is_aborted(batch: Any, aborted: Mapping[int, int]) -> bool:
    return bool(batch.is_transactional and batch.base_offset >= aborted.get(batch.producer_id, batch.next_offset))


@asynccontextmanager
async def _connected(settings: Settings, topic: str) -> AsyncIterator[AIOKafkaClient]:
    client = AIOKafkaClient(client_id=settings.prefix, **settings.aiokafka())
    try:
        await client.bootstrap()
        await client.set_topics([topic])
        yield client
    finally:
        await client.close()


async def _fetch(
    client: AIOKafkaClient, place: TopicPartition, at: int, unpacking: Bounds, *, committed: bool
) -> tuple[RecordBatches, dict[int, int]]:
    """Return batches from the one with an offset on, and from where on transactions were aborted, by producer."""
    wanted = [(place.topic, [(place.partition, at, _BYTES)])]
    leader = client.cluster.leader_for_partition(place)
    level = READ_COMMITTED if committed else READ_UNCOMMITTED
    response = await client.send(leader, FetchRequest(_WAIT_MS, 1, _BYTES, level, wanted))
    ((_, ((_, code, _, _, *more),)),) = response.topics
    if code:
        raise for_code(code)
    aborted = more[1] if response.API_VERSION >= _NAMES_REPLICA else more[-2]
    return RecordBatches(more[-1], unpacking), dict(aborted or ()) if committed else {}


def _say(place: TopicPartition, record: Undecodable) -> None:
    logger.warning(
        "%s-%d, offsets %d to %d: passed over, as nobody can read them: %s",
        place.topic,
        place.partition,
        record.first,
        record.offset,
        one_line(record.detail, _SHOWN),
    )
