"""Raters: how far people agree with each other, which is as far as any judge can be asked to agree with them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.agreement.figures import RESAMPLES, SEED, AgreementFigure


class RatedItem(NamedTuple):
    """What several people said of one item, each of them a class."""

    conversation: str
    classes: tuple[bool | str, ...]


def alpha(items: Sequence[RatedItem], resamples: int = RESAMPLES) -> AgreementFigure | None:
    """Return Krippendorff's alpha for classes (2011), with a 95 % interval by drawing conversations anew, seeded.

    Items with one rater do not count; None where all raters give one and the same class, or nobody has company.
    """
    items = [item for item in items if len(item.classes) > 1]
    if not items:
        return None
    classes = {name: index for index, name in enumerate(dict.fromkeys(name for item in items for name in item.classes))}
    conversations = {name: index for index, name in enumerate(dict.fromkeys(item.conversation for item in items))}
    pairs = np.zeros((len(conversations), len(classes), len(classes)))
    for item in items:
        counts = np.bincount([classes[name] for name in item.classes], minlength=len(classes)).astype(float)
        together = np.outer(counts, counts) - np.diag(counts)
        pairs[conversations[item.conversation]] += together / (len(item.classes) - 1)
    value = _alpha(pairs.sum(axis=0))
    if value is None:
        return None
    draws = np.random.default_rng(SEED).multinomial(len(pairs), np.full(len(pairs), 1 / len(pairs)), resamples)
    drawn = [one for weights in draws if (one := _alpha(np.tensordot(weights, pairs, 1))) is not None]
    low, high = (float(bound) for bound in np.percentile(drawn, [2.5, 97.5])) if drawn else (None, None)
    return AgreementFigure(value, low, high, len(items))


def _alpha(pairs: Any) -> float | None:
    """Return alpha of a matrix that says how often two raters of one item gave two classes."""
    totals = pairs.sum(axis=0)
    n = float(totals.sum())
    expected = float(n * n - np.sum(totals**2))
    if n <= 1 or expected <= 0:
        return None
    observed = float(n - np.trace(pairs))
    return 1.0 - (n - 1) * observed / expected
