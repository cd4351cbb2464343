"""Standardised differences: releases compared within parts of the traffic, where the shares of these moved.

People on one platform write otherwise than people on another, and rules read one language better than another, whatever
users are answered. Where more of the traffic comes from one of them than before, all figures move without any change of
the product. So each platform, language, or language on a platform is compared with itself, and the differences are
averaged with the weights that Mantel and Haenszel (1959) gave: a part counts by the smaller of its two sides.
"""

import math
from collections.abc import Collection, Iterable, Mapping

from turnsignal.stream.reports.release_figures import ReleaseFigure
from turnsignal.stream.reports.user_spread import compared_estimates
from turnsignal.stream.statistics.intervals import Difference, Estimate, Z, difference

FEWEST = 10  #: conversations of a part, in each of both releases, from which on it is compared with itself

Figures = Mapping[str, ReleaseFigure]


def within_parts(
    pairs: Iterable[tuple[Figures, Figures, float]], left_out: Collection[str] = ()
) -> dict[str, Difference]:
    """Return after − before of every figure that a part has in both releases.

    pairs: after and before, each, and how far their users are the same; left_out: figures of conversations whose part
    is not known.
    """
    parts: dict[str, list[tuple[Estimate, Estimate]]] = {}
    for after, before, overlap in pairs:
        for name, new in after.items():
            if name in before and name not in left_out:
                old = before[name]
                pair = compared_estimates((new.mean, new.users), (old.mean, old.users), overlap)
                parts.setdefault(name, []).append(pair)
    return {name: average(strata) for name, strata in parts.items()}


def average(parts: list[tuple[Estimate, Estimate]]) -> Difference:
    """Return the average difference of pairs of estimates, after and before; a single pair's is its own."""
    differences = [difference(*pair) for pair in parts]
    if len(differences) == 1:
        return differences[0]
    weights = [part_weight(after, before) for after, before in parts]
    total = math.fsum(weights)
    value = math.fsum(weight * each.value for weight, each in zip(weights, differences, strict=True)) / total
    errors = (
        (weight * (each.high - each.low) / (2 * Z)) ** 2 for weight, each in zip(weights, differences, strict=True)
    )
    error = math.sqrt(math.fsum(errors)) / total
    tails = math.erfc(abs(value) / error / math.sqrt(2)) if error else float(value == 0.0)
    low, high = max(-1.0, value - Z * error), min(1.0, value + Z * error)  # all figures are on scales from 0 to 1
    return Difference(value, low, high, sum(each.n for each in differences), tails)


def part_weight(after: Estimate, before: Estimate) -> float:
    """Return the weight of a part with so many conversations on both sides."""
    return after.n * before.n / (after.n + before.n)
