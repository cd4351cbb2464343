"""What is fetched of a partition becomes records, up to the end that is wanted."""

import gzip

import cramjam
import pytest
from aiokafka.consumer.fetcher import READ_COMMITTED, READ_UNCOMMITTED
from hypothesis import example, given
from hypothesis import strategies as st

from tests.kafka.raw import NOW, batch, record
from turnsignal.agents.kafka.fetching import PartitionFetch
from turnsignal.agents.kafka.log_records import LogRecord, LogUnpacker, PairsUnpacker
from turnsignal.agents.kafka.records import read_headers
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.wire import Undecodable

LIMIT = 4_000_000
ABORT, COMMIT = b"\0\0\0\0", b"\0\0\0\1"


def unpack(
    data: bytes, end: int = 100, *, offset: int = 0, aborted: list[tuple[int, int]] | None = None
) -> tuple[list[LogRecord], int]:
    level = READ_UNCOMMITTED if aborted is None else READ_COMMITTED
    fetched = PartitionFetch(3, offset, 0, 100, 100, aborted or [], data)
    return LogUnpacker("t", LIMIT, level).unpack(fetched, end)


def values(records: list[LogRecord]) -> list[bytes | None]:
    return [each.value for each in records]


def of(producer: int, base: int, value: bytes) -> bytes:
    """Spell a batch of a transaction."""
    return batch(record(0, b"k", value), 1, base=base, producer=(producer, 0, base))


def end_of(producer: int, base: int, how: bytes) -> bytes:
    return batch(record(0, how, b""), 1, base=base, producer=(producer, 0, -1), control=True)


def test_a_record_has_its_partition_its_time_and_its_headers() -> None:
    ((read,), position) = unpack(batch(record(0, b"k", b"v", [(b"name", b"1")]), 1, base=7), offset=7)
    assert read[:5] == (3, 7, b"k", b"v", NOW)
    assert read.headers == [("name", b"1")]
    assert position == 8


def test_records_behind_the_end_are_left_out() -> None:
    data = batch(record(0, b"k", b"one") + record(1, b"k", b"two"), 2)
    records, position = unpack(data, 1)
    assert (values(records), position) == ([b"one"], 2)


def test_what_nobody_can_read_is_passed_over_and_said_once(caplog: pytest.LogCaptureFixture) -> None:
    damage = gzip.compress(record(0, b"k", b"one") + record(1, b"k", b"two", length=900))
    data = batch(damage, 2, "gzip") + batch(damage, 2, "gzip", base=2)
    records, position = unpack(data, 3)
    assert (values(records), position) == ([b"one", b"one"], 4)
    (said,) = caplog.messages
    assert said.startswith("t-3, offsets 1 to 1: passed over, as nobody can read them: expected a record within")


def test_what_a_producer_commits_between_two_transactions_that_it_aborts_is_read() -> None:
    data = b"".join(
        (
            of(1, 0, b"aborted"),
            of(2, 1, b"another's"),
            end_of(1, 2, ABORT),
            of(1, 3, b"committed"),
            end_of(1, 4, COMMIT),
            of(1, 5, b"aborted"),
            end_of(1, 6, ABORT),
            batch(record(0, b"k", b"plain"), 1, base=7),
        )
    )
    aborted = [(1, 5), (1, 0)]
    assert values(unpack(data, aborted=aborted)[0]) == [b"another's", b"committed", b"plain"]
    assert unpack(data, aborted=aborted)[1] == 8
    assert len(unpack(data)[0]) == 5


def rot(data: bytes, start: int, at: int, byte: int) -> bytes:
    """Change a byte of a batch that begins at `start`, and not its checksum."""
    return data[: start + at] + bytes((byte,)) + data[start + at + 1 :]


@pytest.mark.parametrize("at", range(61, 70))
@pytest.mark.parametrize("bit", [0, 7])
def test_a_marker_that_rotted_hides_nothing_that_its_producer_commits_later(at: int, bit: int) -> None:
    before = of(1, 0, b"aborted")
    marker = end_of(1, 1, ABORT)
    data = before + marker + of(1, 2, b"committed") + end_of(1, 3, COMMIT)
    rotten = rot(data, len(before), at, marker[at] ^ (1 << bit))
    records, position = unpack(rotten, aborted=[(1, 0)])
    assert (values(records), position) == ([b"committed"], 4)


def test_behind_a_marker_whose_producer_rotted_the_broker_is_asked_again_what_was_aborted() -> None:
    before, behind = of(1, 0, b"aborted"), of(1, 2, b"committed") + end_of(1, 3, COMMIT)
    rotten = rot(before + end_of(1, 1, ABORT) + behind, len(before), 43 + 7, 9)
    assert unpack(rotten, aborted=[(1, 0)]) == ([], 2)
    records, position = unpack(behind, offset=2, aborted=[])
    assert (values(records), position) == ([b"committed"], 4)


def test_a_marker_whose_end_rotted_hides_none_of_those_behind_it() -> None:
    data = end_of(1, 0, COMMIT) + batch(record(0, b"k", b"one"), 1, base=1)
    for aborted in ([], None):
        records, position = unpack(rot(data, 0, 23, 1), aborted=aborted)
        assert (values(records), position) == ([b"one"], 2)


def test_records_that_rotted_to_a_marker_are_not_passed_over_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    rotten = rot(batch(record(0, b"k", b"one" * 20), 1), 0, 22, 32)
    unpacker = LogUnpacker("t", LIMIT, READ_COMMITTED)
    for _ in range(2):
        assert not unpacker.unpack(PartitionFetch(3, 0, 0, 2, 2, [], rotten), 2)[0]
    assert "passed over, as nobody can read them" in caplog.messages[0]


def test_a_batch_whose_end_rotted_hides_none_of_those_behind_it() -> None:
    first, second = batch(record(0, b"k", b"one"), 1), batch(record(0, b"k", b"two"), 1, base=1)
    rotten = rot(first + second, 0, 23, 1)  # of its last offset, which is 16,777,216 now
    unpacker = LogUnpacker("t", LIMIT, READ_UNCOMMITTED)
    fetched = PartitionFetch(3, 0, 0, 2, 2, [], rotten)
    assert unpacker.unpack(fetched, 2) == ([], 0), "it may have been hurt on its way"
    records, position = unpacker.unpack(fetched, 2)
    assert (values(records), position) == ([b"two"], 2)


def test_where_no_batch_stands_is_said_with_its_place() -> None:
    sound = batch(record(0, b"k", b"one"), 1)
    assert unpack(sound + bytes(40)) == (unpack(sound)[0], 1)
    with pytest.raises(TurnsignalError, match=r"expected record batches at t-3, offset 5: .*got one of 12 bytes"):
        unpack(bytes(40), offset=5)


@given(st.binary(max_size=200), st.integers(0, 20), st.sampled_from(["none", "zstd"]))
@example(b"".join(record(place, b"k", b"v" * 300, [(b"name", b"1")]) for place in (0, 5, 19)), 3, "zstd")
@example(record(0, None, b"v" * 70_000) + record(3, b"", None), 2, "none")
@example(record(1, b"k", b"v") + record(1, b"k", b"again"), 2, "none")
@example(record(0, b"k", b"v") + record(1, b"k", b"v", length=5_000), 2, "none")
def test_pairs_are_those_of_the_records_whatever_a_batch_holds(content: bytes, count: int, codec: str) -> None:
    content = bytes(cramjam.zstd.compress(content)) if codec == "zstd" else content
    sound = record(0, b"k", b"one") + record(1, b"k", b"two")
    fetched = PartitionFetch(3, 0, 0, 22, 22, [], batch(content, count, codec, last=19) + batch(sound, 2, base=20))
    lost: list[tuple[int, Undecodable]] = []
    lost_of_pairs: list[tuple[int, Undecodable]] = []
    records, position = LogUnpacker("t", LIMIT, READ_COMMITTED, lambda *each: lost.append(each)).unpack(fetched, 22)
    unpacker = PairsUnpacker("t", LIMIT, READ_COMMITTED, lambda *each: lost_of_pairs.append(each))
    parts, position_of_pairs = unpacker.unpack(fetched, 22)
    assert [pair for part in parts for pair in part.pairs] == [(each.key, each.value) for each in records]
    assert [each for part in parts for each in part.headers if read_headers(each[1])] == [
        (each.offset, each.encoded_headers) for each in records if each.headers
    ]
    assert (lost_of_pairs, position_of_pairs) == (lost, position)
