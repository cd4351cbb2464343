"""Span rows: spans and log records that stand alone, by the names that tables and interfaces have for their parts.

    TraceId, SpanId, ParentSpanId, SpanName, Timestamp, Duration, SpanAttributes, Events.Name    the ClickHouse exporter
    trace_id, span_id, parent_span_id, span_name, start_timestamp, attributes, otel_events       Logfire
    context: {traceId, spanId}, parentId, startTime, spanKind, attributes                        Phoenix
    context.trace_id, context.span_id, span_kind, attributes.llm.input_messages                  its data frames

What names a trace, a span in it and attributes of models is a span, wherever the attributes stand: in one column, in
JSON in a text, in columns of their own.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from turnsignal.stream.formats.attributes import attributes_of, tell_of_models
from turnsignal.stream.formats.protocol import Record
from turnsignal.stream.formats.values import first, folded, id_of, items, literal, mapping, nested, seconds

_TRACE = ("traceid", "contexttraceid", "spancontexttraceid", "tracerowid")
_SPAN = ("spanid", "contextspanid", "spancontextspanid")
_PARENT = ("parentspanid", "parentid")
_NAMES = ("name", "spanname", "operationname")
_STARTS = ("starttimeunixnano", "starttime", "starttimestamp")
_TIMES = ("timestamp", "time")  #: of the start, where nothing else is
_ENDS = ("endtimeunixnano", "endtime", "endtimestamp")
_NANOSECONDS = ("durationnano", "durationns", "durationnanos")
_HOLDERS = ("context", "span_context", "spanContext", "trace", "TRACE", "RECORD")  #: objects with ids in them
_PENDING = "pending_span"  #: what Logfire calls a span that has not ended yet
_BODIES = ("body", "logbody")
_SEVERITIES = ("severitynumber", "severitytext")
_EVENTS = ("events", "otelevents", "spanevents")
_SERVICE = {
    "service.name": "servicename",
    "service.version": "serviceversion",
    "deployment.environment": "deploymentenvironment",
}
_ATTRIBUTES = "attributes"
_LONGEST = 40  #: characters of a key, in which that word is looked for: otel_resource_attributes
_OTHERS = ("resource", "scope", "event", "link")  #: whose attributes are none of the span's
_KIND = "openinference.span.kind"
_KINDS = {"CHAIN", "LLM", "RETRIEVER", "RERANKER", "AGENT", "TOOL", "EMBEDDING", "GUARDRAIL", "EVALUATOR", "PROMPT"}
_MARKS = ("gen_ai", "llm", "openinference", "traceloop")  #: in a text that may be the attributes of a model's span


def span_in(row: Record) -> Record | None:
    """Return a row as OTLP spells a span, or a log record, which has a body; None for what is neither."""
    cells = _cells(row)
    trace, span = first(cells, *_TRACE), first(cells, *_SPAN)
    is_log = not cells.keys().isdisjoint(_BODIES) or not cells.keys().isdisjoint(_SEVERITIES)
    if (trace is None and not is_log) or cells.get("kind") == _PENDING:
        return None
    attributes, resource = _attributes_in(row)
    if span is None and not is_log:  # a data frame leaves its index out
        if not tell_of_models(attributes):
            return None
        span = blake2b(repr([trace, *map(cells.get, (*_NAMES, *_STARTS, *_ENDS))]).encode(), digest_size=8).hexdigest()
    elif not tell_of_models(attributes):
        attributes = {**attributes, **_attributes_elsewhere(row)}
    resource = {**{key: cells.get(column) for key, column in _SERVICE.items() if cells.get(column)}, **resource}
    ids = {"traceId": id_of(trace), "spanId": id_of(span), "attributes": attributes, "resource": resource}
    if is_log:
        when = first(cells, "timeunixnano", *_TIMES, *_STARTS, "observedtimeunixnano")
        body = first(cells, *_BODIES)
        return {**ids, "eventName": first(cells, "eventname"), "body": body, "timeUnixNano": when}
    kind = str(first(cells, "spankind") or "").upper()
    if kind in _KINDS and _KIND not in attributes:
        ids["attributes"] = {**attributes, _KIND: kind}
    start, end = _times_in(row, cells)
    return {
        **ids,
        "parentSpanId": first(cells, *_PARENT),
        "name": first(cells, *_NAMES),
        "startTimeUnixNano": start,
        "endTimeUnixNano": end,
        "events": _events_in(cells),
    }


def has_no_span_id(row: Record) -> bool:
    """Say whether a row names its trace, and not the span in it: an index may, which stands beside the row."""
    cells = _cells(row)
    return first(cells, *_TRACE) is not None and first(cells, *_SPAN) is None


def _cells(row: Record) -> dict[str, Any]:
    """Return what a row holds by the letters of its names, with what the objects hold that have ids in them."""
    cells: dict[str, Any] = {}
    for holder in _HOLDERS:
        if isinstance(inner := row.get(holder), dict):
            cells |= {folded(str(key)): value for key, value in inner.items()}
    return cells | {folded(str(key)): value for key, value in row.items() if value is not None}


def _attributes_in(row: Record) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a span's attributes and those of its resource, from whatever columns have them."""
    own: dict[str, Any] = {}
    resource = dict(attributes_of(mapping(row.get("resource")).get(_ATTRIBUTES)))
    for key, value in row.items():
        if value is None:
            continue
        if tell_of_models((key,)):
            own[key] = literal(value)
            continue
        before, named = _column(key)
        if named is None:
            continue
        held = attributes_of(value) if not named else {named: literal(value)}
        if "resource" in before:
            resource |= held
        elif not any(other in before for other in _OTHERS):
            own |= held
    return own, resource


def _column(key: str) -> tuple[str, str | None]:
    """Return whose attributes a column has, and which one, if it has one alone; None where it has none.

    >>> _column("SpanAttributes['gen_ai.system']"), _column("resource_attributes"), _column("name")
    (('span', 'gen_ai.system'), ('resource_', ''), ('', None))
    """
    at = key[:_LONGEST].lower().find(_ATTRIBUTES)
    before, behind = key[:at].lower(), key[at + len(_ATTRIBUTES) :]
    if at < 0 or behind[:1] not in ("", ".", "["):
        return "", None
    return before, behind.strip(".[]'\"")


def _attributes_elsewhere(row: Record) -> dict[str, Any]:
    """Return the attributes of a model's span in an object of a row, under whatever name."""
    for value in row.values():
        may_be = isinstance(value, dict) or (
            isinstance(value, str) and value.lstrip()[:1] == "{" and any(mark in value for mark in _MARKS)
        )
        held = attributes_of(value) if may_be else {}
        if tell_of_models(held):
            return held
    return {}


def _times_in(row: Record, cells: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return when a span began and ended; a table may have the one and how many nanoseconds it took."""
    start, end = first(cells, *_STARTS), first(cells, *_ENDS)
    if start is None:
        start = first(cells, *_TIMES)
    elif end is None:
        end = first(cells, "timestamp")
    took = first(cells, *_NANOSECONDS) or row.get("Duration")
    if end is None and (begun := seconds(start)) is not None and str(took).isdigit():
        end = begun + int(str(took)[:25]) / 1e9
    return start, end


def _events_in(cells: Mapping[str, Any]) -> list[Record]:
    """Return the events of a span; a table may have a column for their names, and one for their attributes."""
    held = nested(first(cells, *_EVENTS))
    if isinstance(held, list):
        return [_event(mapping(event)) for event in held]
    columns = {f"events{folded(str(key))}": value for key, value in held.items()} if isinstance(held, dict) else cells
    names, attributes = items(columns.get("eventsname")), items(columns.get("eventsattributes"))
    return [{"name": name, _ATTRIBUTES: attributes_of(given)} for name, given in zip(names, attributes, strict=False)]


def _event(event: Record) -> Record:
    cells = {folded(str(key)): value for key, value in event.items()}
    given = attributes_of(first(cells, _ATTRIBUTES, "eventattributes"))
    return {"name": first(cells, "name", "eventname"), _ATTRIBUTES: given or event}
