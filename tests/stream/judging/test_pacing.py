"""Pacing: a day's budget lasts the day, and every verdict says with which probability it came to be."""

import msgspec
import pytest

from tests.bench.pacing import BEGIN, DAY, HOUR, paced_days
from tests.stream.judging.test_docket import FIRST, NOON, queued, served
from turnsignal.stream.judging.docket import Docket
from turnsignal.stream.judging.docket_state import STATE
from turnsignal.stream.judging.pacing import BudgetPacer
from turnsignal.stream.judging.sampling import is_sampled
from turnsignal.stream.records.verdicts import Unjudged


@pytest.mark.slow
def test_each_hour_has_the_same_part_of_its_questions_judged_once_a_day_is_known() -> None:
    _, known = paced_days(30_000, (1.0, 1.0))
    assert known.off <= 0.2
    assert 0.93 <= known.spent <= 1.0
    assert known.over == 0


def test_a_first_day_lasts_too_though_its_hours_are_not_known() -> None:
    (first,) = paced_days(6_000, (1.0,))
    assert first.spent <= 1.0
    assert min(first.hours) > 0


def test_money_for_everything_leaves_nothing_out() -> None:
    pacer = BudgetPacer(10**12)
    for hour in range(48):
        pacer.update(BEGIN + hour * HOUR, 0, 0)
        for _ in range(30):
            pacer.on_eligible()
            pacer.on_decided(1_000)
    assert pacer.part == 1.0


def test_without_a_budget_or_a_price_everything_is_asked() -> None:
    for budget, cost in ((None, 1_000), (1_000, 0)):
        pacer = BudgetPacer(budget)
        for _ in range(100):
            pacer.on_eligible()
            pacer.on_decided(cost)
        pacer.update(BEGIN + HOUR, 0, 0)
        assert pacer.part == 1.0


def spent_half(pacer: BudgetPacer) -> None:
    """Half of the money is gone in the first of the day's hours."""
    pacer.update(BEGIN, 0, 0)
    for _ in range(100):
        pacer.on_eligible()
        pacer.on_decided(5_000)
    pacer.update(BEGIN + HOUR - 1, 500_000, 0)


def test_what_is_left_is_spread_over_what_is_to_come() -> None:
    pacer = BudgetPacer(1_000_000)
    spent_half(pacer)
    assert pacer.part == pytest.approx(0.52 / (0.005 * 100 * (23 + 0.05 * 24)), rel=0.01)


def test_a_pacer_goes_on_where_another_one_stopped() -> None:
    first = BudgetPacer(1_000_000)
    spent_half(first)
    second = BudgetPacer(1_000_000, first.dump())
    for pacer in (first, second):
        pacer.update(BEGIN + 3 * HOUR, 600_000, 3)
    assert first.dump() == second.dump()
    assert first.part < 0.05


def test_a_clock_that_is_set_back_counts_no_hour_twice() -> None:
    pacer = BudgetPacer(1_000_000)
    spent_half(pacer)
    before = pacer.dump()
    pacer.update(BEGIN - DAY, 500_000, 0)
    assert pacer.dump()[:24] == before[:24]


def test_a_clock_that_was_ahead_once_does_not_end_counting() -> None:
    pacer = BudgetPacer(1_000_000)
    spent_half(pacer)
    pacer.update(BEGIN + 365 * DAY, 500_000, 0)
    for hour in (5, 6):
        pacer.on_eligible()
        pacer.update(BEGIN + hour * HOUR, 500_000, 0)
    assert pacer.dump()[25] == (BEGIN + 6 * HOUR) // HOUR


def test_what_the_budget_does_not_pay_for_is_sampled_out_and_weights_say_so() -> None:
    docket = Docket([FIRST], 100 * 2 * 10**6, 1e9)
    verdicts = []
    chosen = [offset for offset in range(4_000) if is_sampled(f"c{offset}".encode(), 0.8)]  # the others are not queued
    for offset in chosen:
        docket.take([queued(offset, written=NOON + offset, response=f"No. {offset}", inclusion=0.8)])
        docket.reserve_calls(NOON + offset, {"openai": 9})
        batch = docket.prepare()
        verdicts += batch.verdicts
        for call in batch.calls:
            docket.settle(call, served(call), 10**6)
    left_out = [verdict for verdict in verdicts if verdict.unscored is Unjudged.SAMPLED_OUT]
    judged = [verdict for verdict in verdicts if verdict.unscored is None]
    assert left_out
    assert all("the day's budget pays for" in verdict.reasoning for verdict in left_out)
    for verdict in left_out:
        assert not is_sampled(verdict.conversation_id.encode(), verdict.inclusion)
    thinned = [verdict for verdict in judged if verdict.inclusion < 0.8]
    assert thinned
    for verdict in thinned:
        assert is_sampled(verdict.conversation_id.encode(), verdict.inclusion)
    # Weighted by the inverse of its probability, what was judged stands for all that was queued.
    assert sum(0.8 / verdict.inclusion for verdict in judged) == pytest.approx(len(chosen), rel=0.25)


def test_a_queue_that_is_read_at_once_on_the_first_day_is_judged_by_more_than_a_few() -> None:
    pacer = BudgetPacer(2_000_000)
    pacer.update(BEGIN, 0, 0)
    for _ in range(1_000):
        pacer.on_eligible()
        pacer.on_decided(1_000)
    pacer.update(BEGIN + 1.0, 1_000_000, 0)
    assert pacer.part == 0.02
    pacer.update(BEGIN + HOUR, 1_000_000, 0)  # then an hour is known
    pacer.on_eligible()
    pacer.update(BEGIN + HOUR + 1, 1_000_000, 0)
    assert pacer.part > 0.02


def test_a_state_without_a_pace_is_read() -> None:
    old = msgspec.msgpack.encode([1, 7, 20_000, 3, [FIRST.digest], [(8, 1)], []])
    assert Docket([FIRST], 5, 1e9, {STATE: old}).position == 7
