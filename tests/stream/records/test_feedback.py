"""Feedback as it comes in: strict, bounded, refused with a reason."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.records.feedback import MAX_REASON, MAX_RECORD, decode_feedback, rater_digest

RIGHT = {"id": "f1", "conversation_id": "c", "turn_id": "a1", "kind": "vote", "vote": -1}
RIGHT |= {"timestamp": "2025-06-15T12:00:00Z"}
LABEL = {"kind": "label", "vote": None}


def spelled(**changes: object) -> bytes:
    given = {name: value for name, value in (RIGHT | changes).items() if value is not None}
    return orjson.dumps(given)


def test_a_vote_is_read_with_its_time_and_who_gave_it() -> None:
    found = decode_feedback(spelled(reason="wrong year", rater="u-7", other={"x": [1]}), b"c", 1_750_000_000.0)
    assert (found.vote, found.reason, found.rater, found.time) == (-1, "wrong year", "u-7", 1_749_988_800.0)


@pytest.mark.parametrize("kind", ["search", "handoff", "copied", "edited"])
def test_what_a_user_did_needs_nothing_beside_it(kind: str) -> None:
    assert decode_feedback(spelled(kind=kind, vote=None)).kind == kind


@pytest.mark.parametrize("said", [{"value": 1}, {"value": 0.25}, {"label": "off topic"}, {"value": 0.5, "label": "x"}])
def test_a_label_has_a_scorer_and_a_value_or_a_class(said: dict[str, Any]) -> None:
    found = decode_feedback(spelled(**LABEL, scorer="groundedness", **said))
    assert (found.value, found.label) == (said.get("value"), said.get("label"))


def test_a_time_without_a_zone_counts_as_utc() -> None:
    assert decode_feedback(spelled(timestamp="2025-06-15T12:00:00")).time == 1_749_988_800.0


WRONG: dict[str, tuple[bytes | None, Reason]] = {
    "no value": (None, Reason.TOMBSTONE),
    "nothing": (b"", Reason.NOT_JSON),
    "half of it": (spelled()[:-5], Reason.NOT_JSON),
    "no UTF-8": (b"\xff", Reason.NOT_JSON),
    "half a character": (b'{"id": "\\ud800"}', Reason.NOT_JSON),
    "very deep": (b"[" * 50_000, Reason.TOO_DEEP),
    "a list": (b"[]", Reason.WRONG_TYPE),
    "a turn": (orjson.dumps({"conversation_id": "c", "turn_id": "t", "role": "user"}), Reason.MISSING_FIELD),
    "no id": (spelled(id=None), Reason.MISSING_FIELD),
    "no time": (spelled(timestamp=None), Reason.MISSING_FIELD),
    "a vote without one": (spelled(vote=None), Reason.MISSING_FIELD),
    "a label without a scorer": (spelled(**LABEL, value=1.0), Reason.MISSING_FIELD),
    "a label that says nothing": (spelled(**LABEL, scorer="s"), Reason.MISSING_FIELD),
    "another kind": (spelled(kind="love"), Reason.WRONG_TYPE),
    "a vote of 5": (spelled(vote=5), Reason.WRONG_TYPE),
    "a value of true": (spelled(**LABEL, scorer="s", value=True), Reason.WRONG_TYPE),
    "a vote in words": (spelled(vote="1"), Reason.WRONG_TYPE),
    "a value of 2": (spelled(**LABEL, scorer="s", value=2), Reason.WRONG_TYPE),
    "a value in words": (spelled(**LABEL, scorer="s", value="0.5"), Reason.WRONG_TYPE),
    "a number as id": (spelled(id=7), Reason.WRONG_TYPE),
    "an empty id": (spelled(id=""), Reason.BAD_ID),
    "a long id": (spelled(id="f" * 201), Reason.BAD_ID),
    "a line break in an id": (spelled(id="f\n"), Reason.BAD_ID),
    "a long turn id": (spelled(turn_id="t" * 201), Reason.BAD_ID),
    "a long reason": (spelled(reason="x" * (MAX_REASON + 1)), Reason.TOO_LARGE),
    "a long rater": (spelled(rater="x" * 201), Reason.TOO_LARGE),
    "a large record": (spelled(other="x" * MAX_RECORD), Reason.TOO_LARGE),
    "a number as time": (spelled(timestamp=1_750_000_000), Reason.BAD_TIMESTAMP),
    "a day as time": (spelled(timestamp="2025-06-15"), Reason.BAD_TIMESTAMP),
    "a time in words": (spelled(timestamp="yesterday"), Reason.BAD_TIMESTAMP),
    "the day after tomorrow": (spelled(timestamp="2025-06-18T12:00:01Z"), Reason.FUTURE_TIMESTAMP),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_feedback_is_refused_with_its_reason(name: str) -> None:
    value, reason = WRONG[name]
    with pytest.raises(Refused) as refused:
        decode_feedback(value, b"c", 1_750_000_000.0 + 86_400)
    assert refused.value.reason is reason
    assert "expected" in refused.value.detail or "should" in refused.value.detail


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (b"", Reason.EMPTY_KEY),
        (b"d", Reason.KEY_MISMATCH),
        (b"k" * 1000, Reason.BAD_ID),
        (b"\xff", Reason.KEY_MISMATCH),
    ],
)
def test_a_key_that_is_not_the_conversation_is_refused(key: bytes, reason: Reason) -> None:
    with pytest.raises(Refused) as refused:
        decode_feedback(spelled(), key)
    assert refused.value.reason is reason


def test_a_refusal_quotes_no_reason() -> None:
    with pytest.raises(Refused) as refused:
        decode_feedback(spelled(reason=["my password is hunter2"]))
    assert "hunter2" not in refused.value.detail


def test_a_rater_is_kept_as_a_digest_that_is_the_same_everywhere() -> None:
    assert rater_digest("u-7") == rater_digest("u-7") != rater_digest("u-8")
    assert len(rater_digest("ü" * 200)) == 16


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*RIGHT, "reason", "scorer", "value", "label", "rater"]), JSON, max_size=3))
def test_whatever_comes_is_read_or_refused(changes: dict[str, Any]) -> None:
    try:
        value = orjson.dumps(RIGHT | changes)
    except (TypeError, orjson.JSONEncodeError):  # integers beyond 64 bits, halves of characters
        return
    try:
        found = decode_feedback(value)
    except Refused:
        return
    assert found.kind in ("vote", "search", "handoff", "copied", "edited", "label")
    assert found.vote in (None, -1, 1)
    assert found.value is None or 0 <= found.value <= 1
