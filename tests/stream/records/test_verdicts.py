"""Verdict records: an id for what they are about, and a shape that the schema describes."""

import orjson
import pytest
from pydantic import ValidationError

from turnsignal.agents.commands.schemas import schema_of
from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.records.verdicts import (
    VERDICTS,
    Unjudged,
    Verdict,
    VerdictClaim,
    VerdictJudge,
    VerdictTokens,
    decode_verdict,
    verdict_id,
)

JUDGE = VerdictJudge("grounded", "openai", "gpt-4o-mini", "groundedness", 1, "0123456789ab", "gpt-4o-mini-2024")
WHOLE = Verdict(1, "id", "c", "t", "response", "shop", 5.0, "row", "suite", JUDGE, 0.5, value=1.0)


def test_a_verdict_is_about_one_row_and_one_judge() -> None:
    ids = {verdict_id(row, judge) for row in ("a", "b", "a\x1fb") for judge in ("x", "y", "b\x1fx")}
    assert len(ids) >= 8
    assert verdict_id("a", "x") == verdict_id("a", "x")
    assert len(verdict_id("a", "x")) == 24


def test_a_verdict_reads_back_as_it_was_written() -> None:
    assert VERDICTS.validate_json(VERDICTS.dump_json(WHOLE)) == WHOLE


@pytest.mark.parametrize("more", [{}, {"unscored": "budget", "value": None}, {"cut": ["documents"], "cached": True}])
def test_what_is_read_at_once_has_the_fields_that_pydantic_reads(more: dict[str, object]) -> None:
    read = VERDICTS.validate_python(VERDICTS.dump_python(WHOLE) | more)
    read.claims, read.tokens = [VerdictClaim("c", "yes")], VerdictTokens(3, 4)
    quick = decode_verdict(VERDICTS.dump_json(read), b"c")
    shown = {name: getattr(quick, name) for name in Verdict.__slots__}
    assert (shown["tokens"].input, shown["tokens"].output) == (3, 4)
    shown["tokens"] = read.tokens
    assert Verdict(**shown) == read


@pytest.mark.parametrize("judge", [{"version": -1}, {"rubric": "Loud"}, {"name": "x" * 201}, {"prompt": "p" * 3_000}])
def test_a_judge_that_is_none_is_refused_however_often_it_comes(judge: dict[str, object]) -> None:
    wrong = VERDICTS.dump_python(WHOLE, mode="json")
    wrong["judge"] |= judge
    for _ in range(2):
        with pytest.raises(Refused) as refused:
            decode_verdict(orjson.dumps(wrong))
        assert refused.value.reason in (Reason.WRONG_TYPE, Reason.TOO_LARGE)


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


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"", Reason.NOT_JSON),
        (b'{"schema":1', Reason.NOT_JSON),
        (b"[" * 50_000, Reason.TOO_DEEP),
        (b"[]", Reason.WRONG_TYPE),
        (b'{"schema":1,"claims":[' + b"[]," * 1_000 + b"[]]}", Reason.MISSING_FIELD),
        (VERDICTS.dump_json(WHOLE).replace(b'"time":5.0', b'"time":"5"x'), Reason.NOT_JSON),
        (VERDICTS.dump_json(WHOLE).replace(b'"stage":"response"', b'"stage":"later"'), Reason.WRONG_TYPE),
        (VERDICTS.dump_json(WHOLE).replace(b'"id":"id"', b'"id":7'), Reason.WRONG_TYPE),
        (b" " * 1_000_001, Reason.TOO_LARGE),
        (None, Reason.TOMBSTONE),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_reason(value: bytes | None, reason: Reason) -> None:
    with pytest.raises(Refused) as refused:
        decode_verdict(value)
    assert refused.value.reason is reason


def test_the_schema_command_knows_verdicts_and_rubrics() -> None:
    assert set(schema_of("verdict")["properties"]) >= {"id", "row", "judge", "value", "unscored", "inclusion", "cached"}
    assert schema_of("verdict")["$defs"]["Unjudged"]["enum"] == list(Unjudged)
    assert "labels" in schema_of("rubric")["properties"]
