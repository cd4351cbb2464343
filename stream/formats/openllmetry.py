"""OpenLLMetry spans (Traceloop): prompts and completions flattened into attributes, hits of vector stores as events."""

from collections.abc import Iterator, Sequence
from typing import Any

from turnsignal.stream.formats.documents import read_documents
from turnsignal.stream.formats.messages import read_messages, spoken
from turnsignal.stream.formats.otlp import Span, spans_of, unflatten
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, split_origin
from turnsignal.stream.formats.returned import texts_in
from turnsignal.stream.formats.values import conversation_of, fields_of, first, items, mapping, short_names

_ASSOCIATION = "traceloop.association.properties."
_FUNCTIONS = ("workflow", "agent")  #: around calls of models, which may return what the user saw
_HITS = ("db.query.result", "db.search.result")


class OpenLLMetry:
    """OTLP as JSON with traceloop.* or gen_ai.prompt.N attributes; association properties name the conversation."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise spans by Traceloop's attributes, and none of OpenInference's."""
        keys = {key for record in sample for span in spans_of(record) for key in span.attributes}
        if any(key.startswith("openinference.") for key in keys):
            return ""
        own = any(key.startswith(("traceloop.", "gen_ai.prompt.0.")) for key in keys)
        return "spans with traceloop or gen_ai.prompt attributes" if own else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give the calls and searches of one record."""
        for span in spans_of(record, assumed):
            yield _call(span, assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the ids of the trace and of the span."""
        return split_origin(turn_id, ("trace_id", "span_id"))


def _call(span: Span, assumed: Assumed) -> Call:
    given = span.attributes
    chosen = {key.removeprefix(_ASSOCIATION): given[key] for key in given if key.startswith(_ASSOCIATION)}
    call = Call(
        origin=f"openllmetry:{span.trace}/{span.span}",
        kind="context",
        trace=span.trace or None,
        conversation=conversation_of(chosen, {"conversation_id": given.get("gen_ai.conversation.id")}),
        start=span.start,
        end=span.end,
        fields=_fields(span, chosen),
    )
    hits = [_hit(attributes) for event, attributes in span.events if event in _HITS]
    hits += items(given.get("gen_ai.retrieval.documents"))
    inputs = read_messages(unflatten(given, "gen_ai.prompt"), assumed)
    outputs = [item for item in unflatten(given, "gen_ai.completion") if isinstance(item, dict)]
    outputs = outputs or items(given.get("gen_ai.output.messages"))[:1]  # as newer versions write them
    if hits:
        call.kind, call.documents = "retrieval", read_documents(hits)
    elif (
        inputs or outputs or "gen_ai.input.messages" in given or given.get("llm.request.type") in ("chat", "completion")
    ):
        call.kind = "answer"
        call.inputs = inputs or spoken(given.get("gen_ai.input.messages"), "user", assumed)
        answers = [{"role": "assistant", **mapping(item)} for item in outputs]
        call.outputs = read_messages(answers, assumed)
    elif given.get("traceloop.span.kind") == "workflow":
        asked, state = (_of_entity(given, side, assumed) for side in ("input", "output"))
        if any(message.role == "assistant" for message in state):
            call.kind, call.inputs, call.outputs = "inner" if span.parent else "whole", asked, state
    if call.kind == "context" and (given.get("traceloop.span.kind") in _FUNCTIONS or not span.parent):
        call.inputs = texts_in(given.get("traceloop.entity.input"), "user")
        call.outputs = texts_in(given.get("traceloop.entity.output"), "assistant")
    return call


def _of_entity(given: dict[str, Any], side: str, assumed: Assumed) -> list[Message]:
    """Read the messages that a workflow was given or put out, as graphs do; a text may be anything there."""
    entity = mapping(given.get(f"traceloop.entity.{side}"))
    return read_messages(entity.get(f"{side}s", entity), assumed)


def _hit(attributes: dict[str, Any]) -> dict[str, Any]:
    plain = {key.rpartition(".")[2]: value for key, value in attributes.items()}
    return {"id": plain.get("id"), "score": plain.get("score"), "text": plain.get("document")}


def _fields(span: Span, chosen: dict[str, Any]) -> dict[str, str]:
    given = span.attributes
    return {
        **short_names(
            assistant=first(given, "traceloop.workflow.name") or span.resource.get("service.name"),
            model=first(given, "gen_ai.response.model", "gen_ai.request.model"),
            version=first(given, "traceloop.prompt.version") or span.resource.get("service.version"),
        ),
        **fields_of(chosen),
    }
