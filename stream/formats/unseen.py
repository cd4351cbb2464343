"""Unseen: rows that a column marks as deleted or hidden, of which the user has nothing on the screen any more."""

from typing import Any

from turnsignal.stream.formats.protocol import Assumed, Record

_HIDES = (
    *("deleted", "is_deleted", "isDeleted", "deleted_at", "deletedAt", "__deleted", "removed_at", "removedAt"),
    *("hidden", "is_hidden", "isHidden"),
)
_SHOWS = ("visible", "is_visible", "isVisible", "is_active", "isActive")
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


def _is_no(value: Any) -> bool:
    return str(value).strip().lower() in _NO
