"""Prediction-powered inference: a judged rate, corrected by a few labels that people gave.

PPI++ (Angelopoulos, Duchi, Zrnic 2023): the mean of a judge's values over everything, moved by how far people differ
from the judge where both are known, and tuned so that a useless judge does no harm. The variance is taken over
conversations, as turns of one resemble each other. Its interval is a score interval with t of the labels that are
rarer, since it is these that the variance is known by.

It does not hold where hardly any of the rarer labels can be among those that were given: there the labels speak alone.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.statistics.intervals import Estimate, t_quantile

FEWEST_RARER = 5  #: labels of the rarer kind to be expected, beneath which the judge is left out
_FEWEST_DEGREES = 3


class JudgedLabel(NamedTuple):
    """One observation. label: what people say, None where nobody was asked; judged: the judge's value; both 0–1."""

    conversation: str
    judged: float
    label: float | None = None


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
    groups = len(np.unique(whose[known])) if len(observed) else 0
    if groups < 2:
        return None
    n, rest = int(known.sum()), int((~known).sum())
    # By the judge's rate over everything, which hardly depends on the labels: chosen by these, the result is biased.
    few = groups * _rarer(float(judged.mean())) < FEWEST_RARER
    tuning = 0.0 if few else _tuning(labels, judged[known], rest)
    residuals = labels - tuning * judged[known]
    mean = float(residuals.mean())
    influence = np.bincount(whose[known], residuals - mean, minlength=len(conversations)) / n
    if tuning:
        predicted = judged[~known]
        mean += tuning * float(predicted.mean())
        influence += np.bincount(whose[~known], tuning * (predicted - predicted.mean()), len(conversations)) / rest
    variance = float(np.sum(influence**2) * groups / (groups - 1))
    value = min(1.0, max(0.0, mean))
    size = value * (1 - value) / variance if variance > 1e-12 and 0 < value < 1 else float(groups)
    degrees = groups - 1
    if tuning:
        degrees = min(degrees, max(_FEWEST_DEGREES, round(2 * groups * _rarer(value))))
    bounds = Estimate(value, size, degrees, n).bounds(t_quantile(degrees))
    return CorrectedRate(value, *bounds, n, few)


def _rarer(rate: float) -> float:
    return min(rate, 1 - rate)


def _tuning(labels: Any, judged: Any, rest: int) -> float:
    """Return how much the judge's values count, from 0 to 1, so that the variance is smallest.

    The variance of the judge's values is that of the labelled ones, as their covariance with the labels is: with that
    of all values in its place, a rate of 0.9 came out 0.013 too high from 30 labels.
    """
    spread = float(np.var(judged, ddof=1))
    if not rest or spread == 0.0:
        return 0.0
    together = float(np.cov(labels, judged)[0, 1])
    return min(1.0, max(0.0, together / ((1 + len(labels) / rest) * spread)))
