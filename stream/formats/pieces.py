"""Pieces: a streamed response that was logged as the list of its pieces, or as the lines in which they came, as one.

[{"choices": [{"delta": {"content": "So "}}]}, {"choices": [{"delta": {"content": "it is."}}]}]      OpenAI
[{"type": "content_block_delta", "delta": {"text": "So "}}, …]                                       Anthropic
"data: {\"type\": \"response.output_text.delta\", \"delta\": \"So \"}\\n\\ndata: …"                    Responses
"""

from collections.abc import Iterator
from typing import Any

from turnsignal.stream.formats.messages import calls_of, refusal_of
from turnsignal.stream.formats.streams import is_stream, pieces_in
from turnsignal.stream.formats.values import first, items, mapping, nested

_HEADS = ("id", "created", "model")  #: of a response, which each of its pieces repeats
_STARTS = ("content_block_start", "response.output_item.added")  #: of what an answer is made of, a tool's call too
_TEXTS = ("response.output_text.delta", "response.refusal.delta")
_CALLED = ("tool_use", "function_call")


def joined(value: object) -> dict[str, Any] | None:
    """Return the response, with choices, that pieces of a stream are together; None for anything else.

    >>> joined([{"choices": [{"delta": {"content": "So "}}]}, {"choices": [{"delta": {"content": "be it."}}]}])
    {'choices': [{'message': {'role': 'assistant', 'content': 'So be it.'}}]}
    """
    pieces = list(_pieces(value))
    texts: list[str] = []
    called: list[Any] = []
    known = 0
    for piece in pieces:
        if (delta := _delta(piece)) is None:
            continue
        known += 1
        text = first(delta, "content", "text") or refusal_of(delta)
        texts += [text] if isinstance(text, str) else []
        called += [{"id": name} for name in calls_of(delta) if name]
    if not known:
        return None
    head = {key: value for key in _HEADS if (value := first(pieces[0], key)) is not None}
    message = {"role": "assistant", "content": "".join(texts)} | ({"tool_calls": called} if called else {})
    return {**head, "choices": [{"message": message}]}


def _pieces(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, str) and is_stream(value.lstrip()):
        yield from pieces_in(value)
        return
    for item in items(value):
        if piece := mapping(nested(item)):
            yield piece


def _delta(piece: dict[str, Any]) -> dict[str, Any] | None:
    """Return what a piece adds to the first answer, with nothing in it where it only says that one begins or ends."""
    if "choices" in piece:
        choice = mapping(next(iter(items(piece["choices"])), None))
        is_other = choice.get("index", 0) != 0
        return (mapping(choice["delta"]) if not is_other else {}) if "delta" in choice else None
    kind = piece.get("type")
    if kind == "content_block_delta":
        return {"text": mapping(piece.get("delta")).get("text")}
    if kind in _TEXTS:
        return {"text": piece.get("delta")}
    if kind in _STARTS:
        block = mapping(first(piece, "content_block", "item"))
        return {"content": [{**block, "type": "tool_use"}]} if block.get("type") in _CALLED else {}
    return None
