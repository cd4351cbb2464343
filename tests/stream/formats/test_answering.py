"""Whose answers users see, as a whole log shows it: those that histories go on from, and those that word one anew."""

from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from turnsignal.stream.formats.answering import Answering
from turnsignal.stream.formats.assembly import join_trace
from turnsignal.stream.formats.errands import Errands
from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.remarks import learn_from

ANSWERS = (
    "Parcels are brought to your neighbour when nobody opens the door.",
    "Any branch changes it, if you bring your passport along.",
    "You may cancel within fourteen days, free of charge.",
    "The card arrives by post within one working week.",
)
HELPS = "You help the customers of a bank."
Step = tuple[str, Callable[[str, str], str], Callable[[str, str], str]]


def as_typed(question: str, _answer: str) -> str:
    return question


def labelled(first: str, second: str) -> Callable[[str, str], str]:
    return lambda question, answer: f"{first}: {question}\n{second}: {answer}"


ANSWER: Step = (HELPS, as_typed, lambda _, answer: answer)
INTENT: Step = ("Say what is wanted.", as_typed, lambda question, _: f"The user wants to be told this: {question}")
LISTED: Step = (
    "Generate three follow-up questions.",
    labelled("Question", "Answer"),
    lambda question, _: f"1. What else is there on {question[:12]}?\n2. Who can tell more of it?\n3. And next?",
)


def traces(*steps: Step, history: bool = False, many: int = 4, answers: Sequence[str] = ANSWERS) -> list[list[Call]]:
    """Traces of one conversation: each step has instructions, and says what it sends and gets. history: where sent."""
    said: list[Message] = []
    made = []
    for number, answer in enumerate(answers[:many]):
        question, calls = f"What do I do in my case {number}, please?", []
        for place, (instructions, sends, gets) in enumerate(steps):
            sent = sends(question, answer)
            before = said if history and sent == question and instructions == HELPS else []
            inputs = [Message("system", instructions), *before, Message("user", sent)]
            begun = 100.0 * number + place
            outputs = [Message("assistant", gets(question, answer))]
            origin = f"x:{number}.{place}"
            calls.append(Call(origin, trace=f"t{number}", start=begun, end=begun + 1, inputs=inputs, outputs=outputs))
        made.append(calls)
        said = [*said, Message("user", question), Message("assistant", answer)]
    return made


def seen_in(logged: Sequence[list[Call]]) -> tuple[list[str], list[str]]:
    """Return what users are taken to have seen, and the warnings."""
    errands, assumed = Errands(), Counter[str]()
    for calls in logged:
        for call in calls:
            errands.add(call)
    errands.conclude()
    for calls in logged:
        learn_from(calls, errands.answering)
    answers = [answer for calls in logged for answer in join_trace(calls, assumed, errands.answering)]
    return [answer.outputs[0].text for answer in answers], errands.answering.doubts(quoted=True)


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("many", [1, 4])
def test_a_list_about_question_and_answer_is_no_answer(history: bool, many: int) -> None:
    assert seen_in(traces(ANSWER, LISTED, history=history, many=many)) == (list(ANSWERS[:many]), [])


@pytest.mark.parametrize("many", [1, 4])
def test_what_nothing_tells_of_is_taken_for_about_the_answer_with_a_warning(many: int) -> None:
    listed = (
        "Nenne drei Fragen.",
        labelled("Frage", "Antwort"),
        lambda *_: "1. Was noch? 2. Und dann? 3. Wer kann das?",
    )
    seen, (warning,) = seen_in(traces(ANSWER, listed, many=many))
    assert seen == list(ANSWERS[:many])
    assert "“1. Was noch?" in warning
    assert "--keep-asides" in warning


@pytest.mark.parametrize("label", ["Answer", "Antwort"])
def test_who_keeps_the_words_of_what_is_quoted_words_it_anew(label: str) -> None:
    warmer = ("Be warm.", labelled("Question", label), lambda _, answer: f"With pleasure! {answer}")
    assert seen_in(traces(ANSWER, warmer)) == ([f"With pleasure! {answer}" for answer in ANSWERS], [])


def test_one_trace_in_which_other_words_were_found_is_read_as_the_others_are() -> None:
    warmer = (
        "Be warm.",
        labelled("Q", "A"),
        lambda _, answer: answer if answer != ANSWERS[1] else "Gladly: come by one day.",
    )
    assert seen_in(traces(ANSWER, warmer))[0][1] == "Gladly: come by one day."


def test_a_step_that_answers_from_a_plan_is_the_answer_with_a_warning_unless_histories_say_so() -> None:
    steps = "1. Find the rule for it. 2. Tell the customer politely."
    plan: Step = ("Make steps.", as_typed, lambda *_: steps)
    told: Step = (HELPS, lambda question, _: f"Question: {question}\nPlan: {steps}", lambda _, answer: answer)
    seen, (warning,) = seen_in(traces(plan, told))
    assert seen == list(ANSWERS)
    assert "taken for what users saw" in warning
    logged, said = traces(plan, told), list[Message]()
    for _, last in logged:
        last.inputs[1:1] = said
        said = [*said, *last.inputs[-1:], *last.outputs]
    assert seen_in(logged) == (list(ANSWERS), [])


@pytest.mark.parametrize("many", [2, 4])
def test_a_short_answer_behind_a_router_stays_where_a_history_is_sent(many: int) -> None:
    short = ("TR9589 leaves at 19:16", "The 9:15 train", "Gate 4", "Yes, it is open now")
    seen, _ = seen_in(traces(INTENT, ANSWER, history=True, many=many, answers=short)[1:])
    assert seen == list(short[1:many])


def test_a_short_answer_behind_a_router_stays_where_others_under_its_instructions_are_long() -> None:
    answers = (*ANSWERS, "Gate 4")
    assert seen_in(traces(INTENT, ANSWER, many=5, answers=answers))[0] == list(answers)


def test_a_list_about_the_question_alone_is_none_where_histories_hold_the_answers() -> None:
    listed = (
        "Related, please.",
        lambda question, _: f"For: {question}",
        lambda *_: "One may ask for more of it, or for less.",
    )
    assert seen_in(traces(ANSWER, listed, history=True))[0] == list(ANSWERS)


def test_an_answer_that_begins_as_a_query_may_is_one() -> None:
    answers = (
        "With a passport, at any branch, from nine to six.",
        "Select the menu first, then your card.",
        *ANSWERS[:2],
    )
    assert seen_in(traces(ANSWER, LISTED, answers=answers))[0] == list(answers)


def test_nothing_is_known_before_anything_is_said() -> None:
    answering = Answering()
    answering.finish()
    call = traces(ANSWER)[0][0]
    assert not answering.converses(call)
    assert not answering.answers_nobody(call)
    assert answering.may_title(call)


NOTED: Step = ("Note what is worth remembering.", as_typed, lambda question, _: f"The user wants to know: {question}")


@pytest.mark.parametrize("many", [2, 4])
def test_what_is_asked_the_same_after_an_answer_that_histories_hold_is_none(many: int) -> None:
    seen, warnings = seen_in(traces(ANSWER, NOTED, history=True, many=many))
    assert (seen, warnings) == (list(ANSWERS[:many]), [])


def test_where_no_history_tells_which_of_two_was_seen_a_warning_quotes_the_one_that_is_taken() -> None:
    seen, (warning,) = seen_in(traces(ANSWER, NOTED, many=2))
    assert seen == [NOTED[2](f"What do I do in my case {number}, please?", "") for number in range(2)]
    assert "another was asked the same under other instructions, such as “The user wants to know" in warning
