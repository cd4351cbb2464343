"""Log records: what was fetched of a partition, unpacked as workers do it (`agents.kafka.unpacking`).

What can be read is; what nobody can unpack is passed over, with a line in the log.
"""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from aiokafka.consumer.fetcher import READ_COMMITTED
from aiokafka.errors import CorruptRecordException
from aiokafka.structs import TopicPartition

from turnsignal.agents.kafka.fetching import PartitionFetch
from turnsignal.agents.kafka.records import read_headers
from turnsignal.agents.kafka.unpacking import (
    OVERHEAD,
    BatchPairs,
    BoundedRecords,
    Bounds,
    Fetched,
    RecordBatches,
    as_pairs,
)
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.wire import Undecodable
from turnsignal.stream.text.visible import one_line

logger = logging.getLogger("turnsignal.logs")

_SHOWN = 200  # characters of what was wrong with a batch
#: told of a partition and what stands in it for records that nobody can read
PassedOver = Callable[[int, Undecodable], None]

_new: Any = tuple.__new__  # a NamedTuple's own costs twice as much


class LogRecord(NamedTuple):
    """A record of a log.

    timestamp: milliseconds since 1970, 0 or less for none; encoded_headers: as its batch has them.
    """

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int
    encoded_headers: bytes = b""

    @property
    def headers(self) -> list[tuple[str, bytes | None]]:
        """Read the headers, in their order (`read_headers`)."""
        return read_headers(self.encoded_headers)


class _Unpacker:
    """Unpacks what is fetched of a topic.

    limit: bytes of a batch, unpacked; level: as the topic is fetched; passed_over: told of what nobody can read, which
    the log is by default.
    """

    _paired = False

    def __init__(self, topic: str, limit: int, level: int, passed_over: PassedOver | None = None) -> None:
        self._topic, self._level = topic, level
        self._bounds = Bounds(limit, headers=True, paired=self._paired)
        self._passed_over = passed_over or partial(log_passed_over, topic)

    def _unpack(self, fetched: PartitionFetch, end: int) -> tuple[list[Any], int]:
        self._bounds.begin_fetch()
        place = TopicPartition(self._topic, fetched.partition)
        batches = RecordBatches(fetched.data, self._bounds)
        aborted = fetched.aborted if self._level == READ_COMMITTED else ()
        reading = _LogRecords(place, batches, aborted, fetched.offset, None, None, False, self._level)
        records: list[Any] = []
        try:
            records.extend(reading)
        except CorruptRecordException as error:
            if reading.next_fetch_offset == fetched.offset:
                msg = f"expected record batches at {self._topic}-{fetched.partition}, offset {fetched.offset}: {error}"
                raise TurnsignalError(msg) from None
        for lost in reading.lost:
            if lost.first < end:
                self._passed_over(fetched.partition, lost)
        if reading.lost or (records and records[-1].offset >= end):
            records = [record for record in records if record.offset < end and not isinstance(record, Undecodable)]
        return records, reading.next_fetch_offset


class LogUnpacker(_Unpacker):
    """Unpacks what is fetched of a topic into its records."""

    def unpack(self, fetched: PartitionFetch, end: int) -> tuple[list[LogRecord], int]:
        """Return the records before an offset, and the offset to fetch from next; no more than memory has room for.

        Raises TurnsignalError where no batch stands.
        """
        return self._unpack(fetched, end)


class PairsUnpacker(_Unpacker):
    """Unpacks what is fetched of a topic into keys and values, twice as fast."""

    _paired = True

    def unpack(self, fetched: PartitionFetch, end: int) -> tuple[list[BatchPairs], int]:
        """Return what stands before an offset, which is no batch's middle; otherwise as `LogUnpacker`."""
        return self._unpack(fetched, end)


def log_passed_over(topic: str, partition: int, lost: Undecodable) -> None:
    """Say in the log that records are passed over."""
    logger.warning("%s-%d, %s: passed over, as nobody can read them: %s", topic, partition, *describe_lost(lost))


def describe_lost(lost: Undecodable) -> tuple[str, str]:
    """Say where records stand that nobody can read, and what is wrong with them."""
    return f"offsets {lost.first} to {lost.offset}", one_line(lost.detail, _SHOWN)


class _LogRecords(BoundedRecords):
    """The records of a fetched partition; lost: what stands among them for those that cannot be read."""

    def __init__(self, partition: TopicPartition, *arguments: Any) -> None:
        super().__init__(partition, *arguments)
        self.lost: list[Undecodable] = []

    def _consumer_record(
        self, tp: TopicPartition, record: Fetched | BatchPairs | Undecodable
    ) -> LogRecord | BatchPairs | Undecodable:
        if isinstance(record, BatchPairs):
            return record
        if isinstance(record, Undecodable):
            self.lost.append(record)
            return record
        if self.bounds.paired:  # of a batch of an old format
            return as_pairs(record)
        self.bounds.left -= len(record.key or b"") + len(record.value or b"") + len(record.headers) + OVERHEAD
        made: LogRecord = _new(LogRecord, (tp.partition, *record))
        return made
