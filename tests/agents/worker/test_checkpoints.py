"""A checkpoint reads back, those of later versions too, and one that cannot be read is named."""

import pytest

from turnsignal.agents.worker.bisection import Caution
from turnsignal.agents.worker.checkpoints import (
    HEADER,
    KEY,
    Checkpoint,
    checkpoint_record,
    find_checkpoint,
    read_checkpoint,
)
from turnsignal.stream.conversations.clock import Moment
from turnsignal.stream.errors import SchemaError


def test_a_checkpoint_reads_back() -> None:
    written = Checkpoint(
        positions={"turns": 40, "forget": 2},
        ids={"turns": "a1"},
        fed=Moment(1.5, 2.5, "boot"),
        starts=2,
        caution=Caution(7, 9),
        begun="turns",
    )
    key, value, headers = checkpoint_record(written)
    assert (key, value, [name for name, _ in headers]) == (KEY, None, [HEADER])
    assert read_checkpoint(find_checkpoint(headers) or b"") == written


def test_the_last_state_of_a_batch_takes_its_checkpoint_along() -> None:
    key, value, headers = checkpoint_record(Checkpoint(positions={"turns": 2}), {b"a": b"1", b"b": b"2", b"gone": None})
    assert (key, value) == (b"b", b"2")
    assert headers == checkpoint_record(Checkpoint(positions={"turns": 2}))[2]


@pytest.mark.parametrize("changes", [None, {}, {b"gone": None}, {b"large": b"x" * 100_000}])
def test_a_checkpoint_stands_alone_where_no_state_has_room_for_it(changes: dict[bytes, bytes | None] | None) -> None:
    assert checkpoint_record(Checkpoint(), changes)[:2] == (KEY, None)


def test_a_tombstone_without_a_checkpoint_is_none() -> None:
    assert find_checkpoint(None) is None
    assert find_checkpoint([("other", b"x")]) is None


@pytest.mark.parametrize(
    "content", [b"", b"[1]", b'{"positions": 7}', b"\xff", b'{"begun": "\xff\xfe"}', b'{"x": ' + b"[" * 100_000]
)
def test_a_checkpoint_that_cannot_be_read_is_named(content: bytes) -> None:
    with pytest.raises(SchemaError, match="expected a checkpoint"):
        read_checkpoint(content)


def test_a_newer_checkpoint_says_which_turnsignal_reads_it_and_what_mends_a_damaged_one() -> None:
    with pytest.raises(
        SchemaError, match=r"expected checkpoint state of version 1 or older, got 2: .* start that release"
    ):
        read_checkpoint(b'{"schema": 2}')
    with pytest.raises(SchemaError, match=r"it is damaged: `turnsignal topics repair APP --to accept` writes one anew"):
        read_checkpoint(b'{"schema": 2}')


def test_a_checkpoint_with_fields_of_a_later_version_is_read() -> None:
    assert read_checkpoint(b'{"positions": {"turns": 3}, "colour": "red"}') == Checkpoint(positions={"turns": 3})


def test_a_checkpoint_is_written_as_ever() -> None:
    checkpoint = Checkpoint(
        positions={"turns": 3}, ids={"turns": "a1"}, starts=2, caution=Caution(7, 9, "turns", 1, "E", 2), begun="turns"
    )
    assert checkpoint.encode() == (
        b'{"positions":{"turns":3},"ids":{"turns":"a1"},"starts":2,'
        b'"caution":{"size":7,"remaining":9,"inputs":"turns","failures":1,"why":"E","ends":2},"begun":"turns"}'
    )
