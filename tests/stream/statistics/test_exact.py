"""Chances of two by two tables beside SciPy's."""

import random

import pytest
from scipy.stats import hypergeom

from turnsignal.stream.statistics.exact import fisher


def test_both_tails_are_those_of_the_hypergeometric_distribution() -> None:
    dice = random.Random(1)
    for _ in range(300):
        n = dice.choice([5, 40, 1_000, 50_000])
        first, second = dice.randint(0, n), dice.randint(0, n)
        both = dice.randint(max(0, first + second - n), min(first, second))
        tails = hypergeom.cdf(both, n, second, first), hypergeom.sf(both - 1, n, second, first)
        assert fisher(both, first, second, n) == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-6, abs=1e-12)


def test_no_property_at_all_is_no_evidence() -> None:
    assert fisher(0, 0, 0, 10) == 1.0
    assert fisher(10, 10, 10, 10) == 1.0
