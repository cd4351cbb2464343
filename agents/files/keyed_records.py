"""Keyed records: an object whose keys are ids, each with a record, or with a list of them, under it.

{"4bf92f35…": [{"spanId": …}, …], "00f067aa…": […]}           spans by their trace
{"a1": {"context.trace_id": …}, "a2": {…}}                    rows by their index, as pandas' orient="index" has them
{"c1": [{"role": "user", …}, …], "c2": […]}                   messages by their conversation
"""

import re
from collections.abc import Mapping
from typing import Any

from turnsignal.stream.formats.span_rows import has_no_span_id
from turnsignal.stream.formats.values import first, owner_of

_DIGIT = re.compile("[0-9]")
_LONG = 16  #: characters of a key that is an id though no other stands beside it
_HOLDS_MESSAGES = "messages"
BY_ID = "records by their ids"  #: around one of a file's, whose others say that its key is an id


def keyed_records(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the records under the ids that are the keys of an object, each with its id; none where it is a record.

    >>> keyed_records({"t1": [{"span_id": "a"}], "t2": [{"span_id": "b"}]})
    [{'span_id': 'a', 'session_id': 't1'}, {'span_id': 'b', 'session_id': 't2'}]
    >>> keyed_records({"input1": {"text": "Hi"}, "output1": {"score": 1}})
    []
    """
    if not value:
        return []
    if len(value) == 1:
        (key,) = value
        if key == BY_ID and isinstance(inner := value[key], dict):
            value = inner
        elif not _is_long(key):
            return []
    if all(map(_are_records, value.values())) and all(map(is_id, value)):
        return [_of_group(part, key) for key, parts in value.items() for part in parts]
    rows = list(value.values())
    if all(isinstance(row, dict) and row for row in rows) and _are_alike(rows) and _are_ids(value):
        return [_of_index(row, key) for key, row in value.items()]
    return []


def is_id(key: str) -> bool:
    """Say whether a key may be an id, and no field's name."""
    return _DIGIT.search(key) is not None


def _is_long(key: str) -> bool:
    return key.isdigit() or (len(key) >= _LONG and is_id(key))


def _are_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(part, dict) for part in value)


def _are_alike(rows: list[dict[str, Any]]) -> bool:
    """Say whether rows have half of their fields in common, as records of one kind do."""
    shown = rows[0].keys()
    return all(2 * len(shown & row.keys()) >= min(len(shown), len(row)) for row in rows)


def _are_ids(value: Mapping[str, dict[str, Any]]) -> bool:
    """Say whether keys are ids: by their letters, or as the records under them say so themselves."""
    return all(is_id(key) or key in map(_text_of, row.values()) for key, row in value.items())


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _of_group(row: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a row with the id of its group, which is its conversation where it names neither that nor a trace."""
    is_named = first(row, "trace_id", "traceId", "TraceId", "traceID", "context") is not None or owner_of(row)
    return row if is_named else {**row, "session_id": key}


def _of_index(row: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a row with its index where that says what the row does not: its span, its conversation, its own id."""
    if has_no_span_id(row) and "id" not in row:
        return {**row, "span_id": key}
    if isinstance(row.get(_HOLDS_MESSAGES), list):
        return row if owner_of(row) else {**row, "session_id": key}
    is_named = key.isdigit() or first(row, "id", "turn_id", "message_id") is not None
    return row if is_named else {**row, "id": key}
