"""What is fetched of a partition becomes records, up to the end that is wanted."""

import gzip

import pytest
from aiokafka.consumer.fetcher import READ_COMMITTED, READ_UNCOMMITTED

from tests.kafka.raw import NOW, batch, record
from turnsignal.agents.kafka.fetching import PartitionFetch
from turnsignal.agents.kafka.log_records import LogRecord, LogUnpacker
from turnsignal.stream.errors import TurnsignalError

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


def test_where_no_batch_stands_is_said_with_its_place() -> None:
    sound = batch(record(0, b"k", b"one"), 1)
    assert unpack(sound + bytes(40)) == (unpack(sound)[0], 1)
    with pytest.raises(TurnsignalError, match=r"expected record batches at t-3, offset 5: .*got one of 12 bytes"):
        unpack(bytes(40), offset=5)
