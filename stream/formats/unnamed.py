"""Unnamed conversations: calls that name none by a key that is known, and the key that looks like the id of one."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from turnsignal.stream.formats.columns import sample_items
from turnsignal.stream.formats.fitting import fits
from turnsignal.stream.formats.hints import paths_like, tells_of_conversation
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.otlp import spans_of
from turnsignal.stream.formats.protocol import Call, Record

KNOWN_KEYS = ("session_id", "session.id", "thread_id")  #: by which formats read a conversation
_MANY = 20  #: exchanges of one conversation, on the average
_MOST = 0.8  #: of the calls have the key, and there are at most so many different ones


def count_unnamed(calls: Iterable[Call]) -> int:
    """Return how many requests there are that become a conversation each; 0 where some name one, or repeat one."""
    requests: set[str | int] = set()
    for number, call in enumerate(calls):
        if call.conversation or call.session or call.named or call.previous or len(spoken_in(call.inputs)) > 1:
            return 0
        if call.inputs or call.outputs:
            requests.add(call.trace or (number if call.origin.endswith(":") else call.origin))
    return len(requests) if len(requests) > 1 else 0


def key_of_conversations(sample: Sequence[Record], requests: int) -> str | None:
    """Return the path in records, or the attribute of their spans, that looks like the conversation's id."""
    held: Sequence[Mapping[str, Any]] = [span.attributes for record in sample for span in spans_of(record)]
    return likest_key(sample_items(held or sample, ()).inner, requests)


def likest_key(columns: Mapping[str, Sequence[Any]], requests: int) -> str | None:
    """Return the path whose values repeat as conversations do and whose name may be that of one; None without any."""
    named = [*paths_like(columns, "conversation_id"), *filter(tells_of_conversation, columns)]
    users = set(paths_like(columns, "user_id"))
    return next((path for path in named if path not in users and _repeat(columns[path], requests)), None)


def renamed(text: str, key: str, name: str) -> str:
    """Return JSON in which a key, or an attribute, has another name; what is quoted in texts stays as it is.

    >>> renamed('{"room": "the \\\\"room\\\\" is 3"}', "room", "session_id")
    '{"session_id": "the \\\\"room\\\\" is 3"}'
    """
    return re.sub(f'"{re.escape(key)}"', lambda _: f'"{name}"', text)


def _repeat(values: Sequence[Any], requests: int) -> bool:
    many = len(set(map(str, values)))
    has_ids = fits("conversation_id", values) and not any(" " in str(value) for value in values)
    return has_ids and len(values) >= _MOST * requests and 1 < many <= _MOST * requests and many * _MANY >= requests
