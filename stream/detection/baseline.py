"""Baseline: what a scorer usually says at this hour of the day, and how the values of a conversation correlate."""

import math

import msgspec

FORGETTING = 14.0  #: days after which an observation weighs 1/e
SHRINKING = 200.0  #: observations with which the mean of all hours counts in that of each
#: Correlation within a conversation that is believed at most: 1 is a value that is the same for all of its answers, of
#: which only the first tells anything.
MOST_CORRELATED = 1.0
LEAST_KNOWN, LEAST_TIME = 1_000, 86_400.0  #: observations and seconds before which nobody knows what is usual
#: Changes of a value below it are nobody's concern. While little is known, the margin is one standard error of what is
#: usual: of a binary with the same mean, and with twice the variance, as values of a conversation are correlated.
MARGIN = 0.005

LEARNED_EVERY = 32  #: observations between two looks at how much is known
SECONDS_OF_DAY = 86_400.0
_HOUR, _HOURS = 3_600.0, 24


class Baseline(msgspec.Struct, array_like=True, gc=False):
    """Means by hour of the day (UTC), slowly forgotten.

    hours, sums: weights and sums of values by hour; weight, total: of all hours; known: observations so far; since:
    time of the first; day: until which it has forgotten; products, squares: of what a conversation's values have in
    common, and of how they differ from what is usual; margin: changes below it are no change;
    intraclass_correlation: that of values within a conversation, 0 to 1.
    """

    hours: list[float] = msgspec.field(default_factory=lambda: [0.0] * _HOURS)
    sums: list[float] = msgspec.field(default_factory=lambda: [0.0] * _HOURS)
    weight: float = 0.0
    total: float = 0.0
    known: int = 0
    since: float = 0.0
    day: int = 0
    products: float = 0.0
    squares: float = 0.0
    margin: float = 1.0
    intraclass_correlation: float = 0.0

    def mean(self, time: float) -> float:
        """Return what is usual at an event time, 0.5 before anything is known."""
        weight = self.weight
        if not weight:
            return 0.5
        hour = hour_of(time)
        return (self.sums[hour] + SHRINKING * self.total / weight) / (self.hours[hour] + SHRINKING)

    def is_known(self, now: float) -> bool:
        """Say whether enough has been seen to tell what is usual; now: stream time."""
        return self.known >= LEAST_KNOWN and now - self.since >= LEAST_TIME

    def per_day(self, now: float) -> float:
        """Return how many observations there are in a day, of late."""
        days = max((now - self.since) / SECONDS_OF_DAY, 1.0)
        return self.weight / (FORGETTING * -math.expm1(-days / FORGETTING))

    def learn(self, value: float, time: float, now: float, shortfall: float, n: float, before: float) -> None:
        """Take in a value.

        time: its event time; now: stream time; shortfall: what is usual, less the value; n, before: number and sum of
        the shortfalls of the conversation's earlier values.
        """
        day = int(now // SECONDS_OF_DAY)
        if not self.known:
            self.since, self.day = now, day
        elif day > self.day:
            self._decay(day)
        hour = hour_of(time)
        self.hours[hour] += 1.0
        self.sums[hour] += value
        self.weight += 1.0
        self.total += value
        self.known += 1
        if n:
            self.products += shortfall * before
            self.squares += n * shortfall * shortfall
        if not self.known % LEARNED_EVERY:
            self.margin = margin_of(self.total, self.weight)
            self.intraclass_correlation = correlation_of(self.products, self.squares, self.intraclass_correlation)

    def _decay(self, day: int) -> None:
        kept = math.exp((self.day - day) / FORGETTING)
        self.day = day
        self.hours = [weight * kept for weight in self.hours]
        self.sums = [total * kept for total in self.sums]
        self.weight *= kept
        self.total *= kept
        self.products *= kept
        self.squares *= kept


def hour_of(time: float) -> int:
    """Return the hour of the day (UTC) of an event time."""
    return int(time % SECONDS_OF_DAY / _HOUR) % _HOURS


def margin_of(total: float, weight: float) -> float:
    """Return below what a change is no change, where so many values have that sum."""
    mean = total / weight
    return max(MARGIN, math.sqrt(2.0 * max(mean * (1.0 - mean), 0.0) / weight))


def correlation_of(products: float, squares: float, before: float) -> float:
    """Return the correlation within a conversation; before: what it is where nothing tells."""
    return min(max(products / squares, 0.0), MOST_CORRELATED) if squares else before
