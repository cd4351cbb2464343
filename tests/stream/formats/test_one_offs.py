"""Calls of a program's job in the log of a chat are told; where all answers are objects, or users ask on, none is."""

from turnsignal.stream.formats.one_offs import OneOffs
from turnsignal.stream.formats.protocol import Call, Message


def call(number: int, instructions: str, answer: str) -> Call:
    inputs = [Message("system", instructions), Message("user", f"I bought router {number}, and it works.")]
    return Call(f"x:{number}", start=float(number), inputs=inputs, outputs=[Message("assistant", answer)])


def doubts(chats: int, jobs: int, *, answer: str = '{"mood": "good"}', asked_on: bool = False) -> list[str]:
    seen = OneOffs()
    for number in range(chats):
        seen.add([call(number, "Help users.", "So."), call(number, "Help users.", "So.")][: 1 + number % 2])
    for number in range(jobs):
        seen.add([call(number, "Extract the mood.", answer)] * (1 + (asked_on and number % 2)))
    return seen.doubts(quoted=True)


def test_a_job_that_gets_objects_in_the_log_of_a_chat_is_told() -> None:
    (doubt,) = doubts(40, 20)
    assert doubt.startswith("20 of 60 conversations are one question that gets JSON, and of which nobody asks on")
    assert "“Extract the mood.”" in doubt


def test_words_questions_that_users_ask_on_from_and_a_log_of_jobs_alone_are_not_told() -> None:
    assert doubts(40, 20, answer="The mood is good.") == []
    assert doubts(40, 20, asked_on=True) == []
    assert doubts(0, 60) == []
    assert doubts(40, 5) == []
