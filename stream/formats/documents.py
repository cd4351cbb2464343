"""Retrieved documents as retrievers spell them: ids, {id}, LangChain's Document, hits with scores, plain texts."""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from turnsignal.stream.formats.values import first, is_redacted, mapping, nested
from turnsignal.stream.records.turns import MAX_DOC_ID

#: names of what holds those of an answer; of `context`, which may hold anything, those of LangChain's chains
DOCUMENTS = (
    *("retrieved", "documents", "contexts", "sources", "source_documents", "sourceDocuments"),
    *("retrieved_documents", "retrieved_docs", "context"),
)
_IDS = ("doc_id", "id", "document_id", "documentId", "file_id", "chunk_id", "_id", "uuid")
_TEXTS = ("text", "page_content", "pageContent", "content", "chunk", "passage", "snippet", "document")
_HELD_TEXTS = (*_TEXTS, "document.content")
_NOTHING: dict[str, Any] = {}
_URLS, _TITLES = ("url", "uri", "link"), ("title", "name", "filename")
_SCORES = ("score", "relevance_score", "relevanceScore", "similarity", "_score")
_WRAPPED = ("json", "text", "content")  #: what Vercel's SDK, from 5 on, says a tool's result is, beside its value
_LISTS = (
    "documents",
    "docs",
    "results",
    "chunks",
    "sources",
    "matches",
    "hits",
    "context",
    "contexts",
    "output",
    "data",
)
_RESULT_PARTS = ("tool_call_response", "tool_result", "function_call_output", "dynamic-tool")  #: and what they hold
_RESULTS = ("response", "result", "content", "output")
SOURCE_PARTS = ("source-url", "source-document", "source")  #: of Vercel's messages, the last one up to its version 4
_TEXT_PARTS = ("text", "input_text", "output_text")  #: in which a tool's JSON stands
_LONGEST_ID = 120  #: characters; a longer string, or one with spaces, is a document's text and not its id


def read_documents(value: object) -> list[dict[str, Any]]:
    """Read a list of documents, best first, or an object that holds one; each document once.

    >>> read_documents([{"id": 0}, {"id": "", "metadata": {"id": 7}}])
    [{'doc_id': '0'}, {'doc_id': '7'}]
    """
    value = nested(value)
    if isinstance(value, dict):
        value = nested(first(value, *_LISTS))
    read = (read_document(item) for item in (value if isinstance(value, list) else ()))
    return once(document for document in read if document is not None)


def documents_beside(output: object) -> list[dict[str, Any]]:
    """Read the documents that a chain puts out beside its answer.

    >>> documents_beside({"answer": "By card.", "context": [{"page_content": "…", "metadata": {"source": "pay.md"}}]})
    [{'doc_id': 'pay.md', 'text': '…'}]
    """
    return read_documents(first(mapping(nested(output)), *DOCUMENTS))


def documents_on_your_data(context: object) -> list[dict[str, Any]]:
    """Read what Azure found "on your data" for a message: its answer names them [doc1], [doc2] by their places.

    >>> documents_on_your_data({"citations": [{"content": "By card.", "title": "Pay", "chunk_id": "0"}]})
    [{'doc_id': 'doc1', 'title': 'Pay', 'text': 'By card.'}]
    """
    citations = mapping(nested(context)).get("citations")
    read = [read_document(item) for item in citations] if isinstance(citations, list) else []
    return [document | {"doc_id": f"doc{place}"} for place, document in enumerate(read, 1) if document is not None]


def read_document(item: object) -> dict[str, Any] | None:
    """Read one document; one without an id has a digest of its text for it. None for what is no document."""
    if isinstance(item, int) and not isinstance(item, bool):
        item = str(item)
    if isinstance(item, list) and len(item) == 2 and isinstance(item[1], int | float):  # LangChain's (document, score)
        scored = read_document(item[0])
        return None if scored is None else scored | {"score": item[1]}
    if isinstance(item, str):
        is_id = 0 < len(item) <= _LONGEST_ID and not any(char.isspace() for char in item)
        return {"doc_id": item} if is_id else {"doc_id": _digest(item), "text": item} if item else None
    if not isinstance(item, dict):
        return None
    if "kwargs" in item:
        item = {**mapping(item["kwargs"]), **item}
    payload, metadata = item.get("payload"), item.get("metadata")
    beside = {**mapping(payload), **mapping(metadata)} if payload or metadata else _NOTHING
    text = next((item[key] for key in _HELD_TEXTS if isinstance(item.get(key), str)), None)
    text = None if text is None or is_redacted(text) else text
    url, title = _either(item, beside, _URLS), _either(item, beside, _TITLES)
    named = _either(item, beside, _IDS)  # which may be 0
    if named is None:
        sources = item.get("source"), beside.get("source")
        named = next((source for source in sources if isinstance(source, str)), None) or url or title
    if isinstance(named, dict | list | bool) or named is None:
        named = None if text is None else _digest(text)
    if named is None:
        return None
    score = first(item, *_SCORES)
    document = {"doc_id": _bounded(str(named)), "title": title, "url": url, "text": text}
    document = {key: given for key, given in document.items() if isinstance(given, str) and given}
    document |= {key: item[key] for key in ("rank", "retrieval_rank") if type(item.get(key)) is int}
    return document | ({"score": score} if isinstance(score, int | float) and not isinstance(score, bool) else {})


def _either(item: dict[str, Any], beside: dict[str, Any], keys: Sequence[str]) -> Any:
    """Return the first value of an item, or of what stands beside it, that is not empty."""
    value = first(item, *keys)
    return first(beside, *keys) if value is None and beside else value


def once(documents: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep each document where it comes first."""
    kept: dict[str, dict[str, Any]] = {}
    for document in documents:
        kept.setdefault(document["doc_id"], document)
    return list(kept.values())


def found_in(content: object) -> list[dict[str, Any]] | None:
    """Read what tools returned, else what is said to be a source, in parts of a message; None where no part is either.

    >>> found_in([{"type": "tool_result", "content": '[{"id": 7, "text": "By card."}]'}])
    [{'doc_id': '7', 'text': 'By card.'}]
    >>> found_in([{"type": "source-url", "sourceId": "k3", "url": "https://a.org/pay", "title": "Pay"}])
    [{'doc_id': 'https://a.org/pay', 'title': 'Pay', 'url': 'https://a.org/pay'}]
    """
    parts = [mapping(part) for part in content] if isinstance(content, list) else []
    results = [_result_of(part) for part in parts if _is_result(part)]
    documents = once(document for result in results for document in documents_in(result))
    documents = documents or once(filter(None, map(_read_source, parts)))
    return documents if documents or results else None


def _read_source(part: dict[str, Any]) -> dict[str, Any] | None:
    """Read what Vercel's SDK says an answer rests on; its own ids are made anew for each answer."""
    if part.get("type") not in SOURCE_PARTS:
        return None
    source = mapping(part.get("source")) or part
    return read_document(dict(source, doc_id=first(source, "url", "filename", "title", "sourceId", "id")))


def _is_result(part: dict[str, Any]) -> bool:
    kind = part.get("type")
    return isinstance(kind, str) and (kind in _RESULT_PARTS or kind.startswith("tool-"))


def _result_of(part: dict[str, Any]) -> object:
    """Return what a tool gave, as its own part, or beside its call as Vercel's SDK and Mastra keep it."""
    return first(part, *_RESULTS) or mapping(part.get("toolInvocation")).get("result")


def documents_in(result: object) -> list[dict[str, Any]]:
    """Read what a tool returned where it is a list of documents, each with an id, and a text or a score.

    >>> documents_in([{"id": 7, "status": "sent"}])
    []
    """
    result = nested(result)
    if isinstance(result, dict) and "value" in result and result.get("type") in _WRAPPED:
        result = nested(result["value"])
    if isinstance(result, list) and any(mapping(item).get("type") in _TEXT_PARTS for item in result):
        return once(document for item in result for document in documents_in(mapping(item).get("text")))
    listed = nested(first(result, *_LISTS)) if isinstance(result, dict) else result
    are_documents = isinstance(listed, list) and all(map(_is_document, listed))
    return read_documents(listed) if are_documents else []


def _is_document(item: object) -> bool:
    """Say whether an item can be nothing else: LangChain's has a text of its own name, and often no id."""
    held = mapping(item)
    held = mapping(held.get("kwargs")) or held
    if isinstance(held.get("page_content"), str):
        return True
    is_said = isinstance(first(held, *_TEXTS), str) or type(first(held, *_SCORES)) in (int, float)
    return first(held, *_IDS) is not None and is_said


def documents_of_tool(output: object) -> list[dict[str, Any]]:
    """Read what a tool's run put out: its result, or LangChain's message that holds it, with documents beside its text.

    >>> documents_of_tool({"output": {"type": "tool", "content": '[{"id": 7, "text": "By card."}]'}})
    [{'doc_id': '7', 'text': 'By card.'}]
    """
    result = nested(output)
    held = mapping(nested(result.get("output"))) if isinstance(result, dict) else _NOTHING
    message = held or mapping(result)
    message = mapping(message.get("kwargs")) or message
    if message.get("type") == "tool" or "tool_call_id" in message:
        return documents_in(message.get("artifact")) or documents_in(message.get("content"))
    return documents_in(result)


def reranked(before: list[dict[str, Any]], after: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return documents in their order after reranking, with the place that each had before as `retrieval_rank`."""
    places = {document["doc_id"]: number for number, document in enumerate(before, 1)}
    known = {document["doc_id"]: document for document in before}
    return [
        {**known.get(document["doc_id"], {}), **document}
        | ({"retrieval_rank": places[document["doc_id"]]} if document["doc_id"] in places else {})
        for document in after
    ]


def _bounded(text: str) -> str:
    return text if len(text) <= MAX_DOC_ID else _digest(text)


def _digest(text: str) -> str:
    return "sha:" + blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
