"""Untimed rows: rows of a store that logs no times, in the order in which their ids say that they were written.

    id   session_id   message
    41   c1           How do I pay?           Ids that count: a second apart, in the order of the numbers. How far
    97   c1           By card.                apart these are says only how much others wrote in between.

MongoDB's ids begin with the second in which they were made, and end with a counter of the process that made them.
"""

from collections.abc import Sequence

from turnsignal.stream.formats.protocol import Assumed, Row
from turnsignal.stream.formats.times import BACKWARDS
from turnsignal.stream.formats.values import object_id_time, seconds, timestamp

BY_NUMBER = "rows without a time, taken as a second apart from 1970 on in the order of their ids"
BY_OBJECT_ID = "rows without a time, taken as written when their ObjectId was made"
BY_ORDER = "rows without a time, taken as a second apart from 1970 on in the order of the file"
_STEP = 0.001  #: seconds between rows whose ids were made in one second
_MADE, _COUNTER = 8, 18  #: where the second ends in an ObjectId, and where the counter begins behind the process


class UntimedRows:
    """The ids of rows without a time, of a log; asked once all rows were added."""

    def __init__(self) -> None:
        self._are_numbers = self._are_object_ids = True

    def add(self, row: Row) -> None:
        """Take in the next row."""
        if row.made is None:
            return
        self._are_numbers = self._are_numbers and row.made.isdecimal() and row.made.isascii()
        self._are_object_ids = self._are_object_ids and object_id_time(row.made) is not None

    def give_times(self, rows: Sequence[Row], assumed: Assumed) -> None:
        """Give those rows of one conversation a time that have none; one among others is put behind the row before."""
        untimed = [row for row in rows if row.made is not None]
        if not untimed:
            return
        if len(untimed) < len(rows):
            self._put_between(rows)
            assumed["rows without a time, taken as said right behind the row before them"] += len(untimed)
        elif self._are_object_ids:
            self._give_seconds(untimed)
            assumed[BY_OBJECT_ID] += len(untimed)
        else:
            began = float(min(row.line for row in untimed))
            ordered = sorted(untimed, key=_number) if self._are_numbers else untimed
            for place, row in enumerate(ordered):
                row.turn["timestamp"] = timestamp(began + place)
            assumed[BY_NUMBER if self._are_numbers else BY_ORDER] += len(untimed)
            ends = tuple(row.turn.get("role") for row in (ordered[0], ordered[-1]))
            assumed[BACKWARDS] += ends == ("assistant", "user")

    def _give_seconds(self, rows: Sequence[Row]) -> None:
        ids = [row.made or "" for row in rows]
        is_counted = len({each[_MADE:_COUNTER] for each in ids}) == 1
        placed = [(object_id_time(each) or 0.0, each[_COUNTER:] if is_counted else "") for each in ids]
        last = float("-inf")
        for at in sorted(range(len(rows)), key=placed.__getitem__):
            last = max(placed[at][0], last + _STEP if is_counted else last)  # else `row_ties` tells which was first
            rows[at].turn["timestamp"] = timestamp(last)

    def _put_between(self, rows: Sequence[Row]) -> None:
        last = next(seconds(row.turn.get("timestamp")) for row in rows if row.made is None) or 0.0
        for row in rows:
            last = last + _STEP if row.made is not None else seconds(row.turn.get("timestamp")) or last
            if row.made is not None:
                row.turn["timestamp"] = timestamp(last)


def _number(row: Row) -> tuple[int, str]:
    """Return what numbers as texts are in order by, however long these are."""
    digits = (row.made or "").lstrip("0")
    return len(digits), digits
