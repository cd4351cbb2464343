"""Prediction-powered inference: a judged rate, corrected by a few labels that people gave.

PPI++ (Angelopoulos, Duchi, Zrnic 2023): the mean of a judge's values over everything, moved by how far people differ
from the judge where both are known, and tuned so that a useless judge does no harm. The variance is taken over
conversations, as turns of one resemble each other.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.statistics.intervals import Interval, t_quantile


class JudgedLabel(NamedTuple):
    """One observation. label: what people say, None where nobody was asked; judged: the judge's value; both 0–1."""

    conversation: str
    judged: float
    label: float | None = None


def corrected_mean(observed: Sequence[JudgedLabel]) -> Interval | None:
    """Return the mean label of all observations with its 95 % interval; None without two labelled conversations.

    n: labelled observations. Values that were not judged have to be left out by the caller, and make the result one
    about those that were.
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
    tuning = _tuning(labels, judged[known], judged[~known])
    residuals = labels - tuning * judged[known]
    mean = float(residuals.mean())
    influence = np.bincount(whose[known], residuals - mean, minlength=len(conversations)) / n
    if rest:
        predicted = judged[~known]
        mean += tuning * float(predicted.mean())
        influence += np.bincount(whose[~known], tuning * (predicted - predicted.mean()), len(conversations)) / rest
    error = float(np.sqrt(np.sum(influence**2) * groups / (groups - 1)))
    if error == 0.0:  # no label differs from the judge: what so many cannot rule out
        error = 1.0 / (n + 2)
    half = t_quantile(groups - 1) * error
    value = min(1.0, max(0.0, mean))
    return Interval(value, max(0.0, mean - half), min(1.0, mean + half), n)


def _tuning(labels: Any, judged: Any, others: Any) -> float:
    """Return how much the judge's values count, from 0 to 1, so that the variance is smallest."""
    n, rest = len(labels), len(others)
    spread = float(np.var(np.concatenate([judged, others]), ddof=1))
    if not rest or spread == 0.0:
        return 0.0
    together = float(np.cov(labels, judged)[0, 1])
    return min(1.0, max(0.0, together / ((1 + n / rest) * spread)))
