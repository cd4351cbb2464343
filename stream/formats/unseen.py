"""Unseen: rows that a column marks as deleted or hidden, of which the user has nothing on the screen any more."""

from collections.abc import Mapping, Sequence
from typing import Any

from turnsignal.stream.formats.hints import words_of
from turnsignal.stream.formats.paths import Field, MappedPaths, path_of, value_of
from turnsignal.stream.formats.protocol import Assumed, Record

_HIDES = (
    *("deleted", "is_deleted", "isDeleted", "deleted_at", "deletedAt", "__deleted", "removed_at", "removedAt"),
    *("hidden", "is_hidden", "isHidden", "is_internal", "isInternal", "internal_note", "is_internal_note"),
)
_SHOWS = ("visible", "is_visible", "isVisible", "is_active", "isActive")
_PRIVATE = frozenset(("private", "internal", "hidden", "deleted"))  #: words of a column of notes among staff
_PUBLIC = frozenset(("public", "visible"))
_ABOUT = frozenset(("is", "message", "msg", "note", "comment", "reply", "was"))
_YES = frozenset(("1", "1.0", "t", "true", "y", "yes"))
_NO = frozenset(("", "0", "0.0", "f", "false", "n", "no", "none", "null", "nan", "nat", "\\n"))


def is_unseen(record: Record, assumed: Assumed) -> bool:
    """Say whether a column marks a row as deleted or hidden, and count it under the column's name.

    >>> from collections import Counter
    >>> is_unseen({"deleted_at": "2026-11-01"}, Counter()), is_unseen({"visible": "t"}, Counter())
    (True, False)
    """
    mark = next((key for key in _HIDES if key in record and not _is_no(record[key])), None)
    mark = mark or next((key for key in _SHOWS if record.get(key) not in (None, "") and _is_no(record[key])), None)
    if mark is None:
        return False
    assumed[f"rows that {mark} marks as deleted or hidden left out"] += 1
    return True


def is_marked(paths: MappedPaths, where: Sequence[Record], assumed: Assumed) -> bool:
    """Say whether what a mapping names as hidden, or shown, marks a record as none for users, and count it."""
    hides = _says(paths.hidden, where)
    shows = _says(paths.shown, where)
    if not hides and shows is not False:
        return False
    assumed[f"rows that {path_of(paths.hidden if hides else paths.shown)} marks as none for users left out"] += 1
    return True


def _says(field: Field | None, where: Sequence[Record]) -> bool | None:
    """Return whether a value says yes; None for what says nothing, such as a word that the mapping gives no meaning."""
    value = value_of(field, where)
    if isinstance(field, dict) and len(field) > 1 and value == value_of(path_of(field), where):
        return None
    return None if value is None else not _is_no(value)


def mark_among(
    columns: Mapping[str, Sequence[Any]], wheres: Sequence[Sequence[Any]], conversation: str | None
) -> tuple[str, str] | None:
    """Return `hidden` or `shown`, and the column that marks notes among staff, such as private; None without one.

    What it says differs within a conversation, or it marks none of the first records: else it is about conversations.
    """
    for path, values in columns.items():
        words = set(words_of(path)) - _ABOUT
        given = {str(value).strip().lower() for value in values}
        if len(words) != 1 or not words <= _PRIVATE | _PUBLIC or not given <= _YES | _NO:
            continue
        marks = _YES if words <= _PRIVATE else _NO
        of: dict[str, set[bool]] = {}
        for where in wheres:
            holders = [part for part in where if isinstance(part, Mapping)]
            is_marked_so = str(value_of(path, holders)).strip().lower() in marks
            of.setdefault(str(value_of(conversation, holders)), set()).add(is_marked_so)
        if not given & marks or any(len(each) > 1 for each in of.values()):
            return ("hidden" if words <= _PRIVATE else "shown"), path
    return None


def _is_no(value: Any) -> bool:
    return str(value).strip().lower() in _NO
