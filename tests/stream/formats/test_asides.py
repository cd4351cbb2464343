"""Calls beside a conversation: what a prompt may quote, and what stands for no answer of a trace."""

from collections import Counter

import pytest

from turnsignal.stream.formats.anthropic import AnthropicMessages
from turnsignal.stream.formats.assembly import join_trace
from turnsignal.stream.formats.messages import read_messages
from turnsignal.stream.formats.otel import OpenTelemetry
from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.quotations import SHORT, digests_quoted, quoted_in
from turnsignal.stream.formats.responses import OpenAIResponses

ANSWER = "Open the account page, then choose the second entry."


def asked(number: int, instructions: str, question: str, answer: str) -> Call:
    """A call of a trace, under instructions, a few seconds after the one before."""
    inputs = [Message("system", instructions), Message("user", question)]
    start = 100.0 + 3 * number
    outputs = [Message("assistant", answer)] if answer else []
    return Call(f"x:{number}", trace="t", start=start, end=start + 1, inputs=inputs, outputs=outputs)


def seen(*calls: Call) -> list[tuple[str, str]]:
    return [(call.inputs[-1].text, call.outputs[-1].text) for call in join_trace(calls, Counter())]


@pytest.mark.parametrize(
    "prompt",
    [
        "Is this harmless?\n{}",
        "Text: {}",
        "Is this harmless?\n<text>{}</text>",
        'Is this harmless?\n"""\n{}\n"""\nYes or no.',
        "Rate it.\n\n{}\n\nYes or no?",
        "What we know:\nOne.\nTwo.\n\nQuestion: {}",
        "{}\n\nBecause of that:\nOne.",
    ],
)
@pytest.mark.parametrize(
    "question", ["Where is it?", "It is broken: what now?", "Where is it?\nI sent it.\n\nOn Monday."]
)
def test_a_question_that_a_prompt_quotes_is_among_its_parts(prompt: str, question: str) -> None:
    assert question in quoted_in(prompt.format(question))


def test_a_plain_question_quotes_nothing_and_a_long_prompt_little() -> None:
    assert quoted_in("Where is it?") == []
    assert len(digests_quoted("a line: of many\n" * 100_000)) < 100 * SHORT


def test_a_call_that_words_the_answer_anew_gives_what_was_seen() -> None:
    draft = asked(1, "Help.", "How?", ANSWER)
    polished = asked(2, "Be polite.", ANSWER, f"Please {ANSWER}")
    assert seen(draft, polished) == [("How?", f"Please {ANSWER}")]
    assert seen(draft, polished, asked(3, "Polite?", f"Please {ANSWER}", "yes")) == [("How?", f"Please {ANSWER}")]


def test_a_title_of_the_question_alone_stands_for_no_answer() -> None:
    answer = asked(1, "Help.", "Docs: none\nQuestion: How?", ANSWER)
    assert seen(answer, asked(2, "Title, please.", "How?", "Ways to do it")) == [("Docs: none\nQuestion: How?", ANSWER)]
    router = asked(0, "Which team?", "How?", "billing")
    assert seen(router, asked(1, "Help.", "How?", ANSWER)) == [("How?", ANSWER)]


def test_suggestions_about_an_answer_to_a_framed_question_are_none() -> None:
    answer = asked(1, "Help.", "Docs: none\nQuestion: How do I do it?", ANSWER)
    suggested = asked(2, "", f"What may be asked next?\nuser: How do I do it?\nassistant: {ANSWER}", '["And then?"]')
    assert [text for _, text in seen(answer, suggested)] == [ANSWER]


def test_instructions_beside_messages_are_a_system_prompt() -> None:
    messages = [{"role": "user", "content": "How?"}]
    blocks = [{"type": "text", "text": "Help."}]
    response = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "So."}]}
    record = {"request": {"system": blocks, "messages": messages}, "response": response}
    (call,) = AnthropicMessages().read(record, Counter())
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "So."}]}]
    said = {"request": {"instructions": "Help.", "input": "How?"}, "response": {"object": "response", "output": output}}
    (response_call,) = OpenAIResponses().read(said, Counter())
    parts = [{"role": "user", "parts": [{"type": "text", "content": "How?"}]}]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": parts}
    attributes["gen_ai.system_instructions"] = '[{"type": "text", "content": "Help."}]'
    (span,) = OpenTelemetry().read({"traceId": "t", "spanId": "s", "attributes": attributes}, Counter())
    beside = read_messages({"system": "Help.", "messages": messages}, Counter())
    for inputs in (call.inputs, response_call.inputs, span.inputs, beside):
        assert [(message.role, message.text) for message in inputs] == [("system", "Help."), ("user", "How?")]


def test_an_agent_that_failed_names_the_assistant_as_one_that_answers_does() -> None:
    parts = '[{"role": "user", "parts": [{"type": "text", "content": "How?"}]}]'
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper", "gen_ai.input.messages": parts}
    chat = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": parts, "error.type": "timeout"}
    spans = [
        {"traceId": "t", "spanId": "a", "startTimeUnixNano": "1000000000", "attributes": agent},
        {"traceId": "t", "spanId": "b", "parentSpanId": "a", "startTimeUnixNano": "1100000000", "attributes": chat},
    ]
    (failed,) = join_trace([call for span in spans for call in OpenTelemetry().read(span, Counter())], Counter())
    assert failed.fields["assistant"] == "helper"
    assert not failed.outputs
