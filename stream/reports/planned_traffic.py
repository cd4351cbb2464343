"""Planned traffic: how many conversations and days it takes to name a difference of a given size."""

import math
from typing import NamedTuple

from turnsignal.stream.reports.paired import PairedScores
from turnsignal.stream.statistics.sample_size import conversations_needed, level_of


class Planned(NamedTuple):
    """What it takes to name a difference in 80 of 100 cases.

    conversations: None where so small a one is never named; days: at the traffic of the recording, None where that has
    no length.
    """

    conversations: int | None
    days: float | None


def plan(
    scores: PairedScores, wanted: float, primary: str, least_change: float, minimum: int = 2
) -> dict[str, Planned]:
    """Estimate how much traffic like this it takes to name a difference, for each scorer that differs anywhere.

    primary, least_change, minimum: as in `PairedScores.claimed`.
    """
    span = scores.until - scores.since
    deltas = scores.figures(minimum, primary)
    planned = {}
    for name, delta in scores.differences().items():
        if delta.high <= delta.low:
            continue
        if wanted <= least_change:
            planned[name] = Planned(None, None)
            continue
        level = level_of(name, primary, deltas)
        needed = max(minimum, conversations_needed(delta, wanted, level, least_change))
        days = needed / delta.n * span / 86_400 if math.isfinite(span) and span > 0 else None
        planned[name] = Planned(needed, days)
    return planned
