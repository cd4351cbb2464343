"""Sending: every call comes to an end that its docket takes, and suspects go out while nothing else does."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from tests.stream.judging.test_docket import FIRST, NOON, a_judge, queued
from turnsignal.agents.providers.protocol import ProviderCall, ProviderError, ProviderReply
from turnsignal.agents.providers.sending import CallSender, Capacity
from turnsignal.agents.providers.throttling import ThrottledEndpoint
from turnsignal.stream.judging.breaker import AFTER
from turnsignal.stream.judging.docket import Docket
from turnsignal.stream.judging.docket_entries import ATTEMPTS, ReservedCall
from turnsignal.stream.judging.judges import EndpointPart
from turnsignal.stream.judging.panels import CascadePart
from turnsignal.stream.records.verdicts import Unjudged, Verdict

HELD = 0.05  #: seconds for which a suspect holds back all others here
GOOD = '{"intent": "Know.", "reasoning": "So.", "label": "served"}'


class Gate:
    """A provider that answers once it is opened, or fails as a whole while it is down."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.down = False
        self.asked = 0

    async def ask(self, _call: ProviderCall) -> ProviderReply:
        self.asked += 1
        if self.down:
            raise ProviderError("down", down=True, free=True)
        await self.open.wait()
        return ProviderReply(GOOD, "m", 10, 10)

    async def close(self) -> None:
        pass


class Lab:
    """A sender with two endpoints, one of them behind a gate, and the partitions that it woke."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.woken: list[int] = []
        self.line = ThrottledEndpoint(self.gate, EndpointPart(at_once=2), first_wait=0.01)
        well = ThrottledEndpoint(Gate(), EndpointPart(at_once=2))
        endpoints = {"openai": self.line, "well": well}
        self.sender = CallSender([FIRST, a_judge("other", "well")], endpoints, self.woken.append, HELD)

    def calls(self, *offsets: int) -> list[ReservedCall]:
        docket = Docket([FIRST], None, 1e9)
        docket.take(map(queued, offsets))
        docket.reserve_calls(NOON, {"openai": len(offsets)})
        return docket.prepare().calls

    async def finish(self) -> None:
        self.gate.open.set()
        await self.sender.finish([0, 1], 5.0)
        await asyncio.sleep(0)


def play(scene: Callable[[Lab], Awaitable[None]]) -> None:
    async def playing() -> None:
        lab = Lab()
        await scene(lab)
        await lab.sender.close()

    asyncio.run(playing())


def ignore(_call: ReservedCall, _verdict: Verdict, _cost: int) -> None:
    pass


def test_an_answer_that_cannot_be_taken_becomes_one_that_can() -> None:
    told: list[tuple[Unjudged | None, int]] = []

    def on_answer(_call: ReservedCall, verdict: Verdict, cost: int) -> None:
        told.append((verdict.unscored, cost))
        if verdict.unscored is None:
            raise ValueError("no")

    async def scene(lab: Lab) -> None:
        lab.sender.send(0, lab.calls(0), on_answer)
        await lab.finish()

    play(scene)
    ((first, cost), (second, paid)) = told
    assert (first, second) == (None, Unjudged.ERROR)
    assert cost == paid > 0


def test_a_partition_with_suspects_waits_until_nothing_is_in_flight_and_then_has_all_for_itself() -> None:
    async def scene(lab: Lab) -> None:
        wanted, suspects = {"openai"}, {"openai"}
        lab.sender.send(1, lab.calls(0), ignore)
        assert lab.sender.capacity(0, wanted, suspects).calls == {}
        assert lab.sender.capacity(1, wanted) == Capacity({}), "nothing joins what is in flight"
        await lab.finish()
        assert lab.sender.capacity(0, wanted, suspects).alone
        assert lab.sender.capacity(0, wanted, suspects).calls["openai"] > 0
        assert lab.sender.capacity(1, wanted, suspects) == Capacity({}), "one partition at a time"
        lab.woken.clear()
        assert not lab.sender.capacity(0, wanted).alone
        assert 1 in lab.woken
        assert lab.sender.capacity(1, wanted, suspects).alone

    play(scene)


def a_suspect(offset: int) -> ReservedCall:
    (call,) = Lab().calls(offset)
    return call._replace(attempt=ATTEMPTS)


def test_a_suspect_that_hangs_holds_back_other_endpoints_for_a_short_time_only() -> None:
    async def scene(lab: Lab) -> None:
        both = {"openai", "well"}
        assert lab.sender.capacity(0, both, {"openai"}) == Capacity({"openai": 4}, alone=True)
        assert lab.sender.capacity(1, both) == Capacity({}), "before it is sent"
        lab.sender.send(0, [a_suspect(0)], ignore)
        assert lab.sender.capacity(1, both) == Capacity({}), "it may end the worker at once"
        assert lab.sender.capacity(0, both, {"openai"}).calls == {}
        lab.woken.clear()
        await asyncio.sleep(2 * HELD)
        assert set(lab.woken) == {0, 1}
        for partition in (0, 1):
            suspects = set() if partition else {"openai"}
            later = lab.sender.capacity(partition, both, suspects)
            assert later == Capacity({"well": 2}), "the suspect stays alone on its endpoint"
        lab.woken.clear()
        await lab.finish()
        assert lab.sender.capacity(0, both) == Capacity({"openai": 2, "well": 2})
        assert set(lab.woken) == {0, 1}
        assert set(lab.sender.capacity(1, both).calls) == both

    play(scene)


def test_calls_that_hang_elsewhere_do_not_keep_a_suspect_waiting() -> None:
    async def scene(lab: Lab) -> None:
        both = {"openai", "well"}
        lab.sender.send(1, lab.calls(0), ignore)
        assert lab.sender.capacity(0, both, {"well"}) == Capacity({}, alone=True)
        await asyncio.sleep(2 * HELD)
        assert 0 in lab.woken
        assert lab.sender.capacity(1, both) == Capacity({}), "its turn is next"
        assert lab.sender.capacity(0, both, {"well"}) == Capacity({"well": 2}, alone=True), "as many as its share"

    play(scene)


def test_after_a_suspect_the_others_have_their_turn_and_then_the_next_suspect() -> None:
    async def scene(lab: Lab) -> None:
        assert lab.sender.capacity(0, {"openai"}, {"openai"}).alone
        lab.sender.send(0, [a_suspect(0)], ignore)
        await asyncio.sleep(HELD)  # it takes as long as that
        await lab.finish()
        began = asyncio.get_running_loop().time()
        lab.woken.clear()
        assert lab.sender.capacity(1, {"openai"}) == Capacity({"openai": 2}), "the others first"
        assert lab.sender.capacity(0, {"openai"}, {"openai"}) == Capacity({"openai": 2})
        while 0 not in lab.woken:
            await asyncio.sleep(0.001)
        assert lab.sender.capacity(0, {"openai"}, {"openai"}).alone
        assert asyncio.get_running_loop().time() - began >= HELD / 2

    play(scene)


def test_suspects_that_fail_do_not_have_their_endpoint_left_alone() -> None:
    async def scene(lab: Lab) -> None:
        lab.gate.down = True
        for offset in range(AFTER + 1):
            lab.sender.send(0, [a_suspect(offset)], ignore)
            await lab.sender.finish([0], 5.0)
        assert lab.gate.asked == AFTER + 1
        assert (lab.line.is_suspect, lab.line.open_for) == (False, 0.0)

    play(scene)


def test_suspects_of_a_partition_that_has_gone_hold_nobody_up() -> None:
    async def scene(lab: Lab) -> None:
        assert lab.sender.capacity(0, {"openai"}, {"openai"}).alone
        lab.sender.drop(0)
        assert lab.sender.capacity(1, {"openai"}).calls["openai"] > 0

    play(scene)


def test_suspects_whose_endpoint_is_left_alone_hold_nobody_up() -> None:
    async def scene(lab: Lab) -> None:
        lab.gate.down = True
        lab.sender.send(0, lab.calls(*range(AFTER)), ignore)
        await lab.finish()
        assert lab.line.open_for > 0
        assert lab.sender.capacity(0, {"openai"}, {"openai"}) == Capacity({"openai": 0}, trials=("openai",))

    play(scene)


def test_calls_that_nobody_waits_for_are_ended_and_tell_nothing() -> None:
    told: list[int] = []

    async def scene(lab: Lab) -> None:
        calls = lab.calls(0, 1)
        lab.sender.send(0, calls, lambda call, _verdict, _cost: told.append(call.offset))
        await asyncio.sleep(0)
        lab.sender.end(0, calls[:1])
        await lab.finish()

    play(scene)
    assert told == [1]


def test_a_worker_that_leaves_sends_nothing_more_and_pays_for_what_it_has_sent_alone() -> None:
    async def scene(lab: Lab) -> None:
        docket = Docket([FIRST], 10**12, 1e9)
        docket.take(map(queued, range(4)))
        docket.reserve_calls(NOON, {"openai": 4})
        lab.sender.send(0, docket.prepare().calls, docket.settle)
        while lab.gate.asked < 2:  # as many as go out at once
            await asyncio.sleep(0)
        back = lab.sender.take_back(0)
        assert [call.offset for call in back] == [2, 3]
        docket.take_back(back)
        assert docket.in_flight == 2
        assert lab.sender.capacity(0, {"openai"}) == Capacity({})
        left = docket.left(NOON)
        await lab.finish()
        assert (lab.gate.asked, docket.in_flight) == (2, 0)
        assert (docket.left(NOON) or 0) > (left or 0)
        lab.sender.go_on(0)
        assert lab.sender.capacity(0, {"openai"}).calls["openai"] == 4
        docket.reserve_calls(NOON, {"openai": 4})
        assert [call.offset for call in docket.prepare().calls] == [2, 3]

    play(scene)


def test_no_more_is_named_than_goes_out_soon_where_so_many_go_out_a_minute() -> None:
    async def scene(lab: Lab) -> None:
        slow = ThrottledEndpoint(lab.gate, EndpointPart(at_once=8, requests_per_minute=24))
        sender = CallSender([FIRST], {"openai": slow}, lab.woken.append, HELD)
        assert sender.capacity(0, {"openai"}).calls == {"openai": 2}
        sender.send(0, lab.calls(0, 1), ignore)
        while lab.gate.asked < 1:
            await asyncio.sleep(0)
        assert sender.capacity(0, {"openai"}).calls == {"openai": 1}
        await sender.close()

    play(scene)


def test_a_panel_that_waits_for_an_endpoint_that_is_down_holds_up_nobody_who_needs_another_one() -> None:
    """A small model at `down`, the judge's own and another judge at `well`."""
    small = a_judge("panel", "down")
    panel = replace(a_judge("panel", "well", cascade=CascadePart(small="down:little")), small=small)
    plain = a_judge("plain", "well")

    async def scene(lab: Lab) -> None:
        lab.gate.down = True
        down = ThrottledEndpoint(lab.gate, EndpointPart(at_once=2), first_wait=0.01)
        answering = Gate()
        answering.open.set()
        endpoints = {"down": down, "well": ThrottledEndpoint(answering, EndpointPart(at_once=2))}
        sender, settled = CallSender([panel, plain], endpoints, lab.woken.append, HELD), list[str]()
        docket = Docket([panel, plain], None, 1e9)
        docket.take(map(queued, range(30)))

        def on_answer(call: ReservedCall, verdict: Verdict, cost: int) -> None:
            settled.append(call.judge.part.name)
            docket.settle(call, verdict, cost)

        while settled.count("plain") < 30:
            calls, _, trials = sender.capacity(0, docket.lines_awaited())
            docket.reserve_calls(NOON, calls, trials=trials)
            sender.send(0, docket.prepare().calls, on_answer)
            await asyncio.sleep(0.001)
        assert settled.count("panel") < 30
        assert sender.capacity(0, {"down, well"}).trials == ("down, well",)
        assert "down" in down.failure
        await sender.close()

    play(scene)
