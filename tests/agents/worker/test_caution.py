"""What a partition that failed does next, and how a take-over knows of it."""

import pytest

from turnsignal.agents.worker.caution import Caution
from turnsignal.agents.worker.checkpoints import (
    COMPUTED,
    HEADER,
    KEY,
    Checkpoint,
    checkpoint_record,
    read_checkpoint,
    resume,
)
from turnsignal.stream.conversations.clock import Moment
from turnsignal.stream.errors import SchemaError

AT = {"turns": 40, "forget": 2}


def sizes_until_exhausted(caution: Caution) -> list[int]:
    sizes = [caution.size]
    while not caution.exhausted:
        caution = caution.failed("turns")
        sizes.append(caution.size)
    return sizes


def test_a_batch_that_comes_to_nothing_shrinks_to_one_record_which_has_two_tries() -> None:
    assert sizes_until_exhausted(Caution.first(2000)) == [62, 1, 1, 1]


def test_a_single_record_of_another_input_has_tries_of_its_own() -> None:
    caution = Caution(1, 10).failed("turns").failed("forget")
    assert (caution.failures, caution.exhausted) == (1, False)


def test_caution_grows_with_each_batch_that_is_committed_and_ends() -> None:
    caution: Caution | None = Caution(1, 2000)
    sizes = []
    while caution is not None:
        sizes.append(caution.size)
        caution = caution.passed(caution.size)
    assert sizes == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
    assert Caution.first(100).passed(100) is None


def test_after_a_record_that_was_set_aside_the_next_one_is_tried_alone_too() -> None:
    assert Caution(1, 50, "turns", 2, ends=2).passed(1, set_aside=True) == Caution(1, 49, ends=2)


def test_the_error_of_the_last_try_outlives_the_worker() -> None:
    caution = Caution(1, 9, "turns", 1, "ValueError (x.py:1)")
    before = Checkpoint(positions=AT, starts=4, caution=caution, begun="turns")
    assert resume(before, AT, 2000, waiting=9000)[1] == Caution(1, 9, "turns", 2, "ValueError (x.py:1)", 1)


def test_a_first_take_over_is_not_careful() -> None:
    assert resume(None, AT, 2000, waiting=9000) == (1, None)


def test_the_second_take_over_at_one_position_with_records_waiting_is_careful() -> None:
    before = Checkpoint(positions=AT, starts=1)
    assert resume(before, AT, 2000, waiting=9000) == (2, Caution.first(2000))


def test_take_overs_of_a_quiet_partition_are_not_suspicious() -> None:
    before = Checkpoint(positions=AT, starts=0)
    assert resume(before, AT, 2000, waiting=0) == (0, None)


def test_a_batch_that_was_committed_ends_suspicion() -> None:
    before = Checkpoint(positions={"turns": 20, "forget": 2}, starts=3, caution=Caution(1, 5))
    assert resume(before, AT, 2000, waiting=9000) == (1, None)


def test_a_batch_that_began_and_was_never_committed_has_ended_its_worker() -> None:
    before = Checkpoint(positions=AT, starts=4, caution=Caution(1, 9, "turns", 1), begun="turns")
    assert resume(before, AT, 2000, waiting=9000) == (5, Caution(1, 9, "turns", 2, ends=1))


def test_a_batch_that_was_computed_and_never_committed_is_made_smaller_and_blames_no_record() -> None:
    before = Checkpoint(positions=AT, starts=4, caution=Caution(500, 2000), begun=COMPUTED)
    assert resume(before, AT, 2000, waiting=9000)[1] == Caution(15, 2000)
    single = Caution(1, 9, "turns", 1)
    assert resume(Checkpoint(positions=AT, caution=single, begun=COMPUTED), AT, 2000, waiting=9000)[1] == single


def test_a_part_of_what_failed_is_a_part_of_the_records_that_there_were() -> None:
    assert resume(Checkpoint(positions=AT, starts=1), AT, 2000, waiting=80)[1] == Caution(2, 80)
    assert Caution(62, 2000).within(40).ended("turns") == Caution(1, 2000, ends=1)


def test_a_careful_take_over_that_began_nothing_is_as_careful_as_before() -> None:
    before = Checkpoint(positions=AT, starts=4, caution=Caution(7, 9))
    assert resume(before, AT, 2000, waiting=9000)[1] == Caution(7, 9)


def test_a_checkpoint_reads_back() -> None:
    written = Checkpoint(
        positions=AT, ids={"turns": "a1"}, fed=Moment(1.5, 2.5, "boot"), starts=2, caution=Caution(7, 9), begun="turns"
    )
    key, value, headers = checkpoint_record(written)
    assert (key, value, [name for name, _ in headers]) == (KEY, None, [HEADER])
    assert read_checkpoint(headers) == written


def test_a_tombstone_without_a_checkpoint_is_none() -> None:
    assert read_checkpoint(None) is None
    assert read_checkpoint([("other", b"x")]) is None


@pytest.mark.parametrize("content", [b"", b"[1]", b'{"positions": 7}', b"\xff"])
def test_a_checkpoint_that_cannot_be_read_is_named(content: bytes) -> None:
    with pytest.raises(SchemaError, match="expected a checkpoint"):
        read_checkpoint([(HEADER, content)])


def test_a_newer_checkpoint_says_which_turnsignal_reads_it() -> None:
    with pytest.raises(
        SchemaError, match=r"expected checkpoint state of version 1 or older, got 2: .* start that release"
    ):
        read_checkpoint([(HEADER, b'{"schema": 2}')])


def test_a_checkpoint_with_fields_of_a_later_version_is_read() -> None:
    assert read_checkpoint([(HEADER, b'{"positions": {"turns": 3}, "colour": "red"}')]) == Checkpoint(
        positions={"turns": 3}
    )
