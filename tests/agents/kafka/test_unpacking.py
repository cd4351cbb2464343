"""What a stranger may write into a record batch ends no reader, and hides none of its neighbours."""

import asyncio
import gzip
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import cramjam
import pytest
from aiokafka.codec import snappy_encode
from aiokafka.consumer import fetcher
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder
from aiokafka.structs import TopicPartition
from faust.types import TP
from hypothesis import given
from hypothesis import strategies as st

from tests.kafka.raw import NOW, batch, body, number, record
from turnsignal.agents.kafka.unpacking import AT_ONCE, OVERHEAD, BoundedRecords, Bounds, Fetched, RecordBatches
from turnsignal.agents.worker.batches import RecordBuffer
from turnsignal.stream.errors import Reason
from turnsignal.stream.pipeline.batch_output import BatchOutput
from turnsignal.stream.records.wire import Undecodable

LIMIT = 4_000_000
GOOD = record(0, b"k", b"one") + record(1, b"k", b"two")
PACK = {
    "none": bytes,
    "gzip": gzip.compress,
    "snappy": snappy_encode,
    "lz4": lambda data: bytes(cramjam.lz4.compress(data)),
    "zstd": lambda data: bytes(cramjam.zstd.compress(data)),
}


def fetch(data: bytes, bounds: Bounds | None = None, position: int = 0) -> tuple[list[Any], int]:
    """Read what was fetched as aiokafka does; return the records and the position after them."""
    bounds = bounds or Bounds(LIMIT)
    bounds.begin_fetch()
    records = BoundedRecords(TopicPartition("t", 0), RecordBatches(data, bounds), [], position, None, None, False, 1)
    return list(records), records.next_fetch_offset


def values(records: list[Any]) -> list[bytes | type | None]:
    return [one.value if isinstance(one, Fetched) else Undecodable for one in records]


@pytest.mark.parametrize("codec", PACK)
def test_a_good_batch_is_read_whatever_its_codec(codec: str) -> None:
    records, position = fetch(batch(PACK[codec](GOOD), 2, codec, base=7), position=7)
    assert records == [Fetched(7, b"k", b"one", NOW), Fetched(8, b"k", b"two", NOW)]
    assert position == 9


def test_snappy_without_blocks_is_read() -> None:
    records, _ = fetch(batch(bytes(cramjam.snappy.compress_raw(GOOD)), 2, "snappy"))
    assert values(records) == [b"one", b"two"]


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
@pytest.mark.parametrize("damage", ["garbage", "cut", "bomb"])
def test_a_batch_that_cannot_be_unpacked_stands_for_its_offsets_and_reading_goes_on_behind_it(
    codec: str, damage: str
) -> None:
    packed = {
        "garbage": lambda: b"garbage garbage garbage",
        "cut": lambda: PACK[codec](GOOD)[:-5],
        "bomb": lambda: PACK[codec](record(0, b"k", b"\0" * LIMIT) + record(1, b"k", b"w")),
    }[damage]()
    records, position = fetch(batch(packed, 2, codec, base=5) + batch(GOOD, 2, base=7), position=5)
    lost = records[0]
    assert isinstance(lost, Undecodable)
    assert (lost.first, lost.offset) == (5, 6)
    assert f"expected {codec} that unpacks to at most 4000000 bytes" in lost.detail
    assert values(records[1:]) == [b"one", b"two"]
    assert position == 9


@pytest.mark.slow
@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
def test_a_bomb_takes_no_more_memory_than_the_limit_and_what_it_is_packed_in(codec: str) -> None:
    packed = PACK[codec](b"\0" * 200_000_000)
    tracemalloc.start()
    try:
        records, _ = fetch(batch(packed, 1, codec))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert values(records) == [Undecodable]
    assert peak < 3 * LIMIT


def test_a_codec_that_nobody_knows_is_undecodable() -> None:
    data = bytearray(batch(GOOD, 2))
    data[22] = 5
    records, _ = fetch(bytes(data), suspect(bytes(data)))
    assert values(records) == [Undecodable]


def suspect(data: bytes) -> Bounds:
    """Return bounds that have seen a batch with a wrong checksum once."""
    bounds = Bounds(LIMIT)
    assert fetch(data, bounds) == ([], 0)
    return bounds


def test_a_batch_with_a_wrong_checksum_is_fetched_again_and_then_set_aside() -> None:
    data = batch(GOOD, 2, crc=5) + batch(GOOD, 2, base=2)
    bounds = suspect(data)
    records, position = fetch(data, bounds)
    assert values(records) == [Undecodable, b"one", b"two"]
    assert records[0][:2] == (1, 0)
    assert "expected a batch with the checksum 00000005, got" in records[0].detail
    assert position == 4
    assert fetch(batch(GOOD, 2), suspect(data))[1] == 2  # hurt on its way: the second time it is well


def test_what_stands_behind_packed_records_is_passed_over() -> None:
    for codec in ("gzip", "snappy"):
        records, _ = fetch(batch(PACK[codec](GOOD) + b"\0\0", 2, codec))
        assert values(records) == [b"one", b"two"], codec


BROKEN = {
    "a length beyond the batch": record(0, b"k", b"v", length=5_000),
    "no length": number(0),
    "a length without an end": b"\xff" * 11,
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_behind_a_record_that_has_no_end_nothing_of_the_batch_can_be_read(broken: bytes) -> None:
    content = record(0, b"k", b"one") + broken + record(2, b"k", b"three")
    records, position = fetch(batch(content, 3) + batch(GOOD, 2, base=3))
    assert values(records) == [b"one", Undecodable, b"one", b"two"]
    assert (records[1].first, records[1].offset) == (1, 2)
    assert position == 5


ODD = {
    "a key beyond its end": body(b"\0" + number(0) + number(1) + number(500) + b"k" + number(1) + b"v" + number(0)),
    "a value of 2**62 bytes": body(b"\0" + number(0) + number(1) + number(1) + b"k" + number(2**62) + b"v"),
    "a number without an end": body(b"\0" + b"\xff" * 12),
    "an offset far beyond the end of the log": record(1_000_000, b"k", b"far"),
    "an offset that was there before": record(0, b"k", b"again"),
    "an offset before the log": record(-7, b"k", b"before"),
    "an offset that leaves no room for those behind it": record(2, b"k", b"early"),
    "nothing but a byte": body(b"\0"),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_record_that_cannot_be_read_hides_none_of_its_batch(odd: bytes, codec: str) -> None:
    content = record(0, b"k", b"one") + odd + record(2, b"k", b"three")
    records, position = fetch(batch(PACK[codec](content), 3, codec))
    assert values(records) == [b"one", Undecodable, b"three"]
    assert [one.offset for one in records] == [0, 1, 2]
    assert records[1].first == 1
    assert position == 3


def test_headers_cost_nothing_and_their_names_may_be_anything() -> None:
    many = [(b"", b"")] * 100_000
    content = record(0, b"k", b"one", [(b"\xff\xfe", b"1")]) + record(1, b"k", b"two", many)
    records, _ = fetch(batch(content, 2))
    assert values(records) == [b"one", b"two"]


def test_a_record_without_key_or_value_is_a_record() -> None:
    assert fetch(batch(record(0, None, None), 1))[0] == [Fetched(0, None, None, NOW)]


def test_more_records_than_offsets_are_undecodable() -> None:
    records, position = fetch(batch(GOOD, 2, last=0) + batch(GOOD, 2, base=1))
    assert values(records) == [Undecodable, b"one", b"two"]
    assert position == 3


def test_a_batch_that_compaction_has_thinned_out_keeps_its_offsets() -> None:
    records, position = fetch(batch(record(3, b"k", b"v"), 1, last=8))
    assert [one.offset for one in records] == [3]
    assert position == 9
    assert fetch(batch(b"", 0, last=8)) == ([], 9)


def test_a_position_in_the_middle_of_a_batch_is_kept() -> None:
    assert values(fetch(batch(GOOD, 2), position=1)[0]) == [b"two"]


def test_a_fetch_hands_on_so_many_bytes_and_the_next_one_goes_on_behind_them() -> None:
    one = b"".join(record(place, b"k", b"v" * 1_000_000) for place in range(3))
    batches = [batch(one, 3, base=base) for base in range(0, 30, 3)]
    got, position, bounds = [], 0, Bounds(LIMIT)
    while position < 30:
        records, after = fetch(b"".join(batches[position // 3 :]), bounds, position)
        assert 0 < sum(len(one.value) for one in records) <= AT_ONCE * LIMIT + 1_000_000
        assert after == position + len(records)
        got += [one.offset for one in records]
        position = after
    assert got == list(range(30))


def test_a_position_far_into_a_batch_of_very_many_records_is_reached() -> None:
    count = AT_ONCE * LIMIT // OVERHEAD + 10
    data = batch(PACK["zstd"](b"".join(record(place, None, None) for place in range(count))), count, "zstd")
    records, position = fetch(data)
    assert len(records) == position == count - 10
    assert [one.offset for one in fetch(data, position=position)[0]] == list(range(position, count))


@pytest.mark.parametrize("codec", [0, 1])
def test_batches_of_old_formats_are_read(codec: int) -> None:
    builder = LegacyRecordBatchBuilder(1, codec, 100_000)
    for offset in range(2):
        builder.append(offset, NOW, b"k", b"v" * 100)
    data = bytes(builder.build())
    if codec:
        data = (1).to_bytes(8, "big") + data[8:]  # a broker gives packed messages the offset of the last of them
    records, position = fetch(data)
    assert records == [Fetched(0, b"k", b"v" * 100, NOW), Fetched(1, b"k", b"v" * 100, NOW)]
    assert position == 2


def test_a_bomb_of_an_old_format_is_undecodable() -> None:
    builder = LegacyRecordBatchBuilder(1, 1, 20_000_000)
    builder.append(0, NOW, b"k", b"\0" * 10_000_000)
    assert values(fetch(bytes(builder.build()))[0]) == [Undecodable]


@given(st.binary(max_size=200), st.integers(0, 20), st.sampled_from(sorted(PACK)), st.booleans())
def test_whatever_a_batch_holds_reading_goes_on_behind_it(content: bytes, count: int, codec: str, packed: bool) -> None:
    content = PACK[codec](content) if packed else content
    records, position = fetch(batch(content, count, codec, last=19) + batch(GOOD, 2, base=20))
    assert values(records[-2:]) == [b"one", b"two"]
    assert position == 22
    assert all(before.offset < after.offset for before, after in pairwise(records))


def test_a_letter_names_all_offsets_and_what_was_wrong_and_holds_nothing() -> None:
    output = BatchOutput("t", 3, "suite", {})
    output.add_dead_letter(Undecodable(9, 5, NOW, "expected better"), Reason.TOMBSTONE, "no value")
    (letter,) = output.outputs
    assert (letter.key, letter.value) == (None, None)
    assert letter.headers == [
        ("topic", b"t"),
        ("partition", b"3"),
        ("offset", b"5"),
        ("reason", b"undecodable"),
        ("detail", b"expected better"),
        ("last_offset", b"9"),
    ]
    assert output.deltas.dead_letters == {("t", Reason.UNDECODABLE): 1}


def test_no_more_is_fetched_while_so_many_bytes_wait() -> None:
    buffer, place = RecordBuffer(100, 1_000), TP("t", 0)
    buffer.open({0, 1})
    buffer.put(place, [Fetched(0, b"k", b"v" * 600, NOW)])
    assert buffer.has_space(1)
    buffer.put(place, [Fetched(1, b"k", b"v" * 600, NOW)])
    assert not buffer.has_space(0)
    assert not buffer.has_space(1)
    taken = asyncio.run(buffer.take())
    assert buffer.has_space(0)
    buffer.put_back(0, taken.records)
    assert not buffer.has_space(1)
    buffer.close()
    buffer.open({1})
    assert buffer.has_space(1)


@pytest.fixture
def as_before() -> Iterator[None]:
    """Put aiokafka's own parsers back in their places."""
    kept = fetcher.MemoryRecords, fetcher.PartitionRecords
    yield
    fetcher.MemoryRecords, fetcher.PartitionRecords = kept


@pytest.mark.usefixtures("as_before")
def test_a_fetcher_unpacks_within_the_bounds_that_were_installed() -> None:
    Bounds(LIMIT).install()
    assert fetcher.PartitionRecords is BoundedRecords
    assert isinstance(fetcher.MemoryRecords(b""), RecordBatches)


def marker(key: bytes | None, crc: int | None = None) -> bytes:
    """Make the batch with which a broker ends a transaction."""
    made = bytearray(batch(record(0, key, b""), 1, crc=crc))
    made[21:23] = (0x30).to_bytes(2)  # transactional, and control
    return bytes(made)


@pytest.mark.parametrize("key", [b"\0\0\0\1", b"\0\0\0\0", b"\0", None])
def test_the_end_of_a_transaction_without_a_checksum_or_sense_ends_no_reader_and_hides_nothing(
    key: bytes | None,
) -> None:
    """librdkafka's mock writes none; whoever reads committed records asks what the end says."""
    after = batch(record(0, b"k", b"after"), 1, base=1)
    records, position = fetch(marker(key, crc=0) + after)
    assert (values(records), position) == ([b"after"], 2)
