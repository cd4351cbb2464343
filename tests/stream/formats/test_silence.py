"""Why no turn was read: content that is not recorded, and files that hold no answers."""

from collections import Counter

import pytest

from turnsignal.stream.formats.assembly import NO_CONTENT, join_trace
from turnsignal.stream.formats.messages import spoken
from turnsignal.stream.formats.openai import OpenAIChat
from turnsignal.stream.formats.openllmetry import OpenLLMetry
from turnsignal.stream.formats.otel import OpenTelemetry
from turnsignal.stream.formats.protocol import Call, LogFormat, Message
from turnsignal.stream.formats.silence import explain_silence


@pytest.mark.parametrize(
    ("log", "attributes", "named", "switch"),
    [
        (
            OpenTelemetry(),
            {"gen_ai.operation.name": "chat"},
            "otel",
            "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true",
        ),
        (OpenLLMetry(), {"llm.request.type": "chat"}, "openllmetry", "set TRACELOOP_TRACE_CONTENT=true"),
    ],
)
def test_calls_without_content_say_what_switches_it_on(
    log: LogFormat, attributes: dict[str, str], named: str, switch: str
) -> None:
    assumed: Counter[str] = Counter()
    span = {"traceId": "t1", "spanId": "s1", "startTimeUnixNano": "1", "attributes": attributes}
    assert join_trace(log.read(span, assumed), assumed) == []
    told = explain_silence(named, assumed, 0, 0, 0)
    assert told is not None
    assert told.startswith(f"message content is not recorded in 1 traces: {switch}")
    assert explain_silence(named, assumed, 5, 20, 0) is None


def test_spans_whose_texts_have_other_names_lead_to_a_mapping() -> None:
    assumed: Counter[str] = Counter()
    span = {"traceId": "t1", "spanId": "s1", "attributes": {"gen_ai.system": "a", "request_data": "{}"}}
    assert join_trace(OpenTelemetry().read(span, assumed), assumed) == []
    assert "turnsignal convert FILE --propose mapping.toml" in str(explain_silence("otel", assumed, 0, 0, 0))


def test_retrievals_evaluations_and_scores_alone_are_named_as_such() -> None:
    assumed: Counter[str] = Counter()
    join_trace([Call("x:1", kind="retrieval", documents=[{"doc_id": "a"}])], assumed)
    assert str(explain_silence("langfuse", assumed, 0, 0, 0)).startswith("these are retrievals alone")
    judged = Counter({"evaluators' observations left out": 3})
    assert str(explain_silence("langfuse", judged, 0, 0, 0)).startswith("these are evaluations of answers alone")
    assert str(explain_silence("langfuse", Counter(), 0, 0, 12)).startswith("these are scores alone")
    assert explain_silence("langfuse", Counter(), 0, 0, 0) is None


def test_messages_that_are_cut_off_are_nobodys_words_and_the_limit_is_named() -> None:
    assumed = Counter[str]()
    whole = '[{"role": "user", "parts": [{"type": "text", "content": "How?"}]}]'
    assert [message.text for message in spoken(whole, "user", assumed)] == ["How?"]
    assert spoken(whole[:40], "user", assumed) == []
    assert [message.text for message in spoken('{"a": what is this', "user", assumed)] == ['{"a": what is this']
    told = explain_silence("otel", assumed, 0, 0, 0) or ""
    assert told.startswith("1 lists of messages are cut off: unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT")


def test_what_stands_for_a_text_that_was_taken_out_is_counted_and_a_text_about_it_is_read() -> None:
    assumed = Counter[str]()
    assert spoken("__REDACTED__", "user", assumed) == []
    assert [message.text for message in spoken("What is [REDACTED]?", "user", assumed)] == ["What is [REDACTED]?"]
    assert [message.text for message in spoken({"answer": "So.", "choices": ["a"]}, "assistant", assumed)] == ["So."]
    assert assumed["messages that were redacted left out"] == 1
    assert explain_silence("langfuse", assumed, 5, 20, 0) is None
    assert str(explain_silence("langfuse", assumed, 1, 2, 0)).startswith("1 messages are redacted: leave capture_input")


def test_questions_without_answers_are_named_where_there_are_many() -> None:
    assumed = Counter[str]()
    join_trace([Call("x:1", inputs=[Message("user", "How?")])], assumed)
    told = str(explain_silence("langsmith", assumed, 1, 1, 0))
    assert told.startswith(
        "what was asked, or what was answered, is not recorded in 1 traces: set LANGSMITH_HIDE_INPUTS"
    )
    assert explain_silence("langsmith", assumed, 1, 4, 0) is None


def test_records_without_messages_are_told_how_a_mapping_reads_them() -> None:
    assumed: Counter[str] = Counter()
    assert list(OpenAIChat().read({"type": "message", "text": "Hello"}, assumed)) == []
    told = explain_silence("openai", assumed, 0, 0, 0) or ""
    assert told.startswith("messages are missing in 1 records")
    assert "--propose" in told
    assert explain_silence("openai", assumed, 1, 2, 0) is None


def test_a_log_in_another_loggers_lines_is_told_its_own_formats_switch() -> None:
    assumed: Counter[str] = Counter({NO_CONTENT: 3})
    assert explain_silence("otel in _source", assumed, 0, 0, 0) == explain_silence("otel", assumed, 0, 0, 0)
