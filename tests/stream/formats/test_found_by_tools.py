"""What tools return is read as documents where it is a list of them, and for the question that it was found for."""

from collections import Counter
from typing import Any

import orjson
import pytest

from turnsignal.stream.formats.documents import documents_in
from turnsignal.stream.formats.messages import found_by_tools, read_messages
from turnsignal.stream.formats.openai import OpenAIChat
from turnsignal.stream.formats.otel import OpenTelemetry
from turnsignal.stream.formats.protocol import Call
from turnsignal.stream.formats.turns import take_turns

ROSES = [{"id": "p-1", "text": "Roses want sun.", "score": 0.8}, {"id": "p-2", "text": "Ferns want shade."}]
TULIPS = [{"id": "p-3", "text": "Tulips come in April.", "score": 0.7}]


def tool(result: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": "k1", "content": orjson.dumps(result).decode()}


def ids(documents: list[dict[str, Any]]) -> list[str]:
    return [document["doc_id"] for document in documents]


def given(call: Call) -> list[str]:
    """Return the ids of the documents that the last turn of a call has."""
    *_, (turn, _) = take_turns("c", [call], Counter())
    return ids(turn.get("retrieved", []))


EARLIER = [
    {"role": "user", "content": "What wants sun?"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "k1", "function": {"name": "find"}}]},
    tool(ROSES),
    {"role": "assistant", "content": "Roses."},
    {"role": "user", "content": "What comes in April?"},
]


def test_an_openai_call_has_what_its_tools_found_since_the_question() -> None:
    message = {"role": "assistant", "content": "Tulips."}
    record = {"messages": [*EARLIER, tool(TULIPS)], "response": {"id": "r1", "choices": [{"message": message}]}}
    (call,) = OpenAIChat().read(record, Counter())
    assert given(call) == ["p-3"]
    (thanked,) = OpenAIChat().read(record | {"messages": EARLIER}, Counter())
    assert given(thanked) == []
    (named,) = OpenAIChat().read(record | {"documents": ["p-9"]}, Counter())
    assert given(named) == ["p-9"]


@pytest.mark.parametrize(
    ("result", "found"),
    [
        ({"results": ROSES}, ["p-1", "p-2"]),
        ([{"id": "o-1", "score": 0.5}], ["o-1"]),
        ([{"id": "o-1", "status": "sent"}], []),
        ([{"text": "nameless"}], []),
        ({"id": "o-1", "text": "an order"}, []),
        ([*ROSES, "and more"], []),
        ("It rains.", []),
        ([], []),
    ],
)
def test_only_lists_of_objects_with_an_id_and_a_text_or_a_score_are_documents(result: Any, found: list[str]) -> None:
    assert ids(found_by_tools(read_messages([EARLIER[0], tool(result)], Counter()))) == found


def test_results_of_several_tools_are_in_their_order_each_once() -> None:
    assert ids(found_by_tools(read_messages([EARLIER[0], tool(TULIPS), tool(ROSES), tool(TULIPS)], Counter()))) == [
        "p-3",
        "p-1",
        "p-2",
    ]


def span(name: str, **attributes: Any) -> dict[str, Any]:
    listed = [
        {"key": key, "value": {"stringValue": value if isinstance(value, str) else orjson.dumps(value).decode()}}
        for key, value in (("gen_ai.operation.name", name), *attributes.items())
    ]
    both = {"traceId": "a" * 32, "spanId": "b" * 16, "startTimeUnixNano": "1", "endTimeUnixNano": "2"}
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{**both, "name": name, "attributes": listed}]}]}]}


def test_a_span_of_a_tool_that_returns_documents_is_a_retrieval_and_others_are_none() -> None:
    (call,) = OpenTelemetry().read(span("execute_tool", **{"gen_ai.tool.call.result": ROSES}), Counter())
    assert (call.kind, ids(call.documents)) == ("retrieval", ["p-1", "p-2"])
    (other,) = OpenTelemetry().read(span("execute_tool", **{"gen_ai.tool.call.result": {"booked": True}}), Counter())
    assert (other.kind, other.documents) == ("context", [])


def test_tool_parts_of_messages_are_documents_of_the_question_before_them() -> None:
    def said(role: str, **part: Any) -> dict[str, Any]:
        return {"role": role, "parts": [part]}

    messages = [
        said("user", type="text", content="What wants sun?"),
        said("tool", type="tool_call_response", id="k1", response=ROSES),
        said("assistant", type="text", content="Roses."),
        said("user", type="text", content="What comes in April?"),
        said("tool", type="tool_call_response", id="k2", response=TULIPS),
    ]
    output = [said("assistant", type="text", content="Tulips.")]
    attributes = {"gen_ai.input.messages": messages, "gen_ai.output.messages": output}
    (call,) = OpenTelemetry().read(span("chat", **attributes), Counter())
    assert given(call) == ["p-3"]


@pytest.mark.parametrize(
    "messages",
    [
        [*EARLIER, tool(TULIPS), {"role": "assistant", "content": "Tulips."}],
        [
            {"role": "user", "content": "What comes in April?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "k1", "name": "find", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "content": orjson.dumps(TULIPS).decode()}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Tulips."}]},
        ],
        [
            {"type": "human", "content": "What comes in April?"},
            {"type": "ai", "content": "", "tool_calls": [{"id": "k1", "name": "find"}]},
            {"type": "tool", "tool_call_id": "k1", "content": orjson.dumps(TULIPS).decode()},
            {"type": "ai", "content": "Tulips."},
        ],
        [
            {"role": "user", "content": "What comes in April?"},
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}]},
            {"type": "function_call", "call_id": "k1", "name": "find", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "k1", "output": orjson.dumps(TULIPS).decode()},
            {"role": "assistant", "content": [{"type": "output_text", "text": "Tulips."}]},
        ],
    ],
)
def test_an_answer_within_a_whole_conversation_has_what_tools_found_since_its_question(messages: list[Any]) -> None:
    calls = [Call("c:1", conversation="c", start=1.0, inputs=read_messages(messages, Counter()))]
    assert [turn["text"] for turn, _ in take_turns("c", calls, Counter())][-2:] == ["What comes in April?", "Tulips."]
    assert given(calls[0]) == ["p-3"]


@pytest.mark.parametrize(
    "result",
    [
        {"type": "json", "value": [{"id": "kb-1", "text": "So."}]},
        {"type": "json", "value": {"results": [{"id": "kb-1", "text": "So."}]}},
        {"type": "text", "value": '[{"id": "kb-1", "text": "So."}]'},
        {"type": "content", "value": [{"type": "text", "text": '[{"id": "kb-1", "text": "So."}]'}]},
    ],
)
def test_a_tools_result_is_read_within_what_vercels_sdk_wraps_it_in(result: object) -> None:
    assert [each["doc_id"] for each in documents_in(result)] == ["kb-1"]
    assert documents_in({"type": "error-text", "value": "It failed."}) == []
