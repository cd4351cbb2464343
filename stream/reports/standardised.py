"""Standardised differences: releases compared within platforms, where the shares of platforms moved between them.

People on one platform write otherwise than people on another, whatever they are answered. Where more of the traffic
comes from one of them than before, all figures move without any change of the product. So each platform is compared
with itself, and the differences are averaged with the weights that Mantel and Haenszel (1959) gave: a platform counts
by the smaller of its two sides.
"""

import math
from collections.abc import Iterable, Mapping

from turnsignal.stream.reports.release_figures import ReleaseFigure
from turnsignal.stream.statistics.intervals import Difference, Estimate, Z, difference

FEWEST = 10  #: conversations of a platform, in each of both releases, from which on it is compared with itself
UNANSWERED = "unanswered"  #: of conversations that may have had no answer, and so no platform that is known

Figures = Mapping[str, ReleaseFigure]


def within_platforms(pairs: Iterable[tuple[Figures, Figures]], *, placed: bool) -> dict[str, Difference]:
    """Return after − before of every figure that a platform has in both releases.

    pairs: after and before, each; placed: whether the platform of every conversation is known, and so also of those
    that nobody answered.
    """
    parts: dict[str, list[tuple[Estimate, Estimate]]] = {}
    for after, before in pairs:
        for name in after:
            if name in before and (placed or name != UNANSWERED):
                parts.setdefault(name, []).append((after[name].mean, before[name].mean))
    return {name: average(strata) for name, strata in parts.items()}


def average(parts: list[tuple[Estimate, Estimate]]) -> Difference:
    """Return the average difference of pairs of estimates, after and before; a single pair's is its own."""
    differences = [difference(*pair) for pair in parts]
    if len(differences) == 1:
        return differences[0]
    weights = [after.n * before.n / (after.n + before.n) for after, before in parts]
    total = math.fsum(weights)
    value = math.fsum(weight * each.value for weight, each in zip(weights, differences, strict=True)) / total
    errors = (
        (weight * (each.high - each.low) / (2 * Z)) ** 2 for weight, each in zip(weights, differences, strict=True)
    )
    error = math.sqrt(math.fsum(errors)) / total
    tails = math.erfc(abs(value) / error / math.sqrt(2)) if error else float(value == 0.0)
    low, high = max(-1.0, value - Z * error), min(1.0, value + Z * error)  # all figures are on scales from 0 to 1
    return Difference(value, low, high, sum(each.n for each in differences), tails)
