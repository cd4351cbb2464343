"""OpenTelemetry's GenAI conventions: spans with messages as attributes, and the events of older emitters."""

from collections.abc import Iterator, Sequence
from typing import Any

from turnsignal.stream.formats.documents import documents_in, read_documents
from turnsignal.stream.formats.messages import instructed, spoken
from turnsignal.stream.formats.otlp import Span, spans_of
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, split_origin
from turnsignal.stream.formats.span_events import messages_in_events
from turnsignal.stream.formats.texts_by_turns import texts_without_roles
from turnsignal.stream.formats.values import (
    bounded_id,
    conversation_of,
    fields_of,
    first,
    mapping,
    short_name,
    short_names,
)

_ANSWERS = ("chat", "generate_content", "text_completion", "completion")
_METADATA = ("metadata.", "ai.telemetry.metadata.")
_SPRING = "spring.ai.chat.client.conversation.id"
_DETAILS = "gen_ai.client.inference.operation.details"


class OpenTelemetry:
    """OTLP as JSON, or JSON lines, with attributes gen_ai.*."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise spans or log records with gen_ai attributes, and none of OpenInference's or Traceloop's own."""
        keys: set[str] = set()
        for span in (span for record in sample for span in spans_of(record)):
            keys |= span.attributes.keys() | {event for event, _ in span.events}
        others = {"gen_ai.prompt.0.role", "gcp.vertex.agent.llm_request"}
        if not others.isdisjoint(keys) or any(key.startswith(("openinference.", "traceloop.")) for key in keys):
            return ""
        return "spans with gen_ai attributes" if any(key.startswith("gen_ai.") for key in keys) else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give the calls, retrievals and agents of one record."""
        for span in spans_of(record, assumed):
            if call := _call(span, assumed):
                yield call

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the ids of the trace and of the span."""
        return split_origin(turn_id, ("trace_id", "span_id"))


def _call(span: Span, assumed: Assumed) -> Call | None:
    given = {**span.attributes}
    for event, attributes in span.events:
        given |= attributes if event == _DETAILS else {}
    operation = given.get("gen_ai.operation.name")
    conversation = given.get("gen_ai.conversation.id")
    call = Call(
        origin=f"otel:{span.trace}/{span.span}",
        kind="context",
        trace=span.trace or None,
        conversation=bounded_id(conversation) if isinstance(conversation, str) and conversation else None,
        session=_session_of(given),
        response=None if span.is_log else short_name(given.get("gen_ai.response.id")),  # its pieces are of one span
        partial=span.is_log,
        start=span.start,
        end=span.end,
        fields=_fields(given, span),
    )
    inputs, outputs = _messages(given, span, assumed)
    listed, result = given.get("gen_ai.retrieval.documents"), given.get("gen_ai.tool.call.result")
    call.documents = read_documents(listed) or documents_in(result)
    if operation == "retrieval" or (call.documents and operation not in _ANSWERS):
        call.kind = "retrieval"
        call.typed = str(given.get("gen_ai.retrieval.query.text") or "") or None
    elif operation in _ANSWERS or (operation is None and (inputs or outputs)):
        call.kind, call.inputs, call.outputs = "answer", inputs, outputs
    elif operation in ("invoke_agent", "invoke_workflow") and (inputs or outputs):
        call.kind, call.inputs, call.outputs = "inner" if span.parent else "whole", inputs, outputs
    return call if span.trace or call.inputs or call.outputs else None


def _session_of(given: dict[str, Any]) -> str | None:
    """Return the conversation by what applications call it: the id of a session or thread, or one in the metadata."""
    named = {key.removeprefix(of): given[key] for of in _METADATA for key in given if key.startswith(of)}
    spring = {"conversation_id": given.get(_SPRING)}
    return conversation_of(given, named, mapping(given.get("metadata")), spring)


def _messages(given: dict[str, Any], span: Span, assumed: Assumed) -> tuple[list[Message], list[Message]]:
    inputs = spoken(given.get("gen_ai.input.messages"), "user", assumed)
    inputs = instructed(inputs, given.get("gen_ai.system_instructions"), assumed)
    outputs = spoken(given.get("gen_ai.output.messages"), "assistant", assumed)
    if "ai.prompt.messages" in given:  # Vercel's AI SDK
        inputs = inputs or spoken(given["ai.prompt.messages"], "user", assumed)
        outputs = outputs or spoken(given.get("ai.response.text"), "assistant", assumed)
    asked, got = messages_in_events(span, assumed)
    inputs, outputs = inputs or asked, outputs or got  # who writes both says the same in both
    if not inputs:
        inputs, got = texts_without_roles(given, assumed)
        outputs = outputs or got
    return inputs, outputs if any(message.role == "user" for message in outputs) else outputs[:1]


def _fields(given: dict[str, Any], span: Span) -> dict[str, str]:
    resource = span.resource
    return {
        **fields_of({"environment": first(resource, "deployment.environment.name", "deployment.environment")}),
        **short_names(
            assistant=first(given, "gen_ai.agent.name", "gen_ai.workflow.name") or resource.get("service.name"),
            model=first(given, "gen_ai.response.model", "gen_ai.request.model"),
            version=first(given, "gen_ai.prompt.version", "gen_ai.agent.version") or resource.get("service.version"),
            user_id=first(given, "user.id", "enduser.id", "ai.telemetry.metadata.userId"),
            platform=first(given, "platform", "app.platform"),
        ),
    }
