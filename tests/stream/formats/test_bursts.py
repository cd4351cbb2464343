"""Several calls of a program for one question, before the call that answers it."""

import pytest

from turnsignal.stream.formats.bursts import Bursts
from turnsignal.stream.formats.protocol import Call, Message


def call(at: float, system: str, question: str, answer: str, chat: str | None = None) -> Call:
    inputs = [Message("system", system), Message("user", question)]
    return Call("x:", conversation=chat, start=at, inputs=inputs, outputs=[Message("assistant", answer)])


def mapped(chats: int, *, unlike: bool = True, answered: bool = True) -> list[Call]:
    """Chats in which three documents are asked, each by itself, then all at once."""
    calls = []
    for chat in range(chats):
        at, question, name = 1000.0 * chat, f"What is river {chat}?", f"c{chat}"
        for number in range(3):
            system = f"Copy what this text says of it and no more: text {number if unlike else 0}"
            calls.append(call(at + number, system, question, f"Part {number}", name))
        if answered:
            calls.append(call(at + 9, "Answer by these parts", question, f"It is long {chat}.", name))
    return calls


def graded(chats: int, gets: str = "yes") -> list[Call]:
    calls = []
    for chat in range(chats):
        at, question = 1000.0 * chat, f"What is river {chat}?"
        calls += [
            call(at + number, "Grade it", f"Text: {number}\nQuestion: {question}", gets.format(chat, number))
            for number in range(3)
        ]
        calls.append(call(at + 9, "You help", question, f"It is long {chat}."))
    return calls


def found(calls: list[Call]) -> tuple[set[int], Bursts]:
    bursts = Bursts()
    for each in calls:
        bursts.add(each)
    return bursts.take_steps(set()), bursts


@pytest.mark.parametrize("calls", [mapped(4), graded(4), graded(4, '{{"score": 1}}')])
def test_several_that_begin_alike_before_one_that_answers_the_question_are_none_of_a_user(calls: list[Call]) -> None:
    numbers, bursts = found(calls)
    assert numbers == {at for at in range(len(calls)) if at % 4 < 3}
    (warning,) = bursts.doubts(quoted=True)
    assert calls[0].outputs[0].text in warning
    assert "--keep-asides" in warning
    assert calls[0].outputs[0].text not in bursts.doubts(quoted=False)[0]


@pytest.mark.parametrize(
    "calls", [mapped(1), mapped(4, unlike=False), mapped(4, answered=False), graded(4, "Text {1} is of river {0}")]
)
def test_few_calls_samples_and_what_nobody_answers_or_grades_are_left(calls: list[Call]) -> None:
    assert found(calls)[0] == set()


def test_what_histories_hold_users_saw() -> None:
    calls = mapped(4)
    for number in range(3):
        later = call(9000.0, "Other", "And then?", "So.")
        later.inputs[1:1] = [Message("user", "What?"), Message("assistant", f"Part {number}")]
        calls.append(later)
    assert found(calls)[0] == set()


def test_asides_are_warned_of_elsewhere() -> None:
    bursts = Bursts()
    for each in graded(4):
        bursts.add(each)
    assert bursts.take_steps(set(range(16))) == set()
    assert not bursts.doubts(quoted=True)
