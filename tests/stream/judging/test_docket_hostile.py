"""The docket amid what is hostile: exchanges that end workers, answers that cannot be kept, and requests to forget."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from tests.stream.judging.test_docket import FIRST, MOST, NOON, a_judge, queued, served
from turnsignal.stream.judging.budget import MOST_MONEY, Budget
from turnsignal.stream.judging.docket import Docket
from turnsignal.stream.judging.docket_entries import ATTEMPTS, SUSPECT, ReservedCall
from turnsignal.stream.judging.docket_state import STATE, decode_docket
from turnsignal.stream.judging.forgotten import SLACK, ForgottenConversations
from turnsignal.stream.judging.remembered import CACHED
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged, VerdictClaim, VerdictTokens, decode_verdict

ROOM = {"openai": 8}


def killed(store: dict[bytes, bytes | None]) -> Docket:
    """A docket after a kill, with five exchanges."""
    docket = Docket([FIRST], None, 1e9, {key: value for key, value in store.items() if value is not None})
    docket.take(map(queued, range(5)))
    return docket


def one_call(docket: Docket, **changes: Any) -> ReservedCall:
    docket.take([queued(docket.position, **changes)])
    docket.reserve_calls(NOON, ROOM)
    (call,) = docket.prepare().calls
    return call


def test_what_was_in_flight_at_two_ends_goes_out_alone_so_that_neighbours_get_their_verdicts() -> None:
    store: dict[bytes, bytes | None] = {}
    for _ in range(SUSPECT):
        docket = killed(store)
        assert docket.suspects == set(), "an end alone, as when a machine is switched off, slows nobody down"
        docket.reserve_calls(NOON, ROOM)
        store = docket.prepare().changes
    docket = killed(store)
    docket.take([queued(5)])
    assert docket.suspects == {"openai"}
    docket.reserve_calls(NOON, ROOM)
    batch = docket.prepare()
    assert [call.offset for call in batch.calls] == [5], "others go out as before, where suspects cannot"
    docket.settle(batch.calls[0], served(batch.calls[0]), 1)
    for offset in range(4):
        docket.reserve_calls(NOON, ROOM, alone=True)
        (call,) = docket.prepare().calls
        assert (call.offset, call.attempt) == (offset, ATTEMPTS)
        docket.settle(call, served(call), 1)
    docket.reserve_calls(NOON, ROOM, alone=True)  # the one that ends the worker
    docket = killed(docket.prepare().changes)
    (verdict,) = docket.prepare().verdicts
    assert (verdict.conversation_id, verdict.unscored) == ("c4", Unjudged.ERROR)
    assert docket.suspects == set()


def test_an_endpoint_that_has_failed_is_tried_by_the_newest_exchange() -> None:
    docket = killed({})
    docket.reserve_calls(NOON, {"openai": 1}, trials={"openai"})
    assert [call.offset for call in docket.prepare().calls] == [4]
    docket.reserve_calls(NOON, {"openai": 1})
    assert [call.offset for call in docket.prepare().calls] == [0]
    docket.reserve_calls(NOON + 2e9, {"openai": 1}, trials={"openai"})
    assert [verdict.unscored for verdict in docket.prepare().verdicts] == [Unjudged.TIMEOUT] * 3


@pytest.mark.parametrize(
    "spoil",
    [
        lambda verdict: setattr(verdict, "claims", [VerdictClaim("\ud800", "served")]),
        lambda verdict: setattr(verdict, "claims", [VerdictClaim("x" * 500, "served", "y" * 500)] * 2_000),
        lambda verdict: setattr(verdict, "value", 7.0),
        lambda verdict: setattr(verdict, "label", "l" * 201),
        lambda verdict: setattr(verdict, "value", None),
    ],
)
def test_a_verdict_that_its_readers_would_refuse_is_an_error_with_its_costs(spoil: Any) -> None:
    docket = Docket([FIRST], None, 1e9)
    call = one_call(docket)
    verdict = served(call)
    verdict.tokens, verdict.attempts, verdict.cost = VerdictTokens(3, 4), 2, 0.5
    spoil(verdict)
    docket.settle(call, verdict, 1_000)
    batch = docket.prepare()
    (written,) = batch.verdicts
    assert (written.unscored, written.attempts, written.tokens.output, written.cost) == (Unjudged.ERROR, 2, 4, 0.5)
    assert set(batch.changes) == {STATE}
    assert (batch.position, decode_docket(batch.changes[STATE] or b"").spent) == (1, 1_000)


@pytest.mark.parametrize(
    "changes",
    [{"cost": float("nan")}, {"latency": -1.0}, {"attempts": -1}, {"tokens": VerdictTokens(-1, 2)}, {"attempts": "x"}],
)
def test_costs_that_cannot_be_read_are_left_out(changes: dict[str, Any]) -> None:
    docket = Docket([FIRST], None, 1e9)
    call = one_call(docket)
    docket.settle(call, replace(served(call), **changes), 1_000)
    (written,) = docket.prepare().verdicts
    read = decode_verdict(VERDICTS.dump_json(written), written.conversation_id.encode())
    assert (read.unscored, read.attempts, read.tokens.input, read.cost) == (Unjudged.ERROR, 0, 0, 0.0)


def test_names_and_reasons_that_are_too_long_are_cut_and_not_refused() -> None:
    docket = Docket([FIRST], None, 1e9)
    call = one_call(docket)
    verdict = served(call)
    verdict.judge.answered, verdict.reasoning = "m\ud800" * 500, "r\ud800" * 5_000
    docket.settle(call, verdict, 1_000)
    (written,) = docket.prepare().verdicts
    assert (written.value, len(written.judge.answered or ""), len(written.reasoning)) == (1.0, 200, 2_000)


def test_a_call_that_costs_more_than_was_reserved_for_it_ends_all_others_of_the_day() -> None:
    docket = Docket([FIRST], 10 * MOST, 1e9)
    call = one_call(docket)
    docket.settle(call, served(call), 11 * MOST)
    batch = docket.prepare()
    assert decode_docket(batch.changes[STATE] or b"").spent == 11 * MOST
    later = Docket([FIRST], 10 * MOST, 1e9, {STATE: batch.changes[STATE] or b""})
    for each in (docket, later):
        each.take([queued(1)])
        each.reserve_calls(NOON, ROOM)
        ended = each.prepare()
        assert (ended.calls, [verdict.unscored for verdict in ended.verdicts]) == ([], [Unjudged.BUDGET])
        assert each.left(NOON) == 0


def test_what_a_judge_took_beyond_its_greatest_price_is_reserved_for_its_next_calls() -> None:
    other = a_judge("other")
    docket = Docket([FIRST, other], 10 * MOST, 1e9)
    docket.take([queued(0)])
    docket.reserve_calls(NOON, {"openai": 1})
    (first,) = docket.prepare().calls
    docket.settle(first, served(first), 3 * first.most)
    docket.take(map(queued, range(1, 9)))
    docket.reserve_calls(NOON, ROOM)
    calls = docket.prepare().calls
    assert {call.judge.part.name: round(call.most / first.most, 1) for call in calls} == {"first": 3.0, "other": 1.0}
    for call in calls:
        docket.settle(call, served(call), call.most)
    assert decode_docket(docket.prepare().changes[STATE] or b"").spent <= 10 * MOST


def test_money_has_an_end() -> None:
    docket = Docket([FIRST], None, 1e9)
    call = one_call(docket)
    docket.settle(call, served(call), 10**30)
    assert decode_docket(docket.prepare().changes[STATE] or b"").spent == MOST_MONEY
    budget = Budget(None)
    for _ in range(5):
        budget.reserve(MOST_MONEY)
        budget.settle(MOST_MONEY, MOST_MONEY)
    assert msgspec.msgpack.encode(budget.spent)


def test_a_remembered_answer_that_cannot_be_read_is_dropped_and_asked_for_again() -> None:
    docket = Docket([FIRST], None, 1e9)
    call = one_call(docket, response="The same.")
    docket.settle(call, served(call), 5)
    store = {key: value for key, value in docket.prepare().changes.items() if value is not None}
    (key,) = (key for key in store if key.startswith(CACHED))
    verdict = VERDICTS.validate_json(store[key])
    verdict.judge.answered = "m" * 247  # as juries with long names once wrote it
    store[key] = VERDICTS.dump_json(verdict)
    later = Docket([FIRST], None, 1e9, store)
    later.take([queued(1, response="The same.")])
    later.reserve_calls(NOON, ROOM)
    batch = later.prepare()
    assert [call.offset for call in batch.calls] == [1]
    assert batch.changes[key] is None


def test_ends_of_workers_are_not_counted_for_judges_that_are_gone_nor_behind_the_position() -> None:
    docket = Docket([FIRST, a_judge("gone")], None, 1e9)
    docket.take([queued(0)])
    docket.reserve_calls(NOON, ROOM)
    store = {STATE: docket.prepare().changes[STATE] or b""}
    assert len(decode_docket(store[STATE]).named) == 2
    later = decode_docket(Docket([FIRST], None, 1e9, store).prepare().changes[STATE] or b"")
    assert [digest for _, digest, _, _ in later.named] == [FIRST.digest]
    assert later.spent > 0, "it may have been paid for"


# -- forgetting ------------------------------------------------------------------------------------------------


def told(docket: Docket) -> tuple[list[str], list[str]]:
    """Which conversations are asked about, and told of."""
    batch = docket.prepare()
    asked = [call.exchange.conversation_id for call in batch.calls]
    return asked, [verdict.conversation_id for verdict in batch.verdicts]


def test_nothing_that_was_written_before_a_request_to_forget_is_asked_or_told() -> None:
    forgotten = ForgottenConversations()
    forgotten.add("c1", NOON)
    docket = Docket([FIRST], None, 1e9, forgotten=forgotten)
    docket.take([queued(0), queued(1), queued(2, NOON + SLACK + 1, conversation_id="c1")])
    docket.reserve_calls(NOON, ROOM)
    batch = docket.prepare()
    assert [call.offset for call in batch.calls] == [0, 2], "a conversation may come back"
    assert batch.verdicts == []


def test_a_request_reaches_what_waits_what_is_in_flight_what_is_decided_and_what_is_remembered() -> None:
    forgotten = ForgottenConversations()
    docket = Docket([FIRST], 100 * MOST, 1e9, forgotten=forgotten)
    same: dict[str, Any] = {"conversation_id": "gone", "time": NOON}
    docket.take([queued(0, **same), queued(1, **same), queued(2, **same), queued(3), queued(4, **same)])
    docket.reserve_calls(NOON, {"openai": 4})
    calls = docket.prepare().calls
    docket.settle(calls[0], served(calls[0]), 1)
    remembered = docket.prepare()
    assert len(remembered.verdicts) == 1
    docket.settle(calls[1], served(calls[1]), 1)
    forgotten.add("gone", NOON + 1)
    assert docket.forget() == [calls[2]], "the call that is to be ended"
    assert docket.forget() == []
    docket.settle(calls[2], served(calls[2]), 1)
    docket.reserve_calls(NOON, ROOM)
    batch = docket.prepare()
    assert (batch.calls, batch.verdicts, batch.position) == ([], [], 3)
    (key,) = (key for key in remembered.changes if key.startswith(CACHED))
    assert batch.changes[key] is None
    assert decode_docket(batch.changes[STATE] or b"").spent == calls[2].most + 2
    docket.settle(calls[3], served(calls[3]), 1)
    assert told(docket) == ([], ["c3"])
    assert docket.is_idle


def test_what_is_remembered_of_turns_whose_timestamps_are_ahead_goes_with_its_request() -> None:
    forgotten = ForgottenConversations()
    docket = Docket([FIRST], None, 1e9, forgotten=forgotten)
    call = one_call(docket, time=NOON + 3_600, conversation_id="gone")
    docket.settle(call, served(call), 1)
    docket.prepare()
    forgotten.add("gone", NOON + 60)
    docket.forget()
    assert [value for key, value in docket.prepare().changes.items() if key.startswith(CACHED)] == [None]


def test_a_request_that_stands_in_every_partition_is_one_and_an_older_one_takes_nothing_back() -> None:
    forgotten = ForgottenConversations()
    for partition in range(64):
        forgotten.add("gone", NOON + partition / 100)
    forgotten.add("gone", NOON - 3_600)  # read later, as it stands in another partition
    assert len(forgotten.since(0)) == 1
    assert forgotten.covers("gone", NOON)
    forgotten.add("gone", NOON + 60)
    assert [request.asked for request in forgotten.since(1)] == [NOON + 60], "it has come back, and is asked for again"
    assert forgotten.covers("gone", NOON + 60 + SLACK)


def test_a_request_that_was_made_while_no_worker_ran_reaches_what_an_earlier_one_remembers() -> None:
    docket = Docket([FIRST], None, 1e9)
    call = one_call(docket, time=NOON, conversation_id="gone")
    docket.settle(call, served(call), 1)
    store = {key: value for key, value in docket.prepare().changes.items() if value is not None}
    forgotten = ForgottenConversations()
    forgotten.add("gone", NOON + 60)
    later = Docket([FIRST], None, 1e9, store, 1, forgotten=forgotten)
    later.forget()
    assert [value for key, value in later.prepare().changes.items() if key.startswith(CACHED)] == [None]
