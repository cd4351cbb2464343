"""Prompts that a program writes around questions: told by the whole log, taken apart, left out, or told of."""

from collections import Counter
from collections.abc import Callable

import pytest

from turnsignal.stream.formats.answering import Answering
from turnsignal.stream.formats.assembly import join_trace
from turnsignal.stream.formats.prompts import Prompts
from turnsignal.stream.formats.protocol import Call, Message

ASKED = (
    "How do I pay?",
    "Where is my parcel: is it lost?",
    "Can I change the address?",
    "What does express cost",
    "My order 17 is late",
    "Who signs the form?",
)
ANSWERED = "Open the account page, then choose the entry number"
RAG = (
    "Use what was found to answer.\nQuestion: {q} \nContext: {d} \nAnswer:",
    "Use what was found to answer.\nContext: {d}\n\nQuestion: {q}\nHelpful reply:",
    "Answer from this.\n<context>\n{d}\n</context>\n<question>{q}</question>",
    "Answer from this.\n\n<context>\n{d}\n</context>\n\n{q}",
    "<question>{q}</question>\n<documents>{d}</documents>",
)
FOUND = "Article {n}: cards.\n\nQuestion: is article {n} old? No: it is of {n}."


def call(number: int, *said: str, got: str = "", **more: str) -> Call:
    inputs = [Message("user" if at % 2 == 0 else "assistant", text) for at, text in enumerate(said)]
    outputs = [Message("assistant", got or f"{ANSWERED} {number}.")]
    return Call(
        f"x:{number}", inputs=inputs, outputs=outputs, start=100.0 + number, end=100.5 + number, line=number, **more
    )


def read(*calls: Call) -> tuple[list[list[str]], list[str]]:
    """Return what each call asks, the history included, and the warnings."""
    prompts = Prompts()
    for each in calls:
        prompts.add(each)
    prompts.conclude()
    for each in calls:
        prompts.take_apart(each, Counter())
    return [[message.text for message in each.inputs] for each in calls], prompts.doubts(quoted=True)


@pytest.mark.parametrize("prompt", RAG)
@pytest.mark.parametrize("history", [False, True])
def test_the_question_of_a_search_is_what_was_typed(prompt: str, history: bool) -> None:
    sent = [prompt.format(q=question, d=FOUND.format(n=n)) for n, question in enumerate(ASKED)]
    before = [sent[0], f"{ANSWERED} 0."] if history else []
    asked, warnings = read(call(0, sent[0]), *(call(n, *before, text) for n, text in enumerate(sent) if n))
    assert [texts[-1] for texts in asked] == list(ASKED)
    assert {texts[0] for texts in asked[1:]} == ({ASKED[0]} if history else set(ASKED[1:]))
    assert warnings == []


@pytest.mark.parametrize(
    "prompt", ["Be brief and kind.\nCustomer: {q}", "[2026-11-02 08:0{n}] {q}", "Reply to this: {q}"]
)
def test_words_that_stand_before_each_question_are_a_programs(prompt: str) -> None:
    asked, warnings = read(*(call(n, prompt.format(q=question, n=n)) for n, question in enumerate(ASKED)))
    assert [texts[-1] for texts in asked] == list(ASKED)
    assert warnings == []


def test_what_some_users_say_alike_stays() -> None:
    alike = [f"My question: {question}" for question in ASKED]
    asked, _ = read(*(call(n, text) for n, text in enumerate((*alike, "Hello", "Thank you", "One more"))))
    assert [texts[-1] for texts in asked][:6] == alike
    begun = [f"How do I change my {what}?" for what in ("name", "card", "address", "street", "form", "plan")]
    assert [texts[-1] for texts in read(*(call(n, text) for n, text in enumerate(begun)))[0]] == begun


def test_a_prompt_whose_question_comes_back_plainly_is_left_to_the_history() -> None:
    sent = [RAG[0].format(q=question, d=FOUND.format(n=n)) for n, question in enumerate(ASKED)]
    calls = [call(n, *((ASKED[n - 1], f"{ANSWERED} {n}.") if n else ()), text) for n, text in enumerate(sent)]
    assert [texts[-1] for texts in read(*calls)[0]] == sent


def test_a_judges_prompt_is_not_taken_for_a_question() -> None:
    prompt = "Judge it.\nQuestion: {q}\nContext: {d}\nAnswer: {a}\nIs it faithful?"
    sent = [prompt.format(q=each, d=FOUND.format(n=n), a=f"{ANSWERED} {n}.") for n, each in enumerate(ASKED)]
    assert [texts[-1] for texts in read(*(call(n, text) for n, text in enumerate(sent)))[0]] == sent


def test_long_prompts_of_which_nothing_tells_the_question_are_told_of() -> None:
    sent = [f"You are to help the customer, who says: {each}\nto\nus {each}{n}." for n, each in enumerate(ASKED)]
    asked, (warning,) = read(*(call(n, text) for n, text in enumerate(sent)))
    assert [texts[-1] for texts in asked] == sent
    assert "6 of 6 user messages begin with the same 8 words" in warning
    assert "“You are to help" in warning


def seen(
    prompt: str, got: Callable[[int], str], *, many: int = 6, history: bool = True, late: float = 0.2
) -> list[str]:
    """Return what users saw of traces in which a call asks plainly, and another one with words around that."""
    answering = Answering()
    answering.prompts = prompts = Prompts()
    traces, said = [], list[str]()
    for n, question in enumerate(ASKED[:many]):
        answer = f"{ANSWERED} {n}."
        first = call(10 * n, *(said if history else ()), question, got=answer, trace=f"t{n}")
        second = call(10 * n + 1, prompt.format(q=question, a=answer), got=got(n), trace=f"t{n}")
        second.start = (first.end or 0.0) + late
        said = [*said, question, answer]
        traces.append([first, second])
    for each in (each for calls in traces for each in calls):
        prompts.add(each)
    prompts.conclude()
    answering.finish()
    return [answer.outputs[0].text for calls in traces for answer in join_trace(calls, Counter(), answering)]


@pytest.mark.parametrize(
    ("prompt", "got"),
    [
        ("A title of five words for: {q}", "Help With Payment"),
        ('What may who asked "{q}" want next?', "One may want to know more of it. Or who can help."),
        ("Extract what is worth remembering from: {q}", "The user asks about it."),
        ("Rate from 1 to 5 how good this is: {a}", "4 - it names a place, and is short."),
    ],
)
def test_a_call_with_words_around_the_question_or_its_answer_is_about_it(prompt: str, got: str) -> None:
    answers = [f"{ANSWERED} {n}." for n in range(6)]
    assert seen(prompt, lambda n: f"{got} {n}") == answers
    assert seen(prompt, lambda n: f"{got} {n}", late=60.0) == answers


def test_one_trace_tells_a_title_too() -> None:
    assert seen("Title for: {q}", lambda _: "Help With Payment", many=1) == [f"{ANSWERED} 0."]


def test_a_step_that_words_the_answer_anew_is_the_answer() -> None:
    worded = [f"With pleasure! {ANSWERED} {n}." for n in range(6)]
    assert seen("Make this warmer: {a}", lambda n: worded[n], history=False) == worded
