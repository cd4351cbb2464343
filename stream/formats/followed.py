"""Followed: of the items of a tree, those that lead to the last one that its user sees; the others are drafts.

    how? ─┬─ An answer that was given anew.
          └─ An answer. ── thanks ── You are welcome.    ← current_node

ChatGPT's export and Open WebUI keep conversations so, as each question may be edited, and each answer given anew.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from turnsignal.stream.formats.hints import words_of
from turnsignal.stream.formats.paths import Field, value_of
from turnsignal.stream.formats.values import first

PARENTS = ("parent", "parentId", "parent_id", "parentMessageId", "parent_message_uuid")
_IDS = ("id", "messageId", "message_id", "uuid")
_LAST = frozenset(("current", "leaf", "active"))  #: words for the last item, as in currentId


def lead_to(last: object, group: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Return the items that lead to one of them, by the ids of their parents; all where none of them has its id."""
    named = {name: at for at, where in enumerate(group) for name in _ids_of(where)}
    kept: set[int] = set()
    at = named.get(str(last))
    while at is not None and at not in kept:
        kept.add(at)
        at = named.get(str(first(group[at][0], *PARENTS)))
    return [where for at, where in enumerate(group) if at in kept or not kept]


def last_among(outer: Mapping[str, Sequence[Any]], wheres: Sequence[Sequence[Any]]) -> str | None:
    """Return the path beside a list that names the last of its items, which name their parents; None without one."""
    items = [where for where in wheres if isinstance(where[0], Mapping)]
    if not any(first(where[0], *PARENTS) for where in items):
        return None
    paths = [path for path in outer if _LAST & set(words_of(path))]
    ids = {name for where in items for name in _ids_of(where)} if paths else set()
    return next((path for path in paths if any(str(value) in ids for value in outer[path])), None)


def followed(last: Field | None, wheres: Sequence[Sequence[Any]]) -> Iterator[Sequence[Any]]:
    """Give those of many items, each with what holds it, that lead to the last one of their list."""
    if last is None:
        yield from wheres
        return
    for named, group in groupby(wheres, lambda where: value_of(last, [each for each in where if _is_object(each)])):
        yield from lead_to(named, list(group))


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping)


def _ids_of(where: Sequence[Any]) -> list[str]:
    """Return the ids that an item may go by: its own, and the key under which it stands."""
    own = first(where[0], *_IDS) if isinstance(where[0], Mapping) else None
    key = where[1].get("*") if len(where) > 1 and isinstance(where[1], Mapping) else None
    return [str(name) for name in (own, key) if isinstance(name, str | int)]
