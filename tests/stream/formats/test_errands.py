"""What programs ask of the model with a conversation's history, and what users ask in many conversations."""

from collections import Counter
from collections.abc import Sequence

import pytest

from turnsignal.stream.formats.asides import LEFT_OUT
from turnsignal.stream.formats.errands import Errands
from turnsignal.stream.formats.protocol import Call, Message

ERRAND = "Suggest what the user may ask next."


def sent(conversation: int, said: Sequence[str], answer: str, *, named: bool, role: str = "user") -> Call:
    """A call that sends what was said, the user first, and its question or what a program asks."""
    messages = [Message("assistant" if at % 2 else "user", text) for at, text in enumerate(said[:-1])]
    inputs = [*messages, Message(role, said[-1])]
    name = f"c{conversation}" if named else None
    start = 1000.0 * conversation + len(said)
    return Call("x:", conversation=name, start=start, inputs=inputs, outputs=[Message("assistant", answer)])


def talks(
    count: int, *, named: bool, role: str = "user", asks: str = ERRAND, gets: str = "Ask {} {}.", after: int = 3
) -> list[Call]:
    """Conversations of three exchanges, after each of which, or after one, somebody asks something."""
    calls = []
    for number in range(count):
        said: list[str] = []
        for place in range(3):
            question, answer = f"How {number}, {place}?", f"So {number}, {place}."
            calls.append(sent(number, [*said, question], answer, named=named))
            said += [question, answer]
            if place < after:
                asked = sent(number, [*said, asks], gets.format(number, place), named=named, role=role)
                asked.start = (asked.start or 0.0) - 0.5  # before the next question
                calls.append(asked)
    return calls


def left_in(calls: Sequence[Call]) -> list[str]:
    errands, assumed = Errands(), Counter[str]()
    for call in calls:
        errands.add(call)
    kept = [call for call in calls if errands.taken_out([call], assumed)]
    assert assumed[LEFT_OUT] == len(calls) - len(kept)
    return [call.inputs[-1].text for call in kept]


@pytest.mark.parametrize("role", ["user", "system"])
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("asks", [ERRAND, "Extend this summary: {}\nof what was said."])
def test_what_is_asked_in_many_conversations_that_go_on_as_if_it_had_not_been_is_an_errand(
    role: str, named: bool, asks: str
) -> None:
    assert left_in(talks(4, named=named, role=role, asks=asks)) == [
        f"How {number}, {place}?" for number in range(4) for place in range(3)
    ]


@pytest.mark.parametrize(
    ("asks", "gets"), [("Thank you!", "Ask {} {}."), ("Who is the king of chess now?", "Ask others.")]
)
def test_what_is_short_or_is_answered_alike_a_user_may_have_asked(asks: str, gets: str) -> None:
    calls = talks(4, named=True, asks=asks, gets=gets, after=1)
    assert len(left_in(calls)) == len(calls)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("role", "gets", "after"),
    [("user", "bad", 3), ("user", '{{"mood": 1}}', 1), ("system", "bad", 1)],
    ids=["after every answer", "objects", "a system's message"],
)
def test_a_few_words_that_a_program_asks_are_known_by_where_they_stand_or_what_they_get(
    role: str, gets: str, after: int, named: bool
) -> None:
    calls = talks(4, named=named, role=role, asks="The mood?", gets=gets, after=after)
    assert left_in(calls) == [f"How {number}, {place}?" for number in range(4) for place in range(3)]


def test_a_button_that_gets_an_object_where_all_answers_are_objects_is_a_users() -> None:
    calls = talks(4, named=True, asks="My orders", gets='{{"orders": []}}', after=1)
    for call in calls:
        for message in (*call.inputs, *call.outputs):
            if message.role == "assistant" and not message.text.startswith("{"):
                message.text = f'{{"say": "{message.text}"}}'
    assert len(left_in(calls)) == len(calls)


def test_what_every_call_begins_with_is_no_answer_to_go_on_from() -> None:
    begun = ["Who are you?", "I am the shop's assistant."]
    calls = [
        sent(number, [*begun, question], f"Ask {number} {place}.", named=True)
        for number in range(6)
        for place, question in enumerate((f"My case is {number}.", ERRAND, f"My other case is {number}."))
    ]
    assert len(left_in(calls)) == len(calls)


def test_what_every_user_says_and_is_answered_in_the_history_is_none() -> None:
    calls = []
    for number in range(6):
        said: list[str] = []
        for place, question in enumerate((f"How {number}?", "Yes", "Yes", "Thanks, that is all.")):
            answer = f"So {number}, {place}."
            calls.append(sent(number, [*said, question], answer, named=True))
            said += [question, answer]
    assert len(left_in(calls)) == len(calls)


def test_what_ends_conversations_that_all_begin_alike_is_none() -> None:
    begun = ["How do I pay?", "By card, in your account."]
    calls = [sent(number, [*begun, "A person, please!"], "Ann comes.", named=False) for number in range(6)]
    calls += [
        sent(9 + number, [*begun, f"My case is {number}."], f"Case {number}.", named=False) for number in range(6)
    ]
    assert len(left_in(calls)) == len(calls)


def test_a_trace_keeps_its_answer_and_one_that_is_an_errand_says_nothing() -> None:
    calls = talks(4, named=True)
    errands, assumed = Errands(), Counter[str]()
    for call in calls:
        errands.add(call)
    assert errands.taken_out(calls[:2], assumed) == calls[:1]
    assert errands.taken_out([calls[0], calls[1], calls[3]], assumed) == calls[:1]
    assert assumed[LEFT_OUT] == 3
    assert errands.doubts(quoted=False)[0].startswith("3 calls are left out")
    assert errands.taken_out([Call("x:root", kind="inner"), calls[1]], assumed) == []


def summed_up(count: int, *, named: bool, edits: bool = False) -> list[Call]:
    """Conversations of five exchanges that send the last two, and before the fifth somebody asks after the second.

    edits: they go on from that, as users do from a question that they edited.
    """
    calls = []
    for number in range(count):
        said: list[str] = []
        for place in range(5):
            if place == 4:
                asks = "What matters of all that was said until now, in a sentence?"
                calls.append(sent(number, [*said[:4], asks], f"That {number}.", named=named))
                calls[-1].start = 1000.0 * number + 8.5
                said = [*said[:4], asks, f"That {number}."] if edits else said
            question, answer = f"How {number}, {place}?", f"So {number}, {place}."
            calls.append(sent(number, [*said, question][-5:], answer, named=named))
            calls[-1].start = 1000.0 * number + 2 * place + 1
            said += [question, answer]
    return calls


@pytest.mark.parametrize("named", [True, False])
def test_what_is_asked_of_the_older_part_of_conversations_that_go_on_from_the_newer_is_an_errand(named: bool) -> None:
    assert left_in(summed_up(4, named=named)) == [
        f"How {number}, {place}?" for number in range(4) for place in range(5)
    ]
    edited = summed_up(4, named=named, edits=True)
    assert len(left_in(edited)) == len(edited)


@pytest.mark.parametrize(
    "asks",
    ["Create a summary of the conversation above:", "This is summary of the conversation so far: A.\n\nExtend it"],
)
def test_one_summary_is_known_by_the_words_of_a_widely_used_program(asks: str) -> None:
    assert left_in([sent(1, ["a", "A", asks], "A.", named=True)]) == []


FALLBACK = "Sorry, I did not find anything about that. Please try other words."
COMPLAINT = "No, that did not answer my question. Show me something else."


def complaints(count: int, *, named: bool, window: int = 99) -> list[Call]:
    """Conversations of a bot that says one sentence again and again, in which users complain, half of them last.

    window: messages that a call sends.
    """
    calls = []
    for number in range(count):
        said: list[str] = []
        script = [(f"How {number}?", FALLBACK), (COMPLAINT, FALLBACK), (f"And where {number}?", f"There {number}.")]
        for question, answer in script[: 2 + number % 2]:
            calls.append(sent(number, [*said, question][-window:], answer, named=named))
            calls[-1].start = 1000.0 * number + len(said)
            said += [question, answer]
    return calls


@pytest.mark.parametrize("window", [99, 3])
@pytest.mark.parametrize("named", [True, False])
def test_no_complaint_about_an_answer_that_comes_again_is_an_errand(named: bool, window: int) -> None:
    calls = complaints(40, named=named, window=window)
    assert len(left_in(calls)) == len(calls)


def test_errands_of_such_a_bot_are_left_out_and_what_its_users_complain_is_not() -> None:
    calls = []
    for call in complaints(40, named=True):
        calls.append(call)
        said = [message.text for message in (*call.inputs, *call.outputs)]
        number = int((call.conversation or "c0")[1:])
        calls.append(sent(number, [*said, ERRAND], f"Ask {number} {len(said)}.", named=True))
        calls[-1].start = (call.start or 0.0) + 1.0
    assert left_in(calls) == [call.inputs[-1].text for call in calls[::2]]


def test_of_what_programs_ask_that_is_a_users_which_a_later_history_has() -> None:
    calls = talks(60, named=True, after=1)
    said = ["How 7, 0?", "So 7, 0.", ERRAND, "Ask 7 0.", "How 7, 1?"]
    (at,) = [at for at, call in enumerate(calls) if call.inputs[-1].text == said[-1]]
    calls[at] = sent(7, said, "So 7, 1.", named=True)
    assert left_in(calls).count(ERRAND) == 1


def test_what_a_widely_used_program_writes_at_length_is_its_own_where_it_asks_once_more() -> None:
    task = "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n" + "Rule. " * 30
    calls = [
        sent(1, ["a", "A", task], "T.", named=True),
        sent(1, ["a", "A", task, "T.", "That is no JSON; answer again."], "{}", named=True),
        sent(2, ["a", "A", task], "T.", named=True),
    ]
    assert task not in left_in(calls)


def test_the_words_of_a_widely_used_program_are_a_users_where_a_later_history_has_them() -> None:
    begins = "Create a summary of the conversation above:"
    calls = [
        sent(1, ["a", "A", begins], "S.", named=True),
        sent(1, ["a", "A", begins, "S.", "b"], "B.", named=True),
        sent(2, ["a", "A", begins], "S.", named=True),
    ]
    assert left_in(calls) == [begins, "b"]
