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
