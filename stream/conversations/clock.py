"""Stream time: how far a partition has come, by the event times it has seen, never by the machine's wall clock.

No record can run the clock ahead: an event time counts only up to the broker's own time of that record. While a
partition has no records, a steady clock carries it on, so a wall clock that somebody sets closes no conversation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

UNWATCHED = 30.0  #: seconds without a `read` after which nobody knows whether records are waiting


class Moment(NamedTuple):
    """One moment on both clocks of a machine.

    wall: seconds since 1970; steady: seconds on the monotonic clock; boot: the machine and its last start, with which
    the monotonic clock began, "" where that is not known.
    """

    wall: float
    steady: float
    boot: str = ""

    def until(self, later: "Moment", trust: float) -> float:
        """Return the seconds to a later moment: at most `trust` where only wall clocks can be compared.

        Two processes on one machine that was not restarted share its steady clock. Otherwise a wrong wall clock looks
        like a long time.

        >>> Moment(1000.0, 5.0, "boot-a").until(Moment(2860.0, 65.0, "boot-a"), trust=900.0)
        60.0
        >>> Moment(1000.0, 5.0, "boot-a").until(Moment(2860.0, 65.0, "boot-b"), trust=900.0)
        900.0
        """
        if self.boot and self.boot == later.boot:
            return max(0.0, later.steady - self.steady)
        return min(max(0.0, later.wall - self.wall), trust)


@dataclass(slots=True)
class StreamClock:
    """The largest event time seen in one partition, carried on while the partition is silent.

    silence: seconds for which a partition must be watched without records coming, before stream time is carried on;
    time: stream time in seconds since 1970, −inf before the first record; before: seconds of silence before the watch;
    watched_since, looked_at: when the watch began and when `read` was called last, on a steady clock of the caller's.
    """

    silence: float = 60.0
    time: float = float("-inf")
    before: float = 0.0
    watched_since: float | None = None
    looked_at: float = 0.0

    def advance(self, event_time: float, broker_time: float | None = None) -> float:
        """Take in one record's times and return stream time."""
        bounded = event_time if broker_time is None or event_time <= broker_time else broker_time
        if bounded > self.time:
            self.time = bounded
        return self.time

    def saw(self, now: float) -> None:
        """Note that records arrived; now: seconds on a steady clock."""
        self.before, self.watched_since, self.looked_at = 0.0, now, now

    def hold(self, present: float) -> None:
        """Go back to the present, in seconds since 1970: what lies ahead of it comes from damaged state."""
        self.time = min(self.time, present)

    def resume(self, silent: float, now: float) -> None:
        """Begin a new watch over a partition that has been silent for so many seconds already, as after a restart."""
        self.before, self.watched_since, self.looked_at = silent, now, now

    def read(self, now: float) -> float:
        """Return stream time, carried on by all of the silence once it has been watched long enough.

        After a pause without calls (a stopped process) records may be waiting, so a new watch begins.
        """
        if self.watched_since is None:
            self.watched_since = self.looked_at = now
        if now - self.looked_at > UNWATCHED:
            self.resume(self.before + now - self.watched_since, now)
        self.looked_at = now
        watched = now - self.watched_since
        return self.time + self.before + watched if watched >= self.silence else self.time


def deadline(clock: Callable[[], float] | None, budget: float) -> Callable[[], bool]:
    """Return a function that says whether `budget` seconds have passed since this call; without a clock, never."""
    if clock is None:
        return lambda: False
    read, end = clock, clock() + budget
    return lambda: read() >= end
