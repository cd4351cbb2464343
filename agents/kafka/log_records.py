"""Log records: what was fetched of a partition, unpacked as workers do it (`agents.kafka.unpacking`).

What can be read is; what nobody can unpack is passed over, with a line in the log.
"""

import logging
from typing import Any, NamedTuple

from aiokafka.consumer.fetcher import READ_COMMITTED
from aiokafka.errors import CorruptRecordException
from aiokafka.structs import TopicPartition

from turnsignal.agents.kafka.fetching import PartitionFetch
from turnsignal.agents.kafka.records import read_headers
from turnsignal.agents.kafka.unpacking import OVERHEAD, BoundedRecords, Bounds, Fetched, RecordBatches
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.wire import Undecodable
from turnsignal.stream.text.visible import one_line

logger = logging.getLogger("turnsignal.logs")

_SHOWN = 200  # characters of what was wrong with a batch
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


class LogUnpacker:
    """Unpacks what is fetched of a topic. limit: bytes of a batch, unpacked; level: as the topic is fetched."""

    def __init__(self, topic: str, limit: int, level: int) -> None:
        self._topic, self._level = topic, level
        self._bounds = Bounds(limit, headers=True)

    def unpack(self, fetched: PartitionFetch, end: int) -> tuple[list[LogRecord], int]:
        """Return the records before an offset, and the offset to fetch from next; no more than memory has room for.

        Raises TurnsignalError where no batch stands.
        """
        self._bounds.begin_fetch()
        place = TopicPartition(self._topic, fetched.partition)
        batches = RecordBatches(fetched.data, self._bounds)
        aborted = fetched.aborted if self._level == READ_COMMITTED else ()
        reading = _LogRecords(place, batches, aborted, fetched.offset, None, None, False, self._level)
        records: list[LogRecord] = []
        try:
            records.extend(reading)
        except CorruptRecordException as error:
            if reading.next_fetch_offset == fetched.offset:
                msg = f"expected record batches at {self._topic}-{fetched.partition}, offset {fetched.offset}: {error}"
                raise TurnsignalError(msg) from None
        for lost in reading.lost:
            if lost.first < end:
                self._report(place, lost)
        if reading.lost or (records and records[-1].offset >= end):
            records = [record for record in records if record.offset < end and isinstance(record, LogRecord)]
        return records, reading.next_fetch_offset

    @staticmethod
    def _report(place: TopicPartition, lost: Undecodable) -> None:
        logger.warning(
            "%s-%d, offsets %d to %d: passed over, as nobody can read them: %s",
            place.topic,
            place.partition,
            lost.first,
            lost.offset,
            one_line(lost.detail, _SHOWN),
        )


class _LogRecords(BoundedRecords):
    """The records of a fetched partition; lost: what stands among them for those that cannot be read."""

    def __init__(self, partition: TopicPartition, *arguments: Any) -> None:
        super().__init__(partition, *arguments)
        self.lost: list[Undecodable] = []

    def _consumer_record(self, tp: TopicPartition, record: Fetched | Undecodable) -> LogRecord | Undecodable:
        if isinstance(record, Undecodable):
            self.lost.append(record)
            return record
        self.bounds.left -= len(record.key or b"") + len(record.value or b"") + len(record.headers) + OVERHEAD
        made: LogRecord = _new(LogRecord, (tp.partition, *record))
        return made
