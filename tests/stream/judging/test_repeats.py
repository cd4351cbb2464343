"""Repeats: one question in a hundred is asked twice, is paid for twice, and says whether the answer held."""

from dataclasses import replace
from typing import Any

import pytest

from tests.stream.judging.exchanges import an_exchange
from tests.stream.judging.test_deliberation import a_judge
from turnsignal.stream.judging.docket import Docket
from turnsignal.stream.judging.docket_entries import QueuedExchange
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.judges import PricePart
from turnsignal.stream.judging.repeats import is_repeated, repeat_result, with_repeat
from turnsignal.stream.judging.verdicts import make_verdict, with_costs
from turnsignal.stream.records.verdicts import Unjudged, Verdict

JUDGE = a_judge()


def valued(value: float | None, **more: Any) -> Verdict:
    judgement = Judgement(None, value, unscored=Unjudged.PARSE if value is None else None)
    return with_costs(make_verdict(an_exchange("follow_up", **more), JUDGE, judgement), 1, (10, 2), 5, 0.1)


def test_one_in_a_hundred_is_repeated() -> None:
    exchanges = [an_exchange("follow_up", conversation_id=f"c{n}") for n in range(10_000)]
    assert sum(map(is_repeated, exchanges)) == pytest.approx(100, abs=35)


@pytest.mark.parametrize(
    ("first", "second", "result"), [(1.0, 0.8, "agree"), (1.0, 0.2, "differ"), (0.0, None, "unscored")]
)
def test_both_answers_are_compared_and_both_are_paid(first: float, second: float | None, result: str) -> None:
    verdict = with_repeat(valued(first), valued(second))
    assert (verdict.value, verdict.attempts, verdict.tokens.input) == (first, 2, 20)
    assert round(verdict.cost * 1e9) == 10
    assert repeat_result(verdict, 0.5) == result
    verdict.cached = True
    assert repeat_result(verdict, 0.5) is None
    assert repeat_result(valued(first), 0.5) is None


def test_the_docket_holds_the_money_for_both_answers_back() -> None:
    fields = ({"conversation_id": f"c{n}", "response": "The same."} for n in range(1_000))
    exchanges = [an_exchange("follow_up", **each) for each in fields]
    twice = next(each for each in exchanges if is_repeated(each))
    once = next(each for each in exchanges if not is_repeated(each))
    judge = replace(a_judge(model="scripted:x", max_output=100), price=PricePart(input=1.0, output=1.0))
    most = []
    for exchange in (once, twice):
        docket = Docket([judge], None, 1e9)
        docket.take([QueuedExchange(0, exchange, 0.0, 100)])
        docket.reserve_calls(0.0, {"scripted": 1})
        most.append(docket.prepare().calls[0].most)
    assert most[1] == 2 * most[0] > 0
