"""The circuit breaker of an endpoint: after failures in a row it is left alone, for longer each time it fails again.

Then one call tries it, of an exchange with which it has not failed if there is any, as that may be the reason.
"""

AFTER = 5  #: failures in a row
YIELD = 2.0  #: seconds for which a call that has failed lets others try first
FIRST, LONGEST = 10.0, 300.0  #: seconds for which it is left alone


class EndpointBreaker:
    """Count an endpoint's failures in a row; `now` is in seconds of any clock that never goes back."""

    __slots__ = ("_failures", "_pause", "_trying", "_until")

    def __init__(self) -> None:
        self._failures = 0
        self._pause = FIRST
        self._until = float("-inf")
        self._trying = False

    def acquire(self, now: float, *, failed: bool = False) -> float:
        """Ask for leave to call: return 0 and, after failures, claim the one trial; else the seconds to wait.

        failed: whether the endpoint has failed with this exchange before.
        """
        if self._failures < AFTER:
            return 0.0
        until = self._until + YIELD * failed
        if now < until:
            return until - now
        if self._trying:
            return 1.0
        self._trying = True
        return 0.0

    @property
    def is_suspect(self) -> bool:
        """Whether it failed so often in a row that only one call at a time may try it."""
        return self._failures >= AFTER

    def open_for(self, now: float) -> float:
        """Return for how many seconds it is left alone, 0 when it may be tried; asking changes nothing."""
        return max(0.0, self._until - now) if self.is_suspect else 0.0

    def on_answer(self) -> None:
        """Note that it answered."""
        self._failures, self._pause, self._trying = 0, FIRST, False

    def on_failure(self, now: float) -> None:
        """Note that it failed."""
        self._failures += 1
        if self._failures >= AFTER and (self._trying or self._failures == AFTER):
            self._until = now + self._pause
            self._pause = min(LONGEST, 2 * self._pause)
        self._trying = False

    def on_nothing(self) -> None:
        """Note that a call ended without saying anything about the endpoint, as when it was cancelled."""
        self._trying = False
