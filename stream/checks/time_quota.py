"""The time quota of checks: what all of them cost beyond their place stays within a share of the last minute.

A circuit breaker, which counts failures in a row, would never stop a check that fails every second time, and a stream
of cheap failures need not stop at all: time is what the others lose, so time is what is counted. It is one account, as
ten bad checks would use up ten. Each check has an equal part of it for itself, so that it is asked whatever the others
do; what the others leave of theirs is lent to those that need more.
"""

from collections import deque
from collections.abc import Iterable

WINDOW = 60.0  #: seconds
SHARE = 0.1  #: of the window that all checks together may be charged with before those charged are not asked


class CheckQuota:
    """One account of the seconds that the named checks were charged with, divided among them.

    A check that owes nothing is asked. So is one whose part of the last minute has room for another charge like its
    last; beyond that, one whose turn it is while the minute of all is not used up. `now` is in seconds of any clock
    that never goes back. What is used up is there again as charges leave the window.
    """

    __slots__ = ("_all", "_each", "_part")

    def __init__(self, names: Iterable[str]) -> None:
        self._each = {name: _Charges() for name in names}
        self._all = _Charges()
        self._part = SHARE / max(1, len(self._each))

    def charge(self, name: str, now: float, seconds: float) -> None:
        """Charge a check with seconds that were spent until now."""
        own = self._each[name]
        own.add(now, seconds)
        # Of this charge alone: what was lent while nobody else needed it is not held against a check.
        own.repaid = now + max(WINDOW, seconds / self._part)
        self._all.add(now, seconds)

    def is_exhausted(self, name: str, now: float) -> bool:
        """Say whether the check is not to be asked now."""
        own = self._each[name]
        if own.repaid <= now or own.spent_at(now) + own.last <= self._part * WINDOW:
            return False
        if self._all.spent_at(now) >= SHARE * WINDOW:
            return True
        others = sum(one.repaid > now for one in self._each.values()) - 1
        return now < own.last_at + others * own.last / SHARE  # as long as the others that owe need for as much

    def spent(self, name: str, now: float) -> float:
        """Return the seconds that a check was charged with in the last minute."""
        return self._each[name].spent_at(now)


class _Charges:
    """Charges of the last minute; `repaid` is when the check's own part has made up for the last of them."""

    __slots__ = ("_charges", "_spent", "last", "last_at", "repaid")

    def __init__(self) -> None:
        self._charges: deque[tuple[float, float]] = deque()
        self._spent = 0.0
        self.last, self.last_at, self.repaid = 0.0, 0.0, float("-inf")

    def add(self, now: float, seconds: float) -> None:
        self._charges.append((now, seconds))
        self._spent += seconds
        self.last, self.last_at = seconds, now

    def spent_at(self, now: float) -> float:
        charges = self._charges
        while charges and charges[0][0] <= now - WINDOW:
            self._spent -= charges.popleft()[1]
        if not charges:
            self._spent = 0.0  # what rounding left of it
        return self._spent
