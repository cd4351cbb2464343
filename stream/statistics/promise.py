"""Promise: how often a comparison may name a change where there is none, and what moved without adjustment."""

from collections.abc import Collection

from turnsignal.stream.statistics.directions import WHETHER_HELPED
from turnsignal.stream.statistics.intervals import Difference

PROMISE = 0.05  #: share of comparisons without any difference that may name one
_OF_HELPED = 0.5  #: of what the primary figure leaves of it: share of the figures that say whether users were helped


def families(names: Collection[str]) -> list[tuple[list[str], float]]:
    """Return figures beside the primary one in two families, each with its share of what that leaves of the promise.

    >>> [family for family, _ in families(["resolved", "cited"])], families(["cited"])
    ([['resolved'], ['cited']], [(['cited'], 1.0)])
    """
    helped = [name for name in names if name in WHETHER_HELPED]
    others = [name for name in names if name not in WHETHER_HELPED]
    if helped and others:
        return [(helped, _OF_HELPED), (others, 1 - _OF_HELPED)]
    return [(list(names), 1.0)]


def moved(delta: Difference, way: int, least_change: float) -> bool:
    """Say whether a figure moved that way; without adjustment, since what comes of it is to claim less."""
    by = way * delta.value
    return by >= least_change and by > 0 and delta.p <= PROMISE
