"""A conversation's state: bounded, written and read back as it was."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.conversations.feedback_memory import FeedbackMemory, KeptFeedback, NewestFeedback
from turnsignal.stream.conversations.judged import Fate, VerdictFacts
from turnsignal.stream.conversations.pairing import USER, KeptTurn, PendingResponse
from turnsignal.stream.conversations.recent_ids import Seen
from turnsignal.stream.conversations.state import VERSION, Conversation, Limits, peek, restore, restore_judged
from turnsignal.stream.conversations.windows import ScoreWindows
from turnsignal.stream.errors import SchemaError

LIMITS = Limits()
DATA = Path(__file__).parents[2] / "data"


def slot(time: float) -> KeptTurn:
    return KeptTurn(f"t{time}", USER, time, "")


def full_memory() -> FeedbackMemory:
    waiting = KeptFeedback("f1", "a9", "label", 5.0, 3, None, "why", "scorer", 0.5, "class", "digest")
    newest = NewestFeedback(4.0, "f0", "row", b"about", "a1", -1)
    return FeedbackMemory(b"y" * 18, [waiting], [newest], b"z" * 16, [PendingResponse("a", None, "m", "web")])


def full_state() -> Conversation:
    answer = PendingResponse("a", None, "m", "web", 0.5, None, "followed_up:clear:u2", "row", 3.0, 0.2, 0.2, True, 0.0)
    return Conversation(
        due=5.0,
        clock=1.5,
        offset=7,
        first=-3.0,
        last=4.0,
        closed=True,
        closes=2,
        close_row="abc",
        turns=9,
        recent=b"x" * 18,
        kept=[slot(1.0), KeptTurn("a1", "assistant", 2.0, "text \0 é 😀", answer)],
        score_windows=ScoreWindows(0.0, 300.0, [1, 0.5], b"settled"),
        evicted_before=0.5,
        suite="s",
        feedback=full_memory(),
    )


def fields_of(state: Conversation) -> list[Any]:
    fields: list[Any] = msgspec.msgpack.decode(state.snapshot())
    return fields


def test_a_full_state_is_read_back_as_it_was_written() -> None:
    state = full_state()
    assert restore(state.snapshot()) == state


def test_an_empty_state_is_read_back_as_it_was_written() -> None:
    fresh = Conversation(last=0.0)
    assert restore(fresh.snapshot()) == fresh


def test_due_and_clock_can_be_read_without_the_rest() -> None:
    assert tuple(peek(Conversation(due=1_750_000_001.25, clock=1_750_000_000.5, last=0.0).snapshot()))[:2] == (
        1_750_000_001.25,
        1_750_000_000.5,
    )
    assert tuple(peek(Conversation(due=1.0, last=0.0).snapshot()))[:2] == (1.0, float("-inf"))


def begins(whole: Any, part: Any) -> bool:
    """Say whether arrays differ by fields at their ends alone."""
    if not isinstance(part, list):
        return bool(whole == part)
    return len(part) <= len(whole) and all(map(begins, whole, part))


def test_state_from_before_an_answer_was_free_of_clarification_is_read_with_the_default() -> None:
    written = (DATA / "conversation-state-1.msgpack").read_bytes()
    expected = full_state()
    assert expected.kept[1].response is not None
    expected.kept[1].response.free = None
    expected.feedback = None
    assert restore(written) == expected
    assert peek(written) == (5.0, 1.5, 7)


def test_state_from_before_it_was_counted_what_went_on_takes_it_from_the_kept_turns() -> None:
    read = [
        PendingResponse("a", None, None, None, pairing="followed_up:clear:u", strict=value, clarification=asks)
        for value, asks in ((0.9, False), (0.2, True), (None, False), (1.0, False))
    ]
    slots = [KeptTurn(f"a{n}", "assistant", float(n), "text", answer) for n, answer in enumerate(read)]
    fields = fields_of(Conversation(last_evicted_response=slots[0], kept=slots[1:], clarifications=1))
    older = fields[: Conversation.__struct_fields__.index("went_on")]
    for written in (
        older[Conversation.__struct_fields__.index("last_evicted_response")],
        *older[Conversation.__struct_fields__.index("kept")],
    ):
        del written[4][13:]
    state = restore(msgspec.msgpack.encode(older))
    assert (state.went_on, state.unhappy) == (2, False)
    assert [kept.response.went_on for kept in [state.last_evicted_response, *state.kept]] == [True, False, False, True]  # type: ignore[union-attr]
    assert restore(state.snapshot()) == state


def test_state_of_one_version_differs_at_the_ends_alone_so_that_older_code_reads_it() -> None:
    written = msgspec.msgpack.decode((DATA / "conversation-state-1.msgpack").read_bytes())
    present = fields_of(full_state())
    assert present != written
    assert begins(present, written)
    assert not begins(written, present)


@pytest.mark.parametrize("fields", range(4, 22))
def test_state_of_an_older_version_has_the_defaults_of_the_fields_that_came_later(fields: int) -> None:
    whole = fields_of(full_state())
    older = msgspec.msgpack.encode([0, *whole[1:fields]])
    state = restore(older)
    assert state.version == 1
    assert fields_of(state)[1:] == whole[1:fields] + fields_of(Conversation())[fields:]
    assert peek(older) == (5.0, 1.5, 7)
    assert restore(state.snapshot()) == state


def judged_state(*, closed: bool = False) -> Conversation:
    state = full_state()
    state.closed = closed
    state.judged_memory().expect("row-1", 1.0, ["task_utility(by=j)"])
    state.judged_memory().expect("row-2", 2.0, ["follow_up(by=j)"])
    return state


def said(number: int, scorer: str) -> VerdictFacts:
    return VerdictFacts(f"v{number}", f"row-{number}", float(number), scorer, 1, 0.8, 0.5, f"a{number}")


def test_a_verdict_on_an_open_conversation_leaves_what_it_would_leave_in_the_whole_of_it() -> None:
    whole, apart = judged_state(), restore_judged(judged_state().snapshot())
    assert apart is not None
    for verdict in (said(1, "task_utility(by=j)"), said(7, "groundedness(by=j)")):
        assert whole.judged_memory().take(verdict) == apart.memory.take(verdict)
    assert apart.snapshot() == whole.snapshot()
    assert restore(apart.snapshot()) == whole
    assert peek(apart.snapshot()) == (whole.due, whole.clock, whole.offset)


def test_what_a_verdict_changes_stands_apart_in_open_conversations_of_judges_alone() -> None:
    assert restore_judged(full_state().snapshot()) is None
    assert restore_judged(judged_state(closed=True).snapshot()) is None


def test_state_of_version_3_in_which_judged_scores_stood_among_the_fields_is_read_and_written_anew() -> None:
    older = (DATA / "conversation-state-3.msgpack").read_bytes()
    assert (restore_judged(older), peek(older)) == (None, (5.0, 1.5, 7))
    state = restore(older)
    assert (state.version, state.turns, state.suite) == (VERSION, 2, "s")
    assert state.judged is not None
    assert (state.judged.awaited(), state.judged.packed_exchanges) == ({"follow_up(by=j)": 1}, 1)
    assert state.judged.take(said(1, "task_utility(by=j)"))[0] is Fate.DUPLICATE
    apart = restore_judged(state.snapshot())
    assert apart is not None
    assert apart.memory.take(said(2, "follow_up(by=j)"))[0] is Fate.COUNTED
    assert restore(apart.snapshot()).judged == apart.memory


def test_newer_state_is_refused_with_both_versions_and_what_to_do() -> None:
    for newer in (
        Conversation(version=VERSION + 1).snapshot(),
        msgspec.msgpack.encode([VERSION + 1, 0.0, 0.0, 7, "another layout"]),
        msgspec.msgpack.encode([*fields_of(Conversation(version=VERSION + 1)), "a field more"]),
    ):
        for read in (restore, peek):
            with pytest.raises(SchemaError, match=f"version {VERSION} or older, got {VERSION + 1}: .* start that rel"):
                read(newer)


def test_what_is_no_state_is_refused() -> None:
    for read in (restore, peek):
        with pytest.raises(SchemaError, match="got 14 bytes that do not read as one"):
            read(b'[1,2.0,3.0,4,"')


@given(
    st.floats(-1e11, 1e11), st.floats(-1e11, 1e11), st.lists(st.floats(-1e11, 1e11), max_size=8), st.text(max_size=20)
)
def test_event_times_and_texts_survive_exactly(due: float, clock: float, times: list[float], text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:  # no turn carries one: decode_turn refuses lone surrogates
        return
    state = Conversation(due=due, clock=clock, last=0.0, kept=[KeptTurn("t", USER, time, text) for time in times])
    assert restore(state.snapshot()) == state
    assert tuple(peek(state.snapshot()))[:2] == (due, clock)


def test_a_turn_id_is_new_once() -> None:
    state = Conversation()
    known, entry = state.knows("t1", "userhello")
    assert known is Seen.NEW
    state.remember(entry, LIMITS)
    assert state.knows("t1", "userhello")[0] is Seen.DUPLICATE
    assert state.knows("t1", "userother")[0] is Seen.CONFLICT
    assert state.knows("t2", "userhello")[0] is Seen.NEW


def test_only_so_many_ids_are_remembered() -> None:
    state, limits = Conversation(), Limits(recent_turns=3)
    for name in "abcd":
        state.remember(state.knows(name, "")[1], limits)
    assert [state.knows(name, "")[0] for name in "abcd"] == [Seen.NEW] + [Seen.DUPLICATE] * 3
    assert len(state.recent) == 3 * 9


@given(st.lists(st.text("ab\0é", max_size=4), max_size=40))
def test_ids_are_told_apart_whatever_they_are(ids: list[str]) -> None:
    state, seen = Conversation(), set()
    for name in ids:
        known, entry = state.knows(name, "same")
        assert (known is Seen.DUPLICATE) == (name in seen)
        if known is Seen.NEW:
            state.remember(entry, LIMITS)
        seen.add(name)


def test_event_times_are_met_in_any_order() -> None:
    state = Conversation()
    assert [state.observe_time(time, LIMITS) for time in (1000.0, 700.0, 699.0, 1500.0)] == [False, False, True, False]
    assert (state.first, state.last, state.turns, state.late) == (699.0, 1500.0, 4, 1)


def test_the_oldest_turn_leaves_when_there_are_too_many() -> None:
    state, limits = Conversation(), Limits(kept_turns=3)
    assert [state.insert(slot(time), limits) for time in (1.0, 2.0, 3.0, 4.0)] == [0, 1, 2, 2]
    assert (state.evicted_before, [s.time for s in state.kept]) == (1.0, [2.0, 3.0, 4.0])
    assert state.insert(slot(0.5), limits) is None
    assert state.insert(slot(1.5), limits) is None
    assert (state.evicted_before, len(state.kept)) == (1.5, 3)
    assert state.insert(slot(2.5), limits) == 0


def test_idle_and_forgotten_are_told_by_the_clock_that_is_handed_in() -> None:
    state = Conversation(last=100.0, clock=100.0)
    assert not state.idle_at(1900.0, LIMITS)
    assert state.idle_at(1900.1, LIMITS)
    assert not state.expired_at(88_300.0, LIMITS)
    assert state.expired_at(88_300.1, LIMITS)
    assert state.schedule(LIMITS) == 1900.0
    state.closed = True
    assert not state.idle_at(1e12, LIMITS)
    assert state.schedule(LIMITS) == 88_300.0


def test_an_old_turn_that_came_just_now_is_not_idle() -> None:
    assert not Conversation(last=100.0, clock=50_000.0).idle_at(51_000.0, LIMITS)
