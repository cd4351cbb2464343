"""Langfuse: observations (rows of `observations_v2`, of the API, or spans), and traces, with observations or alone."""

from collections.abc import Iterator, Sequence

from turnsignal.stream.formats.documents import documents_of_tool, read_documents
from turnsignal.stream.formats.human_scores import HumanScore, human_scores_of, is_score
from turnsignal.stream.formats.langfuse_spans import SPAN, rows_of_spans
from turnsignal.stream.formats.protocol import Assumed, Call, Record, join_origin, split_origin
from turnsignal.stream.formats.questions import spoken_by
from turnsignal.stream.formats.states import put_out
from turnsignal.stream.formats.times import read_time, time_in
from turnsignal.stream.formats.values import conversation_of, fields_of, first, items, mapping, short_names

_TYPES = ("GENERATION", "RETRIEVER", "AGENT", "TOOL", "CHAIN", "EVALUATOR", "SPAN", "EVENT", "EMBEDDING", "GUARDRAIL")
_JUDGES = "langfuse-llm-as-a-judge"  #: the environment of Langfuse's own evaluators, which call models, too
_ABOUT = ("observation_id", "observationId", "trace_id", "traceId")
_OWN = ("provided_model_name", "providedModelName", "parent_observation_id", "parentObservationId", "usage_details")


class Langfuse:
    """Rows of observations and of traces, in snake or in camel case."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise observations by trace, id and type; traces by session and time without a trace of their own."""
        for record in sample:
            if rows_of_spans(record, Assumed()):
                return f"spans with {SPAN}"
            if first(record, "trace_id", "traceId") and (record.get("type") in _TYPES or is_score(record)):
                return "observations with a trace_id and a type, or scores of them"
            if any(key in record for key in _OWN) or ("observations" in record and _is_trace(record)):
                return "fields that only Langfuse has"
            has_session = "sessionId" in record or "session_id" in record
            if has_session and _is_trace(record) and {"input", "output"} <= record.keys():
                return "traces with a session, an input and an output"
        return ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call | HumanScore]:
        """Give one observation, one score, or a trace with the observations and scores in it."""
        rows = rows_of_spans(record, assumed)
        if rows or not _is_trace(record):
            for row in rows or (record,):
                is_given = is_score(row)
                yield from human_scores_of(row, "langfuse", _ABOUT, assumed) if is_given else _observation(row, assumed)
            return
        if record.get("environment") == _JUDGES:
            return  # whose observations are left out, and counted
        trace = short_names(id=record.get("id")).get("id", "")
        start = time_in(assumed, record, "timestamp", "created_at", "createdAt")
        observations = [mapping(item) for item in items(record.get("observations"))]
        asked = spoken_by("user", record.get("input"), assumed)
        ends = [
            end for item in observations if (end := read_time(first(item, "end_time", "endTime"), assumed)) is not None
        ]
        yield Call(
            origin=f"langfuse:{join_origin(trace)}",
            kind="whole",
            trace=trace,
            conversation=conversation_of(record),
            start=start,
            end=max(ends, default=start),
            inputs=asked,
            outputs=put_out(record.get("output"), record.get("input"), asked, assumed),
            fields=_fields(record),
        )
        for item in items(record.get("scores")):
            yield from human_scores_of({"trace_id": trace, **mapping(item)}, "langfuse", _ABOUT, assumed)
        for item in filter(None, observations):
            yield from _observation({"trace_id": trace, **item}, assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the ids of the trace and of the observation."""
        return split_origin(turn_id, ("trace_id", "observation_id"))


def _observation(record: Record, assumed: Assumed) -> Iterator[Call]:
    kind, titled = str(record.get("type")).upper(), str(record.get("name")).lower()
    if kind == "EVALUATOR" or record.get("environment") == _JUDGES:
        assumed["evaluators' observations left out"] += 1
        return
    ids = short_names(trace=first(record, "trace_id", "traceId"), own=record.get("id"))
    trace, own = ids.get("trace", ""), ids.get("own", "")
    call = Call(
        origin=f"langfuse:{join_origin(trace, own)}",
        kind="context",
        trace=trace or None,
        conversation=conversation_of(record),
        start=time_in(assumed, record, "start_time", "startTime"),
        end=time_in(assumed, record, "end_time", "endTime"),
        fields=_fields(record),
    )
    parent = first(record, "parent_observation_id", "parentObservationId")
    is_root = not parent
    is_search = kind == "RETRIEVER" or (kind == "SPAN" and "retriev" in titled)
    if is_search or "rerank" in titled:
        call.kind, call.documents = "retrieval" if is_search else "reranking", read_documents(record.get("output"))
        call.parent = None if is_root else f"langfuse:{join_origin(trace, str(parent))}"
    elif kind == "TOOL" and (documents := documents_of_tool(record.get("output"))):
        call.kind, call.documents = "retrieval", documents
    elif kind in ("GENERATION", "AGENT", "CHAIN") or (is_root and kind == "SPAN"):
        call.kind = "answer" if kind == "GENERATION" else "whole" if is_root else "inner"
        call.inputs = spoken_by("user", record.get("input"), assumed)
        call.outputs = put_out(record.get("output"), record.get("input"), call.inputs, assumed)
    yield call


def _fields(record: Record) -> dict[str, str]:
    metadata = mapping(record.get("metadata"))
    version = first(record, "version", "release") or first(metadata, "version", "release")
    version = version or first(record, "prompt_version", "promptVersion")
    model = first(record, "provided_model_name", "providedModelName", "model")
    assistant = first(metadata, "assistant", "agent") or first(record, "trace_name", "traceName")
    assistant = assistant or (record.get("name") if _is_trace(record) else None)
    own = short_names(version=version, model=model, assistant=assistant, user_id=first(record, "user_id", "userId"))
    return {**fields_of(metadata, {"environment": record.get("environment")}), **own}


def _is_trace(record: Record) -> bool:
    return not first(record, "trace_id", "traceId", "type", "run_type", "conversation_id") and "id" in record
