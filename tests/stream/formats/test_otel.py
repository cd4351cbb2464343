"""OpenTelemetry's spans: the ids that applications give to conversations."""

from collections import Counter

import pytest

from turnsignal.stream.formats.assembly import join_trace
from turnsignal.stream.formats.otel import OpenTelemetry


def conversation(key: str, value: object) -> str | None:
    """The conversation of a span with an attribute."""
    said = {"role": "user", "parts": [{"type": "text", "content": "How?"}]}
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": [said], key: value}
    span = {"traceId": "t1", "spanId": "s1", "startTimeUnixNano": "1000000000", "attributes": attributes}
    (answer,) = join_trace(OpenTelemetry().read(span, Counter()), Counter())
    return answer.conversation


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("gen_ai.conversation.id", "c1"),
        ("session.id", "c1"),
        ("thread_id", "c1"),
        ("conversation_id", "c1"),
        ("metadata.conversation_id", "c1"),
        ("metadata", '{"thread_id": "c1"}'),
    ],
)
def test_every_id_that_the_check_advises_is_read(key: str, value: object) -> None:
    assert conversation(key, value) == "c1"


def test_the_thread_of_a_process_is_no_conversation() -> None:
    assert conversation("thread.id", 7) is None


def test_an_output_that_is_the_state_of_a_graph_is_what_was_asked_and_its_answer() -> None:
    state = [(role, {"type": "text", "content": text}) for role, text in (("user", "How?"), ("assistant", "So."))]
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "How?"}]}],
        "gen_ai.output.messages": [{"role": role, "parts": [part]} for role, part in state],
    }
    span = {"traceId": "t1", "spanId": "s1", "startTimeUnixNano": "1000000000", "attributes": attributes}
    (answer,) = join_trace(OpenTelemetry().read(span, Counter()), Counter())
    assert [message.text for message in (*answer.inputs, *answer.outputs)] == ["How?", "So."]


@pytest.mark.parametrize(("operation", "kind"), [("chat", "answer"), ("retrieval", "retrieval"), (None, "retrieval")])
def test_a_call_that_carries_its_documents_is_no_retrieval(operation: str | None, kind: str) -> None:
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "How?"}]}],
        "gen_ai.retrieval.documents": [{"id": "d1"}],
    }
    (call,) = OpenTelemetry().read({"traceId": "t1", "spanId": "s1", "attributes": attributes}, Counter())
    assert (call.kind, [document["doc_id"] for document in call.documents]) == (kind, ["d1"])


@pytest.mark.parametrize(("parent", "kind"), [("", "whole"), ("0000000000000000", "whole"), ("a1", "inner")])
def test_an_agent_below_another_span_may_stand_for_the_whole(parent: str, kind: str) -> None:
    attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "So."}]}],
    }
    span = {"traceId": "t1", "spanId": "s1", "parentSpanId": parent, "attributes": attributes}
    (call,) = OpenTelemetry().read(span, Counter())
    assert call.kind == kind


def test_blocks_in_an_event_are_its_text_and_times_by_another_name_are_read() -> None:
    events = [
        {"name": "gen_ai.user.message", "attributes": {"content": '[{"text": "How do I pay?"}]'}},
        {"name": "gen_ai.choice", "attributes": {"message": '[{"text": "By card."}]'}},
    ]
    span = {
        "trace_id": "t1",
        "span_id": "s1",
        "start_timestamp": "2026-11-18T09:00:00Z",
        "end_timestamp": "2026-11-18T09:00:02Z",
        "attributes": {"gen_ai.operation.name": "chat"},
        "events": events,
    }
    (call,) = OpenTelemetry().read(span, Counter())
    assert [message.text for message in (*call.inputs, *call.outputs)] == ["How do I pay?", "By card."]
    assert call.start is not None
    assert call.end == call.start + 2


def test_the_system_message_of_a_span_event_is_one() -> None:
    said = (("system", "Write a title."), ("user", "How do I pay?"))
    events = [{"name": f"gen_ai.{role}.message", "attributes": {"content": text}} for role, text in said]
    span = {"traceId": "t1", "spanId": "s1", "attributes": {"gen_ai.operation.name": "chat"}, "events": events}
    (call,) = OpenTelemetry().read(span, Counter())
    assert [(message.role, message.text) for message in call.inputs] == list(said)
