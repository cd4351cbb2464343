"""Calls for the beginning of a question that its user is still speaking, and questions that begin alike."""

from collections import Counter
from collections.abc import Sequence

import pytest

from turnsignal.stream.formats.half_said import LEFT_OUT, HalfSaid
from turnsignal.stream.formats.protocol import Call, Message

FULL = "How do I pay that by card?"


def sent(said: Sequence[str], answer: str, start: float, *, named: bool, line: int) -> Call:
    """A call that sends what was said, the user first, and its question."""
    inputs = [Message("assistant" if at % 2 else "user", text) for at, text in enumerate(said)]
    name = "c" if named else None
    return Call("x:", conversation=name, start=start, inputs=inputs, outputs=[Message("assistant", answer)], line=line)


def answered(*calls: Call) -> list[str]:
    """The answers that are left."""
    half_said, assumed = HalfSaid(), Counter[str]()
    for call in calls:
        half_said.add(call)
    kept = half_said.taken_out(calls, assumed)
    assert assumed[LEFT_OUT] == len(calls) - len(kept)
    return [call.outputs[0].text for call in kept]


def spoken(first: str, *, named: bool, apart: float = 0.8, heard: str = "In your account.") -> list[Call]:
    """Two questions that are asked one after the other, and one behind the answer to either."""
    return [
        sent([first], "Sure.", 10.0, named=named, line=1),
        sent([FULL], "In your account.", 10.0 + apart, named=named, line=2),
        sent([FULL, heard, "Thanks"], "Bye.", 40.0, named=named, line=3),
    ]


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("first", ["How do I pay", "how do i pay th", "How do I pay that by card"])
def test_a_question_that_is_asked_to_its_end_within_two_seconds_was_not_finished(first: str, named: bool) -> None:
    calls = spoken(first, named=named)
    assert answered(*calls) == answered(calls[1], calls[0], calls[2]) == ["In your account.", "Bye."]


@pytest.mark.parametrize(
    "calls",
    [
        spoken("How do I pay", named=True, apart=5.0),
        spoken("How do I call", named=True),
        spoken("How do I pay", named=True, heard="Sure."),
        spoken("How do I pay", named=True, heard="Otherwise."),
        spoken("How do", named=False),
        spoken("How do I pay", named=False, apart=0.0),
    ],
    ids=["later", "another", "heard", "neither heard", "two who begin alike", "at no time"],
)
def test_other_questions_stay(calls: list[Call]) -> None:
    assert len(answered(*calls)) == 3
