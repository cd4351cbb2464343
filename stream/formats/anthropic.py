"""Anthropic messages: requests and responses, whose citations count the documents and search results of the request."""

from collections.abc import Iterator, Sequence

from turnsignal.stream.formats.given_documents import ANSWERING, blocks_of, documents_of, placed_in, resolved
from turnsignal.stream.formats.messages import instructed, read_messages
from turnsignal.stream.formats.protocol import Assumed, Call, Record, split_origin
from turnsignal.stream.formats.thumbs import give_vote
from turnsignal.stream.formats.times import BEGAN, ENDED, time_in
from turnsignal.stream.formats.tool_results import returned_in
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


class AnthropicMessages:
    """{request: {messages}, response: {type: message, content: […]}}, or the messages alone."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise responses of the type message, or blocks that only Anthropic has."""
        for record in sample:
            if _response(record):
                return "responses of the type message"
            if any(part.get("type") in _BLOCKS or "citations" in part for part in blocks_of(_request(record))):
                return "blocks of the types document, search_result or tool_use"
        return ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call]:
        """Give the call, its citations by the ids of what they name."""
        request, response = _request(record), _response(record)
        if not response:
            refuse_foreign(record, "anthropic")
        metadata = {**mapping(request.get("metadata")), **mapping(record.get("metadata"))}
        placed = [*placed_in(request), *placed_in({"messages": [response]}, ANSWERING)]
        searched = [each.document for each in placed if each.kind == "search_result"]
        given = [each.document for each in placed if each.kind == "document"]
        content = [resolved(part, searched, given) for part in items(response.get("content"))]
        outputs = read_messages([{**response, "role": "assistant", "content": content}] if content else [], assumed)
        for message in outputs:
            message.id = None
        give_vote(outputs, record, assumed)
        start = time_in(assumed, record, "timestamp", "created_at", "time", "start_time", *BEGAN)
        end = time_in(assumed, record, *ENDED)
        yield Call(
            origin=f"anthropic:{first(response, 'id') or first(record, 'id', 'request_id') or ''}",
            conversation=conversation_of(record, metadata, *contexts_of(record)),
            response=short_name(first(response, "id")),
            returned=returned_in(request.get("messages")),
            start=start,
            end=end if end is not None else start,
            inputs=instructed(read_messages(request.get("messages"), assumed), request.get("system"), assumed),
            outputs=outputs,
            documents=documents_of(placed, content, assumed),
            fields=fields_of(metadata, response, record, request),
        )

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the message's id."""
        return split_origin(turn_id, ("message_id",))


def _request(record: Record) -> Record:
    inner = body_of(record, "request", "request_body", "input", "body", "params")
    return inner if "messages" in inner else record


def _response(record: Record) -> Record:
    inner = body_of(record, "response", "response_body", "output", "message")
    return inner if is_anthropic(inner) else (record if is_anthropic(record) else {})
