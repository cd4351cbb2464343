"""Rounds of a program that asks for an answer again, and what users say behind an answer."""

from collections import Counter
from collections.abc import Sequence

import pytest

from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.rounds import LEFT_OUT, Rounds

COMPLAINT = "The answer is no valid object: 1 error."


def sent(chat: int, after: float, said: Sequence[str], answer: str, *, named: bool = True, timed: bool = True) -> Call:
    """A call that sends what was said, the user first, so many seconds after its chat began."""
    inputs = [Message("assistant" if at % 2 else "user", text) for at, text in enumerate(said)]
    start, line = 1000.0 * chat + after, 100 * chat + int(after)
    name = f"c{chat}" if named else None
    outputs = [Message("assistant", answer)]
    return Call("x:", conversation=name, start=start if timed else None, line=line, inputs=inputs, outputs=outputs)


def read(calls: Sequence[Call]) -> tuple[list[list[str]], Rounds]:
    """What each call that is left sends and gets, and what was found."""
    rounds, assumed = Rounds(), Counter[str]()
    for call in calls:
        rounds.add(call)
    kept = [call for each in calls for call in rounds.taken_out([each], assumed)]
    assert assumed[LEFT_OUT] == len(calls) - len(kept)
    return [[message.text for message in (*call.inputs, *call.outputs)] for call in kept], rounds


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("timed", [True, False])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_what_a_later_history_lacks_between_a_question_and_its_last_answer_nobody_saw(
    rounds: int, *, named: bool, timed: bool
) -> None:
    said, calls = ["Who?"], []
    for number in range(rounds):
        calls.append(sent(0, number, said, f"broken {number}", named=named, timed=timed))
        said = [*said, f"broken {number}", COMPLAINT]
    calls += [
        sent(0, 10, said, "She.", named=named, timed=timed),
        sent(0, 60, ["Who?", "She.", "Why?"], "So.", named=named, timed=timed),
    ]
    assert read(calls)[0] == [["Who?", "She."], ["Who?", "She.", "Why?", "So."]]


@pytest.mark.parametrize(("first", "joined"), [("She is the", "She is the one."), ("She is ", "She is one.")])
def test_pieces_of_an_answer_that_a_history_joins_are_one(first: str, joined: str) -> None:
    rest = joined.removeprefix(first)
    calls = [
        sent(0, 0, ["Who?"], first),
        sent(0, 5, ["Who?", first, "Go on."], rest),
        sent(0, 60, ["Who?", joined, "Why?"], "So."),
    ]
    assert read(calls)[0][0] == ["Who?", joined]


def test_the_question_was_asked_when_the_first_round_began() -> None:
    calls = [
        sent(0, 1, ["Who?"], "broken"),
        sent(0, 5, ["Who?", "broken", COMPLAINT], "She."),
        sent(0, 60, ["Who?", "She.", "Why?"], "So."),
    ]
    read(calls)
    assert (calls[1].start, calls[1].end) == (1, 5)


def corrected(*, ends: bool, stays: bool = False) -> list[Call]:
    """Chats in which a complaint is made; ends: of another one with it; stays: it stands in all later histories."""
    calls = []
    for chat in range(3):
        said = [f"Who {chat}?", "broken", COMPLAINT, "She."]
        calls += [sent(chat, 1, said[:1], "broken"), sent(chat, 3, said[:3], "She.")]
        calls.append(sent(chat, 60, [*(said if stays else [said[0], "She."]), "Why?"], "So."))
    if ends:
        calls += [sent(9, 1, ["Who?"], "broken"), sent(9, 3, ["Who?", "broken", COMPLAINT], "They.")]
    return calls


def test_at_the_end_a_round_is_known_by_how_others_begin_and_said_so() -> None:
    left, rounds = read(corrected(ends=True))
    assert left[-1] == ["Who?", "They."]
    (warning,) = rounds.doubts(quoted=True)
    assert COMPLAINT in warning
    assert "--keep-asides" in warning
    assert COMPLAINT not in rounds.doubts(quoted=False)[0]
    assert not read(corrected(ends=False))[1].doubts(quoted=True)


def test_what_stays_in_the_history_a_user_said() -> None:
    calls = corrected(ends=True, stays=True)
    assert len(read(calls)[0]) == len(calls)


def test_what_users_say_that_begins_alike_and_stays_is_no_round_at_the_end() -> None:
    stay = [
        call
        for chat in (5, 6)
        for call in (
            sent(chat, 1, ["Who?"], "He."),
            sent(chat, 30, ["Who?", "He.", COMPLAINT], "Is it?"),
            sent(chat, 60, ["Who?", "He.", COMPLAINT, "Is it?", "Yes."], "So."),
        )
    ]
    left, rounds = read([*corrected(ends=True), *stay])
    assert left.count(["Who?", "broken", COMPLAINT, "They."]) == 1
    assert not rounds.doubts(quoted=True)


def test_an_edited_question_and_one_that_is_answered_anew_leave_all_calls() -> None:
    edited = [
        sent(0, 0, ["Who?"], "He."),
        sent(0, 20, ["Who?", "He.", "Where?"], "Here."),
        sent(0, 40, ["Who?", "He.", "When?"], "Now."),
        sent(0, 60, ["Who?", "He.", "When?", "Now.", "Why?"], "So."),
    ]
    anew = [sent(1, 0, ["Who?"], "He."), sent(1, 9, ["Who?"], "She."), sent(1, 60, ["Who?", "She.", "Why?"], "So.")]
    alike = [
        sent(3, 0, ["Who?"], "He."),
        sent(3, 20, ["Who?", "He.", "Where?"], "I do not know."),
        sent(3, 40, ["Who?"], "I do not know."),
        sent(3, 60, ["Who?", "I do not know.", "Why?"], "So."),
    ]
    late = [
        sent(2, 0, ["Who?"], "He."),
        sent(2, 500, ["Who?", "He.", "Not he, surely."], "She."),
        sent(2, 900, ["Who?", "She.", "Why?"], "So."),
    ]
    assert len(read([*edited, *anew, *alike, *late])[0]) == len([*edited, *anew, *alike, *late])
