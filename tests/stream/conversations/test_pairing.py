"""What follows what, and what must be looked at again when a turn comes late."""

from hypothesis import given
from hypothesis import strategies as st

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.pairing import (
    ASSISTANT,
    GAP_ASSISTANT,
    GAP_USER,
    USER,
    KeptTurn,
    affected_responses,
    exchange,
    insert,
    pair_response,
    pairing_key,
    prompted,
)
from turnsignal.stream.records.scores import Outcome


def slots(spelled: str) -> list[KeptTurn]:
    """`uaUA`: user, assistant, unreadable user, unreadable assistant, one second apart."""
    roles = {"u": USER, "a": ASSISTANT, "U": GAP_USER, "A": GAP_ASSISTANT}
    return [KeptTurn(f"{role}{n}", roles[role], float(n), f"text {n}") for n, role in enumerate(spelled)]


def closed(spelled: str, index: int) -> tuple[str, str, bool] | None:
    found = pair_response(slots(spelled), index)
    return None if found is None else (found.outcome, found.turn.turn_id, found.gap)


def test_the_first_later_user_turn_is_the_follow_up() -> None:
    assert closed("uauu", 1) == ("followed_up", "u2", False)


def test_messages_in_a_row_are_one_follow_up_up_to_the_next_answer() -> None:
    found = pair_response(slots("uauuau"), 1)
    assert found is not None
    assert found.turns == ("u2", "u3")
    assert (found.turn.turn_id, found.turn.text, found.turn.time) == ("u2", "text 2\ntext 3", 3.0)


def test_a_record_that_nobody_can_read_ends_a_follow_up() -> None:
    for spelled in ("uauUu", "uauAu"):
        found = pair_response(slots(spelled), 1)
        assert found is not None
        assert (found.turns, found.gap) == (("u2",), False)


def test_behind_a_gap_only_the_first_message_is_named() -> None:
    found = pair_response(slots("uaAuu"), 1)
    assert found is not None
    assert (found.turns, found.gap) == (("u3",), True)


def test_the_link_to_one_turn_is_spelled_as_before_messages_were_joined() -> None:
    found = pair_response(slots("uau"), 1)
    assert found is not None
    assert found.key == "followed_up:clear:u2"


def test_a_later_response_supersedes() -> None:
    assert closed("uaau", 1) == ("superseded", "a2", False)
    assert closed("uaAau", 1) == ("superseded", "a3", False)


def test_a_gap_between_is_told() -> None:
    assert closed("uaAu", 1) == ("followed_up", "u3", True)
    assert closed("uaU", 1) == ("followed_up", "U2", True)
    assert closed("uaAU", 1) == ("followed_up", "U3", True)


def test_an_unreadable_response_alone_closes_nothing() -> None:
    assert closed("ua", 1) is None
    assert closed("uaA", 1) is None


def test_links_to_the_same_turn_with_and_without_a_gap_are_two_links() -> None:
    turn = slots("u")[0]
    keys = {pairing_key(outcome, turn.turn_id, gap=gap) for outcome in Outcome for gap in (True, False)}
    assert len(keys) == 6


def test_a_turn_is_placed_by_event_time_and_after_its_equals() -> None:
    kept = slots("uau")
    assert insert(kept, KeptTurn("x", USER, 1.0, "")) == 2
    assert insert(kept, KeptTurn("y", USER, -1.0, "")) == 0
    assert insert(kept, KeptTurn("z", USER, 9.0, "")) == 5
    assert [slot.turn_id for slot in kept] == ["y", "u0", "a1", "x", "u2", "z"]


def test_a_response_is_prompted_by_any_user_turn_before_it() -> None:
    assert prompted(slots("ua"), 1)
    assert prompted(slots("uaa"), 2)
    assert prompted(slots("Ua"), 1)
    assert not prompted(slots("aua"), 0)
    assert not prompted(slots("Aau"), 1)


def test_texts_around_a_response() -> None:
    kept = slots("uauuau")
    assert exchange(kept, 4, "next") == Exchange("text 2\ntext 3", "text 4", "next", "text 0")
    assert exchange(kept, 1, "next") == Exchange("text 0", "text 1", "next", "")
    assert exchange(slots("a"), 0, "") == Exchange("", "text 0", "", "")


def test_a_superseding_response_answers_the_same_prompt() -> None:
    assert exchange(slots("uaa"), 2, "").prompt == "text 0"


def test_an_unreadable_prompt_is_no_older_prompt() -> None:
    assert exchange(slots("uaUau"), 3, "") == Exchange("", "text 3", "", "")
    assert exchange(slots("uUua"), 3, "").prompt == "text 2"


@given(st.text("uaUA", max_size=12), st.sampled_from("uaUA"), st.integers(0, 12))
def test_only_touched_responses_close_in_another_way(before: str, role: str, at: int) -> None:
    """Looking at the touched ones alone finds every change that looking at all of them would find."""

    def closings(kept: list[KeptTurn]) -> dict[str, str | None]:
        found = {}
        for n, slot in enumerate(kept):
            if slot.role == ASSISTANT:
                pair = pair_response(kept, n) if prompted(kept, n) else None
                found[slot.turn_id] = None if pair is None else pair.key
        return found

    kept = slots(before)
    known = closings(kept)
    new = slots(role)[0]
    index = insert(kept, KeptTurn("new", new.role, at - 0.5, ""))
    changed = {turn for turn, key in closings(kept).items() if known.get(turn) != key}
    assert changed <= {kept[n].turn_id for n in affected_responses(kept, index)}
