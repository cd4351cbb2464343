"""Anchors: a cascade's agreement with its last step, from a few exchanges that went there in any case."""

import random

import pytest

from tests.stream.judging.exchanges import an_exchange
from tests.stream.judging.test_deliberation import a_judge
from turnsignal.stream.judging.anchors import cascade_agreement
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.verdicts import make_verdict
from turnsignal.stream.records.verdicts import Verdict, VerdictStep

JUDGE = a_judge({"rules": 0.9, "anchor": 0.02})


def decided(number: int, by: str, early: float | None, last: float | None) -> Verdict:
    """A verdict of which an early step and the last one came to these values."""
    steps = [] if early is None else [VerdictStep("rules", "", None, early)]
    if last is not None:
        steps.append(VerdictStep("judge", "big", None, last, inclusion=1.0 if early is None else 0.02))
    value = early if last is None else last
    about = an_exchange("follow_up", conversation_id=f"c{number}", inclusion=1.0)
    return make_verdict(about, JUDGE, Judgement(None, value, decided_by=by, steps=steps))


def test_anchors_stand_for_what_was_decided_early_and_the_rest_agrees_by_definition() -> None:
    verdicts = [decided(n, "judge", None, 1.0) for n in range(100)]
    verdicts += [decided(n, "rules", 1.0, None) for n in range(100, 290)]
    verdicts += [decided(n, "judge", 1.0, 0.2 if n < 292 else 1.0) for n in range(290, 300)]
    agreement = cascade_agreement(JUDGE, verdicts)
    assert agreement is not None
    assert (agreement.anchors, agreement.early) == (10, pytest.approx(2 / 3))
    assert agreement.value == pytest.approx(1 - 2 / 3 * 0.2)
    assert agreement.low < agreement.value < agreement.high


@pytest.mark.slow
def test_the_interval_covers_as_often_as_it_says() -> None:
    rng = random.Random(14)
    covered = 0
    for _ in range(200):
        verdicts = []
        for n in range(400):
            if rng.random() < 0.25:
                verdicts.append(decided(n, "judge", None, 1.0))
            elif rng.random() < 0.15:
                verdicts.append(decided(n, "judge", 1.0, 0.2 if rng.random() < 0.2 else 1.0))
            else:
                verdicts.append(decided(n, "rules", 1.0, None))
        agreement = cascade_agreement(JUDGE, verdicts)
        assert agreement is not None
        covered += agreement.low <= 0.85 <= agreement.high
    assert 180 <= covered <= 200


def test_without_anchors_nothing_is_claimed() -> None:
    assert cascade_agreement(JUDGE, []) is None
    assert cascade_agreement(JUDGE, [decided(1, "rules", 1.0, None)]) is None
