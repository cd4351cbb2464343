"""Steps of a trace: which is the answer that the user saw, which is about it, and what the user typed."""

from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.formats.assembly import join_trace
from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.remarks import is_about
from turnsignal.stream.formats.turns import take_turns

NOTES = "The branch opens at nine. It closes at six. The clerk there changes addresses, and asks for a passport. " * 3
ANSWER = "At the branch, with your passport."
QUESTION = "Where can I change my address?"
WRITTEN = f"Notes:\n{NOTES}\n\nQuestion: {QUESTION}\nWrite to the customer."


def step(number: int, instructions: str, *said: str, start: float = 0.0, **more: Any) -> Call:
    """A call that answers a history, the user first, with the last text."""
    roles = ("user", "assistant")
    messages = [Message(roles[at % 2], text) for at, text in enumerate(said)]
    begun = start + 3.0 * number
    inputs = ([Message("system", instructions)] if instructions else []) + messages[:-1]
    times = {"start": begun, "end": begun + 1}
    return Call(f"x:{number}", trace="t", inputs=inputs, outputs=messages[-1:], line=number, **(times | more))


def told(*traces: list[Call]) -> list[str]:
    calls = [call for trace in traces for call in join_trace(trace, Counter())]
    return [turn["text"] for turn, _ in take_turns("c", calls, Counter())]


def test_an_answer_written_from_longer_notes_is_the_answer_to_what_the_user_typed() -> None:
    research = step(0, "Collect what is known.", QUESTION, NOTES)
    assert told([research, step(1, "Write politely.", WRITTEN, ANSWER)]) == [QUESTION, ANSWER]


def test_a_prompt_of_notes_alone_stands_for_the_question_that_they_answered() -> None:
    research = step(0, "Collect what is known.", QUESTION, NOTES)
    assert told([research, step(1, "Write politely.", f"Notes:\n{NOTES}\nWrite.", ANSWER)]) == [QUESTION, ANSWER]


def test_a_history_that_repeats_the_whole_prompt_makes_no_second_question_of_it() -> None:
    first = [step(0, "Collect.", QUESTION, NOTES), step(1, "Write.", WRITTEN, ANSWER)]
    more, other = "And on Saturdays?", "Closed then. The other one is open. " * 9
    before = (WRITTEN, ANSWER)
    prompt = f"Notes:\n{other}\n\nQuestion: {more}\nWrite to the customer."
    second = [
        step(2, "Collect.", *before, more, other, start=60.0),
        step(3, "Write.", *before, prompt, "No, it is closed.", start=60.0),
    ]
    assert told(first, second) == [QUESTION, ANSWER, more, "No, it is closed."]


@pytest.mark.parametrize("said", ["Complete and polite. Score: 4/5", "It names the branch.\n\nVerdict: PASS (8)"])
def test_a_reply_that_ends_with_a_verdict_on_the_answer_is_none_of_the_users(said: str) -> None:
    answer = step(0, "Help.", QUESTION, ANSWER)
    looked = step(1, "Which claims are in the documents?", f"User: {QUESTION}\nAssistant: {ANSWER}", said)
    assert told([answer, looked]) == [QUESTION, ANSWER]


def test_a_user_who_quotes_an_exchange_that_the_call_sends_asks_something() -> None:
    quoting = f"I asked: {QUESTION} You said: {ANSWER} Still so?"
    call = step(1, "Help.", QUESTION, ANSWER, quoting, "Yes")
    exchange = [Message("user", QUESTION), Message("assistant", ANSWER)]
    assert not is_about(call, exchange, is_other=False)


def test_a_session_of_last_messages_is_one_whatever_documents_its_instructions_hold() -> None:
    asked = [(QUESTION, ANSWER), ("What does it cost?", "Nothing."), ("Thank you!", "You are welcome.")]
    calls = [
        step(number, f"Context: {number} {NOTES[20 * number :]}", *said, start=60.0 * number)
        for number, said in enumerate(asked)
    ]
    assert told(calls) == [text for said in asked for text in said]
