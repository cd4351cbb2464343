"""Prompts that hold all that was said: by labels, and by the marks of templates."""

from collections import Counter

import pytest

from turnsignal.stream.formats.openai import OpenAIChat
from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.transcripts import READ, HeldAnswers, Transcripts, messages_in

SAID = [("system", "Be kind."), ("user", "How do I pay?"), ("assistant", "By card."), ("user", "And abroad?")]
MARKS = {  # what stands before a message and behind it, and what the assistant is called
    "labels": ("{}: ", "\n", "AI"),
    "ChatML": ("<|im_start|>{}\n", "<|im_end|>\n", "assistant"),
    "Llama 3": ("<|start_header_id|>{}<|end_header_id|>\n\n", "<|eot_id|>", "assistant"),
    "Gemma": ("<start_of_turn>{}\n", "<end_of_turn>\n", "model"),
    "Zephyr": ("<|{}|>\n", "</s>\n", "assistant"),
    "Command": ("<|START_OF_TURN_TOKEN|><|{}_TOKEN|>", "<|END_OF_TURN_TOKEN|>", "chatbot"),
    "DeepSeek": ("<\uff5c{}\uff5c>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "Assistant"),
    "two words": ("{}: ", "\n", "Support Agent"),
    "capitals": ("{}: ", " ", "ASSISTANT"),
}


def prompt_of(before: str, after: str, assistant: str) -> str:
    """What was said, as a template writes it, and the assistant's turn begun."""
    names = {"assistant": assistant} | ({"user": "USER"} if assistant.isupper() else {})
    parts = [before.format(names.get(role, role)) + text + after for role, text in SAID]
    return "".join(parts) + before.format(assistant)


LABELLED = "Be kind.\n\nHuman: How do I pay?\nAI: By card.\nHuman: And abroad?\nAI:"
LLAMA_2 = "<s>[INST] <<SYS>>\nBe kind.\n<</SYS>>\n\nHow do I pay? [/INST] By card. </s><s>[INST] And abroad? [/INST]"
USER, ASSISTANT = "\u7528\u6237\uff1a", "\u52a9\u624b\uff1a"
WIDE = f"Be kind.\n{USER}How do I pay?\n{ASSISTANT}By card.\n{USER}And abroad?\n{ASSISTANT}"
PROMPTS = [LABELLED, LLAMA_2, WIDE, *(prompt_of(*marks) for marks in MARKS.values())]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_is_taken_apart_by_who_speaks(prompt: str) -> None:
    assert [(each.role, each.text) for each in messages_in(prompt)] == SAID


@pytest.mark.parametrize(
    "text",
    [
        "How do I pay?",
        "Human: How?\nAI: So.",  # nobody is to speak
        "Chat history:\nHuman: a\n\nFollow up input: How?\nStandalone question:",
        "Question: How?\nAnswer: So.\nIs that so?\nAnswer:",
        "You wrote to me:\nBot:",  # nobody asked
        "User:\n" * 20_000 + "AI:",
    ],
)
def test_what_is_no_transcript_stays_as_it_is(text: str) -> None:
    assert messages_in(text) == []


@pytest.mark.parametrize(
    ("prompt", "texts"),
    [
        ("Context:\nQuestion: a?\nAnswer: b\n\nQuestion: How?\nHelpful Answer:", ["How?"]),
        (
            "Be kind.\nChat History:\nHuman: a?\nAssistant: b\nQuestion: How?\nIn Bonn.\nAnswer:",
            ["a?", "b", "How?\nIn Bonn."],
        ),
    ],
)
def test_the_question_of_a_search_is_what_was_asked_behind_what_was_said(prompt: str, texts: list[str]) -> None:
    messages = messages_in(prompt)
    assert [each.text for each in messages] == texts
    assert [each.role for each in messages] == ["user", "assistant", "user"][-len(texts) :]


def test_what_is_said_with_a_name_before_it_stays_a_part_of_the_message() -> None:
    asked = "My facts:\nModel: X1\nSystem: 15\nCustomer: me"
    given = "As you like:\n  user: db\nBot: yes"
    prompt = f"Be kind.\nHuman: {asked}\nAI: {given}\nHuman: Why?\nAI:"
    assert [each.text for each in messages_in(prompt)] == ["Be kind.", asked, given, "Why?"]
    instructed = f"System: Be kind.\nHuman: {asked}\nAI: {given}\nHuman: Why?\nAI:"
    assert [each.text for each in messages_in(instructed)] == ["Be kind.", asked, given, "Why?"]


def test_an_answer_that_was_given_ends_where_it_ended_whatever_names_stand_in_it() -> None:
    given = "Type this:\nUser: admin\nPassword: x\nUser: again"
    prompts = ["User: How?\nAssistant:", f"User: How?\nAssistant: {given}\nUser: Why?\nAssistant:"]
    calls = [
        Call("x:", inputs=[Message("user", prompt)], outputs=[Message("assistant", text)])
        for prompt, text in zip(prompts, (given, "So."), strict=True)
    ]
    assert taken_apart(calls) == 2
    assert [each.text for each in calls[1].inputs] == ["How?", given, "Why?"]


def taken_apart(calls: list[Call]) -> int:
    """How many of the calls are taken apart."""
    transcripts, assumed = Transcripts(), Counter[str]()
    for call in calls:
        transcripts.add(call)
    for call in calls:
        transcripts.take_apart(call, assumed)
    return assumed[READ]


@pytest.mark.parametrize(("sent", "others", "are_read"), [(2, 2, True), (2, 3, False), (3, 9, True), (2, 9, False)])
def test_transcripts_are_read_where_half_of_the_calls_send_one_or_several_begin_alike(
    sent: int, others: int, are_read: bool
) -> None:
    first = "Be kind.\n\nHuman: How do I pay?\nAI:"
    prompts = [first, *[LABELLED] * (sent - 1), *["How do I pay?"] * others]
    calls = [
        Call("x:", inputs=[Message("user", prompt)], outputs=[Message("assistant", "By card.")]) for prompt in prompts
    ]
    assert taken_apart(calls) == (sent if are_read else 0)


def test_dialogues_of_others_among_the_documents_of_each_prompt_are_not_taken_apart() -> None:
    prompts = [f"Tickets:\nUser: What {n}?\nAssistant: That {n}.\nUser: How {n}?\nAssistant:" for n in range(9)]
    answers = [[Message("assistant", f"So {n}.")] for n in range(9)]
    calls = [Call("x:", inputs=[Message("user", p)], outputs=o) for p, o in zip(prompts, answers, strict=True)]
    assert taken_apart(calls) == 0


def test_of_a_search_among_dialogues_of_others_the_question_alone_is_read() -> None:
    prompts = [f"Tickets:\nUser: What {n}?\nAgent: That {n}.\n\nQuestion: How {n}?\nAnswer:" for n in range(9)]
    answers = [[Message("assistant", f"So {n}.")] for n in range(9)]
    calls = [Call("x:", inputs=[Message("user", p)], outputs=o) for p, o in zip(prompts, answers, strict=True)]
    assert taken_apart(calls) == 9
    assert [[each.text for each in call.inputs] for call in calls] == [[f"How {n}?"] for n in range(9)]


def test_of_searches_behind_a_history_and_in_it_the_questions_alone_are_read() -> None:
    framed = [f"Use this.\n\nContext: {n}\n\nQuestion: How {n}?\nAnswer:" for n in range(2)]
    sent = [Message("user", framed[0]), Message("assistant", "So 0."), Message("user", framed[1])]
    calls = [
        Call("x:", inputs=inputs, outputs=[Message("assistant", "So.")])
        for inputs in ([Message("user", framed[0])], sent)
    ]
    assert taken_apart(calls) == 2
    assert [each.text for each in calls[1].inputs] == ["How 0?", "So 0.", "How 1?"]


def test_the_prompt_and_the_text_of_a_completion_are_what_was_asked_and_answered() -> None:
    response = {"object": "text_completion", "choices": [{"text": "In the app."}]}
    (call,) = OpenAIChat().read({"request": {"prompt": "How do I pay?"}, "response": response}, Counter())
    assert [(each.role, each.text) for each in (*call.inputs, *call.outputs)] == [
        ("user", "How do I pay?"),
        ("assistant", "In the app."),
    ]


@pytest.mark.parametrize(("held", "is_told"), [(3, True), (2, False)])
def test_questions_that_hold_what_an_earlier_call_got_are_told(held: int, is_told: bool) -> None:
    answers = [f"Number {n} is by card, and in the app." for n in range(12)]
    asked = [f"Chat: {answers[n - 1]} Question: {n}?" if 0 < n <= held else f"How {n}?" for n in range(12)]
    looked = HeldAnswers()
    for line, (question, answer) in enumerate(zip(asked, answers, strict=True), 1):
        sent, got = [Message("user", question)], [Message("assistant", answer)]
        looked.add(Call("x:", inputs=sent, outputs=got, line=line))
    doubts = looked.doubts(quoted=True)
    assert [doubt.partition(":")[0] for doubt in doubts] == (
        [f"{held} of 12 prompts hold an answer that another call got (“{answers[0][:24]}…”)"] if is_told else []
    )
    assert answers[0][:24] not in "".join(looked.doubts(quoted=False))
