"""OpenAI's Agents SDK: traces and their spans, as its processors get them and its exporter sends them.

{"object": "trace", "id": "trace_1", "group_id": "c1", …}                      names the conversation
{"object": "trace.span", "trace_id": "trace_1", "span_data": {"type": "generation", "input": […], "output": […]}}
{"object": "trace.span", "trace_id": "trace_1", "span_data": {"type": "function", "output": …}}    may have documents
"""

from collections.abc import Iterator, Sequence

from turnsignal.stream.formats.documents import documents_in
from turnsignal.stream.formats.messages import instructed, read_messages, spoken
from turnsignal.stream.formats.protocol import Assumed, Call, Record, join_origin, split_origin
from turnsignal.stream.formats.times import time_in
from turnsignal.stream.formats.values import (
    bounded_id,
    conversation_of,
    fields_of,
    first,
    mapping,
    short_name,
    short_names,
)

_TRACE, _SPAN = "trace", "trace.span"
_SEARCHES = ("function", "mcp_tool", "custom")


class OpenAIAgents:
    """Objects of the types trace and trace.span, one a record."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise spans by their type and data."""
        is_span = any(record.get("object") == _SPAN and "span_data" in record for record in sample)
        return "objects of the type trace.span" if is_span else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give what one span is, or what a trace names."""
        metadata = mapping(record.get("metadata"))
        if record.get("object") == _TRACE:
            trace = short_name(record.get("id")) or ""
            group = record.get("group_id")
            yield Call(
                origin=f"agents:{join_origin(trace)}",
                kind="context",
                trace=trace or None,
                conversation=bounded_id(group) if isinstance(group, str) and group else conversation_of(metadata),
                fields={**fields_of(metadata), **short_names(assistant=record.get("workflow_name"))},
            )
        elif record.get("object") == _SPAN:
            yield _span(record, mapping(record.get("span_data")), assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the ids of the trace and of the span."""
        return split_origin(turn_id, ("trace_id", "id"))


def _span(record: Record, data: Record, assumed: Assumed) -> Call:
    trace, own = (short_name(record.get(key)) or "" for key in ("trace_id", "id"))
    response = mapping(data.get("response"))
    call = Call(
        origin=f"agents:{join_origin(trace, own)}",
        kind="context",
        trace=trace or None,
        start=time_in(assumed, record, "started_at"),
        end=time_in(assumed, record, "ended_at"),
        fields=short_names(model=first(data, "model") or first(response, "model")),
    )
    kind = data.get("type")
    if kind in ("generation", "response"):
        call.kind = "answer"
        call.inputs = instructed(spoken(data.get("input"), "user", assumed), response.get("instructions"), assumed)
        call.outputs = read_messages(data.get("output") or response.get("output"), assumed)
        for message in call.outputs:
            message.id = None  # the span's own id leads back
    elif kind in _SEARCHES and (documents := documents_in(data.get("output"))):
        call.kind, call.documents = "retrieval", documents
    return call
