"""MLflow: traces with their spans, as its searches and its API give them; inputs and outputs are JSON in texts."""

from collections.abc import Iterator, Sequence
from typing import Any

from turnsignal.stream.formats.assessments import assessed
from turnsignal.stream.formats.documents import documents_of_tool, read_documents
from turnsignal.stream.formats.human_scores import HumanScore
from turnsignal.stream.formats.protocol import Assumed, Call, Record, join_origin, split_origin
from turnsignal.stream.formats.questions import spoken_by
from turnsignal.stream.formats.states import put_out
from turnsignal.stream.formats.times import read_time, time_in
from turnsignal.stream.formats.values import (
    bounded_id,
    conversation_of,
    fields_of,
    first,
    items,
    mapping,
    nested,
    short_name,
    short_names,
)

_TYPE, _INPUTS, _OUTPUTS = "mlflow.spanType", "mlflow.spanInputs", "mlflow.spanOutputs"
_SESSION, _USER = "mlflow.trace.session", "mlflow.trace.user"
_MODELS = ("CHAT_MODEL", "LLM")
_STEPS = ("RETRIEVER", "RERANKER", "TOOL", "EMBEDDING", "PARSER", "EVALUATOR")  #: kinds of spans that answer nobody
_ASKED, _ANSWERED = ("request", "request_preview"), ("response", "response_preview")
_OF_REQUESTS = {"input", "messages"}
_TIMES = ("request_time", "timestamp_ms", "timestamp")


class MLflow:
    """Traces, one a record: {info, data: {spans}}, or a row of the data frame with its spans."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise traces by the attributes of their spans."""
        spans = (mapping(span) for record in sample for span in _spans_of(record))
        is_own = any(not mapping(span.get("attributes")).keys().isdisjoint((_TYPE, _INPUTS)) for span in spans)
        return f"traces whose spans have a {_TYPE}" if is_own else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call | HumanScore]:
        """Give the trace, each of its spans, and what people said of it."""
        info, data = mapping(record.get("info")) or record, mapping(record.get("data"))
        metadata = {**mapping(info.get("request_metadata")), **mapping(info.get("trace_metadata"))}
        session = metadata.get(_SESSION) or mapping(info.get("tags")).get(_SESSION)
        spans = [mapping(span) for span in _spans_of(record)]
        trace = short_name(first({**next(iter(spans), {}), **info}, "trace_id", "request_id")) or ""
        whole = Call(
            origin=f"mlflow:{join_origin(trace)}",
            kind="context",
            trace=trace or None,
            conversation=bounded_id(session) if isinstance(session, str) and session else conversation_of(metadata),
            start=time_in(assumed, info, *_TIMES),
            fields={**fields_of(metadata, mapping(info.get("tags"))), **short_names(user_id=metadata.get(_USER))},
        )
        whole.end = whole.start
        if not spans:
            _speak(whole, "whole", first({**info, **data}, *_ASKED), first({**info, **data}, *_ANSWERED), assumed)
        yield whole
        for span in spans:
            yield _call(span, trace, assumed)
        steps = {short_name(span.get("span_id")) for span in spans if _kind_of(span) in _STEPS}
        yield from assessed(info, trace, steps, assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the ids of the trace and of the span."""
        return split_origin(turn_id, ("trace_id", "span_id"))


def _spans_of(record: Record) -> list[Any]:
    return items(mapping(record.get("data")).get("spans")) or items(record.get("spans"))


def _kind_of(span: Record) -> str:
    named = nested(mapping(span.get("attributes")).get(_TYPE)) or first(span, "span_type", "type") or ""
    return str(named).strip('"').upper()


def _call(span: Record, trace: str, assumed: Assumed) -> Call:
    given = mapping(span.get("attributes"))
    kind = _kind_of(span)
    parent = first(span, "parent_span_id", "parent_id")
    asked, answered = (nested(given.get(key)) for key in (_INPUTS, _OUTPUTS))
    call = Call(
        origin=f"mlflow:{join_origin(trace, short_name(span.get('span_id')) or '')}",
        kind="context",
        trace=trace or None,
        start=read_time(first(span, "start_time_unix_nano", "start_time", "start_time_ns"), assumed),
        end=read_time(first(span, "end_time_unix_nano", "end_time", "end_time_ns"), assumed),
    )
    if kind in ("RETRIEVER", "RERANKER"):
        call.kind, call.documents = "retrieval" if kind == "RETRIEVER" else "reranking", read_documents(answered)
        call.parent = f"mlflow:{join_origin(trace, short_name(parent) or '')}"
    elif kind == "TOOL" and (documents := documents_of_tool(answered)):
        call.kind, call.documents = "retrieval", documents
    elif kind in _MODELS:
        _speak(call, "answer", asked, answered, assumed)
        model = mapping(asked).get("model") or nested(given.get("mlflow.llm.model"))
        call.fields = short_names(model=mapping(answered).get("model") or model)
    elif kind == "EVALUATOR":
        assumed["evaluators' spans left out"] += 1
    elif kind not in ("TOOL", "EMBEDDING", "PARSER"):
        _speak(call, "inner" if parent else "whole", asked, answered, assumed)
    return call


def _speak(call: Call, kind: Any, asked: Any, answered: Any, assumed: Assumed) -> None:
    """Make a call one in which something is said."""
    wrapped = mapping(mapping(asked).get("request")) if len(mapping(asked)) == 1 else {}
    asked = wrapped if wrapped.keys() & _OF_REQUESTS else asked  # what a method was given, under the parameter's name
    call.kind = kind
    call.inputs = spoken_by("user", asked, assumed)
    call.outputs = put_out(answered, asked, call.inputs, assumed)
