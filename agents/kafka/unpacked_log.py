"""Unpacked log: past what a partition has that librdkafka stands still at, as it cannot unpack it.

A broker hands on what a stranger packed wrongly. librdkafka asks for such a batch again and again and says nothing.
Here it is unpacked as workers do it (`agents.kafka.unpacking`): what can be read of it is, and what cannot is passed
over, with a line in the log. All that is sound is left to librdkafka.
"""

import asyncio
import logging
from collections.abc import Mapping
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


def pass_damage(
    settings: Settings, topic: str, number: int, at: int, *, committed: bool, sound: bool = False
) -> tuple[list[UnpackedMessage], int]:
    """Read the batches from an offset on that cannot be unpacked whole; return what can be read of them, and their end.

    committed: leave out what is of a transaction that was aborted; sound: take one batch that can be, too, in case that
    librdkafka sees it otherwise. Where the first batch is sound, or the broker does not answer, the end is the offset
    itself: headers are not unpacked, so nothing else is read here.
    """
    messages: list[UnpackedMessage] = []
    place, unpacking = TopicPartition(topic, number), Bounds(settings.max_batch_bytes)
    with asyncio.Runner() as runner:
        try:
            client = runner.run(_connect(settings, topic))
        except (KafkaError, OSError):
            return messages, at
        try:
            attempts = _ATTEMPTS
            while attempts:
                attempts -= 1
                batches, aborted = runner.run(_fetch(client, place, at, unpacking, committed=committed))
                while batches.has_next():
                    batch = batches.next_batch()
                    try:
                        records = [] if batch.is_control_batch else list(batch)
                    except EnoughError:
                        break  # its bytes may have been hurt on their way: fetched once more
                    if batch.next_offset <= at:
                        continue
                    damage = [record for record in records if isinstance(record, Undecodable)]
                    if records and not damage and not sound:
                        return messages, at
                    sound = sound and bool(damage)
                    for record in damage:
                        _say(topic, number, record)
                    if not _is_aborted(batch, aborted):
                        messages += _messages(topic, number, records, at)
                    at, attempts = batch.next_offset, _ATTEMPTS
        except (KafkaError, OSError):
            pass  # what was read until here counts
        finally:
            runner.run(client.close())
    return messages, at


def _messages(topic: str, number: int, records: list[Any], at: int) -> list[UnpackedMessage]:
    return [
        UnpackedMessage(topic, number, record.offset, record.key, record.value, record.timestamp)
        for record in records
        if not isinstance(record, Undecodable) and record.offset >= at
    ]


def _is_aborted(batch: Any, aborted: Mapping[int, int]) -> bool:
    return bool(batch.is_transactional and batch.base_offset >= aborted.get(batch.producer_id, batch.next_offset))


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


def _say(topic: str, number: int, record: Undecodable) -> None:
    logger.warning(
        "%s-%d, offsets %d to %d: passed over, as nobody can read them: %s",
        topic,
        number,
        record.first,
        record.offset,
        one_line(record.detail, _SHOWN),
    )
