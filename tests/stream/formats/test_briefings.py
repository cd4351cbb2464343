"""What a program tells the model first in each conversation, and what users said and a program answered."""

from collections import Counter

from turnsignal.stream.formats.asides import opening_of
from turnsignal.stream.formats.examples import Examples
from turnsignal.stream.formats.protocol import Call, Message


def talks(told: str, *, count: int = 6, exchanges: int = 2) -> list[Call]:
    """Conversations that begin with what is told, which has the conversation's number in it, and "Understood."."""
    calls = []
    for number in range(count):
        said = [told.format(number, "ABCDEF"[number % 6] * 9), "Understood."]
        for place in range(exchanges):
            said += [f"How {number}, {place}?", f"So {number}, {place}."]
            *asked, answer = (Message("assistant" if at % 2 else "user", text) for at, text in enumerate(said))
            calls.append(Call("x:", conversation=f"c{number}", inputs=asked, outputs=[answer]))
    return calls


def sent_in(calls: list[Call]) -> list[str]:
    """What the calls send first, without what is left out."""
    names = [str(call.conversation) for call in calls]
    examples = Examples([opening_of(call) for call in calls], names)
    for name, call in zip(names, calls, strict=True):
        examples.compare(name, call)
    for name, call in zip(names, calls, strict=True):
        examples.take_out(name, call, Counter())
    return [call.inputs[0].text for call in calls]


def test_what_each_conversation_begins_with_for_another_user_nobody_said() -> None:
    assert sent_in(talks("My name is {1}.")) == [f"How {number}, 0?" for number in range(6) for _ in range(2)]


def test_what_users_say_each_in_his_own_words_stays_whoever_answered_it() -> None:
    calls = talks("{1} does not work.")
    assert sent_in(calls)[0] == "AAAAAAAAA does not work."


def test_what_a_call_was_asked_and_answered_so_users_said() -> None:
    calls = talks("My name is {1}.")
    calls.append(
        Call("x:", conversation="c9", inputs=calls[0].inputs[:1], outputs=[Message("assistant", "Understood.")])
    )
    assert sent_in(calls)[0] == "My name is AAAAAAAAA."


def test_records_of_whole_conversations_do_not_tell_who_answered_first() -> None:
    assert sent_in(talks("My name is {1}.", exchanges=1))[0] == "My name is AAAAAAAAA."
