"""What judges say of a release: weighted by how seldom they were asked, in any order, beside what was not judged."""

import random
from typing import Any

import orjson
import pytest

from turnsignal.stream.reports.judged_scores import JudgedScores

GROUNDED = "groundedness(by=strong)"


def row(value: float | None, inclusion: float = 1.0, **more: Any) -> bytes:
    score = {"scorer": GROUNDED, "value": value} | ({} if value is not None else {"unscored": more.pop("reason")})
    about = {"inclusion": inclusion, "cost": more.pop("cost", 0.0), "cut": more.pop("cut", [])}
    fields = {"stage": "verdict", "assistant": "shop", "version": "v1", "scores": [score], "verdict": about}
    return orjson.dumps(fields | more)


def told(*rows: bytes, environment: str = "production") -> list[dict[str, Any]]:
    scores = JudgedScores(environment)
    for written in rows:
        scores.add(written)
    return scores.rows()


def test_a_score_that_was_seldom_asked_for_weighs_more() -> None:
    (judged,) = told(row(1.0), row(0.0, 0.25, cost=0.5, cut=["documents"]))
    assert (judged["n"], judged["mean"], judged["weight"]) == (2, 0.2, 5.0)
    assert (judged["coverage"], judged["cut"], judged["cost"]) == (1.0, 0.5, 0.5)


def test_what_was_not_judged_is_counted_by_reason_and_is_no_zero() -> None:
    rows = [row(0.8), row(None, 0.25, reason="sampled_out"), row(None, reason="provider", cost=0.1)]
    (judged,) = told(*rows)
    assert (judged["n"], judged["mean"], judged["coverage"]) == (1, 0.8, 0.333333)
    assert judged["unscored"] == {"provider": 1, "sampled_out": 1}
    assert judged["cost"] == pytest.approx(0.1)


def test_without_any_value_there_is_no_mean() -> None:
    (judged,) = told(row(None, 0.0, reason="sampled_out"))
    assert (judged["n"], judged["mean"], judged["coverage"], judged["cut"]) == (0, None, 0.0, None)


def test_the_order_of_rows_and_how_they_are_shared_out_leave_no_trace() -> None:
    rows = [row(n % 7 / 7, (n % 5 + 1) / 7) for n in range(100)]
    mixed = random.Random(3).sample(rows, len(rows))
    halves = JudgedScores(), JudgedScores()
    for number, written in enumerate(mixed):
        halves[number % 2].add(written)
    halves[0].merge(halves[1])
    assert halves[0].rows() == told(*rows)


def test_rows_of_other_stages_and_environments_are_passed_over() -> None:
    other = orjson.dumps({"stage": "response", "note": '"stage":"verdict"', "scores": []})
    assert told(other, row(1.0, environment="synthetic")) == []
    assert told(row(1.0, environment="synthetic"), environment="synthetic")[0]["n"] == 1
