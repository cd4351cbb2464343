"""Promise: how often a comparison may name a change where there is none, and what moved without adjustment."""

from turnsignal.stream.statistics.intervals import Difference

PROMISE = 0.05  #: share of comparisons without any difference that may name one


def moved(delta: Difference, way: int, least_change: float) -> bool:
    """Say whether a figure moved that way; without adjustment, since what comes of it is to claim less."""
    by = way * delta.value
    return by >= least_change and by > 0 and delta.p <= PROMISE
