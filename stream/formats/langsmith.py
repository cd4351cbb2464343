"""LangSmith runs: chains, models and retrievers of a trace; its top-level session_id is a project, no conversation."""

from collections.abc import Iterator, Sequence
from typing import Any

from turnsignal.stream.formats.documents import documents_beside, documents_of_tool, read_documents
from turnsignal.stream.formats.feedback_stats import scores_in_stats
from turnsignal.stream.formats.human_scores import HumanScore, human_scores_of
from turnsignal.stream.formats.messages import read_messages
from turnsignal.stream.formats.one_text import plain_text
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, split_origin
from turnsignal.stream.formats.questions import spoken_by
from turnsignal.stream.formats.states import answered_in_state
from turnsignal.stream.formats.times import time_in
from turnsignal.stream.formats.values import (
    bounded_id,
    fields_of,
    first,
    items,
    mapping,
    short_name,
    short_names,
)

_THREADS = ("thread_id", "session_id", "conversation_id")  #: of a run's metadata, in the order in which they count


class LangSmith:
    """Runs, one a record."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise runs by their run_type, and feedback by its source."""
        if any("run_type" in record for record in sample):
            return "runs with a run_type"
        return "feedback with a run_id and a feedback_source" if any(map(_is_feedback, sample)) else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call | HumanScore]:
        """Give one run, or what somebody said of one."""
        if _is_feedback(record):
            yield from human_scores_of(record, "langsmith", ("run_id", "trace_id"), assumed)
            return
        kind, titled = str(record.get("run_type")).lower(), str(record.get("name")).lower()
        metadata = {**mapping(record.get("metadata")), **mapping(mapping(record.get("extra")).get("metadata"))}
        if "evaluator" in titled or kind == "evaluator":
            assumed["evaluators' runs left out"] += 1
            return
        own = short_name(record.get("id")) or ""
        trace = short_name(record.get("trace_id")) or (None if record.get("parent_run_id") else own)
        inputs, outputs = mapping(record.get("inputs")), mapping(record.get("outputs"))
        thread = first(metadata, *_THREADS)
        call = Call(
            origin=f"langsmith:{own}",
            kind="context",
            trace=trace or None,
            conversation=bounded_id(str(thread)) if isinstance(thread, str | int) else None,
            start=time_in(assumed, record, "start_time"),
            end=time_in(assumed, record, "end_time"),
            fields=_fields(metadata),
        )
        if kind == "retriever":
            call.documents = read_documents(outputs)
            call.kind = "reranking" if "rerank" in titled or "compress" in titled else "retrieval"
            call.parent = f"langsmith:{short_name(record.get('parent_run_id')) or ''}"
        elif kind == "tool" and (documents := documents_of_tool(outputs)):
            call.kind, call.documents = "retrieval", documents
        elif kind in ("llm", "chain"):
            call.kind = "answer" if kind == "llm" else "inner" if record.get("parent_run_id") else "whole"
            call.inputs = spoken_by("user", inputs, assumed)
            call.outputs = _answer(outputs, inputs, call.inputs, assumed)
            if call.kind == "whole":
                call.fields = {**short_names(assistant=record.get("name")), **call.fields}
        yield call
        yield from scores_in_stats(record, assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the run's id."""
        return split_origin(turn_id, ("run_id",))


def _is_feedback(record: Record) -> bool:
    return "run_id" in record and "key" in record and "feedback_source" in record


def _answer(outputs: dict[str, Any], inputs: Record, asked: list[Message], assumed: Assumed) -> list[Message]:
    """Read what a run put out: generations, choices, a state, messages, or a text."""
    generations = [mapping(part) for part in _flat(outputs.get("generations"))]
    if generations:
        read = read_messages([part["message"] for part in generations if "message" in part], assumed)
        texts = [part["text"] for part in generations if isinstance(part.get("text"), str)]
        return read or [Message("assistant", text) for text in texts[:1]]
    if choices := items(outputs.get("choices")):
        return read_messages([mapping(choice).get("message") for choice in choices], assumed)
    if (answered := answered_in_state(outputs, inputs, asked, assumed)) is not None:
        return answered
    messages = read_messages(outputs, assumed)
    if any(message.role == "user" for message in messages):
        return messages
    answers = [message for message in messages if message.role == "assistant" and message.text]
    if answers:
        return answers[-1:]
    text = plain_text(outputs, "assistant")
    return [Message("assistant", text, documents=documents_beside(outputs))] if text else []


def _flat(value: object) -> list[Any]:
    return [inner for part in items(value) for inner in (part if isinstance(part, list) else [part])]


def _fields(metadata: dict[str, Any]) -> dict[str, str]:
    model = first(metadata, "ls_model_name", "model", "model_name")
    revision = short_names(version=metadata.get("revision_id"))  # of the deployment, where nobody named a version
    return {**revision, **fields_of(metadata), **short_names(model=model)}
