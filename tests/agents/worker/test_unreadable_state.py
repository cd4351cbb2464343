"""State that no version reads is found in each app, and never taken for a newer version's."""

import msgspec
import pytest

from turnsignal.agents.app_table import APPS
from turnsignal.agents.worker.unreadable_state import describe_unreadable_entries, find_unreadable
from turnsignal.stream.conversations.state import VERSION, Conversation
from turnsignal.stream.errors import SchemaError
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
    assert find_unreadable(app, {key: value}) == {}
    unreadable = find_unreadable(app, {key: damage})
    assert list(unreadable) == [key]
    said = describe_unreadable_entries(app, "t-changelog", 3, unreadable)
    assert said.startswith(f"t-changelog-3, key {key.decode()!r}: expected ")
    assert f"`turnsignal topics repair {app} --drop-unreadable`" in said


def test_an_incident_that_no_version_reads_is_named() -> None:
    assert list(find_unreadable("watch", {b"incident:x": b"{"})) == [b"incident:x"]


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
    with pytest.raises(SchemaError, match="a newer turnsignal wrote it"):
        find_unreadable(app, {**dict([GOOD[app]]), key: newer})
