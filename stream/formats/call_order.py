"""Call order: which way the calls of a file stand, where several of a conversation have one time.

    2026-11-09 10:03   c1   And for Austria?               Times without seconds, newest first: by its time alone, the
    2026-11-09 10:03   c1   How long does a refund take?   question that goes on would come before the one that it
    2026-11-09 10:01   c2   Where is the printer?          follows. So calls of one time are turned round, too.

Calls of one record stay as they are. What a conversation's own calls show goes before what others do: a list of
conversations may stand newest first, and each conversation in it oldest first.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from turnsignal.stream.formats.protocol import Assumed, Call

NEWEST_FIRST = "calls of one time in files newest first, put in the reverse of the order in which they stand"
UNSURE = "calls of one time in files newest first, which nothing shows to stand so within a conversation, too"
UNKNOWN = "calls of the same time as another of their conversation, in files all of which have one time"
_KEPT = 10_000  #: conversations whose last call is remembered; of more, those that came longest ago are forgotten
_FEW = 10  #: falls for one rise: calls are logged as they end, and timed as they begin


class CallOrder:
    """Which files stand newest first; asked once all calls were added."""

    def __init__(self) -> None:
        self._firsts, self._lasts = array("Q"), array("Q")  # numbers of the calls of files in doubt
        self._why: list[str] = []  # of each such file, what its calls of one time are
        self._reset()

    def begin(self) -> None:
        """Take the next file; also called after the last one."""
        is_sure = self._own_falls + self._own_rises > 0
        falls, rises = (self._own_falls, self._own_rises) if is_sure else (self._falls, self._rises)
        is_unknown = not falls and not rises and self._before is not None
        if falls > rises * _FEW or is_unknown:
            self._firsts.append(self._first)
            self._lasts.append(self._last)
            self._why.append(UNKNOWN if is_unknown else NEWEST_FIRST if is_sure else UNSURE)
        self._reset()

    def _reset(self) -> None:
        self._first = self._last = 0  # numbers of the file's calls
        self._before: float | None = None
        self._falls = self._rises = self._own_falls = self._own_rises = 0
        self._own: dict[str, float] = {}

    def add(self, call: Call) -> None:
        """Take in the next call of a file. Its line is its number, counted through all files."""
        self._first, self._last = self._first or call.line, call.line
        if call.start is None or call.kind not in ("answer", "whole", "inner"):
            return
        if self._before is not None:
            self._falls += call.start < self._before
            self._rises += call.start > self._before
        self._before = call.start
        if call.conversation:
            before = self._own.pop(call.conversation, call.start)
            self._own_falls += call.start < before
            self._own_rises += call.start > before
            self._own[call.conversation] = call.start
            if len(self._own) > _KEPT:
                del self._own[next(iter(self._own))]

    def put_right(self, calls: Sequence[Call], lines: Sequence[int], assumed: Assumed) -> dict[int, int]:
        """Number the calls of a conversation as they were made. lines: of each number's record.

        Return the new number → the number that it had.
        """
        had: dict[int, int] = {}
        moments: set[tuple[float | None, int, int]] = set()
        for call in calls:
            number = call.line
            at = bisect_right(self._firsts, number) - 1
            if at >= 0 and number <= self._lasts[at]:
                if (why := self._why[at]) != UNKNOWN:
                    record = lines[number - 1]
                    first, last = bisect_left(lines, record) + 1, bisect_right(lines, record)
                    call.line = self._firsts[at] + self._lasts[at] - last + number - first
                moment = call.start, len(call.inputs), at  # one that goes on from another sends more
                assumed[why] += moment in moments and call.start is not None
                moments.add(moment)
            had[call.line] = number
        return had
