"""The circuit breaker of a check: what it costs beyond its place stays within a share of the last minute.

A count of failures in a row would never stop a check that fails every second time, and a stream of cheap failures need
not stop at all: time is what the others lose, so time is what is counted.
"""

from collections import deque

WINDOW = 60.0  #: seconds
SHARE = 0.1  #: of the window that a check may be charged with before it is not asked


class CircuitBreaker:
    """An account of the seconds that one check was charged with; open (do not ask) while it is overdrawn.

    `now` is in seconds of any clock that never goes back. It closes by itself as charges leave the window.
    """

    __slots__ = ("_charges", "_spent")

    def __init__(self) -> None:
        self._charges: deque[tuple[float, float]] = deque()
        self._spent = 0.0

    def charge(self, now: float, seconds: float) -> None:
        """Charge seconds that were spent until now."""
        self._charges.append((now, seconds))
        self._spent += seconds

    def is_open(self, now: float) -> bool:
        """Say whether the share of the last minute is used up."""
        charges = self._charges
        if not charges:
            return False
        while charges and charges[0][0] <= now - WINDOW:
            self._spent -= charges.popleft()[1]
        if not charges:
            self._spent = 0.0  # what rounding left of it
        return self._spent >= SHARE * WINDOW
