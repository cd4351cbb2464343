"""Observations: packed in columns, read back as they were, of the schema before too, and refused where they lie."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.observed import by_scorer
from turnsignal.stream.records.observations import MAX_ROWS, MAX_VALUES, Observation, pack, read_observations

SCORERS = st.lists(
    st.sampled_from(["nDCG@5", "compliance", "follow_up", "cited", "ünïcode|\n"]), unique=True, min_size=1
)
NUMBERS = st.floats(0, 1, allow_nan=False)


@st.composite
def rows(draw: st.DrawFn) -> tuple[str, float, tuple[str, ...], tuple[float, ...], tuple[float, ...]]:
    scorers = tuple(draw(SCORERS))
    values = tuple(draw(NUMBERS) for _ in scorers)
    earlier: tuple[float, ...] = ()
    if draw(st.booleans()):
        counts = [draw(st.integers(0, 9)) for _ in scorers]
        earlier = tuple(number for count in counts for number in (count, count * draw(NUMBERS)))
    return draw(st.text(min_size=1, max_size=5)), draw(st.floats(0, 2e9)), scorers, values, earlier


def good(**other: Any) -> bytes:
    record = {
        "schema": 2,
        "assistant": "support",
        "version": None,
        "scorers": ["a", "b"],
        "sets": [[0, 1], [1]],
        "conversations": ["c", "d"],
        "times": [1.0, 2.0],
        "rows": [0, 1],
        "values": [[1, 0.5], [0.0]],
        "earlier": [[], [2, 1.5]],
    }
    return orjson.dumps(record | other)


@given(st.lists(rows().filter(lambda row: row[0].isprintable()), max_size=20), st.integers(0, 3))
def test_what_is_packed_is_read_back(drawn: list[Any], lane: int) -> None:
    expected: dict[str, list[Observation]] = {}
    for conversation, time, scorers, values, earlier in drawn:
        for n, (scorer, value) in enumerate(zip(scorers, values, strict=True)):
            count, total = earlier[2 * n : 2 * n + 2] if earlier else (0, 0)
            expected.setdefault(scorer, []).append(Observation(conversation, time, value, count, total))
    records = [read_observations(value) for value in (pack("support", "v1", lane, drawn) if drawn else [])]
    assert [(one.assistant, one.version, one.lane) for one in records] == [("support", "v1", lane)] * bool(drawn)
    assert [by_scorer(one) for one in records] == [expected] * bool(drawn)


def test_long_batches_are_cut_into_records_that_a_broker_takes() -> None:
    scorers = tuple(f"check-{n}-{'x' * 40}" for n in range(100))
    values, earlier = (1 / 3,) * 100, (12_345, 123.4567890123456) * 100
    row = ("\x01" * 200, 1_750_000_000.123456, scorers, values, earlier)
    records = pack("support", "v1", 0, [row] * 250)
    assert [len(read_observations(one).values) for one in records] == [MAX_VALUES // 100] * 3 + [10]
    short = pack("support", "v1", 0, [("\x01" * 200, 1.0, ("a",), (1.0,), ())] * (MAX_ROWS + 1))
    assert [len(read_observations(one).values) for one in short] == [MAX_ROWS, 1]
    assert max(map(len, records + short)) < 1_000_000


def test_a_record_of_schema_1_is_read_with_nothing_earlier() -> None:
    columns = {"conversations": ["c", "c"], "times": [1.0, 2.0], "values": [0.5, 1]}
    record = {"schema": 1, "assistant": "support", "version": "v1", "scorer": "nDCG@5", **columns}
    read = read_observations(orjson.dumps(record))
    assert (read.assistant, read.version, read.lane) == ("support", "v1", 0)
    assert by_scorer(read) == {"nDCG@5": [("c", 1.0, 0.5, 0, 0.0, 1.0), ("c", 2.0, 1.0, 0, 0.0, 1.0)]}


def test_a_row_that_judges_were_asked_about_says_its_weight_and_others_weigh_1() -> None:
    rows = [("c", 1.0, ("a", "b"), (0.5, 1.0), ()), ("d", 2.0, ("b",), (0.0,), ())]
    (judged,) = [read_observations(value) for value in pack("support", "v1", 0, rows, [50.0, 2.0])]
    assert {scorer: [one.weight for one in said] for scorer, said in by_scorer(judged).items()} == {
        "a": [50.0],
        "b": [50.0, 2.0],
    }
    (ruled,) = [read_observations(value) for value in pack("support", "v1", 0, rows)]
    assert {one.weight for said in by_scorer(ruled).values() for one in said} == {1.0}


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"schema": 3}, "Invalid value 3 - at `\\$.schema`"),
        ({"times": [1.0]}, "columns of different lengths"),
        ({"earlier": [[]]}, "columns of different lengths"),
        ({"rows": [0, 2]}, "values are not those of its set"),
        ({"rows": [0, -1]}, "values are not those of its set"),
        ({"values": [[1], [0]]}, "values are not those of its set"),
        ({"values": [[1, 1.5], [0]]}, "<= 1.0"),
        ({"values": [[1, None], [0]]}, "Expected `float`"),
        ({"earlier": [[], [-1, 0]]}, "earlier counts and sums do not fit"),
        ({"earlier": [[], [1, 0.5, 1]]}, "earlier counts and sums do not fit"),
        ({"earlier": [[], [1]]}, "earlier counts and sums do not fit"),
        ({"sets": [[0, 2], [1]]}, "scorers that are not there"),
        ({"sets": [[0, 0], [1]]}, "scorers that are not there, or twice"),
        ({"scorers": ["a", "a"]}, "named twice"),
        ({"assistant": None}, "Expected `str`"),
    ],
)
def test_what_does_not_fit_together_is_refused_with_the_reason(other: dict[str, Any], why: str) -> None:
    assert by_scorer(read_observations(good()))["b"] == [("c", 1.0, 0.5, 0, 0.0, 1.0), ("d", 2.0, 0.0, 2, 1.5, 1.0)]
    with pytest.raises(ValueError, match=why):
        read_observations(good(**other))


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"{}",
        b"\xff",
        b"[" * 100_000,
        good()[:-20],
        good().replace(b"1.5", b"NaN"),
        good().replace(b"1.5", b"1e999"),
        good().replace(b"2.0", b"1e999"),
        good().replace(b'"support"', b'"\\ud800"'),
    ],
)
def test_what_is_no_record_is_refused(value: bytes) -> None:
    with pytest.raises(ValueError):
        read_observations(value)
