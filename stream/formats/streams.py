"""Streams: a response that was logged as the lines in which it came, as the response that they are together.

event: message_start
data: {"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}}

event: content_block_delta
data: {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "By card."}}
"""

from typing import Any

import orjson

_DATA = "data:"  #: what a line of server-sent events begins with
BEGINS = (_DATA, "event:")  #: with what such a text begins
_ENDS = ("response.completed", "response.incomplete", "response.failed")  #: events with the whole of a response


def is_stream(text: str) -> bool:
    """Say whether a text begins as server-sent events do."""
    return text.startswith(BEGINS)


def response_in(text: str) -> Any:
    """Return the whole response that a stream's text holds; other texts, and other streams, as they are.

    >>> response_in("data: soon"), response_in('data: {"type": "response.completed", "response": {"id": "r1"}}')
    ('data: soon', {'id': 'r1'})
    """
    pieces = pieces_in(text)
    whole = next((piece["response"] for piece in pieces if piece.get("type") in _ENDS and "response" in piece), None)
    return whole or _message_of(pieces) or text


def pieces_in(text: str) -> list[dict[str, Any]]:
    """Return the pieces of a response that a stream's text holds."""
    events = (_event_of(line.removeprefix(_DATA)) for line in text.splitlines() if line.startswith(_DATA))
    return [event for event in events if event]


def _event_of(line: str) -> dict[str, Any]:
    try:
        event = orjson.loads(line)
    except orjson.JSONDecodeError:  # the stream's end, or a line that was cut
        return {}
    return event if isinstance(event, dict) else {}


def _message_of(pieces: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the message of Anthropic's that pieces are; an empty one where they are none."""
    begun = next((piece.get("message") for piece in pieces if piece.get("type") == "message_start"), None)
    if not isinstance(begun, dict):
        return {}
    blocks: dict[Any, dict[str, Any]] = {}
    for piece in pieces:
        index, block, delta = piece.get("index"), piece.get("content_block"), piece.get("delta")
        if isinstance(block, dict):
            blocks[index] = dict(block)
        elif isinstance(delta, dict) and index in blocks:
            _add(blocks[index], delta)
    return {"type": "message", **begun, "content": list(blocks.values())}


def _add(block: dict[str, Any], delta: dict[str, Any]) -> None:
    """Put what a piece adds into a block of a message; what a tool is called with is not looked at."""
    if isinstance(text := delta.get("text"), str):
        block["text"] = f"{block.get('text') or ''}{text}"
    elif isinstance(cited := delta.get("citation"), dict):
        block["citations"] = [*(block.get("citations") or []), cited]
