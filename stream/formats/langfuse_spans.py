"""Spans that Langfuse's SDK writes, as the rows that its server exports of them: `session.id` is session_id there."""

from typing import Any

from turnsignal.stream.formats.otlp import Span, spans_of
from turnsignal.stream.formats.protocol import Assumed, Record

SPAN = "langfuse.observation.type"  #: the attribute that its spans have


def rows_of_spans(record: Record, assumed: Assumed) -> list[dict[str, Any]]:
    """Return the rows of a record's spans that are Langfuse's; none where it holds no such spans."""
    return [_row(span) for span in spans_of(record, assumed) if SPAN in span.attributes]


def _row(span: Span) -> dict[str, Any]:
    plain = (
        (key.removeprefix("langfuse.").removeprefix("observation."), span.attributes[key]) for key in span.attributes
    )
    row = {key.replace(".", "_"): value for key, value in plain}
    row |= {"id": span.span, "trace_id": span.trace, "parent_observation_id": span.parent, "name": span.title}
    return row | {"start_time": span.start, "end_time": span.end, "model": row.get("model_name")}
