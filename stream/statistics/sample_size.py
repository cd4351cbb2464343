"""Sample size: how large a difference a comparison would have named, and how much traffic it takes to name one."""

import math
from collections.abc import Collection
from statistics import NormalDist

from turnsignal.stream.statistics.intervals import Difference, t_quantile
from turnsignal.stream.statistics.promise import PROMISE, families

POWER = 0.8416212335729143  #: 80 % quantile of the normal distribution


def level_of(name: str, primary: str, figures: Collection[str]) -> float:
    """Return the p below which one of these figures is named.

    The primary has half of the promise to itself. Another one has to stand beside those of its family, which do not
    differ.
    """
    if name == primary:
        return PROMISE / 2
    beside = [figure for figure in {name: None} | dict.fromkeys(figures) if figure != primary]
    return next(PROMISE / 2 * share / len(family) for family, share in families(beside) if name in family)


def least_shown(delta: Difference, level: float) -> float:
    """Return the smallest difference that this comparison would have named in 80 of 100 cases; level: `level_of` it."""
    half = (delta.high - delta.low) / 2
    return half * (_quantile(level) + POWER) / t_quantile(max(1, delta.n - 1))


def conversations_needed(delta: Difference, wanted: float, level: float, least_change: float) -> int:
    """Return how many conversations like these it takes to name a difference in 80 of 100 cases.

    level: `level_of` it; least_change: below `wanted`: what comes out has to be as large, too. Half the squared
    quantile is for t in the place of the normal distribution (Guenther 1981).
    """
    quantile = _quantile(level)
    shown = least_shown(delta, level)
    large = shown * POWER / (quantile + POWER)
    share = max(shown / wanted, large / (wanted - least_change))
    return math.ceil(delta.n * share * share + quantile * quantile / 2)


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf(1 - level / 2)
