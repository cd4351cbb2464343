"""The day's money: a clock that jumps makes none, and what one call took beyond its price is reserved everywhere."""

import pytest

from tests.stream.judging.test_docket import FIRST, MOST, NOON, queued, served
from turnsignal.stream.judging.budget import Budget, Overruns
from turnsignal.stream.judging.docket import DAY, Docket
from turnsignal.stream.judging.docket_state import STATE

DAYS = [
    ([0, 5, 0, 5, 0, 5], {0: 2, 5: 2}),
    ([0, -5, 0, -5, 0], {0: 2, -5: 0}),
    ([0, 3, 0, 3, 4], {0: 2, 3: 2, 4: 2}),
    ([0, -1, 0, -1, 0, 1], {0: 2, -1: 0, 1: 2}),
]


def called(docket: Docket, first: int, now: float) -> int:
    """Return how many of four exchanges are asked about, each at its greatest price."""
    docket.take(queued(offset) for offset in range(first, first + 4))
    docket.reserve_calls(now, {"openai": 9})
    calls = docket.prepare().calls
    for call in calls:
        docket.settle(call, served(call), call.most)
    docket.reserve_calls(now, {})
    return len(calls)


@pytest.mark.parametrize("restarts", [False, True])
@pytest.mark.parametrize(("days", "paid"), DAYS)
def test_no_day_is_paid_twice_however_the_clock_jumps(days: list[int], paid: dict[int, int], *, restarts: bool) -> None:
    docket, by_day = Docket([FIRST], 2 * MOST + MOST // 2, 1e9), dict.fromkeys(paid, 0)
    for number, day in enumerate(days):
        by_day[day] += called(docket, 4 * number, NOON + day * DAY)
        state = docket.prepare().changes[STATE]
        if restarts:
            assert state is not None
            docket = Docket([FIRST], 2 * MOST + MOST // 2, 1e9, {STATE: state})
    assert by_day == paid


def test_a_clock_that_shows_many_days_is_remembered_in_bounded_space() -> None:
    budget = Budget(10)
    for day in range(0, 4_000, 2):
        budget.look_at(day)
        budget.spend(10)
    assert len(budget.others) < 10
    assert (budget.left(3_998), budget.left(3_996), budget.left(4_000)) == (0, 0, 10)


def test_a_day_that_the_clock_comes_back_to_has_spent_what_it_had() -> None:
    budget = Budget(10)
    budget.look_at(7)
    budget.spend(10)
    budget.look_at(7)
    assert (budget.look_at(8), budget.left(8)) == (True, 10)
    assert (budget.look_at(7), budget.left(7)) == (False, 0)
    assert (budget.look_at(8), budget.left(8)) == (True, 10)


def test_a_judge_that_could_not_pay_for_one_call_asks_about_no_shorter_one_that_day() -> None:
    budget = Budget(100)
    budget.look_at(7)
    budget.spend(50)
    assert not budget.is_spent_for("a", 40, 40)
    assert budget.is_spent_for("a", 60, 60)
    assert budget.is_spent_for("a", 10, 10), "else means would lean to what is short"
    assert not budget.is_spent_for("b", 10, 10)
    assert budget.is_spent_for("b", 101, 101)
    assert not budget.is_spent_for("b", 10, 10), "what no day pays for stops no other"
    budget.look_at(8)
    assert not budget.is_spent_for("a", 10, 10)
    assert not Budget(None).is_spent_for("a", 10**20, 10**20)


def test_one_absurd_price_has_calls_made_one_at_a_time_until_they_cost_as_usual() -> None:
    overruns = Overruns()
    one, other = (Docket([FIRST], 50 * MOST, 1e9, overruns=overruns) for _ in range(2))
    called(other, 0, NOON)
    one.take([queued(0)])
    one.reserve_calls(NOON, {"openai": 1})
    (call,) = one.prepare().calls
    one.settle(call, served(call), 1_000_000 * call.most)
    other.take(map(queued, range(4, 404)))
    made: list[int] = []
    while len(made) < 200:
        other.reserve_calls(NOON, {"openai": 4})
        calls = other.prepare().calls
        for each in calls:
            other.settle(each, served(each), 1)
        made.append(len(calls))
    assert made[0] == 1
    assert max(made) == 4, "what costs as usual is as dear as usual again"


@pytest.mark.parametrize("by", ["shared", "stored"])
def test_what_one_partition_learned_of_a_judges_price_holds_for_others_and_after_a_restart(by: str) -> None:
    overruns = Overruns()
    one = Docket([FIRST], 100 * MOST, 1e9, overruns=overruns)
    one.take([queued(0)])
    one.reserve_calls(NOON, {"openai": 1})
    (call,) = one.prepare().calls
    one.settle(call, served(call), 50 * call.most)
    state = one.prepare().changes[STATE]
    assert state is not None
    if by == "shared":
        other = Docket([FIRST], 100 * MOST, 1e9, overruns=overruns)
    else:
        other = Docket([FIRST], 200 * MOST, 1e9, {STATE: state})
    other.take(map(queued, range(1, 9)))
    other.reserve_calls(NOON, {"openai": 9})
    reserved = [each.most for each in other.prepare().calls]
    assert len(reserved) in (1, 2, 3)
    assert min(reserved) >= 49 * call.most
