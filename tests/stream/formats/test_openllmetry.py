"""OpenLLMetry's spans: what a workflow was given and put out, where no model's call was traced."""

from collections import Counter
from typing import Any

import orjson

from turnsignal.stream.formats.assembly import join_trace
from turnsignal.stream.formats.openllmetry import OpenLLMetry
from turnsignal.stream.formats.protocol import Call


def joined(*spans: dict[str, Any]) -> list[Call]:
    read = OpenLLMetry()
    calls = [
        call
        for number, attributes in enumerate(spans)
        for call in read.read(
            {
                "traceId": "t1",
                "spanId": f"s{number}",
                **({"parentSpanId": "s0"} if number else {}),
                "startTimeUnixNano": str(10**9 * (number + 1)),
                "attributes": attributes,
            },
            Counter(),
        )
    ]
    return join_trace(calls, Counter())


def workflow(asked: list[Any], put_out: Any) -> dict[str, Any]:
    return {
        "traceloop.span.kind": "workflow",
        "traceloop.entity.input": orjson.dumps({"inputs": {"messages": asked}}).decode(),
        "traceloop.entity.output": orjson.dumps({"outputs": put_out}).decode(),
    }


ASKED = [{"type": "human", "content": "How?"}]
STATE = {"messages": [*ASKED, {"type": "ai", "content": "So."}]}


def test_a_workflow_that_puts_out_its_state_says_its_question_and_its_answer() -> None:
    (answer,) = joined(workflow(ASKED, STATE))
    assert [(message.role, message.text) for message in (*answer.inputs, *answer.outputs)] == [
        ("user", "How?"),
        ("assistant", "So."),
    ]


def test_a_workflow_beside_its_models_call_says_everything_once() -> None:
    chat = {
        "llm.request.type": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "How?",
        "gen_ai.completion.0.content": "So.",
    }
    (answer,) = joined(workflow(ASKED, STATE), chat)
    assert [message.text for message in (*answer.inputs, *answer.outputs)] == ["How?", "So."]


def test_a_workflow_that_puts_out_a_text_of_its_own_says_what_its_models_call_did() -> None:
    chat = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "How?", "gen_ai.completion.0.content": "So."}
    (answer,) = joined(workflow([], {"status": "done"}), chat)
    assert [message.text for message in (*answer.inputs, *answer.outputs)] == ["How?", "So."]


def test_messages_as_newer_versions_write_them_are_read_beside_their_workflow() -> None:
    asked = [{"role": "user", "parts": [{"type": "text", "content": "How?"}]}]
    given = [{"role": "assistant", "parts": [{"type": "text", "content": "So."}], "finish_reason": "stop"}]
    span = {
        "traceloop.workflow.name": "desk",
        "traceloop.association.properties.session_id": "s1",
        "gen_ai.input.messages": orjson.dumps(asked).decode(),
        "gen_ai.output.messages": orjson.dumps(given).decode(),
    }
    (answer,) = joined(span)
    assert [(message.role, message.text) for message in (*answer.inputs, *answer.outputs)] == [
        ("user", "How?"),
        ("assistant", "So."),
    ]
    assert (answer.conversation, answer.fields["assistant"]) == ("s1", "desk")
