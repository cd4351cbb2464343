"""Release times: where answers name no version, the time at which their conversation began says of which release it is.

A conversation is of one release, whenever its later turns come: who began before a release is no witness against it.
"""

from bisect import bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from turnsignal.stream.records.turns import Turn
from turnsignal.stream.records.verdicts import Verdict

_BEFORE, _SINCE = "before ", "since "


class ReleaseTimes:
    """Names the release of answers without a version, and of verdicts on them; `name` every turn in the order of time.

    times: at which releases came, seconds since 1970.

    >>> ReleaseTimes([1795528800.0]).names
    ('before 2026-11-24 14:00', 'since 2026-11-24 14:00')
    """

    def __init__(self, times: Iterable[float]) -> None:
        self._times = sorted(set(times))
        spelled = [_spell(time) for time in self._times]
        self.names = (*(_BEFORE + first for first in spelled[:1]), *(_SINCE + time for time in spelled))
        self._began: dict[str, int] = {}  # conversation → how many releases had come when it began

    def name(self, turn: Turn) -> None:
        """Give an answer without a version that of its conversation; any turn may be the first of one."""
        release = self._release_of(turn.conversation_id, turn.time)
        if turn.role == "assistant" and turn.version is None:
            turn.version = release

    def name_judged(self, verdict: Verdict) -> None:
        """Give a verdict without a version that of the conversation that it is about."""
        if verdict.version is None:
            verdict.version = self._release_of(verdict.conversation_id, verdict.time)

    def _release_of(self, conversation_id: str, time: float) -> str:
        """Return the release of a conversation, which begins at this time unless it has begun."""
        return self.names[self._began.setdefault(conversation_id, bisect_right(self._times, time))]


def with_release(preposition: str, version: str) -> str:
    """Write a release behind a preposition; a name that is a time has its own.

    >>> with_release("in", "v3"), with_release("in", "since 2026-11-24 14:00")
    ('in v3', 'since 2026-11-24 14:00')
    """
    return version if version.startswith((f"{_BEFORE}2", f"{_SINCE}2")) else f"{preposition} {version}"


def _spell(time: float) -> str:
    """Write a time in UTC, to the minute where it is one."""
    at = (datetime.fromtimestamp(0, UTC) + timedelta(seconds=time)).replace(tzinfo=None)
    return at.isoformat(" ", "auto" if at.second or at.microsecond else "minutes")
