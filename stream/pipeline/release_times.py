"""Release times: where answers name no version, the time at which their conversation began says of which release it is.

A conversation is of one release, whenever its later turns come: who began before a release is no witness against it.
What comes under an id whose conversation was forgotten, as under that of a user or of a chat, begins another one.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from turnsignal.stream.records.turns import Turn
from turnsignal.stream.records.verdicts import Verdict

_BEFORE, _SINCE = "before ", "since "


class ReleaseTimes:
    """Names the release of answers without a version, and of verdicts on them; `name` every turn in the order of time.

    times: at which releases came, seconds since 1970; forgotten_after: seconds of silence after which a turn begins
    another conversation under its id.

    >>> ReleaseTimes([1795528800.0]).names
    ('before 2026-11-24 14:00', 'since 2026-11-24 14:00')
    """

    def __init__(self, times: Iterable[float], forgotten_after: float = math.inf) -> None:
        self._times = sorted({float(math.floor(time)) for time in times})  # names are to the second
        spelled = [_spell(time) for time in self._times]
        self.names = (*(_BEFORE + first for first in spelled[:1]), *(_SINCE + time for time in spelled))
        self._forgotten_after = forgotten_after
        self._known: dict[str, tuple[int, float]] = {}  # conversation → releases that had come when it began, last turn

    def name(self, turn: Turn) -> bool:
        """Give an answer without a version that of its conversation; say whether a later release had come by then."""
        came = bisect_right(self._times, turn.time)
        began, last = self._known.get(turn.conversation_id, (came, turn.time))
        if turn.time - last > self._forgotten_after:
            began = came
        self._known[turn.conversation_id] = began, max(last, turn.time)
        if turn.role != "assistant" or turn.version is not None:
            return False
        turn.version = self.names[began]
        return began < came

    def name_judged(self, verdict: Verdict) -> None:
        """Give a verdict without a version that of the conversation that it is about."""
        if verdict.version is None:
            known = self._known.get(verdict.conversation_id)
            verdict.version = self.names[bisect_right(self._times, verdict.time) if known is None else known[0]]


def with_release(preposition: str, version: str) -> str:
    """Write a release behind a preposition; a name that is a time has its own.

    >>> with_release("in", "v3"), with_release("in", "since 2026-11-24 14:00")
    ('in v3', 'since 2026-11-24 14:00')
    """
    is_time = version.startswith((_BEFORE, _SINCE)) and version.partition(" ")[2][:4].isdecimal()
    return version if is_time else f"{preposition} {version}"


def _spell(time: float) -> str:
    """Write a time in UTC, to the minute where it is one."""
    at = (datetime.fromtimestamp(0, UTC) + timedelta(seconds=time)).replace(tzinfo=None)
    return at.isoformat(" ", "seconds" if at.second else "minutes")
