"""Intervals: how far a rate, a mean or a difference can be trusted, at 95 %, from sums that merge.

By hand rather than by SciPy or statsmodels, which cost more to import than a small replay takes; the tests compare
with SciPy. Turns within a conversation are alike, so the unit of a mean is the conversation, never the turn.
Rates near 1 have lopsided intervals: all of them are score intervals on the effective number of observations, which is
the number of turns ÷ the design effect of conversations.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

Z = 1.959963984540054  #: 97.5 % quantile of the normal distribution
_FEW_DEGREES = (12.706204736, 4.302652730, 3.182446305, 2.776445105)  # the same quantile of t, by tables
_SHORTEST_BATCH, _MOST_BATCHES = 60, 16  #: seconds; how many
_HALF_A_DAY = 43_200.0  #: seconds


class Interval(NamedTuple):
    """A value with its 95 % interval; n: of how many independent observations (conversations, for a mean)."""

    value: float
    low: float
    high: float
    n: int

    def as_json(self) -> dict[str, Any]:
        """Round to what is worth reading; sums of floats differ in their last digits."""
        return {"value": round(self.value, 6), "low": round(self.low, 6), "high": round(self.high, 6), "n": self.n}


class Estimate(NamedTuple):
    """A mean of values from 0 to 1, and how much stands behind it.

    size: effective number of observations: of so many independent ones, a rate would be as uncertain as this mean is;
    degrees: of freedom of that uncertainty; n: conversations.
    """

    value: float
    size: float
    degrees: int
    n: int

    def bounds(self, quantile: float) -> tuple[float, float]:
        """Return the score interval (Wilson 1927) that so many standard errors leave."""
        value, size, square = self.value, self.size, quantile * quantile
        middle = (value + square / (2 * size)) / (1 + square / size)
        half = quantile / (1 + square / size) * math.sqrt(value * (1 - value) / size + square / (4 * size * size))
        low = 0.0 if value <= 0 else max(0.0, middle - half)
        return low, 1.0 if value >= 1 else min(1.0, middle + half)

    @property
    def interval(self) -> Interval:
        """The value with its 95 % interval, by t."""
        return Interval(self.value, *self.bounds(t_quantile(self.degrees)), self.n)


class Difference(NamedTuple):
    """The difference of two independent means with its 95 % interval; n: the smaller of the two.

    p: the larger of two p-values, of the two-sided test that the interval inverts and of the likelihood ratio; p < 0.05
    implies that the interval excludes 0.
    """

    value: float
    low: float
    high: float
    n: int
    p: float


@dataclass(slots=True)
class Clusters:
    """Sums over conversations of one quantity: what a mean over turns and its interval need.

    n: conversations with an observation; turns, total: sums of the conversations' counts and of their values;
    turns2, cross, total2: sums of count², count × total, total²; means, means2: of their own means, and of mean²;
    turns3, turns4, cross_turns, cross_total: sums of count³, count⁴, count² × total, count × total².
    """

    n: float = 0
    turns: float = 0
    total: float = 0
    turns2: float = 0
    cross: float = 0
    total2: float = 0
    means: float = 0
    means2: float = 0
    turns3: float = 0
    turns4: float = 0
    cross_turns: float = 0
    cross_total: float = 0

    def add(self, turns: float, total: float) -> None:
        """Add a conversation: how many values it has, and their sum."""
        if turns > 0:
            self.n += 1
            self.turns += turns
            self.total += total
            self.turns2 += turns * turns
            self.cross += turns * total
            self.total2 += total * total
            self.means += total / turns
            self.means2 += (total / turns) ** 2
            self.turns3 += turns**3
            self.turns4 += turns**4
            self.cross_turns += turns * turns * total
            self.cross_total += turns * total * total

    def merge(self, other: "Clusters") -> None:
        """Add another's sums."""
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


class Batches:
    """Sums of one quantity over batches of time, for what goes up and down with the hour or the load.

    Conversations of one minute are then alike, and so are those of the next: what stands for itself is a stretch of
    time: at most 16 of equal length (the method of batch means).
    """

    __slots__ = ("_sums", "_width")

    def __init__(self) -> None:
        self._width = _SHORTEST_BATCH
        self._sums: dict[int, tuple[float, float]] = {}

    def add(self, time: float, turns: float, total: float) -> None:
        """Add values of one moment: how many, and their sum. time: seconds since 1970."""
        if turns > 0:
            self._put(int(time // self._width), turns, total)
            self._widen()

    def merge(self, other: "Batches") -> None:
        """Add another's; what comes out depends on neither order nor division."""
        while self._width < other._width:
            self._double()
        for batch, (turns, total) in other._sums.items():
            self._put(int(batch * other._width // self._width), turns, total)
        self._widen()

    def clusters(self) -> Clusters:
        """Return the sums, each batch as one cluster."""
        clusters = Clusters()
        for batch in sorted(self._sums):
            clusters.add(*self._sums[batch])
        return clusters

    def step_from(self, before: "Batches") -> Difference | None:
        """Return after − before without what goes up or down with time within both alike; None where that is unknown.

        A line through the means of the batches, with one slope for both and a step between them. Further apart than
        half a day, nobody can tell from the slope.
        """
        mine, theirs = list(self._means()), list(before._means())
        if not mine or not theirs:
            return None
        (late, high, n), (early, low, others) = _centre(mine), _centre(theirs)
        centred = [(n, time - late, value - high) for time, n, value in mine]
        centred += [(n, time - early, value - low) for time, n, value in theirs]
        spread = math.fsum(n * time * time for n, time, _ in centred)
        gap, degrees = late - early, len(centred) - 3
        if not spread or degrees < 1 or abs(gap) > _HALF_A_DAY:
            return None
        slope = math.fsum(n * time * value for n, time, value in centred) / spread
        residual = math.fsum(n * (value - slope * time) ** 2 for n, time, value in centred) / degrees
        step = high - low - slope * gap
        error = math.sqrt(residual * (1 / n + 1 / others + gap * gap / spread))
        half = t_quantile(degrees) * error
        tails = t_tails(abs(step) / error, degrees) if error else float(not step)
        return Difference(step, step - half, step + half, min(len(mine), len(theirs)), tails)

    def _means(self) -> Iterator[tuple[float, float, float]]:
        for batch in sorted(self._sums):
            turns, total = self._sums[batch]
            yield (batch + 0.5) * self._width, turns, total / turns

    def _put(self, batch: int, turns: float, total: float) -> None:
        n, before = self._sums.get(batch, (0.0, 0.0))
        self._sums[batch] = n + turns, before + total

    def _widen(self) -> None:
        while max(self._sums, default=0) - min(self._sums, default=0) >= _MOST_BATCHES:
            self._double()

    def _double(self) -> None:
        narrow, self._sums = self._sums, {}
        self._width *= 2
        for batch, (turns, total) in narrow.items():
            self._put(batch // 2, turns, total)


def _centre(batches: Sequence[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Return the mean time and value of batches, and how many values they have."""
    turns = math.fsum(n for _, n, _ in batches)
    time = math.fsum(time * n for time, n, _ in batches) / turns
    return time, math.fsum(n * value for _, n, value in batches) / turns, turns


def wilson(count: float, n: int) -> Interval:
    """Return a rate of independent observations with its score interval; count: 0 to n, n ≥ 1.

    >>> [round(bound, 4) for bound in wilson(0, 30)[1:3]]
    [0.0, 0.1135]
    """
    return Interval(count / n, *Estimate(count / n, n, n, n).bounds(Z), n)


def mean_over_turns(sums: Clusters, step: float = 0.0, independent: float | None = None) -> Estimate:
    """Return the mean over all turns of values from 0 to 1; `sums` has a conversation at least.

    step: by how much conversations are taken to differ where they show no difference, 0 for a share; independent: how
    many stand for themselves then, None for every one.

    Its variance is the cluster-robust one of a ratio (Cameron and Miller 2015: the meat is the sum over clusters of
    squared residual totals), or that of the jackknife over conversations where a few long ones make it wider: they pull
    the mean towards themselves, and so look better placed than they are. Its degrees of freedom are Satterthwaite's.
    Where all conversations are equal, as many are taken to differ as may do so unseen (rule of three): by `step`, since
    six documents with every answer are common, and five then are no chance; of a share, to its farther end. 30 times
    1.0 are still not certainty, but a rate of 30 conversations.
    """
    n, mean = round(sums.n), min(1.0, max(0.0, sums.total / sums.turns))
    meat = sums.total2 - 2 * mean * sums.cross + mean * mean * sums.turns2
    size = float(n) if independent is None else independent
    if n > 1 and meat > 1e-9 * sums.turns2 and 0 < mean < 1:
        pulled = sums.cross_total - 2 * mean * sums.cross_turns + mean * mean * sums.turns3
        jackknifed = (meat + 2 * pulled / sums.turns) * (n - 1) / n
        size = mean * (1 - mean) * sums.turns * sums.turns / max(meat * n / (n - 1), jackknifed)
    else:
        error = (step or max(mean, 1 - mean)) * math.sqrt(rule_of_three(size) / size)
        # At the lower end of a scale the score interval reaches no further than that error, either.
        size = max(size, mean * (1 - mean) / (error * error), Z / error if step else 0.0)
    return Estimate(mean, size, max(1, min(n, _clusters_that_count(sums, mean, meat)) - 1), n)


def _clusters_that_count(sums: Clusters, mean: float, meat: float) -> int:
    """Return how many equally long conversations know as much about the variance as these (Satterthwaite 1946).

    Residual totals of `count` turns have a variance of count × (1 − alike + alike × count); alike: how much more two
    turns of a conversation resemble each other than any two, estimated from the same sums.
    """
    alike, more = 0.0, sums.turns2 - sums.turns
    if more > 0 and 0 < mean < 1:
        alike = min(1.0, max(0.0, (meat / (mean * (1 - mean)) - sums.turns) / more))
    apart = 1 - alike
    variance = apart * sums.turns + alike * sums.turns2
    squares = apart * apart * sums.turns2 + 2 * alike * apart * sums.turns3 + alike * alike * sums.turns4
    return round(variance * variance / squares)


def mean_over_conversations(sums: Clusters) -> Estimate:
    """Return the mean of the conversations' own means, in which a long one weighs no more than a short one."""
    return mean_over_turns(of_one_turn(sums.n, sums.means, sums.means2))


def rate(count: int, n: int) -> Estimate:
    """Return a rate among n conversations, n ≥ 1."""
    return mean_over_turns(of_one_turn(n, count, count))


def of_one_turn(n: float, total: float, squares: float) -> Clusters:
    """Return the sums of conversations of a single turn each; squares: of their values."""
    return Clusters(n, n, total, n, total, squares, total, squares, n, n, total, squares)


def clustered_mean(sums: Clusters) -> Interval:
    """Return the mean over all turns of values from 0 to 1, with the interval that clusters of turns leave."""
    return mean_over_turns(sums).interval


def difference(after: Estimate, before: Estimate) -> Difference:
    """Return after − before of two independent estimates.

    Newcombe's hybrid of the two score intervals (1998, method 10), for means as for rates, with t of Welch's degrees;
    p comes from the widest interval that leaves 0 out, but is not below that of the likelihood ratio: far out, where
    many figures are looked at, four failures among 30 conversations would else be surer than they are.
    """
    degrees = _welch(after, before)
    low, high = _newcombe(after, before, t_quantile(degrees))
    delta = after.value - before.value
    reach = _reach(after, before, most=min(40.0, _likelihood_reach(after, before)))
    return Difference(delta, low, high, min(after.n, before.n), t_tails(reach, degrees))


def _newcombe(after: Estimate, before: Estimate, quantile: float) -> tuple[float, float]:
    delta = after.value - before.value
    (low, high), (least, most) = after.bounds(quantile), before.bounds(quantile)
    below = math.hypot(after.value - low, most - before.value)
    return delta - below, delta + math.hypot(high - after.value, before.value - least)


def _welch(after: Estimate, before: Estimate) -> int:
    spreads = []
    for one in (after, before):
        low, high = one.bounds(Z)
        spreads.append(((high - low) ** 2, one.degrees))
    (mine, my_degrees), (theirs, their_degrees) = spreads
    return max(1, int((mine + theirs) ** 2 / (mine**2 / my_degrees + theirs**2 / their_degrees)))


def _reach(after: Estimate, before: Estimate, most: float) -> float:
    """Return how many standard errors the difference is away from 0, at most `most`."""
    if after.value == before.value:
        return 0.0
    side, sign = (0, 1) if after.value > before.value else (1, -1)

    def leaves_0_out(errors: float) -> bool:
        return sign * _newcombe(after, before, errors)[side] > 0

    if leaves_0_out(most):
        return most
    near, far = 0.0, most
    while far - near > 1e-10:
        middle = (near + far) / 2
        near, far = (middle, far) if leaves_0_out(middle) else (near, middle)
    return near


def _likelihood_reach(after: Estimate, before: Estimate) -> float:
    """Return the root of twice the log likelihood ratio of two rates against one, at their effective sizes."""
    pooled = (after.size * after.value + before.size * before.value) / (after.size + before.size)
    ratio = sum(one.size * _divergence(one.value, pooled) for one in (after, before))
    return math.sqrt(max(0.0, 2 * ratio))


def _divergence(rate: float, other: float) -> float:
    """Return KL(rate ‖ other); other may be 0 or 1 only where rate is."""
    parts = ((rate, other), (1 - rate, 1 - other))
    return math.fsum(mine * math.log(mine / theirs) for mine, theirs in parts if mine > 0 and theirs > 0)


def jackknife(value: float, left_out: Sequence[float], n: int) -> Interval:
    """Return a value from 0 to 1 with the interval that its dependence on groups of the data leaves.

    left_out: the value without each group, two or more (Efron and Tibshirani 1993, 11.5).
    """
    groups = len(left_out)
    middle = math.fsum(left_out) / groups
    error = math.sqrt((groups - 1) / groups * math.fsum((one - middle) ** 2 for one in left_out))
    half = t_quantile(groups - 1) * error
    return Interval(value, max(0.0, value - half), min(1.0, value + half), n)


def adjust(values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for the share of false discoveries among so many (Benjamini and Hochberg 1995).

    >>> adjust([0.01, 0.5, 0.02])
    [0.03, 0.5, 0.03]
    """
    order = sorted(range(len(values)), key=values.__getitem__, reverse=True)
    adjusted, least = [1.0] * len(values), 1.0
    for rank, index in zip(range(len(values), 0, -1), order, strict=True):
        least = adjusted[index] = min(least, values[index] * len(values) / rank)
    return adjusted


def adjust_family(values: Sequence[float], size: int) -> list[float]:
    """Return p-values adjusted for the chance that any of a family is named that is not so (Holm 1979).

    size: of the family, of which these may be a part.

    >>> adjust_family([0.01, 0.5, 0.02], 3)
    [0.03, 0.5, 0.04]
    """
    adjusted, most = [1.0] * len(values), 0.0
    for rank, index in enumerate(sorted(range(len(values)), key=values.__getitem__)):
        most = adjusted[index] = max(most, min(1.0, values[index] * (size - rank)))
    return adjusted


def t_quantile(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t, beyond 4 degrees by the Cornish–Fisher expansion, within 0.2 %.

    The terms are those of STATAL's code 41534 for a central t, and one more (Abramowitz and Stegun 26.7.5).
    """
    if degrees < 5:
        return _FEW_DEGREES[max(1, degrees) - 1]
    z, v = Z, float(degrees)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / v + second / v**2 + third / v**3


def t_tails(t: float, degrees: int) -> float:
    """Return how often Student's t is further from 0 than this; within 1 % of itself from 30 degrees on (Wallace 1959).

    Used for p-values, which nobody should read to the second digit.
    """
    v = float(max(1, degrees))
    z = (8 * v + 1) / (8 * v + 3) * math.sqrt(v * math.log1p(t * t / v))
    return math.erfc(z / math.sqrt(2))


def rule_of_three(n: float) -> float:
    """Return the largest rate, at 95 %, of what was not seen once among n: 3 ÷ n (Hanley and Lippman-Hand 1983)."""
    return min(1.0, 3 / n) if n else 1.0
