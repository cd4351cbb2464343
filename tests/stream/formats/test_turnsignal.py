"""Small deviations of turns have one obvious reading; what has two is refused as before."""

from collections import Counter
from typing import Any

import orjson
import pytest

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.formats.turnsignal import mend_line
from turnsignal.stream.records.turns import Turn, decode_turn

RIGHT = {"conversation_id": "c", "turn_id": "t", "role": "user", "text": "a", "timestamp": "2025-06-15T12:00:00Z"}
NOON = 1_749_988_800


def mended(**changes: Any) -> tuple[Turn | None, list[str]]:
    line = {key: value for key, value in (RIGHT | changes).items() if value != "leave out"}
    assumed: Counter[str] = Counter()
    spelled = mend_line(orjson.dumps(line), "turns:7", assumed)
    return (None if spelled is None else decode_turn(spelled)), list(assumed)


@pytest.mark.parametrize(
    ("changes", "field", "value", "told"),
    [
        ({"role": "Human"}, "role", "user", "role human is user"),
        ({"role": "AI"}, "role", "assistant", "role ai is assistant"),
        ({"role": "bot"}, "role", "assistant", "role bot is assistant"),
        ({"role": "customer"}, "role", "user", "role customer is user"),
        ({"role": "Agent"}, "role", "assistant", "role agent is assistant"),
        ({"role": "developer"}, "role", "system", "role developer is system"),
        ({"role": "USER"}, "role", "user", "roles in capitals"),
        ({"timestamp": NOON}, "time", NOON, "a number as timestamp counts seconds since 1970"),
        ({"timestamp": NOON * 1000 + 500}, "time", NOON + 0.5, "a number as timestamp counts milliseconds since 1970"),
        ({"timestamp": NOON * 10**6}, "time", NOON, "a number as timestamp counts microseconds since 1970"),
        ({"timestamp": NOON * 10**9}, "time", NOON, "a number as timestamp counts nanoseconds since 1970"),
        ({"timestamp": "leave out", "date": "2025-06-15 12:00 UTC"}, "time", NOON, "date is timestamp"),
        ({"timestamp": "leave out", "created_at": "2025-06-15T14:00+02:00"}, "time", NOON, "created_at is timestamp"),
        ({"text": "leave out", "content": "b"}, "text", "b", "content is text"),
        ({"text": [{"type": "text", "text": "b"}, "c"]}, "text", "bc", "text is that of its blocks"),
        ({"conversation_id": 17}, "conversation_id", "17", "a number as conversation_id is a text"),
        ({"version": 1.1}, "version", "1.1", "a number as version is a text, and 1.10 the same as 1.1"),
        ({"user_id": 17}, "user_id", "17", "a number as user_id is a text"),
        ({"turn_id": 4}, "turn_id", "4", "a number as turn_id is a text"),
        ({"turn_id": "leave out"}, "turn_id", "turns:7", "turn_id is the file and line, where there is none"),
    ],
)
def test_a_deviation_with_one_reading_is_read_and_told(changes: Any, field: str, value: Any, told: str) -> None:
    turn, assumed = mended(**changes)
    assert getattr(turn, field) == value
    assert assumed == [told]


def test_documents_may_be_ids_or_have_an_id_by_another_name() -> None:
    turn, assumed = mended(retrieved=["d1", {"id": "d2", "rank": 5}, {"doc_id": "d3"}])
    assert turn is not None
    assert [(document.doc_id, document.rank) for document in turn.retrieved] == [("d1", None), ("d2", 5), ("d3", None)]
    assert assumed == ["a text is a document's id", "id is doc_id"]


@pytest.mark.parametrize(
    "changes",
    [
        {"role": "narrator"},
        {"timestamp": "yesterday"},
        {"timestamp": "leave out"},
        {"timestamp": "leave out", "date": "2026-11-01"},  # a day alone
        {"timestamp": "leave out", "time": 12.5},  # a duration
        {"timestamp": "leave out", "time": "soon"},
        {"conversation_id": "leave out"},
        {"text": "leave out"},
        {"vote": 5},
        {"retrieved": [{"title": "x", "rank": 0, "doc_id": "d"}]},
    ],
)
def test_what_has_no_obvious_reading_stays_for_the_reason_to_be_told(changes: Any) -> None:
    assert mended(**changes) == (None, [])


def test_a_line_that_a_topic_takes_stays_as_it_is() -> None:
    assert mended() == (None, [])
    assert mended(retrieved=[{"doc_id": 17}], surprise=1) == (None, [])


def test_a_turn_is_refused_for_what_nobody_can_read_and_not_for_a_number_as_id() -> None:
    assumed: Counter[str] = Counter()
    line = orjson.dumps({**RIGHT, "conversation_id": 7, "timestamp": "20.11.2026 09:00"})
    spelled = mend_line(line, "turns:7", assumed)
    assert spelled is not None
    with pytest.raises(Refused) as refused:
        decode_turn(spelled)
    assert refused.value.reason == Reason.BAD_TIMESTAMP
    assert not assumed


def test_a_time_by_another_name_that_cannot_be_read_is_shown() -> None:
    with pytest.raises(Refused) as refused:
        mended(timestamp="leave out", created_at="20/11/2025 10:00")
    assert refused.value.reason is Reason.BAD_TIMESTAMP
    assert "20/11/2025 10:00" in refused.value.shown
