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


def by(step: str | None, value: float | None, reason: str = "provider", times: int = 1) -> list[bytes]:
    """Rows that a step of a cascade has decided, or lost."""
    score = {"scorer": GROUNDED, "value": value, "decided_by": step} | (
        {} if value is not None else {"unscored": reason}
    )
    return [row(1.0, scores=[score])] * times


@pytest.mark.parametrize(
    ("rows", "mean"),
    [
        ([*by("rules", 1.0, times=40), *by("judge", 0.5, times=60)], 0.7),
        ([*by("rules", 1.0, times=40), *by("judge", 0.5, times=30), *by("judge", None, times=30)], 0.7),
        ([*by("rules", 1.0, times=40), *by("judge", 0.5, times=30), *by(None, None, "timeout", 30)], 0.7),
        (
            [
                *(*by("rules", 1.0, times=20), *by("rules", None, "budget", 20)),
                *(*by("judge", 0.5, times=30), *by(None, None, "budget", 30)),
            ],
            0.7,
        ),
        ([*by("small", 1.0, times=40), *by("judge", 0.5, times=10), *by("judge", None, times=50)], 0.7),
        ([*by("small", 1.0, times=40), *by("judge", 0.5, times=60), *by(None, None, "timeout", 200)], 0.7),
        ([*by("rules", 1.0, times=40), *by("judge", None, times=60)], None),
        ([*by("rules", 1.0, times=40), *by(None, None, "timeout", 60)], None),
        ([*by("rules", 1.0, times=99), *by("judge", None)], 1.0),
        ([*by("rules", 1.0, times=40), *by("judge", None, "no_signal", 60)], 1.0),
    ],
)
def test_what_was_lost_of_a_cascade_leaves_its_mean_where_it_is(rows: list[bytes], mean: float | None) -> None:
    (judged,) = told(*rows)
    assert judged["mean"] == mean
    assert told(*reversed(rows)) == [judged]
