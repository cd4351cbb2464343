"""Unpacking: record batches, as Kafka keeps and sends them, made into records within bounds.

A broker hands a batch on as its producer made it. It has looked at the checksum and at the outline of the records, and
lets through what ends a reader that trusts it: a megabyte that unpacks to many gigabytes, lengths that lie inside a
compressed batch, offsets far beyond the log's end, a header whose name is no text, a million headers. Here the bytes of
a batch are bounded before they are there, every length is looked at before it is believed, headers are not looked at
(`agents.kafka.records` reads them for whoever wants them), and what cannot be read becomes one `Undecodable` for its
offsets, which goes to the dead letters like any other record.

aiokafka's own parsers do none of that, and cannot: in C they read past the end of what they were given, in Python they
hand such an end to C. It makes them by their names in its `fetcher` module and has no argument for others, so
`Bounds.install` replaces those two names, once, for all consumers of the process; what they have to offer to the
fetcher is small: batches with a few attributes, and an iterator of records.
"""

import mmap
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import cramjam
from aiokafka.consumer import fetcher
from aiokafka.errors import CorruptRecordException
from aiokafka.record.legacy_records import LegacyRecordBatch
from aiokafka.record.util import calc_crc32c

from turnsignal.agents.kafka.records import Pair, read_number, read_pairs, read_record
from turnsignal.stream.records.wire import Undecodable

AT_ONCE = 4  #: times the bytes of the largest batch are handed on in one fetch, or wait, at most
OVERHEAD = 200  #: bytes that a record takes in memory beside its key and value

_HEADER = struct.Struct(">qiibIhiqqqhii")  # see RecordBatch in Kafka's documentation
_CHECKED = 21  # from here on the checksum covers a batch
_LENGTH, _AFTER_LENGTH, _MAGIC = 8, 12, 16
_INT, _LONG = struct.Struct(">i"), struct.Struct(">q")
_MARKER = 100  # bytes that the end of a transaction has at most; it has 78
_CODEC, _APPEND_TIME, _TRANSACTIONAL, _CONTROL = 7, 8, 16, 32
_CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
_GZIP = 31  # zlib's number for it
_XERIAL = b"\x82SNAPPY\x00"  # begins the blocks in which Java writes snappy
_XERIAL_HEADER = 16
_LEGACY_VALUES = {0: 18, 1: 26}  # magic → where the key of a message of an old format begins
_SUSPECTS = 1_000
_FEW = 32_768  # bytes that are had at once, for batches of few turns
_new: Any = tuple.__new__  # a NamedTuple's own costs twice as much


class Fetched(NamedTuple):
    """A record as it came, a `stream.records.wire.Record`. headers: as its batch has them, where they are wanted."""

    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: bytes = b""


class BatchPairs(NamedTuple):
    """The records of a batch, or of a part of one, as who reads millions takes them.

    offset: of the last one; pairs: key and value of each; headers: of those that have some, with their offsets.
    """

    offset: int
    pairs: list[Pair]
    headers: list[tuple[int, bytes]]


class EnoughError(Exception):
    """What follows is fetched again: there was enough for now, or it may have been hurt on its way."""


class Bounds:
    """What a consumer may unpack.

    limit: bytes of a batch, unpacked; headers: whether they are handed on; paired: whether records come as
    `BatchPairs`; left: bytes that may still be handed on in this fetch; suspects: batches with a wrong checksum that
    were seen once, as (offset, checksum).
    """

    def __init__(self, limit: int, *, headers: bool = False, paired: bool = False) -> None:
        self.limit = limit
        self.headers = headers
        self.paired = paired
        self.left = limit
        self.suspects: set[tuple[int, int]] = set()

    def begin_fetch(self) -> None:
        """Allow for one more fetch."""
        self.left = AT_ONCE * self.limit

    def install(self) -> None:
        """Have aiokafka's fetchers unpack within these bounds."""
        fetcher.MemoryRecords, fetcher.PartitionRecords = partial(RecordBatches, bounds=self), BoundedRecords


class BoundedRecords(fetcher.PartitionRecords):
    """The records of a fetched partition, as many as may be handed on."""

    def __init__(self, tp: Any, records: Any, *arguments: Any) -> None:
        super().__init__(tp, records, *arguments)
        self.bounds: Bounds = records.bounds

    def _unpack_records(self) -> Iterator[Any]:
        with suppress(EnoughError):  # the position stands behind what was handed on
            yield from super()._unpack_records()

    def _contains_abort_marker(self, marker: Any) -> bool:
        """Say that a marker ends a transaction that was aborted, where its producer has one: the broker says which do.

        What stands in it is not asked: one that rotted to a commit would hide all that its producer wrote after.
        """
        if self._aborted_producers and marker.producer_id not in self._aborted_producers and not marker.is_whole():
            self.next_fetch_offset = marker.next_offset
            raise EnoughError  # whose it is may have rotted: of what follows, the broker says again what was aborted
        return True

    def _consumer_record(self, _tp: Any, record: Any) -> Any:
        self.bounds.left -= len(record.key or b"") + len(record.value or b"") + OVERHEAD
        return record


class RecordBatches:
    """The batches of a fetched partition, in place of aiokafka's MemoryRecords."""

    def __init__(self, data: bytes, bounds: Bounds) -> None:
        self._data = data
        self._at = 0
        self.bounds = bounds

    def size_in_bytes(self) -> int:
        """Return how many bytes were fetched."""
        return len(self._data)

    def has_next(self) -> bool:
        """Say whether there is a whole batch left; the last one is often cut."""
        return self._end() <= len(self._data)

    def next_batch(self) -> Any:
        """Return the next batch, None when there is none."""
        start, end, data = self._at, self._end(), self._data
        if end > len(data):
            return None
        if end - start <= _MAGIC or (data[start + _MAGIC] >= 2 and end - start < _HEADER.size):
            msg = f"expected a record batch, got one of {end - start} bytes"
            raise CorruptRecordException(msg)
        self._at = end
        if data[start + _MAGIC] < 2:
            return LegacyBatch(data[start:end], self.bounds.limit)
        return Batch(data, start, end, self.bounds)

    def _end(self) -> int:
        if self._at + _AFTER_LENGTH > len(self._data):
            return len(self._data) + 1
        length: int = _INT.unpack_from(self._data, self._at + _LENGTH)[0]
        return self._at + _AFTER_LENGTH + max(length, 0)


class Batch:
    """One batch; iterate over its records.

    What stands in it from `start` to `end` is looked at when it is iterated over: never, when its transaction was
    aborted.
    """

    def __init__(self, data: bytes, start: int, end: int, bounds: Bounds) -> None:
        self._data, self._start, self._end, self._bounds = data, start, end, bounds
        header = _HEADER.unpack_from(data, start)
        self.base_offset: int = header[0]
        self._crc: int = header[4]
        self._attributes: int = header[5]
        self._last: int = self._bounded(header[0] + max(header[6], 0))
        self._first_time: int = header[7]
        self._last_time: int = header[8]
        self.producer_id: int = header[9]
        self._count: int = header[12]
        self.next_offset = self._last + 1
        self.is_transactional = bool(header[5] & _TRANSACTIONAL)
        # Records that rotted to a marker would be passed over in silence.
        self.is_control_batch = bool(header[5] & _CONTROL) and (end - start <= _MARKER or self.is_whole())

    def __iter__(self) -> Iterator[Any]:
        if (crc := self._checksum()) != self._crc:
            yield self._doubt(crc)
            return
        if not self._count:
            return  # compaction leaves it to remember its producer
        if not 0 < self._count <= self.next_offset - self.base_offset:
            why = f"expected at most {self.next_offset - self.base_offset} records, got a count of {self._count}"
            yield self._give_up(self.base_offset, why)
            return
        codec = self._attributes & _CODEC
        data, at, end = self._data, self._start + _HEADER.size, self._end
        if codec:
            try:
                data = decompress(codec, memoryview(data)[at:end], self._bounds.limit)
            except ValueError as error:
                yield self._give_up(self.base_offset, str(error))
                return
            at, end = 0, len(data)
        yield from self._pair(data, at, end) if self._bounds.paired else self._read(data, at, end)

    def is_whole(self) -> bool:
        """Say whether the checksum is right; librdkafka's mock writes none into markers."""
        return self._checksum() == self._crc

    def _checksum(self) -> int:
        checksum: int = calc_crc32c(memoryview(self._data)[self._start + _CHECKED : self._end])
        return checksum

    def _bounded(self, last: int) -> int:
        """Return the last offset; where the next batch begins before it, it has rotted, and would hide that one."""
        if self._end + _LONG.size > len(self._data):
            return last
        following: int = _LONG.unpack_from(self._data, self._end)[0]
        return following - 1 if self.base_offset < following <= last else last

    def _doubt(self, crc: int) -> Undecodable:
        seen, suspects = (self.base_offset, crc), self._bounds.suspects
        if seen not in suspects:
            if len(suspects) >= _SUSPECTS:
                suspects.clear()
            suspects.add(seen)
            raise EnoughError
        suspects.discard(seen)
        why = f"expected a batch with the checksum {self._crc:08x}, got {crc:08x}"
        return self._give_up(self.base_offset, why)

    def _read(self, data: bytes, at: int, end: int) -> Iterator[Any]:
        """Read the records one by one; where one ends says its length, so that one that is broken hides no other."""
        bounds, last, first_time, base = self._bounds, self._last, self._first_time, self.base_offset
        append_time, wants_headers = self._attributes & _APPEND_TIME, bounds.headers
        room = last - self._count  # what the next record's offset may be at most, so that all others have one, too
        offset = base - 1
        for _ in range(self._count):
            if bounds.left <= 0:
                raise EnoughError
            expected, room = offset + 1, room + 1
            try:
                length, at = read_number(data, at)
                stop = at + length
                if not at < stop <= end:
                    msg = f"expected a record within the {end} bytes of its batch, got one up to {stop}"
                    raise ValueError(msg)
            except (ValueError, IndexError) as error:
                yield self._give_up(expected, str(error))
                return
            try:
                time, key, value, place, behind = read_record(data, at, stop)
                offset = base + place
                if not expected <= offset <= room:
                    msg = f"expected an offset from {expected} to {room}, got {offset}"
                    raise ValueError(msg)
            except (ValueError, IndexError) as error:
                offset = expected
                yield Undecodable(expected, expected, self._last_time, str(error))
            else:
                time = self._last_time if append_time else first_time + time
                yield _new(Fetched, (offset, key, value, time, data[behind:stop] if wants_headers else b""))
            at = stop

    def _pair(self, data: bytes, at: int, end: int) -> Iterator[Any]:
        """Read all records at once; one by one where something is wrong with one of them."""
        if self._bounds.left <= 0:
            raise EnoughError
        base = self.base_offset
        try:
            pairs, headers = read_pairs(data, at, end, self._count, self._last - base)
        except (ValueError, IndexError):
            for record in self._read(data, at, end):
                yield as_pairs(record) if isinstance(record, Fetched) else record
        else:
            yield BatchPairs(self._last, pairs, [(base + place, content) for place, content in headers])
        self._bounds.left -= end - at + OVERHEAD * self._count

    def _give_up(self, first: int, why: str) -> Undecodable:
        """Return what stands for all records from `first` on."""
        return Undecodable(self._last, min(first, self._last), self._last_time, why)


def as_pairs(record: Fetched) -> BatchPairs:
    """Return one record as a batch of its own."""
    return BatchPairs(record.offset, [(record.key, record.value)], [(record.offset, record.headers)])


class LegacyBatch:
    """A batch of the formats before Kafka 0.11, which a log may still have; aiokafka reads it once it is bounded."""

    is_transactional = is_control_batch = False
    producer_id = None

    def __init__(self, data: bytes, limit: int) -> None:
        self._data, self._limit = data, limit
        self._batch = LegacyRecordBatch(data, data[_MAGIC])
        self.base_offset = int.from_bytes(data[:_LENGTH], "big", signed=True)
        self.next_offset: int = self._batch.next_offset

    def __iter__(self) -> Iterator[Any]:
        try:
            self._check()
            records = [Fetched(one.offset, one.key, one.value, one.timestamp or 0) for one in self._batch]
        except Exception as error:
            yield Undecodable(self.base_offset, self.base_offset, 0, f"{type(error).__name__}: {error}")
        else:
            yield from records

    def _check(self) -> None:
        """Raise ValueError for a batch that would unpack to more than the limit."""
        data, codec = self._data, self._data[_MAGIC + 1] & _CODEC
        if codec:
            key = _LEGACY_VALUES[data[_MAGIC]]
            value = key + 4 + max(0, _INT.unpack_from(data, key)[0])
            decompress(codec, memoryview(data)[value + 4 :], self._limit)


def decompress(codec: int, data: memoryview, limit: int) -> bytes:
    """Decompress; raises ValueError if the data is broken or larger than `limit` bytes.

    What stands behind the end of it is passed over, as Java's readers do.
    """
    name = _CODECS[codec] if codec < len(_CODECS) else f"codec {codec}"
    try:
        match name:
            case "gzip":
                plain = _decompress_gzip(data, limit)
            case "snappy":
                plain = _decompress_snappy(data, limit)
            case "lz4" | "zstd":
                plain = _decompress_into(getattr(cramjam, name), data, limit)
            case _:
                raise ValueError("nobody knows it")
    except (ValueError, cramjam.DecompressionError, zlib.error, struct.error) as error:
        msg = (
            f"expected {name} that unpacks to at most {limit} bytes (TURNSIGNAL_MAX_BATCH_BYTES), got {len(data)} bytes"
            f" that do not: {error}"
        )
        raise ValueError(msg) from None
    return plain


def _decompress_into(codec: Any, data: memoryview, limit: int) -> bytes:
    few = min(limit, _FEW)
    if len(data) * 4 <= few:
        space = bytearray(few)
        with suppress(cramjam.DecompressionError):  # it takes more, or goes wrong below, too
            return bytes(memoryview(space)[: codec.decompress_into(data, space)])
    # Memory that costs nothing until it is written to, so that there may always be as much as the limit.
    with mmap.mmap(-1, limit) as pages:
        return pages[: codec.decompress_into(data, pages)]


def _decompress_gzip(data: memoryview, limit: int) -> bytes:
    unzip = zlib.decompressobj(wbits=_GZIP)
    plain = unzip.decompress(data, limit)
    if not unzip.eof and unzip.decompress(unzip.unconsumed_tail, 1):
        raise ValueError("there is more")
    if not unzip.eof:
        raise ValueError("it ends early")
    return plain


def _decompress_snappy(data: memoryview, limit: int) -> bytes:
    if data[: len(_XERIAL)] != _XERIAL:
        return _unpack_block(data, limit)
    blocks, at = [], _XERIAL_HEADER
    while at + _INT.size < len(data):
        size = _INT.unpack_from(data, at)[0]
        at += _INT.size
        if size < 0:
            msg = f"a block has {size} bytes"
            raise ValueError(msg)
        blocks.append(_unpack_block(data[at : at + size], limit))
        limit -= len(blocks[-1])
        at += size
    return b"".join(blocks)


def _unpack_block(data: memoryview, limit: int) -> bytes:
    size = cramjam.snappy.decompress_raw_len(data)
    if size > limit:
        msg = f"there are {size} bytes"
        raise ValueError(msg)
    return bytes(cramjam.snappy.decompress_raw(data))
