"""What a program puts behind what users typed: taken off where the log shows it, told of where it may be theirs."""

import random

import pytest

from tests.stream.formats.told_conversations import CHINESE, Adding, Said, behind, calls_of, conversations, typed_in
from turnsignal.stream.formats.afterwords import Afterwords
from turnsignal.stream.formats.prompts import Prompts
from turnsignal.stream.formats.protocol import Call, Message


def read(calls: list[Call]) -> tuple[list[str], list[str]]:
    """Return what each call asks in the end, and the warnings."""
    afterwords, prompts = Afterwords(), Prompts()
    for call in calls:
        prompts.add(call)
        afterwords.add(call)
    prompts.conclude()
    afterwords.conclude()
    for call in calls:
        afterwords.take_off(call, prompts)
    afterwords.add_conversation(calls)
    return [call.inputs[-1].text for call in calls], afterwords.doubts(quoted=True)


@pytest.mark.parametrize(
    "ending",
    [
        "\n\nAntworte auf Deutsch.",
        " Antworte auf Deutsch.",
        " (Answer in at most 100 words.)",
        "\n\n<system-reminder>Cite every claim.</system-reminder>",
        "\n<system-reminder>\nCite every claim. Is it true?\nIf not, say so.\n</system-reminder>",
        " /no_think",
        "\n\n---\nRules: cite articles as [id]. Never invent.\n- Be brief.\n- Answer in the user's language.",
        "\n\nAnswer with citations:",
        "\nAnswer:",
        "\n\nBe brief.",
        "\n\n请用中文回答。",
        "\n\n" + "Rule: say what holds, cite it, and say so where nothing does.\n" * 40 + "End.",
        "\n\n[sent {time} from Berlin, plan: {plan}]",
        " [user {name}, {time}]",
        "\n\nTime: {time}\nPlan: {plan}",
        "\nToday is {day}, {time}.",
        "\n\nAnswer in German.\n<plan>{plan}</plan>",
        "\n\n<context>\nName: {name}\nPlan: {plan}\nNumber of it: {number}.\n</context>",
    ],
)
@pytest.mark.parametrize(("history", "named"), [(True, True), (False, True), (True, False), (False, False)])
def test_what_a_program_puts_behind_each_question_is_taken_off(ending: str, history: bool, named: bool) -> None:
    told = conversations()
    calls = calls_of(told, behind(ending), history=history, named=named)
    assert read(calls) == (typed_in(told), [])
    assert not history or all(
        message.text in set(typed_in(told)) for call in calls for message in call.inputs if message.role == "user"
    )


def test_scripts_without_spaces_have_endings_too() -> None:
    told = conversations(asked=CHINESE, short=("好的", "谢谢", "为什么"))
    assert read(calls_of(told, behind("请用中文简短回答。"), history=True, named=True)) == (typed_in(told), [])


@pytest.mark.parametrize("history", [False, True])
def test_a_release_brings_an_ending_and_another_one_changes_it(history: bool) -> None:
    told = conversations(60)

    def adding(said: Said) -> str:
        return said.typed + (
            "" if said.conversation < 35 else "\n\nCite." if said.conversation < 50 else "\n\nBe short."
        )

    assert read(calls_of(told, adding, history=history, named=True)) == (typed_in(told), [])


def test_some_conversations_have_an_ending_throughout() -> None:
    told = conversations(60)
    adding: Adding = lambda said: said.typed + ("\n\nCite every claim." if said.conversation % 3 else "")  # noqa: E731
    assert read(calls_of(told, adding, history=False, named=True)) == (typed_in(told), [])


def test_one_kind_of_calls_has_an_ending() -> None:
    told, others = conversations(), conversations(30, asked=("Bill {number}: {thing}, {other}",), short=("next",))
    calls = calls_of(told, behind("\n\nCite every claim."), history=True, named=True, system="You help customers.")
    plain = calls_of(others, behind(""), history=True, named=True, system="You read bills.")
    asked, warnings = read([*calls, *plain])
    assert asked == typed_in(told) + typed_in(others)
    assert warnings == []


@pytest.mark.parametrize("ending", [" Thanks!", " please", "\n\nSent from my phone", "?", " Can you help?"])
def test_what_some_people_end_with_is_theirs(ending: str) -> None:
    told = conversations()
    chance = random.Random(3)
    texts = {each: each.typed + (ending if chance.random() < 0.4 else "") for questions in told for each in questions}
    calls = calls_of(told, texts.__getitem__, history=True, named=True)
    assert read(calls)[0] == list(texts.values())


@pytest.mark.parametrize(
    "asked", ["How do I {does} the {thing} in my account?", "{thing} {number}: can you {does} it? I use the old app?"]
)
def test_what_questions_share_within_a_sentence_is_asked(asked: str) -> None:
    told = conversations(asked=(asked,), short=(asked,))
    assert read(calls_of(told, behind(""), history=True, named=True))[0] == typed_in(told)


def test_questions_that_all_end_in_one_are_told_of() -> None:
    told = conversations(asked=("I have a {thing} of {number}.",), short=("My {thing} has number {number}.",))
    adding = behind(" How do I pay it and where?")
    asked, (warning,) = read(calls_of(told, adding, history=True, named=True))
    assert asked == [text + " How do I pay it and where?" for text in typed_in(told)]
    assert "user messages end with the same 7 words (“How do I pay it and where?”)" in warning


def test_a_title_of_what_others_answer_stays_about_it() -> None:
    told = conversations()
    answers = calls_of(told, behind(""), history=True, named=True, system="You help customers.")
    titles = calls_of(told, behind("\n\nWrite a title for this message."), history=False, named=True)
    for call in titles:
        call.outputs = [Message("assistant", "Of Bills And Parcels")]
    asked, _ = read([*answers, *titles])
    assert asked == typed_in(told) + [text + "\n\nWrite a title for this message." for text in typed_in(told)]


@pytest.mark.parametrize("history", [False, True])
def test_a_guard_that_is_asked_plainly_leaves_the_answers_question_as_it_was_typed(history: bool) -> None:
    told = conversations()
    guards = calls_of(told, behind(""), history=False, named=True, system="Say whether this is safe.")
    for call in guards:
        call.outputs = [Message("assistant", "safe")]
    answers = calls_of(told, behind("\n\nCite every claim."), history=history, named=True, system="You help customers.")
    assert read([*guards, *answers]) == (typed_in(told) * 2, [])


def test_a_message_that_is_nothing_but_its_ending_stays() -> None:
    told = conversations()
    calls = calls_of(told, behind("\n\nCite every claim."), history=False, named=True)
    calls[5].inputs[-1].text = "Cite every claim."
    assert read(calls)[0][5] == "Cite every claim."


def test_an_ending_of_one_conversation_alone_is_told_of() -> None:
    (questions,) = [each for each in conversations() if len(each) == 5][:1]
    told = [
        [each._replace(typed=f"{each.typed} {part}", nth=0, at=60 * part)] for part in range(4) for each in questions
    ]
    calls = calls_of(told, behind("\n\nCite every claim you make."), history=False, named=True)
    asked, warnings = read(calls)
    assert asked == [call.inputs[-1].text for call in calls]
    assert asked[0].endswith("Cite every claim you make.")
    assert ["end with the same 5 words" in warning for warning in warnings] == [True]


def test_few_messages_show_no_ending() -> None:
    told = conversations(3)
    sent = [text + "\n\nCite." for text in typed_in(told)][:6]
    assert read(calls_of(told, behind("\n\nCite."), history=False, named=True)[:6])[0] == sent
