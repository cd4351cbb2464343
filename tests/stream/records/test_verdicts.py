"""Verdict records: an id for what they are about, and a shape that the schema describes."""

import pytest
from pydantic import ValidationError

from turnsignal.agents.commands.schemas import schema_of
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged, Verdict, VerdictJudge, verdict_id

JUDGE = VerdictJudge("grounded", "openai", "gpt-4o-mini", "groundedness", 1, "0123456789ab", "gpt-4o-mini-2024")
WHOLE = Verdict(1, "id", "c", "t", "response", "shop", 5.0, "row", "suite", JUDGE, 0.5, value=1.0)


def test_a_verdict_is_about_one_row_and_one_judge() -> None:
    ids = {verdict_id(row, judge) for row in ("a", "b", "a\x1fb") for judge in ("x", "y", "b\x1fx")}
    assert len(ids) >= 8
    assert verdict_id("a", "x") == verdict_id("a", "x")
    assert len(verdict_id("a", "x")) == 24


def test_a_verdict_reads_back_as_it_was_written() -> None:
    assert VERDICTS.validate_json(VERDICTS.dump_json(WHOLE)) == WHOLE


@pytest.mark.parametrize(
    "change",
    [
        {"value": 1.5},
        {"value": float("nan")},
        {"cost": -1},
        {"schema": 2},
        {"unscored": "bored"},
        {"reasoning": "x" * 2001},
    ],
)
def test_what_is_no_verdict_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        VERDICTS.validate_python(VERDICTS.dump_python(WHOLE) | change)


def test_the_schema_command_knows_verdicts_and_rubrics() -> None:
    assert set(schema_of("verdict")["properties"]) >= {"id", "row", "judge", "value", "unscored", "inclusion", "cached"}
    assert schema_of("verdict")["$defs"]["Unjudged"]["enum"] == list(Unjudged)
    assert "labels" in schema_of("rubric")["properties"]
