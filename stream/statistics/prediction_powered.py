"""Prediction-powered inference: a judged rate, corrected by a few labels that people gave.

PPI++ (Angelopoulos, Duchi, Zrnic 2023): the mean of a judge's values over everything, moved by how far people differ
from the judge where both are known, and tuned so that a useless judge does no harm. The variance is taken over
conversations, as turns of one resemble each other. Its interval is a score interval with t of the labels that are
rarer, since it is these that the variance is known by.

Where a judge was asked of a part only, each observation counts by the inverse of the probability with which it was
among those (Hájek 1971, the ratio form of Horvitz and Thompson 1952), in the means as in their variance.

It does not hold where hardly any of the rarer labels can be among those that were given: there the labels speak alone.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.statistics.intervals import Estimate, t_quantile

FEWEST_RARER = 5  #: labels of the rarer kind to be expected, beneath which the judge is left out
_FEWEST_DEGREES = 3


class JudgedLabel(NamedTuple):
    """One observation. label: what people say, None where nobody was asked; judged: the judge's value; both 0–1.

    weight: the inverse of the probability with which the judge was asked of it.
    """

    conversation: str
    judged: float
    label: float | None = None
    weight: float = 1.0


class CorrectedRate(NamedTuple):
    """The mean label of everything, with its 95 % interval.

    n: labelled observations; by_labels: they speak alone, since too few of them are of the rarer kind.
    """

    value: float
    low: float
    high: float
    n: int
    by_labels: bool


def corrected_mean(observed: Sequence[JudgedLabel]) -> CorrectedRate | None:
    """Return the mean label of all observations; None without two labelled conversations.

    Values that were not judged have to be left out by the caller, and make the result one about those that were.
    """
    conversations = {name: index for index, name in enumerate(dict.fromkeys(one.conversation for one in observed))}
    whose = np.array([conversations[one.conversation] for one in observed], dtype=np.int64)
    judged = np.array([one.judged for one in observed], dtype=float)
    known = np.array([one.label is not None for one in observed], dtype=bool)
    labels = np.array([one.label or 0.0 for one in observed if one.label is not None], dtype=float)
    if (len(np.unique(whose[known])) if len(observed) else 0) < 2:
        return None
    n, weights = int(known.sum()), np.array([one.weight for one in observed], dtype=float)
    groups = _equal_groups(whose[known], weights[known])
    # By the judge's rate over everything, which hardly depends on the labels: chosen by these, the result is biased.
    few = groups * _rarer(float(np.average(judged, weights=weights))) < FEWEST_RARER
    tuning = 0.0 if few else _tuning(labels, judged[known], weights[known], weights[~known])
    mean, influence = _hajek(labels - tuning * judged[known], weights[known], whose[known], len(conversations))
    if tuning:
        more, pulled = _hajek(tuning * judged[~known], weights[~known], whose[~known], len(conversations))
        mean += more
        influence += pulled
    variance = float(np.sum(influence**2) * groups / (groups - 1))
    value = min(1.0, max(0.0, mean))
    size = value * (1 - value) / variance if variance > 1e-12 and 0 < value < 1 else groups
    degrees = max(1, round(groups) - 1)
    if tuning or np.ptp(weights[known]):
        degrees = min(degrees, max(_FEWEST_DEGREES, round(2 * groups * _rarer(value))))
    bounds = Estimate(value, size, degrees, n).bounds(t_quantile(degrees))
    return CorrectedRate(value, *bounds, n, few)


def _rarer(rate: float) -> float:
    return min(rate, 1 - rate)


def _hajek(values: Any, weights: Any, whose: Any, conversations: int) -> tuple[float, Any]:
    """Return the weighted mean, and by how much each conversation moves it."""
    mean = float(np.average(values, weights=weights))
    return mean, np.bincount(whose, weights * (values - mean), minlength=conversations) / weights.sum()


def _equal_groups(whose: Any, weights: Any) -> float:
    """Return how many conversations of equal weight are worth as much as these (Kish): with equal ones, all."""
    counts = np.bincount(whose)
    means = (np.bincount(whose, weights) / np.maximum(counts, 1))[counts > 0]
    return float(means.sum() ** 2 / np.sum(means**2))


def _tuning(labels: Any, judged: Any, weights: Any, rest: Any) -> float:
    """Return how much the judge's values count, from 0 to 1, so that the variance is smallest.

    The variance of the judge's values is that of the labelled ones, as their covariance with the labels is: with that
    of all values in its place, a rate of 0.9 came out 0.013 too high from 30 labels.

    weights: of the labelled ones; rest: those of the others.
    """
    (_, together), (_, spread) = np.cov(labels, judged, aweights=weights**2 if np.ptp(weights) else None)
    if not len(rest) or spread == 0.0:
        return 0.0
    beside = weights.sum() ** 2 / np.sum(weights**2) * np.sum(rest**2) / rest.sum() ** 2
    return float(min(1.0, max(0.0, together / ((1 + beside) * spread))))
