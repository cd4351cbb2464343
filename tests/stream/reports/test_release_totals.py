"""Totals of a release are the same in whatever order conversations come, and in however many parts."""

import random

import numpy as np

from turnsignal.stream.reports.release_totals import MOMENTS, ReleaseTotals


def totals_of(platforms: list[str]) -> ReleaseTotals:
    totals = ReleaseTotals(0.0, np.zeros((1, MOMENTS)))
    for platform in platforms:
        totals.outcomes["resolved"] += 1
        if (stratum := totals.stratum(platform)) is not None:
            stratum.outcomes["resolved"] += 1
    return totals


def told(totals: ReleaseTotals) -> dict[str, int]:
    return {name: stratum.outcomes.total() for name, stratum in sorted(totals.strata.items())}


def test_of_very_many_platforms_the_same_ones_are_told_apart_whatever_the_order_and_the_number_of_parts() -> None:
    seen = [f"p{number:02}" for number in range(20) for _ in range(number + 1)]
    expected = {f"p{number:02}": number + 1 for number in range(8)}
    for seed in range(20):
        random.Random(seed).shuffle(seen)
        assert told(totals_of(seen)) == expected
        whole = totals_of(seen[:70])
        whole.merge(totals_of(seen[70:]))
        assert told(whole) == expected
        assert not whole.placed
