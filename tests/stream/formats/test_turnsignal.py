"""Small deviations of turns have one obvious reading; what has two is refused as before."""

from collections import Counter
from typing import Any

import orjson
import pytest

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.formats.turnsignal import mend_line
from turnsignal.stream.records.turns import Truth, Turn, decode_turn

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
    ("truth", "read", "told"),
    [
        ({"doc_ids": "d1"}, {"doc_ids": ["d1"]}, ["a lone value as truth.doc_ids is a list of one"]),
        ({"doc_ids": [1, 2]}, {"doc_ids": ["1", "2"]}, ["numbers in truth.doc_ids are texts"]),
        ({"doc_ids": ["a", None, " "]}, {"doc_ids": ["a"]}, ["empty places in truth.doc_ids left out"]),
        ({"doc_ids": " ", "agents": "None", "domain": "tax"}, {"domain": "tax"}, []),
        ({"agents": "x", "doc_ids": [{}]}, {"agents": ["x"]}, None),
        ({"chunks": "So, then."}, {"chunks": ["So, then."]}, ["a lone value as truth.chunks is a list of one"]),
        ({"reference": 5}, {"reference": "5"}, ["a number as truth.reference is a text"]),
        ({"difficulty": 2.5}, {"difficulty": "2.5"}, ["a number as truth.difficulty is a text"]),
        ({"doc_ids": "", "domain": "tax"}, {"domain": "tax"}, []),
        ('{"doc_ids": ["d1"]}', {"doc_ids": ["d1"]}, []),
    ],
)
def test_a_label_with_one_reading_is_read_and_told(truth: Any, read: dict[str, Any], told: list[str] | None) -> None:
    turn, assumed = mended(truth=truth)
    assert turn is not None
    assert turn.truth == Truth(**read)
    assert told is None or assumed == told


@pytest.mark.parametrize(
    ("truth", "told"),
    [
        ("d1", "truth that is no object of labels left out"),
        ([1], "truth that is no object of labels left out"),
        (
            {"doc_ids": ["d"] * 10_001},
            "truth.doc_ids that cannot be read (expected `array` of length <= 10000) left out",
        ),
        ({"doc_ids": ["x" * 600]}, "truth.doc_ids that cannot be read (expected `str` of length <= 500) left out"),
        ({"doc_ids": ["d", {}]}, "truth.doc_ids that cannot be read (expected `str`, got `object`) left out"),
        ({"doc_ids": "a, b"}, "truth.doc_ids that cannot be read (expected `array | null`, got `str`) left out"),
        ({"doc_ids": 1e30}, "truth.doc_ids that cannot be read (expected `array | null`, got `float`) left out"),
        ({"domain": True}, "truth.domain that cannot be read (expected `str | null`, got `bool`) left out"),
        ({"reference": {"a": 1}}, "truth.reference that cannot be read (expected `str | null`, got `object`) left out"),
        (
            "{'doc_ids': '\\ud800'}",
            "truth.doc_ids that cannot be read (expected what can be written as JSON, got UnicodeEncodeError) left out",
        ),
        (
            f"{{'reference': 1{'0' * 400}}}",
            "truth.reference that cannot be read (expected `str | null`, got `int`) left out",
        ),
        (
            f"{{'doc_ids': [0x{'f' * 4_000}]}}",
            "truth.doc_ids that cannot be read (expected `str`, got `int`) left out",
        ),
    ],
)
def test_a_label_that_has_no_obvious_reading_is_left_out_of_its_turn_and_told(truth: Any, told: str) -> None:
    turn, assumed = mended(truth=truth)
    assert turn is not None
    assert turn.truth in (None, Truth())
    assert assumed == [told]


def test_what_stands_beside_labels_is_kept_as_the_id_of_a_case_is() -> None:
    assumed: Counter[str] = Counter()
    line = mend_line(orjson.dumps(RIGHT | {"truth": {"case_id": "q1", "doc_ids": "d1"}}), None, assumed)
    assert line is not None
    assert orjson.loads(line)["truth"] == {"case_id": "q1", "doc_ids": ["d1"]}


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
