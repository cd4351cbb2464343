"""Evaluation data: Waterfall's folder of labels, predictions and answers by query, as turns, and turns as that folder.

The folder says of each query which agents, documents, passages and answer are right, and which came. The article shows
the names of its files and not of their fields, so the usual ones are read: a list of objects with an id each, or one
object by id.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.records.turns import MAX_DOC_ID, MAX_DOCUMENTS, MAX_ID, MAX_KNOWN, MAX_SHORT, MAX_TEXT
from turnsignal.stream.reports.labelled import DIMENSIONS, read_labels


class EvaluationFile(NamedTuple):
    """One file of the folder; fields: names under which a record has what it is about."""

    path: str
    fields: tuple[str, ...]


_LABELS = ("labels", "agents", "agent", "label", "predictions", "prediction")
_LINKS = ("links", "documents", "doc_ids", "urls", "link", "url", "retrieved")
_CHUNKS = ("chunks", "passages", "contexts", "texts", "chunk", "text")
_ANSWER = ("answer", "response", "reference", "reference_answer", "text", "output")
FILES = {
    "queries": EvaluationFile("Queries/all_queries.json", ("query", "text", "question")),
    "metadata": EvaluationFile("Queries/query_metadata.json", ()),
    "agents": EvaluationFile("AgentClassification/ground_truth_labels.json", _LABELS),
    "routed_to": EvaluationFile("AgentClassification/model_predictions.json", _LABELS),
    "links": EvaluationFile("Retrieval/document_retrieval/ground_truth_links.json", _LINKS),
    "retrieved": EvaluationFile("Retrieval/document_retrieval/retrieved_links.json", _LINKS),
    "chunks": EvaluationFile("Retrieval/chunk_retrieval/ground_truth_chunks.json", _CHUNKS),
    "retrieved_chunks": EvaluationFile("Retrieval/chunk_retrieval/retrieved_chunks.json", _CHUNKS),
    "reference": EvaluationFile("Generation/reference_answers.json", _ANSWER),
    "response": EvaluationFile("Generation/system_responses.json", _ANSWER),
}
_IDS = ("id", "query_id", "qid")

Record = Mapping[str, Any]


def read_evaluation_records(file: EvaluationFile, values: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """Give (id, value) of one file; the value is the record itself where the file is about no field.

    Raises ValueError for a record without an id, or without any of the file's fields, saying what it has.
    """
    for value in values:
        if isinstance(value, Mapping) and not any(name in value for name in _IDS):
            for name, inner in value.items():  # one object by id
                yield str(name), _value(file, inner)
            continue
        if not isinstance(value, Mapping):
            msg = f"expected an object with an id, got {str(value)[:80]!r}"
            raise ValueError(msg)
        yield str(next(value[name] for name in _IDS if name in value)), _value(file, value)


def _value(file: EvaluationFile, value: Any) -> Any:
    if not file.fields or not isinstance(value, Mapping):
        return value
    for name in file.fields:
        if name in value:
            return value[name]
    keys = ", ".join(str(key)[:40] for key in list(value)[:5])
    msg = f"expected one of {', '.join(file.fields)}, got {keys}"
    raise ValueError(msg)


def turns_of(query: str, number: int, known: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a query as two turns, the question and its answer with its truth.

    number: of the query, which makes its time; known: what the folder says of it, by the names of `FILES`.
    """
    name = query[:MAX_ID]
    stamp = f"2000-01-01T{number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}Z"
    metadata = known.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    truth = {field: str(metadata[field])[:MAX_SHORT] for field in DIMENSIONS if metadata.get(field)}
    labels: dict[str, Any] = {**truth}
    if "agents" in known:
        labels["agents"] = _agents(known["agents"])
    if "links" in known:
        labels["doc_ids"] = [_link(link) for link in _several(known["links"])][:MAX_KNOWN]
    if "chunks" in known:
        labels["chunks"] = [_text(chunk) for chunk in _several(known["chunks"])][:MAX_KNOWN]
    if "reference" in known:
        labels["reference"] = _text(known["reference"])
    answer: dict[str, Any] = {"text": _text(known.get("response", "")), "truth": labels}
    if "routed_to" in known:
        answer["routed_to"] = _agents(known["routed_to"])
    answer["retrieved"] = _documents(known)
    shared = {"conversation_id": name, "timestamp": stamp}
    asked = {**shared, "turn_id": f"{name[: MAX_ID - 2]}.q", "role": "user", "text": _text(known.get("queries", ""))}
    return [asked, {**shared, "turn_id": f"{name[: MAX_ID - 2]}.a", "role": "assistant", **answer}]


def _documents(known: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what was retrieved: links in their order, and the passages, which say nothing of where they stand."""
    chunks = [_text(chunk) for chunk in _several(known.get("retrieved_chunks"))]
    links = [_link(link) for link in _several(known.get("retrieved"))]
    if len(chunks) == len(links):
        documents = [{"doc_id": link, "text": chunk} for link, chunk in zip(links, chunks, strict=True)]
    else:
        text = "\n\n".join(chunks)[:MAX_TEXT]
        documents = [{"doc_id": link} for link in links] or ([{"doc_id": "passages"}] if chunks else [])
        if text and documents:
            documents[0]["text"] = text
    return documents[:MAX_DOCUMENTS]


def _several(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def _agents(value: Any) -> list[str]:
    labels = [label for item in _several(value) for label in read_labels(str(item))]
    return [label[:MAX_SHORT] for label in labels][:MAX_KNOWN]


def _link(value: Any) -> str:
    named = (
        next((value[key] for key in ("url", "link", "doc_id", "id") if key in value), "") if _is_map(value) else value
    )
    return str(named)[:MAX_DOC_ID] or "?"


def _text(value: Any) -> str:
    named = next((value[key] for key in ("text", "chunk", "content") if key in value), "") if _is_map(value) else value
    return ("" if named is None else str(named))[:MAX_TEXT]


def _is_map(value: Any) -> bool:
    return isinstance(value, Mapping)


def evaluation_records(turn: Mapping[str, Any], question: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the records of an answer with truth, one for each file of the folder: (name of `FILES`, record)."""
    truth = turn.get("truth") or {}
    name = {"id": f"{turn['conversation_id']}/{turn['turn_id']}"}
    yield "queries", {**name, "query": question}
    if dimensions := {field: truth[field] for field in DIMENSIONS if truth.get(field)}:
        yield "metadata", {**name, **dimensions}
    for file, field, key in (
        ("agents", "agents", "labels"),
        ("links", "doc_ids", "links"),
        ("chunks", "chunks", "chunks"),
        ("reference", "reference", "answer"),
    ):
        if truth.get(field) is not None:
            yield file, {**name, key: truth[field]}
    if turn.get("routed_to") is not None:
        yield "routed_to", {**name, "labels": turn["routed_to"]}
    documents = turn.get("retrieved") or []
    yield "retrieved", {**name, "links": [document["doc_id"] for document in documents]}
    yield "retrieved_chunks", {**name, "chunks": [document.get("text") or "" for document in documents]}
    yield "response", {**name, "response": turn["text"]}
