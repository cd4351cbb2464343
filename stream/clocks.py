"""Stream time: how far a partition has come, by the event times it has seen, never by asking the machine.

One record cannot run the clock ahead: an event time counts at most as much as the broker's own time of that record.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class StreamClock:
    """The largest event time seen in one partition.

    time: stream time in seconds since 1970, −inf before the first record; seen_at: the wall clock when it last moved,
    handed in by the caller; silence: seconds without records after which the wall clock carries the stream on.
    """

    silence: float = 60.0
    time: float = float("-inf")
    seen_at: float | None = None

    def advance(self, event_time: float, broker_time: float | None = None) -> float:
        """Take in one record's times and return stream time."""
        bounded = event_time if broker_time is None else min(event_time, broker_time)
        self.time = max(self.time, bounded)
        return self.time

    def saw(self, now: float) -> None:
        """Note the wall clock at which records arrived."""
        self.seen_at = now

    def read(self, now: float) -> float:
        """Return stream time, carried on by the wall clock once the partition has been silent long enough."""
        if self.seen_at is None:
            self.seen_at = now
        quiet = now - self.seen_at
        return self.time + quiet if quiet >= self.silence else self.time


def alarm(clock: Callable[[], float] | None, budget: float) -> Callable[[], bool]:
    """Return what says whether `budget` seconds have passed since now; without a clock they never have."""
    if clock is None:
        return lambda: False
    tell, end = clock, clock() + budget
    return lambda: tell() >= end
