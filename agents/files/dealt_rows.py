"""Dealt rows: messages that stand one a record, by conversation, so that each is read with those around it."""

from collections.abc import Iterator

from turnsignal.agents.files.heaps import Heaps
from turnsignal.stream.formats.protocol import Assumed, Row, TurnFields
from turnsignal.stream.formats.row_doubts import RowDoubts
from turnsignal.stream.formats.row_ties import RowTies
from turnsignal.stream.formats.rows import turns_of
from turnsignal.stream.formats.untimed_rows import UntimedRows


class DealtRows(Heaps[Row]):
    """The rows of a log on disk, until the end of this context. doubts: takes in what they show."""

    def __init__(self, doubts: RowDoubts) -> None:
        super().__init__(kind=Row)
        self._doubts = doubts
        self._ties = RowTies()
        self._untimed = UntimedRows()

    def take(self, part: TurnFields | Row, line: int) -> bool:
        """Add a row; False for one that cannot be kept, as no turn can."""
        row = part if isinstance(part, Row) else Row(part)
        row.line = line
        try:
            self.put(str(row.turn.get("conversation_id")), row)
        except (RecursionError, OverflowError, TypeError, ValueError):
            return False
        self._ties.add(row)
        self._untimed.add(row)
        return True

    def turns(self, assumed: Assumed) -> Iterator[tuple[TurnFields, int]]:
        """Give the turns of each conversation, each with its line."""
        for _, rows in self.groups():
            self._untimed.give_times(rows, assumed)
            self._ties.settle(rows, assumed)
            self._doubts.add(rows)
            yield from turns_of(rows, assumed)
