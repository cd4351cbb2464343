"""Pydantic AI's messages: requests and responses of parts, and what of them its user typed and was answered.

request    user-prompt: How do I pay?                                  typed
response   thinking; text: Let me look; tool-call: search              a remark on the way
request    tool-return: [{"id": "kb-1", …}]; user-prompt: The page     documents, and what a tool put beside them
response   text: By card.                                              the answer
request    retry-prompt: Name the source.                              then that was none, and the next one is
response   tool-call: final_result {"answer": "By card [kb-1]."}       the answer, in an object

A row may hold one of them, a list, or either as JSON in a text.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from turnsignal.stream.formats.cut_off import is_cut
from turnsignal.stream.formats.documents import documents_in
from turnsignal.stream.formats.messages import shown_of
from turnsignal.stream.formats.protocol import Assumed, Message, Record, join_origin
from turnsignal.stream.formats.times import time_in
from turnsignal.stream.formats.values import first, items, mapping, nested, short_name, short_names

_KINDS = ("request", "response")
_PART = "part_kind"
_LISTS = ("messages", "message_list", "new_messages", "all_messages", "message_history", "history")
_RESULT = "final_result"  #: the tool that answers in an object, where nobody named it otherwise
_DONE = "Final result processed"  #: what Pydantic AI returns for it
_RETRIES = ("retry-prompt", "retry-feedback")
_OWN_CALLS = ("tool-return", "retry-prompt")  #: parts of a request that answer a call of a tool


def is_agent_message(value: object) -> bool:
    """Say whether a value is one of these messages.

    >>> is_agent_message({"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Hi"}]})
    True
    """
    if not isinstance(value, dict) or value.get("kind") not in _KINDS or not isinstance(value.get("parts"), list):
        return False
    return all(isinstance(part, dict) and _PART in part for part in value["parts"])


def is_typed(message: Record) -> bool:
    """Say whether a user typed something in a message."""
    return any(mapping(part).get(_PART) == "user-prompt" for part in items(message.get("parts")))


def message_in(record: Record) -> Record:
    """Return the message that a record is, or holds beside its conversation; empty without one."""
    if is_agent_message(record):
        return record
    return next((each for each in map(_held, record.values()) if is_agent_message(each)), {})


def list_in(record: Record) -> list[Record]:
    """Return the list of messages that a record holds, under whatever name; empty without one."""
    named = [key for key in _LISTS if key in record]
    lists = (_held(record[key]) for key in (*named, *(key for key in record if key not in named)))
    return next((each for each in lists if isinstance(each, list) and each and all(map(is_agent_message, each))), [])


def _held(value: object) -> Any:
    """Return a value, and the JSON of messages that a text is."""
    is_json = isinstance(value, str) and value.lstrip()[:1] in ("[", "{", '"') and _PART in value
    return nested(value) if is_json else value


class MessageParts:
    """Reads messages in their order. instructions: what stands beside the first requests that have any."""

    def __init__(self, assumed: Assumed) -> None:
        self.instructions = ""
        self._assumed = assumed
        self._answers: list[Message] = []  # since the last question

    def read(self, listed: list[Record]) -> list[Message]:
        """Return what was said, with calls of tools and what these returned."""
        results = _results_in(listed)
        return [message for each in listed for message in self._read(each, results)]

    def _read(self, message: Record, results: set[str]) -> Iterator[Message]:
        parts = [mapping(part) for part in items(message.get("parts"))]
        if message.get("kind") == "response":
            yield from self._response(message, parts, results)
            return
        self.instructions = self.instructions or str(message.get("instructions") or "")
        if retry_in(message):
            for answer in self._answers:  # whatever it said, the program asked once more
                answer.text, answer.called = "", [*answer.called, _RETRIES[0]]
        is_returned = any(part.get(_PART) in _OWN_CALLS and not _is_over(part, results) for part in parts)
        for part in parts:
            kind, content = part.get(_PART), part.get("content")
            if kind == "system-prompt" and content:
                yield Message("system", str(content))
            elif kind == "tool-return" and not _is_result(part, results):
                yield Message("tool", "", time=self._time_of(part, message), documents=documents_in(content))
            elif kind == "user-prompt" and is_returned:
                self._assumed["texts that a tool put beside its result left out"] += 1
            elif kind == "user-prompt":
                self._answers = []
                yield Message("user", "\n".join(self._texts_in(content)), time=self._time_of(part, message))

    def _time_of(self, part: Record, message: Record) -> float | None:
        return time_in(self._assumed, part if part.get("timestamp") else message, "timestamp")

    def _texts_in(self, content: object) -> Iterator[str]:
        """Give the texts that a user sent; pictures and files beside them are counted."""
        for piece in content if isinstance(content, list) else [content]:
            text = first(mapping(piece), "content", "text") if isinstance(piece, dict) else piece
            if isinstance(text, str):
                yield text
            else:
                self._assumed["blocks that are no text left out"] += 1

    def _response(self, message: Record, parts: Sequence[Record], results: set[str]) -> Iterator[Message]:
        for part in parts:
            if part.get(_PART) == "builtin-tool-return" and (documents := documents_in(part.get("content"))):
                yield Message("tool", "", documents=documents)
        calls = [part for part in parts if part.get(_PART) == "tool-call"]
        given = next((call for call in calls if _is_result(call, results)), None)
        called = [short_name(first(call, "tool_call_id", "tool_name")) or "" for call in calls] if given is None else []
        text = _text_of(parts) if given is None else _object_of(given.get("args"))
        own = short_name(first(message, "provider_response_id", "vendor_id"))
        answer = Message(
            "assistant",
            "" if called else text,
            None if own is None else join_origin(short_name(message.get("run_id")) or "", own),
            time_in(self._assumed, message, "timestamp"),
            fields=short_names(model=message.get("model_name")),
            called=called,
            is_cut=is_cut(message),
        )
        self._answers.append(answer)
        yield answer


def _results_in(listed: list[Record]) -> set[str]:
    """Return the ids of the calls that were answers, as what was returned for them says."""
    parts = (mapping(part) for each in listed for part in items(each.get("parts")))
    returned = (part for part in parts if part.get(_PART) == "tool-return")
    return {str(part.get("tool_call_id")) for part in returned if str(part.get("content")).startswith(_DONE)}


def _is_result(call: Record, results: set[str]) -> bool:
    return str(call.get("tool_name")).startswith(_RESULT) or str(call.get("tool_call_id")) in results


def _is_over(part: Record, results: set[str]) -> bool:
    """Say whether what was returned ends a run, so that what stands behind it begins the next one."""
    return part.get("outcome") in ("denied", "interrupted") or (
        part.get(_PART) == "tool-return" and _is_result(part, results)
    )


def _text_of(parts: Sequence[Record]) -> str:
    """Return an answer's text, pieces of which stand apart where something stands between them."""
    pieces: list[str] = []
    is_on = False
    for part in parts:
        text = part.get("content") if part.get(_PART) == "text" else None
        if isinstance(text, str) and is_on:
            pieces[-1] += text
        elif isinstance(text, str):
            pieces.append(text)
        is_on = isinstance(text, str)
    return "\n\n".join(filter(None, pieces))


def _object_of(args: object) -> str:
    """Return what a result says: its only text, or the one whose name says that users see it; else the object."""
    held = nested(args)
    if isinstance(held, dict) and len(held) == 1 and isinstance(only := next(iter(held.values())), str):
        return only
    return held if isinstance(held, str) else shown_of(orjson.dumps(held).decode())


def retry_in(message: Record) -> Record:
    """Return the part of a request that asks for another answer, as the one before it did not pass; empty without."""
    return next((part for part in map(mapping, items(message.get("parts"))) if part.get(_PART) in _RETRIES), {})
