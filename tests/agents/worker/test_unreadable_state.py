"""State that no version reads is found in each app, and never taken for a newer version's; its place is said."""

import msgspec
import pytest

from turnsignal.agents.app_table import APPS
from turnsignal.agents.worker.unreadable_state import (
    describe_unreadable_entries,
    find_unreadable,
    locate_unreadable,
)
from turnsignal.stream.conversations.state import VERSION, Conversation
from turnsignal.stream.errors import UnreadableStateError
from turnsignal.stream.judging.docket_state import STATE, StoredDocket
from turnsignal.stream.pipeline.series_state import Series

#: app → key and value of an entry that it reads
GOOD = {
    "score": (b"c-1", Conversation().snapshot()),
    "watch": (b"a|nDCG@5", Series(3, 7, 0.0, "a", "nDCG@5").snapshot()),
    "judge": (STATE, StoredDocket(1, 7, 0, 0, [], [], []).encode()),
}


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("damage", [b"", b"[", b"[1, 8]", b"\xc1", b'{"a": 1}', b"\x92\x01\xa1a"])
def test_what_no_version_reads_is_named_beside_what_is_read(app: str, damage: bytes) -> None:
    key, value = GOOD[app]
    assert not find_unreadable(app, {key: value})
    unreadable = find_unreadable(app, {key: damage})
    assert list(unreadable.damaged) == [key]
    said = describe_unreadable_entries(app, "t-changelog", 3, unreadable)
    assert said.startswith(f"t-changelog-3, key {key.decode()!r}: expected ")
    assert f"`turnsignal topics repair {app} --drop-unreadable`" in said


def test_an_incident_that_no_version_reads_is_named() -> None:
    assert list(find_unreadable("watch", {b"incident:x": b"{"}).damaged) == [b"incident:x"]


def test_how_many_there_are_is_said() -> None:
    unreadable = find_unreadable("score", {b"c-%d" % n: b"{" for n in range(1_200)})
    assert "key 'c-0' (and 1,199 more): expected" in describe_unreadable_entries("score", "t", 0, unreadable)


@pytest.mark.parametrize(
    ("app", "key", "newer"),
    [
        ("score", b"c-2", msgspec.msgpack.encode([VERSION + 1, 0.0, 0.0, 0])),
        ("watch", b"a|nDCG@5", msgspec.msgpack.encode([99, 7])),
        ("watch", b"incident:x", b'{"schema":99,"id":"x"}'),
        ("judge", STATE, msgspec.msgpack.encode([99, 7])),
    ],
)
def test_what_a_newer_version_wrote_is_not_taken_for_damaged(app: str, key: bytes, newer: bytes) -> None:
    unreadable = find_unreadable(app, {**dict([GOOD[app]]), key: newer})
    assert (unreadable.damaged, list(unreadable.newer)) == ({}, [key])
    said = describe_unreadable_entries(app, "t-changelog", 3, unreadable)
    assert said.startswith(f"t-changelog-3, key {key.decode()!r}: expected ")
    assert "a newer turnsignal wrote it" in said
    assert f"`turnsignal topics repair {app} --drop-newer`" in said
    assert "--drop-unreadable" not in said


def test_damaged_state_is_named_before_what_a_newer_version_wrote() -> None:
    unreadable = find_unreadable("score", {b"c-1": msgspec.msgpack.encode([99, 0.0, 0.0, 0]), b"c-2": b"{"})
    said = describe_unreadable_entries("score", "t-changelog", 3, unreadable)
    assert said.startswith("t-changelog-3, key 'c-2': expected ")
    assert said.endswith("1 key of a newer version beside it")


def test_an_error_names_the_entry_that_it_is_about() -> None:
    error = UnreadableStateError("expected a conversation's state")
    error.key = b"c-2"
    located = locate_unreadable("score", "t-changelog", 3, {b"c-1": b"[", b"c-2": b"{"}, error)
    assert str(located).startswith("t-changelog-3, key 'c-2': expected ")
    error.key = None
    assert str(locate_unreadable("score", "t-changelog", 3, {b"c-1": b"["}, error)).startswith(
        "t-changelog-3, key 'c-1'"
    )


def test_an_error_is_its_own_where_every_entry_reads_as_one() -> None:
    error = KeyError("another thing")
    assert locate_unreadable("score", "t-changelog", 3, dict([GOOD["score"]]), error) is error
