"""OpenInference spans (Phoenix, Arize): messages and documents flattened into attributes, or nested there."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from turnsignal.stream.formats.documents import documents_of_tool, read_documents
from turnsignal.stream.formats.messages import read_messages
from turnsignal.stream.formats.otlp import Span, spans_of, unflatten
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, split_origin
from turnsignal.stream.formats.questions import spoken_by
from turnsignal.stream.formats.states import put_out
from turnsignal.stream.formats.values import conversation_of, fields_of, first, items, mapping, short_names

_KIND = "openinference.span.kind"


class OpenInference:
    """Spans with an openinference.span.kind, as OTLP's JSON or rows of a table; a session.id is the conversation."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise spans by their kind."""
        spans = (span for record in sample for span in spans_of(record))
        return f"spans with {_KIND}" if any(_KIND in span.attributes for span in spans) else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give the calls, retrievals and chains of one record."""
        for span in spans_of(record, assumed):
            kind = str(span.attributes.get(_KIND)).upper()
            if kind == "EVALUATOR":
                assumed["evaluators' spans left out"] += 1
            else:
                yield _call(span, kind, assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the ids of the trace and of the span."""
        return split_origin(turn_id, ("trace_id", "span_id"))


def _call(span: Span, kind: str, assumed: Assumed) -> Call:
    given = span.attributes
    call = Call(
        origin=f"openinference:{span.trace}/{span.span}",
        kind="context",
        trace=span.trace or None,
        conversation=conversation_of({"session.id": given.get("session.id")}),
        session=conversation_of(mapping(given.get("metadata"))),
        start=span.start,
        end=span.end,
        fields=_fields(span),
    )
    if kind == "RETRIEVER":
        call.kind, call.documents = "retrieval", _documents(given, "retrieval.documents")
        call.parent = f"openinference:{span.trace}/{span.parent}"
    elif kind == "RERANKER":
        call.kind, call.documents = "reranking", _documents(given, "reranker.output_documents")
    elif kind == "TOOL" and (documents := documents_of_tool(given.get("output.value"))):
        call.kind, call.documents = "retrieval", documents
    elif kind in ("LLM", "CHAIN", "AGENT"):
        call.kind = "answer" if kind == "LLM" else "inner" if span.parent else "whole"
        asked = call.inputs = _spoken(given, "input", lambda value: spoken_by("user", value, assumed), assumed)
        read = partial(put_out, given=given.get("input.value"), asked=asked, assumed=assumed)
        call.outputs = _spoken(given, "output", read, assumed)
    return call


def _spoken(given: dict[str, Any], side: str, by: Callable[[object], list[Message]], assumed: Assumed) -> list[Message]:
    """Read the messages of a side, or its value: what hides the one may leave the other."""
    left_out = Assumed()
    messages = read_messages(_messages(given, f"llm.{side}_messages"), left_out)
    content = first(given, f"gen_ai.{side}.messages", f"{side}.value")  # of spans that say it both ways
    value = [] if any(m.text or m.called for m in messages) else by(content)
    assumed.update({} if value else left_out)
    return (value if side == "input" else value[-1:]) or messages


def _messages(given: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Return messages as chat interfaces spell them."""
    messages = []
    for item in _listed(given, prefix):
        message = mapping(mapping(item).get("message")) or mapping(item)
        parts = [mapping(mapping(part).get("message_content")) for part in message.get("contents") or ()]
        messages.append({**message, "content": message.get("content") or parts})
    return messages


def _documents(given: dict[str, Any], prefix: str) -> list[dict[str, Any]]:
    return read_documents([mapping(item).get("document", item) for item in _listed(given, prefix)])


def _listed(given: dict[str, Any], prefix: str) -> list[Any]:
    """Return a list as it stands there, or put together from attributes with numbers in their names."""
    parts = enumerate(items(given.get(prefix)))
    whole = {f"{prefix}.{at}.{key}": value for at, part in parts for key, value in mapping(part).items()}
    return unflatten(whole or given, prefix)


def _fields(span: Span) -> dict[str, str]:
    given, own = span.attributes, span.resource
    service = {"environment": own.get("deployment.environment.name"), "version": own.get("service.version")}
    return fields_of(mapping(given.get("metadata")), service) | short_names(
        assistant=given.get("agent.name") or first(own, "openinference.project.name", "service.name"),
        model=first(given, "llm.response.model_name", "llm.model_name"),
        user_id=given.get("user.id"),
        version=given.get("llm.prompt_template.version"),
    )
