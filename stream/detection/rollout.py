"""Rollout: whether a new version is worse than the one that it replaces, to be looked at after every turn.

An asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Annals of Statistics 2024) for the
difference of two means, with variances by conversation: values of one conversation are not independent. It may be read
at any time: that it ever excludes the truth, over a whole rollout, has the probability alpha.
"""

import math
from typing import NamedTuple

import msgspec

ALPHA = 0.05  #: of all versions that are no worse, the share for which an alarm says worse, at most
LEAST_CONVERSATIONS = 30  #: on either side, before which a variance is not believed

_LEAST_SPREAD = 0.25  # as if one value differed by a half: where all are equal, the next one may be another
_TIGHTEST = 3_600.0  # 1 ÷ variance of a difference at which the sequence is tightest: where 0.05 is three errors
_MIXING = math.sqrt((-2.0 * math.log(ALPHA) + math.log(1.0 - 2.0 * math.log(ALPHA))) / _TIGHTEST)


class ClusterSums(msgspec.Struct, array_like=True, gc=False):
    """Sums from which mean and variance follow, by conversation, without a conversation being kept.

    n, total: of the shortfalls; conversations: how many; squares, cross, sizes: over conversations, of their sums
    squared, of their sums times their sizes, and of their sizes squared.
    """

    n: float = 0.0
    total: float = 0.0
    conversations: float = 0.0
    squares: float = 0.0
    cross: float = 0.0
    sizes: float = 0.0

    def add(self, shortfall: float, n: float, before: float) -> None:
        """Take in a shortfall; n, before: number and sum of the earlier ones of its conversation."""
        after = before + shortfall
        self.n += 1.0
        self.total += shortfall
        if not n:
            self.conversations += 1.0
        self.squares += after * after - before * before
        self.cross += (n + 1.0) * after - n * before
        self.sizes += 2.0 * n + 1.0

    def since(self, start: "ClusterSums") -> "ClusterSums":
        """Return what has come since these sums were `start`."""
        return ClusterSums(
            self.n - start.n,
            self.total - start.total,
            self.conversations - start.conversations,
            self.squares - start.squares,
            self.cross - start.cross,
            self.sizes - start.sizes,
        )

    def mean(self) -> float:
        """Return the mean shortfall, 0 without any."""
        return self.total / self.n if self.n else 0.0

    def variance(self) -> float:
        """Return the variance of the mean, infinite for less than two conversations."""
        if self.conversations < 2.0:
            return math.inf
        mean = self.mean()
        spread = self.squares - 2.0 * mean * self.cross + mean * mean * self.sizes
        return max(spread, _LEAST_SPREAD) / self.n**2 * self.conversations / (self.conversations - 1.0)


class VersionDifference(NamedTuple):
    """How much lower the values of one version are than those of another.

    mean; lower, upper: bounds that hold at all times, each with probability 1 − alpha; n: observations of the new one.
    """

    mean: float
    lower: float
    upper: float
    n: int


def compare(new: ClusterSums, old: ClusterSums) -> VersionDifference | None:
    """Compare shortfalls (usual less value) of two versions; None while there are too few conversations."""
    if min(new.conversations, old.conversations) < LEAST_CONVERSATIONS:
        return None
    mean = new.mean() - old.mean()
    reach = half_width(new.variance() + old.variance())
    return VersionDifference(mean, mean - reach, mean + reach, round(new.n))


def half_width(variance: float) -> float:
    """Return how far the bounds of a confidence sequence lie from an estimate of that variance, on each side."""
    if math.isinf(variance):
        return math.inf
    mixed = _MIXING**2 / variance + 1.0
    return math.sqrt(2.0 * mixed * math.log(1.0 + math.sqrt(mixed) / (2.0 * ALPHA))) / _MIXING * variance
