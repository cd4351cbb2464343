"""Spans and log records as OTLP's JSON, OpenTelemetry's console exporter and Jaeger write them, for every leaf.

Ids are taken as the text that stands there: OTLP's JSON has them in hexadecimal, against protobuf's own rules.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from turnsignal.stream.formats.attributes import MAX_DEPTH, attributes_of, plain
from turnsignal.stream.formats.protocol import Assumed, Record
from turnsignal.stream.formats.span_rows import span_in
from turnsignal.stream.formats.times import read_time
from turnsignal.stream.formats.values import first, items, mapping, seconds, short_name

_MAX_INDEX = 10_000  #: of a flattened list


class Span(NamedTuple):
    """One span, or one log record (then its event stands alone in `events`, and it has no end).

    attributes: its own, `events` those of its events by name; resource: of the service that sent it.
    """

    trace: str
    span: str
    parent: str
    title: str
    start: float | None
    end: float | None
    attributes: dict[str, Any]
    events: list[tuple[str, dict[str, Any]]]
    resource: dict[str, Any]
    is_log: bool = False


def spans_of(record: Record, assumed: Assumed | None = None) -> Iterator[Span]:
    """Give the spans and log records of a request, of one of its parts, of a trace of Jaeger's, or of a span alone.

    assumed: where times without a zone are counted.
    """
    assumed = Assumed() if assumed is None else assumed
    if "processes" in record and "spans" in record:
        processes = mapping(record["processes"])
        for span in map(mapping, items(record["spans"])):
            yield _jaeger_span(span, mapping(processes.get(str(span.get("processID")))))
        return
    requests = items(first(record, "resourceSpans", "batches")) + items(record.get("resourceLogs"))  # Tempo has batches
    parts: list[Record] = [mapping(part) for part in requests]
    for part in parts or [record]:
        resource = attributes_of(mapping(part.get("resource")).get("attributes"))
        scopes = items(first(part, "scopeSpans", "instrumentationLibrarySpans")) + items(part.get("scopeLogs"))
        for scope in map(mapping, scopes):
            for span in map(mapping, items(scope.get("spans"))):
                yield _span(span, resource, assumed)
            for entry in map(mapping, items(scope.get("logRecords"))):
                yield _log(entry, resource, assumed)
        if not scopes and (row := span_in(part)) is not None:
            yield (_log if "body" in row else _span)(row, row["resource"], assumed)


def unflatten(attributes: Mapping[str, Any], prefix: str) -> list[Any]:
    """Return the list that attributes spell with numbers in their names: `prefix.0.role`, `prefix.0.content`, ….

    >>> unflatten({"m.0.role": "user", "m.0.content": "Hi", "m.1.role": "assistant"}, "m")
    [{'role': 'user', 'content': 'Hi'}, {'role': 'assistant'}]
    """
    tree: dict[str, Any] = {}
    before = prefix + "."
    for key, value in attributes.items():
        if key.startswith(before):
            at = tree
            *parts, last = key[len(before) :].split(".")[:MAX_DEPTH]
            for part in parts:
                inner = at.get(part)
                if not isinstance(inner, dict):
                    inner = at[part] = {}
                at = inner
            at[last] = value
    listed = _listed(tree) if tree else attributes.get(prefix)  # of nested attributes it stands there whole
    return listed if isinstance(listed, list) else []


def _listed(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    is_list = next(iter(tree), "").isdigit()  # of most, the first key says that they are none
    if is_list and all(key.isascii() and key.isdigit() and int(key[:9]) < _MAX_INDEX for key in tree):
        return [_listed(tree[key]) for key in sorted(tree, key=int)]
    return {key: _listed(value) for key, value in tree.items()}


def _span(span: Record, resource: dict[str, Any], assumed: Assumed) -> Span:
    events = [
        (str(event.get("name")), attributes_of(event.get("attributes")))
        for event in map(mapping, items(span.get("events")))
    ]
    return Span(
        _hexadecimal(first(span, "traceId", "trace_id")),
        _hexadecimal(first(span, "spanId", "span_id")),
        _hexadecimal(first(span, "parentSpanId", "parent_span_id", "parent_id")),
        str(span.get("name")),
        read_time(_number(first(span, "startTimeUnixNano", "start_time", "start_timestamp")), assumed),
        read_time(_number(first(span, "endTimeUnixNano", "end_time", "end_timestamp")), assumed),
        attributes_of(span.get("attributes")),
        events,
        resource,
    )


def _jaeger_span(span: Record, process: Record) -> Span:
    """Read a span as Jaeger's API and its "Download JSON" write it: tags, logs with fields, times in microseconds."""
    logs = [attributes_of(mapping(log).get("fields")) for log in items(span.get("logs"))]
    parents = [mapping(reference) for reference in items(span.get("references"))]
    start, duration = span.get("startTime"), span.get("duration")
    end = start + duration if isinstance(start, int | float) and isinstance(duration, int | float) else start
    return Span(
        _hexadecimal(span.get("traceID")),
        _hexadecimal(span.get("spanID")),
        next((_hexadecimal(parent.get("spanID")) for parent in parents if parent.get("refType") == "CHILD_OF"), ""),
        str(span.get("operationName")),
        seconds(start),
        seconds(end),
        attributes_of(span.get("tags")),
        [(str(first(fields, "event", "name")), fields) for fields in logs],
        {**attributes_of(process.get("tags")), "service.name": process.get("serviceName")},
    )


def _log(entry: Record, resource: dict[str, Any], assumed: Assumed) -> Span:
    attributes = attributes_of(entry.get("attributes"))
    titled = str(first(entry, "eventName", "event_name") or attributes.get("event.name"))
    event = {**attributes, **mapping(plain(entry.get("body")))}
    ids = (_hexadecimal(first(entry, "traceId", "trace_id")), _hexadecimal(first(entry, "spanId", "span_id")))
    time = read_time(_number(first(entry, "timeUnixNano", "timestamp", "observedTimeUnixNano")), assumed)
    return Span(*ids, "", titled, time, None, attributes, [(titled, event)], resource, is_log=True)


def _number(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 25 else value


def _hexadecimal(value: object) -> str:
    """Return an id as OTLP's JSON spells it; the console exporter puts 0x before it."""
    named = (short_name(value) or "").removeprefix("0x")
    return named if named.strip("0") else ""  # of zeros alone it says that there is none
