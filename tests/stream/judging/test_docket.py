"""The docket: whatever order answers come in and whenever a worker is killed, one verdict each and never too much."""

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.stream.judging.exchanges import an_exchange
from turnsignal.stream.errors import SchemaError
from turnsignal.stream.judging.budget import partition_budget
from turnsignal.stream.judging.deliberation import is_anchor
from turnsignal.stream.judging.docket import DAY, Docket
from turnsignal.stream.judging.docket_entries import ATTEMPTS, QueuedExchange, ReservedCall
from turnsignal.stream.judging.docket_state import STATE
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.judges import Judge, JudgePart, PricePart
from turnsignal.stream.judging.panels import CascadePart
from turnsignal.stream.judging.remembered import CACHED
from turnsignal.stream.judging.repeats import greatest_price
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.judging.sampling import is_sampled
from turnsignal.stream.judging.verdicts import make_verdict
from turnsignal.stream.records.verdicts import Unjudged, Verdict

NOON = 20_000 * DAY + DAY / 2


def a_judge(name: str, endpoint: str = "openai", **more: Any) -> Judge:
    part = JudgePart(rubric="task_utility", model=name, name=name, **({"attempts": 1} | more))
    return Judge(part, choose_rubric("task_utility"), endpoint, name, PricePart(input=1.0, output=10.0))


FIRST, SECOND = a_judge("first"), a_judge("second", share=0.5)
MOST = FIRST.greatest_cost(1, 3_000)


def queued(offset: int, written: float = NOON, **changes: Any) -> QueuedExchange:
    fields = {"conversation_id": f"c{offset}", "row": f"row-{offset}", "response": f"Answer {offset}."}
    return QueuedExchange(offset, an_exchange(**(fields | changes)), written, 1_000)


def served(call: ReservedCall) -> Verdict:
    return make_verdict(call.exchange, call.judge, Judgement("served", 1.0, "It helps."))


@dataclass
class Lab:
    """A partition, its store, and workers that are killed; counts what is sent and what it really costs."""

    judges: list[Judge]
    budget: int | None
    most_held: int = 8
    total: int = 12
    now: float = NOON
    max_age: float = 1e9
    store: dict[bytes, bytes] = field(default_factory=dict)
    committed: int = 0
    written: list[Verdict] = field(default_factory=list)
    sent: Counter[tuple[int, str]] = field(default_factory=Counter)
    lost: Counter[tuple[int, str]] = field(default_factory=Counter)
    real: Counter[int] = field(default_factory=Counter)
    flying: list[tuple[ReservedCall, int]] = field(default_factory=list)
    answered: list[ReservedCall] = field(default_factory=list)
    largest: int = 0

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.docket = Docket(self.judges, self.budget, self.max_age, self.store, self.committed, self.most_held)
        self.next = self.docket.position

    def take(self) -> None:
        if self.next < self.total and self.docket.has_room:
            self.docket.take([queued(self.next)])
            self.next += 1

    def name(self, room: int = 3) -> None:
        alone = bool(self.docket.suspects)
        if not alone or not self.docket.in_flight:
            self.docket.reserve_calls(self.now, {"openai": room}, alone=alone)

    def commit(self, cost: float = 0.5) -> None:
        """Commit, then send what was named, each call at a part of its greatest price."""
        batch = self.docket.prepare()
        for key, value in batch.changes.items():
            if value is None:
                self.store.pop(key, None)
            else:
                self.store[key] = value
        assert batch.position >= self.committed
        self.committed = batch.position
        self.answered.clear()
        self.written += batch.verdicts
        for call in batch.calls:
            price = round(greatest_price(call.judge, call.exchange, call.material) * cost)
            self.sent[call.offset, call.judge.digest] += 1
            self.real[max(0, int(self.now // DAY))] += min(price, call.most)  # what it takes beyond is its own doing
            self.flying.append((call, price))
        self.largest = max(self.largest, len(self.docket._held))

    def answer(self, index: int) -> None:
        if self.flying:
            call, price = self.flying.pop(index % len(self.flying))
            self.docket.settle(call, served(call), price)
            self.answered.append(call)

    def kill(self) -> None:
        """End the worker: what it sent and did not commit the answer of was in flight."""
        for call in [*self.answered, *(call for call, _ in self.flying)]:
            self.lost[call.offset, call.judge.digest] += 1
        self.flying.clear()
        self.answered.clear()
        self.start()

    def finish(self) -> None:
        for _ in range(20 * self.total):
            self.take()
            self.name()
            self.commit()
            self.answer(0)
        self.commit()


OPERATIONS = st.lists(
    st.one_of(
        st.just(("take", 0)),
        st.just(("take", 0)),
        st.tuples(st.just("name"), st.integers(0, 4)),
        st.just(("commit", 0)),
        st.tuples(st.just("answer"), st.integers(0, 5)),
        st.just(("kill", 0)),
        st.tuples(st.just("later"), st.sampled_from([1, 3_600, 50_000, -4_000])),
    ),
    max_size=70,
)


@examples(200)
@given(OPERATIONS, st.sampled_from([None, 0, MOST, 3 * MOST, 30 * MOST]), st.sampled_from([0.0, 0.4, 1.0, 3.0]))
def test_one_verdict_each_never_too_much_and_only_what_was_in_flight_is_paid_twice(
    operations: list[tuple[str, int]], budget: int | None, cost: float
) -> None:
    lab = Lab([FIRST, SECOND], budget)
    for operation, value in operations:
        if operation == "later":
            lab.now += value
        elif operation == "commit":
            lab.commit(cost)
        elif operation in ("take", "kill"):
            getattr(lab, operation)()
        else:
            getattr(lab, operation)(value)
        # A prefix of a run is a run: what holds here holds at any kill.
        ids = Counter(verdict.id for verdict in lab.written)
        assert max(ids.values(), default=1) == 1
        if budget is not None:
            assert max(lab.real.values(), default=0) <= budget
    lab.finish()
    assert lab.committed == lab.total
    about = Counter((verdict.conversation_id, verdict.judge.name) for verdict in lab.written)
    assert about == Counter((f"c{n}", name) for n in range(lab.total) for name in ("first", "second"))
    for question, times in lab.sent.items():
        assert times <= 1 + lab.lost[question]
        assert times <= ATTEMPTS
    if budget is not None:
        assert max(lab.real.values(), default=0) <= budget
    for verdict in lab.written:
        if verdict.judge.name == "second" and not is_sampled(verdict.conversation_id.encode(), 0.5):
            assert verdict.unscored is Unjudged.SAMPLED_OUT
        elif budget is None and verdict.unscored is not None:
            assert (verdict.unscored, max(lab.lost.values())) == (Unjudged.ERROR, ATTEMPTS)
    assert lab.largest <= lab.most_held


@examples(100)
@given(st.permutations(range(8)))
def test_answers_in_any_order_give_the_same_verdicts(order: list[int]) -> None:
    lab = Lab([FIRST], None, total=8)
    for _ in range(8):
        lab.take()
    lab.name(8)
    lab.commit()
    waiting = {call.offset: call for call, _ in lab.flying}
    for offset in order:
        lab.docket.settle(waiting[offset], served(waiting[offset]), 0)
        lab.commit()
    assert (lab.committed, len(lab.written)) == (8, 8)
    plain = Lab([FIRST], None, total=8)
    plain.finish()
    assert sorted(map(repr, lab.written)) == sorted(map(repr, plain.written))


def test_a_call_that_hangs_holds_up_nobody_until_the_room_is_used_up() -> None:
    lab = Lab([FIRST], None, most_held=50, total=200)
    lab.take()
    lab.name()
    lab.commit()
    hanging = lab.flying.pop()
    for _ in range(300):
        lab.take()
        lab.name()
        lab.commit()
        lab.answer(0)
    lab.commit()
    assert (lab.committed, len(lab.written), lab.docket.has_room) == (0, 49, False)
    lab.docket.settle(hanging[0], served(hanging[0]), 0)
    lab.commit()
    assert (lab.committed, lab.docket.has_room) == (50, True)


@pytest.mark.parametrize(
    ("down", "reason", "why"),
    [
        (("elsewhere",), Unjudged.PROVIDER, "the endpoint elsewhere is down"),
        ((), Unjudged.TIMEOUT, "the endpoint elsewhere answers more slowly than exchanges come"),
    ],
)
def test_an_endpoint_that_is_down_or_slow_does_not_hold_up_the_judges_of_others(
    down: tuple[str, ...], reason: Unjudged, why: str
) -> None:
    other = a_judge("other", "elsewhere")
    lab = Lab([FIRST, other], None, most_held=20, total=200, max_age=3_600.0)

    def work(steps: int) -> None:
        for _ in range(steps):
            lab.take()
            lab.docket.reserve_calls(lab.now, {"openai": 3, "elsewhere": 0}, trials=down)
            lab.commit()
            lab.answer(0)

    work(200)
    judged = [verdict for verdict in lab.written if verdict.judge.name == "first"]
    assert (len(judged), len(lab.written)) == (20, 20)  # it waits for a while, as the other may come back
    lab.now += 360.0
    work(600)
    lab.commit()
    judged = [verdict for verdict in lab.written if verdict.judge.name == "first"]
    left_out = [verdict for verdict in lab.written if verdict.judge.name == "other"]
    assert len(judged) == 200
    assert {verdict.unscored for verdict in left_out} == {reason}
    assert len(left_out) <= 190  # the newest wait for it
    assert why in left_out[0].reasoning


def test_judges_of_one_endpoint_wait_for_it() -> None:
    lab = Lab([FIRST], None, most_held=20, total=200, max_age=3_600.0)
    for _ in range(100):
        lab.take()
        lab.docket.reserve_calls(lab.now, {"openai": 0}, trials=("openai",))
        lab.now += 35.0
    lab.commit()
    assert lab.written == []


def test_what_is_named_is_not_sent_before_it_is_committed_and_lost_with_the_memory() -> None:
    lab = Lab([FIRST], None)
    lab.take()
    lab.name()
    lab.kill()
    lab.finish()
    assert lab.sent[0, FIRST.digest] == 1


def test_an_exchange_that_was_in_flight_at_three_kills_is_not_asked_about_again() -> None:
    lab = Lab([FIRST], None, total=1)
    for _ in range(ATTEMPTS):
        lab.take()
        lab.name()
        lab.commit()
        lab.kill()
    lab.finish()
    (verdict,) = lab.written
    assert (verdict.unscored, lab.sent[0, FIRST.digest]) == (Unjudged.ERROR, ATTEMPTS)
    assert "3 ends of a worker" in verdict.reasoning


def test_a_budget_that_pays_for_no_call_says_what_to_raise() -> None:
    lab = Lab([FIRST], 1, total=1)
    lab.take()
    lab.name()
    lab.commit()
    (verdict,) = lab.written
    assert verdict.unscored is Unjudged.BUDGET
    assert "part of the day's budget, 1e-09, is less than this call can cost at most" in verdict.reasoning
    assert "raise judging.budget, or lower max_output" in verdict.reasoning


def test_a_budget_that_is_used_up_is_said_and_is_there_again_the_next_day() -> None:
    probe = Lab([FIRST], None, total=1)
    probe.take()
    probe.name()
    probe.commit()
    price = probe.flying[0][0].most
    lab = Lab([FIRST], 2 * price + price // 2, total=8)
    for _ in range(4):
        lab.take()
    for _ in range(4):
        lab.name()
        lab.commit(1.0)
        lab.answer(0)
    lab.commit()
    assert [verdict.unscored for verdict in lab.written].count(Unjudged.BUDGET) == 2
    lab.now += DAY
    lab.take()
    lab.name()
    lab.commit(1.0)
    assert len(lab.flying) == 1
    lab.now -= 2 * DAY  # a clock that is set back does not make the money of a day again
    assert sum(lab.real.values()) <= 3 * price


def test_a_clock_that_was_ahead_once_stops_no_judging_and_gives_no_money_anew() -> None:
    docket = Docket([FIRST], 3 * MOST, 1e9)
    asked = []
    for now in (NOON, NOON + 365 * DAY, NOON + 1, NOON + DAY, NOON + DAY + 1):
        docket.take(queued(offset) for offset in range(10 * len(asked), 10 * len(asked) + 2))
        docket.reserve_calls(now, {"openai": 9})
        calls = docket.prepare().calls
        for call in calls:
            docket.settle(call, served(call), call.most)
        docket.reserve_calls(now, {})
        asked.append(len(calls))
    assert asked == [2, 2, 1, 3, 0], "the third of the third time is asked about a day later"


def test_what_waits_for_too_long_is_a_timeout() -> None:
    lab = Lab([FIRST], None, max_age=60.0, total=2)
    lab.take()
    lab.now += 61
    lab.name()
    lab.commit()
    (verdict,) = lab.written
    assert (verdict.unscored, verdict.attempts, lab.committed) == (Unjudged.TIMEOUT, 0, 1)


def test_the_same_question_again_is_answered_from_before_and_costs_nothing() -> None:
    docket = Docket([FIRST], None, 1e9)
    docket.take([queued(0, response="The same.")])
    docket.reserve_calls(NOON, {"openai": 1})
    (call,) = docket.prepare().calls
    docket.settle(call, served(call), 5)
    store = {key: value for key, value in docket.prepare().changes.items() if value is not None}
    for later in (docket, Docket([FIRST], None, 1e9, store, 1)):
        later.take([queued(1, response="The same.")])
        later.reserve_calls(NOON, {"openai": 1})
        batch = later.prepare()
        (verdict,) = batch.verdicts
        assert (batch.calls, verdict.cached, verdict.value, verdict.cost) == ([], True, 1.0, 0.0)
        assert (verdict.conversation_id, verdict.row) == ("c1", "row-1")
    docket = Docket([a_judge("other")], None, 1e9, store, 1)
    docket.take([queued(1, response="The same.")])
    docket.reserve_calls(NOON, {"openai": 1})
    assert len(docket.prepare().calls) == 1


def test_an_answer_is_forgotten_a_week_after_its_exchange_as_its_reasons_may_quote_somebody() -> None:
    docket = Docket([FIRST], None, 1e9)
    docket.take([queued(0, response="The same.", time=NOON)])
    docket.reserve_calls(NOON, {"openai": 1})
    (call,) = docket.prepare().calls
    docket.settle(call, served(call), 5)
    store = dict(docket.prepare().changes)
    (key,) = (key for key in store if key.startswith(CACHED))
    for days, gone in ((6, {}), (8, {key: None})):
        docket.reserve_calls(NOON + days * DAY, {"openai": 1})
        changes = docket.prepare().changes
        assert {name: value for name, value in changes.items() if name == key} == gone
    kept = {name: value for name, value in store.items() if value is not None}
    later = Docket([FIRST], None, 1e9, kept, 1)
    later.reserve_calls(NOON + 8 * DAY, {"openai": 1})
    assert later.prepare().changes[key] is None


def test_answers_that_cannot_be_read_are_not_remembered() -> None:
    docket = Docket([FIRST], None, 1e9)
    docket.take([queued(0, response="The same.")])
    docket.reserve_calls(NOON, {"openai": 1})
    (call,) = docket.prepare().calls
    docket.settle(call, make_verdict(call.exchange, call.judge, Judgement(unscored=Unjudged.PARSE, reasoning="?")), 5)
    assert set(docket.prepare().changes) == {STATE}


def test_what_an_anchor_came_to_is_not_remembered_for_others_which_ask_the_last_step_seldom() -> None:
    judge = a_judge("cascade", cascade=CascadePart(small="little", anchor=0.5))
    anchors = [n for n in range(40) if is_anchor(queued(n).exchange, 0.5)]
    others = [n for n in range(40) if n not in anchors]
    for first, second, asked in ((anchors[0], others[-1], 1), (others[0], others[-1], 0)):
        docket = Docket([judge], None, 1e9)
        docket.take([queued(first, response="The same.")])
        docket.reserve_calls(NOON, {"openai": 1})
        (call,) = docket.prepare().calls
        docket.settle(call, served(call), 5)
        docket.take([queued(second, response="The same.")])
        docket.reserve_calls(NOON, {"openai": 1})
        assert len(docket.prepare().calls) == asked


@pytest.mark.parametrize("killed", [False, True])
def test_what_is_named_before_midnight_and_sent_after_it_is_paid_by_the_new_day(*, killed: bool) -> None:
    lab = Lab([FIRST], 2 * MOST, total=3)
    for _ in range(3):
        lab.take()
    lab.name(1)
    if killed:
        lab.commit(1.0)
        lab.now += DAY / 2
        lab.real = Counter({int(lab.now // DAY): sum(lab.real.values())})
        lab.kill()
        lab.take()
        lab.name(0)
    else:
        lab.now += DAY / 2
        lab.commit(1.0)
        lab.answer(0)
    for _ in range(3):
        lab.take()
        lab.name()
        lab.commit(1.0)
        lab.answer(0)
    assert max(lab.real.values()) <= 2 * MOST


def test_a_judge_that_is_added_is_asked_about_what_is_not_behind_the_position() -> None:
    lab = Lab([FIRST], None, total=3)
    for _ in range(3):
        lab.take()
    lab.name()
    lab.commit()
    lab.flying.sort(key=lambda pair: -pair[0].offset)
    lab.answer(0)
    lab.commit()
    assert len(lab.written) == 1
    lab.judges = [a_judge("new"), FIRST]
    lab.kill()
    lab.finish()
    about = Counter((verdict.conversation_id, verdict.judge.name) for verdict in lab.written)
    assert about == Counter((f"c{n}", name) for n in range(3) for name in ("first", "new"))


def test_offsets_without_a_record_are_passed_over() -> None:
    docket = Docket([FIRST], None, 1e9)
    docket.take([queued(3)])
    docket.reserve_calls(NOON, {"openai": 9})
    (call,) = docket.prepare().calls
    docket.settle(call, served(call), 0)
    assert docket.prepare().position == 4


def test_memory_is_bounded_however_many_are_queued() -> None:
    docket = Docket([FIRST], None, 1e9)
    offset = 0
    while docket.has_room and offset < 100_000:
        docket.take([queued(offset)._replace(size=100_000)])
        offset += 1
    assert offset == 160
    assert len(docket.prepare().changes[STATE] or b"") < 1_000


def test_a_verdict_of_a_docket_before_this_one_changes_nothing() -> None:
    lab = Lab([FIRST], None, total=1)
    lab.take()
    lab.name()
    lab.commit()
    old = lab.flying[0][0]
    lab.kill()
    lab.take()
    lab.name()
    lab.commit()
    lab.docket.settle(old, served(old), 0)
    lab.commit()
    assert lab.written == []
    assert lab.docket.in_flight == 1


def test_a_partition_has_an_equal_part_of_the_money() -> None:
    assert partition_budget(1_000, 3) == 333
    assert partition_budget(None, 3) is None


def test_a_state_of_a_newer_release_is_refused() -> None:
    with pytest.raises(SchemaError, match="docket state of version 1 or older, got 2"):
        Docket([FIRST], None, 1e9, {STATE: b"\x91\x02"})


def test_thousands_of_random_steps_keep_every_promise() -> None:
    rng = random.Random(7)
    lab = Lab([FIRST, SECOND], 40 * MOST, most_held=30, total=400)
    for _ in range(6_000):
        step = rng.choice(["take", "take", "take", "name", "commit", "answer", "answer", "answer"])
        if rng.random() < 0.003:
            lab.kill()
        elif step == "answer":
            lab.answer(rng.randrange(9))
        else:
            getattr(lab, step)()
        lab.now += 40
        assert max(lab.real.values(), default=0) <= 40 * MOST
    lab.finish()
    assert Counter(verdict.id for verdict in lab.written).most_common(1)[0][1] == 1
    assert len(lab.written) == 800
