"""Row order: which way messages that stand one a row go, where several of a conversation have one time.

id  role       created_at               Sorted by created_at alone, the question (41) would come
42  assistant  2026-11-09 10:03:13      after its answer (42): rows that stand newest first
41  user       2026-11-09 10:03:13      are turned round.
"""

from typing import NamedTuple

from turnsignal.stream.formats.protocol import TurnFields
from turnsignal.stream.formats.values import seconds, timestamp

_STEP = 0.001  #: seconds by which a row of one time is put before the one above it
_KEPT = 10_000  #: conversations whose last row is remembered; of more, those that came longest ago are forgotten


class _Tie(NamedTuple):
    """Rows of a conversation, one after the other, that have one time: the first and the last of them."""

    time: float
    roles: tuple[str, str]
    ids: tuple[str, str]
    rows: int = 1


class RowOrder:
    """What rows that came say of the order in which they stand."""

    def __init__(self) -> None:
        self._runs: dict[str, _Tie] = {}
        self._last: float | None = None  # time of the row before, whoever's it is
        self._is_rising = self._is_falling = False  # within a conversation
        self._rises = self._falls = False  # from any row to the next
        self._downward = self._upward = self._unknown = 0  # runs by the order that their ends show

    def add(self, turn: TurnFields) -> None:
        """Take in the next row; one without a time says nothing."""
        time = seconds(turn.get("timestamp"))
        if time is None:
            return
        if self._last is not None:
            self._rises |= time > self._last
            self._falls |= time < self._last
        self._last = time
        conversation, role, named = (str(turn.get(key) or "") for key in ("conversation_id", "role", "turn_id"))
        before = self._runs.pop(conversation, None)
        if before is not None and before.time == time:
            ends = (before.roles[0], role), (before.ids[0], named)
            self._runs[conversation] = _Tie(time, *ends, before.rows + 1)
            return
        if before is not None:
            self._is_rising |= time > before.time
            self._is_falling |= time < before.time
            self._end(before)
        self._runs[conversation] = _Tie(time, (role, role), (named, named))
        if len(self._runs) > _KEPT:
            self._end(self._runs.pop(next(iter(self._runs))))

    def _end(self, run: _Tie) -> None:
        if run.rows == 1:
            return
        if all(map(str.isdecimal, run.ids)) and run.ids[0] != run.ids[1]:
            is_downward = int(run.ids[0]) > int(run.ids[1])
        elif run.roles[0] != run.roles[1]:
            is_downward = run.roles == ("assistant", "user")
        else:
            self._unknown += 1
            return
        self._downward += is_downward
        self._upward += not is_downward

    def close(self) -> None:
        """Take in that no more rows come."""
        while self._runs:
            self._end(self._runs.popitem()[1])

    @property
    def is_newest_first(self) -> bool:
        """Say whether rows of one time have to be turned round; after `close`."""
        return not self._is_rising and self._downward > 0 and not self._upward

    @property
    def is_doubtful(self) -> bool:
        """Say whether rows stand newest first, and nobody knows which of one time was said first; after `close`."""
        falls = self._is_falling or (self._falls and not self._rises)
        knows = not self._unknown and not (self._upward and self._downward)
        return falls and not self._is_rising and not knows and not self.is_newest_first


class TurnedRound:
    """Rows newest first: those of one time are put a thousandth of a second before the one above them."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[float, float]] = {}  # conversation → time of its last row, as it was and is

    def turn(self, fields: TurnFields) -> bool:
        """Give the next row its time, and say whether it was put before the one above it."""
        given = seconds(fields.get("timestamp"))
        if given is None:
            return False
        conversation = str(fields.get("conversation_id"))
        before = self._last.pop(conversation, None)
        time = before[1] - _STEP if before is not None and before[0] == given else given
        self._last[conversation] = given, time
        if len(self._last) > _KEPT:
            del self._last[next(iter(self._last))]
        if time == given:
            return False
        fields["timestamp"] = timestamp(time)
        return True
