"""Anthropic messages: requests and responses, whose citations count the documents and search results of the request."""

from collections.abc import Iterator, Sequence
from typing import Any

from turnsignal.stream.formats.documents import once, read_document
from turnsignal.stream.formats.messages import instructed, read_messages
from turnsignal.stream.formats.protocol import Assumed, Call, Record, split_origin
from turnsignal.stream.formats.times import BEGAN, ENDED, time_in
from turnsignal.stream.formats.values import (
    body_of,
    contexts_of,
    conversation_of,
    fields_of,
    first,
    items,
    mapping,
    short_name,
)
from turnsignal.stream.formats.vendors import is_anthropic, refuse_foreign

_BLOCKS = ("search_result", "document", "tool_use", "tool_result")
_PLAIN = ("text", "source", "content", "title")


class AnthropicMessages:
    """{request: {messages}, response: {type: message, content: […]}}, or the messages alone."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise responses of the type message, or blocks that only Anthropic has."""
        for record in sample:
            if _response(record):
                return "responses of the type message"
            if any(part.get("type") in _BLOCKS or "citations" in part for part in _blocks(_request(record))):
                return "blocks of the types document, search_result or tool_use"
        return ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give the call, its citations by the ids of what they name."""
        request, response = _request(record), _response(record)
        if not response:
            refuse_foreign(record, "anthropic")
        metadata = {**mapping(request.get("metadata")), **mapping(record.get("metadata"))}
        blocks = [*_blocks(request), *_blocks({"messages": [response]})]
        searched = [read_document(part) for part in blocks if part.get("type") == "search_result"]
        given = [_document(part, n) for n, part in enumerate(p for p in blocks if p.get("type") == "document")]
        web = [read_document(part) for part in blocks if part.get("type") == "web_search_result"]
        content = [_resolved(part, searched, given) for part in items(response.get("content"))]
        outputs = read_messages([{**response, "role": "assistant", "content": content}] if content else [], assumed)
        for message in outputs:
            message.id = None
        start = time_in(assumed, record, "timestamp", "created_at", "time", "start_time", *BEGAN)
        end = time_in(assumed, record, *ENDED)
        yield Call(
            origin=f"anthropic:{first(response, 'id') or first(record, 'id', 'request_id') or ''}",
            conversation=conversation_of(record, metadata, *contexts_of(record)),
            response=short_name(first(response, "id")),
            start=start,
            end=end if end is not None else start,
            inputs=instructed(read_messages(request.get("messages"), assumed), request.get("system"), assumed),
            outputs=outputs,
            documents=once(document for document in (*searched, *given, *web) if document is not None),
            fields=fields_of(metadata, response, record, request),
        )

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the message's id."""
        return split_origin(turn_id, ("message_id",))


def _request(record: Record) -> Record:
    inner = mapping(first(record, "request", "request_body", "input", "body", "params"))
    return inner if "messages" in inner else record


def _response(record: Record) -> Record:
    inner = body_of(record, "response", "response_body", "output", "message")
    return inner if is_anthropic(inner) else (record if is_anthropic(record) else {})


def _blocks(request: Record) -> list[dict[str, Any]]:
    """Return the blocks of all messages, those within results of tools and searches in their places."""
    blocks: list[dict[str, Any]] = []
    for message in items(request.get("messages")):
        for part in items(mapping(message).get("content")):
            if isinstance(part, dict):
                blocks.append(part)
                if part.get("type") in ("tool_result", "web_search_tool_result"):
                    blocks += [inner for inner in items(part.get("content")) if isinstance(inner, dict)]
    return blocks


def _document(part: Record, number: int) -> dict[str, Any]:
    source = mapping(part.get("source"))
    named = first(part, "title") or first(source, "file_id", "url") or f"document-{number}"
    text = source.get("data") if source.get("type") == "text" else None
    read = read_document({"id": named, "title": part.get("title"), "text": text})
    return read or {"doc_id": f"document-{number}"}


def _resolved(part: Any, searched: Sequence[Any], given: Sequence[Any]) -> Any:
    """Return a block whose citations name documents by id: indices count the request's documents, not a turn's."""
    if not isinstance(part, dict) or not isinstance(part.get("citations"), list):
        return part
    cited: list[Any] = []
    for item in part["citations"]:
        item = mapping(item)
        by_search = item.get("type") == "search_result_location"
        index, among = (
            item.get("search_result_index" if by_search else "document_index"),
            searched if by_search else given,
        )
        document = among[index] if type(index) is int and 0 <= index < len(among) else None
        kept = {key: value for key, value in item.items() if not key.endswith("_index")}
        cited.append(kept if document is None else {**kept, "doc_id": document["doc_id"]})
    return {**part, "citations": cited}
