"""Replies: the JSON object in what a model wrote, read as strictly as its schema says.

A reply is the work of a model that has read strangers' texts, so nothing in it is trusted: its first JSON object is the
answer or there is none, and there is none either where another one behind it would be another answer, as one of both
may be quoted; a label is one of the rubric's or there is none, and every text is cut.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from turnsignal.stream.judging.prompt import reply_schema
from turnsignal.stream.judging.rubric import DOCUMENT, NUMBER, Rubric, RubricStep
from turnsignal.stream.records.verdicts import MAX_CLAIM, MAX_REASONING, clean

MAX_REPLY = 200_000  #: characters of a reply that is read
_EFFORT = 20 * MAX_REPLY  #: characters that are read of what turns out to be no object
_LEAST = 1_000  #: characters as which each of these counts: to say where it ends takes time, too
_START = re.compile(r'\{(?=\s*["}])')  #: where an object may begin
_WHOLE = "the reply"
_THINKING = ("<think>", "</think>")


class Unreadable(Exception):  # noqa: N818 - an outcome with a reason, not a fault
    """Say what was expected of a reply, and what came instead; in a text that can be written, whatever came."""

    def __init__(self, detail: str) -> None:
        super().__init__(clean(detail, MAX_REASONING))


def read_reply(rubric: Rubric, step: RubricStep | None, text: str | None, count: int | None = None) -> dict[str, Any]:
    """Return the fields of a reply, texts cut. count: of items that must have a label each, once.

    Raises Unreadable when the reply does not fit.
    """
    if text is None or not text.strip():
        raise Unreadable("expected a JSON object, got an empty reply")
    if len(text) > MAX_REPLY:
        msg = f"expected a reply of at most {MAX_REPLY:,} characters, got {len(text):,}"
        raise Unreadable(msg)
    schema = reply_schema(rubric, step)
    objects = _objects_in(text)
    fields: dict[str, Any] = _fitting(next(objects), schema, _WHOLE)
    for other in _fitting_of(objects, schema):
        if _chosen(other, schema) != _chosen(fields, schema):
            raise Unreadable("expected one answer, got two that differ, of which one may be quoted")
    for name, value in fields.items():
        if isinstance(value, list):
            _check_items(rubric, name, value, count)
    return fields


def _objects_in(text: str) -> Iterator[dict[str, Any]]:
    """Give the JSON objects in a text, also behind a fence, words, or what a model thought aloud.

    The time for it grows as the text does: where braces are made to take more, what stands behind them is not known.
    Raises Unreadable then, and when there is none.
    """
    if text.lstrip().startswith(_THINKING[0]):
        thoughts, _, text = text.rpartition(_THINKING[1])  # the last, as it may quote one
        text = text if thoughts else ""  # it never came to an end
    start, found_any, effort = 0, False, _EFFORT
    while match := _START.search(text, start):
        if effort <= 0:
            raise Unreadable("expected one answer, got so many braces that there may be another one behind them")
        try:
            value, start = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError) as error:
            end = error.pos if isinstance(error, json.JSONDecodeError) else len(text)
            effort -= max(_LEAST, end - match.start())
            start = match.end()
            continue
        found_any = True
        yield value
    if not found_any:
        msg = f"expected a JSON object, got {_shown(text)}"
        raise Unreadable(msg)


def _fitting_of(objects: Iterator[dict[str, Any]], schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for value in objects:
        with suppress(Unreadable):
            yield _fitting(value, schema, _WHOLE)


def _chosen(fields: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an answer chooses, without what it only says."""
    texts = {name for name, part in schema["properties"].items() if part["type"] == "string" and "enum" not in part}
    return {name: value for name, value in fields.items() if name not in texts}


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that answers a field twice: which of both holds would be the reader's choice."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise Unreadable("expected each field once, got one twice")
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_each_once)


def _fitting(value: Any, schema: dict[str, Any], where: str, most: int = MAX_REASONING) -> Any:
    """Return a value as its schema wants it, without fields that it does not know; raises Unreadable."""
    kind = schema["type"]
    if kind == "object":
        if not isinstance(value, dict):
            raise _unlike(where, "an object", value)
        missing = [name for name in schema["required"] if name not in value]
        if missing:
            msg = f"{where}: expected the field {missing[0]}, got {', '.join(map(str, value))[:200] or 'no fields'}"
            raise Unreadable(msg)
        inside = "" if where == _WHOLE else f"{where}."
        parts = schema["properties"].items()
        return {name: _fitting(value[name], part, inside + name, most) for name, part in parts}
    if kind == "array":
        if not isinstance(value, list):
            raise _unlike(where, "a list", value)
        return [_fitting(item, schema["items"], f"{where}[{n}]", MAX_CLAIM) for n, item in enumerate(value, 1)]
    if kind == "integer":
        return _whole_number(value, where)
    if not isinstance(value, str):
        raise _unlike(where, "a text", value)
    if "enum" in schema:
        label = value.strip()
        if label not in schema["enum"]:
            raise _unlike(where, f"one of {', '.join(schema['enum'])}", value)
        return label
    return clean(value, most)


def _whole_number(value: Any, where: str) -> int:
    is_whole = value.is_integer() if isinstance(value, float) else isinstance(value, int)
    if not is_whole or isinstance(value, bool):
        raise _unlike(where, "a whole number", value)
    return int(value)


def _check_items(rubric: Rubric, name: str, items: list[Any], count: int | None) -> None:
    assert rubric.items is not None, "only a rubric with items has a list in its schema"
    numbered = [item[key] for item in items if isinstance(item, dict) for key in (DOCUMENT, NUMBER) if key in item]
    if numbered and count is None:
        return
    if count is not None and sorted(numbered) != list(range(1, count + 1)):
        msg = f"{name}: expected a label for each of 1 to {count}, once; got {_shown(numbered)}"
        raise Unreadable(msg)
    if count is None and len(items) > rubric.items.at_most:
        msg = f"{name}: expected {rubric.items.at_most} at most, got {len(items)}"
        raise Unreadable(msg)


def _unlike(where: str, expected: str, actual: Any) -> Unreadable:
    return Unreadable(f"{where}: expected {expected}, got {_shown(actual)}")


def _shown(value: Any) -> str:
    return clean(repr(value), 80)
