"""Columns: which paths records have, and the values there, in a sample of bounded size.

Names of keys may be data: a file may hold thousands of conversations under their ids. So no object gives more than
some paths, and no list more than some items, however large the file is.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.formats.paths import items_of
from turnsignal.stream.formats.protocol import Record
from turnsignal.stream.formats.values import nested

_DEPTH = 5
_PATHS = 1_000  #: that are looked at in an object
_ITEMS = 1_000  #: of lists, or records,
_CELLS = 50_000  #: and values of them all, beyond the first few
_FEW = 20
_KEYED = 50  #: keys of an object, from which on it is asked whether they are ids
_LISTS = 200  #: that are looked for in a record
_SEEN = 3  #: items of a list in which lists are looked for
Columns = dict[str, list[Any]]


class Sampled(NamedTuple):
    """Records, or items of their lists, each with what holds it; the columns of the items, and of what holds them."""

    wheres: list[Sequence[Any]]
    inner: Columns
    outer: Columns


def sample_items(sample: Sequence[Record], listed: Sequence[str]) -> Sampled:
    """Take apart the records, or the first items of lists in each; outer paths that items have, too, begin with ../."""
    inside = {part.strip(".") for path in listed for part in path.split("*")[: path.count("*") or 1]}  # "" is all of it
    wheres: list[Sequence[Any]] = []
    inner: Columns = {}
    outer: Columns = {}
    known: dict[int, dict[str, Any]] = {}  # of what holds several items, which live as long as the sample
    cells = 0
    items = (where for record in sample for where in (items_of(record, listed) if listed else [(record,)]))
    for where in items:
        if len(wheres) >= _ITEMS or (cells > _CELLS and len(wheres) >= _FEW):
            break
        wheres.append(where)
        own = _leaves(where[0], frozenset()) if isinstance(where[0], Mapping) else {}
        beside: dict[str, Any] = {}
        for holder in where[1:] if "" not in inside else where[1:-1]:
            if id(holder) not in known:
                known[id(holder)] = _leaves(holder, inside)
            beside = {**beside, **known[id(holder)], **beside}  # the nearest first
        for columns, values in ((inner, own), (outer, beside)):
            cells += len(values)
            for path, value in values.items():
                columns.setdefault(path, []).append(value)
    return Sampled(wheres, inner, {f"../{path}" if path in inner else path: each for path, each in outer.items()})


def _leaves(record: Mapping[str, Any], without: set[str] | frozenset[str]) -> dict[str, Any]:
    """Return path → value of an object and of those in it, also of those that texts hold; without: paths left out."""
    leaves: dict[str, Any] = {}
    pending = [("", record, 0)]
    while pending and len(leaves) < _PATHS:
        before, inside, depth = pending.pop()
        deeper = []
        for key, value in inside.items():
            if len(leaves) >= _PATHS:
                break
            path = f"{before}{key}"
            if value is None or path in without:
                continue
            held = nested(value) if isinstance(value, str) and value[:1] == "{" else value
            if not isinstance(held, dict) or depth >= _DEPTH:
                leaves[path] = value
            elif len(held) < _KEYED or not is_keyed(held):
                deeper.append((f"{path}.", held, depth + 1))
        pending += reversed(deeper)
    return leaves


def lists_in(record: Mapping[str, Any]) -> list[str]:
    """Return the paths of lists of objects within a record; an object whose values are all alike is one, too."""
    paths: list[str] = []
    for path in _lists(record, "", 0):
        paths.append(path)
        if len(paths) >= _LISTS:
            break
    return paths


def _lists(record: Mapping[str, Any], before: str, depth: int) -> Iterator[str]:
    if not before and (kind := is_keyed(record) or are_lists(record)):
        yield "*"
        for inner in list(record.values())[:_SEEN] if kind else ():
            yield from _lists(inner, "*.", 1) if isinstance(inner, dict) else ()
    for key, given in record.items():
        value, path = nested(given), f"{before}{key}"
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            yield path
            for inner in value[:_SEEN] if depth < _DEPTH else ():
                yield from _lists(inner, f"{path}.*.", depth + 1)
        elif isinstance(value, dict) and depth < _DEPTH:
            if is_keyed(value) or are_lists(value):
                yield f"{path}.*"
                for inner in list(value.values())[:_SEEN]:
                    yield from _lists(inner, f"{path}.*.", depth + 1) if isinstance(inner, dict) else ()
            else:
                yield from _lists(value, f"{path}.", depth + 1)


def is_keyed(value: Mapping[str, Any]) -> bool:
    """Say whether the keys of an object are ids: two or more, whose values are objects with the same keys.

    >>> is_keyed({"c1": {"at": 1, "by": 2}, "c2": {"at": 3, "by": 4}}), is_keyed({"at": 1})
    (True, False)
    """
    inner = list(value.values())
    if len(inner) < 2 or not all(isinstance(each, dict) and each for each in inner):
        return False
    shared = set(inner[0]).intersection(*inner[1:])
    return len(shared) * 2 >= max(map(len, inner))


def are_lists(value: Mapping[str, Any]) -> bool:
    """Say whether each key of an object, of two or more, has a list of objects with a key that all of them have."""
    inner = list(value.values())
    if len(inner) < 2 or not all(isinstance(each, list) and each and isinstance(each[0], dict) for each in inner):
        return False
    return bool(set(inner[0][0]).intersection(*(each[0] for each in inner[1:])))


def is_unique(values: Sequence[Any], of: int) -> bool:
    """Say whether there are so many different values."""
    return len({str(value) for value in values if value != ""}) == of


def is_constant(values: Sequence[Any]) -> bool:
    """Say whether there is one value only, three times or more."""
    return len(values) > 2 and len(set(map(str, values))) == 1
