"""Agreement: how well a scorer agrees with people's labels or a reference, with intervals.

Turns of one conversation resemble each other, so the bootstrap draws whole conversations. Equal observations are
counted together, so a figure costs the same for a thousand turns as for a million.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.metrics import cohen_kappa_score, roc_auc_score

RESAMPLES = 500
SEED = 20250301


class LabelledPair(NamedTuple):
    """One observation: a label and the scorer's answer to the same question.

    conversation: the unit that the bootstrap draws; truth, predicted: the label's and the scorer's yes or no; value:
    the scorer's number, higher if yes is likelier; label, word: the label and the scorer's own word, for the confusion
    table; group: figures are also computed for each group.
    """

    conversation: str
    truth: bool
    predicted: bool
    value: float = 0.0
    label: str = ""
    word: str = ""
    group: str = ""


@dataclass(slots=True, frozen=True)
class AgreementFigure:
    """One figure. value: None if it is undefined; low, high: 95 % interval, None without one; n: observations."""

    value: float | None
    low: float | None
    high: float | None
    n: int


def figures(
    observed: Sequence[LabelledPair], wanted: Iterable[str], resamples: int = RESAMPLES
) -> dict[str, AgreementFigure]:
    """Compute figures with 95 % percentile intervals from a bootstrap over conversations (Efron, 1979), seeded.

    wanted: some of FIGURES; undefined figures (recall without a positive label, …) are left out. resamples: 0 for no
    intervals. An interval of width 0 means that no conversation disagreed here, not that none ever will.
    """
    if not observed:
        return {}
    cells, counts = _count(observed)
    names = list(wanted)
    points = _compute(names, cells, counts.sum(axis=0))
    draws = np.random.default_rng(SEED).multinomial(len(counts), np.full(len(counts), 1 / len(counts)), resamples)
    with config_context(assume_finite=True, skip_parameter_validation=True):  # a fifth of the time, for our own arrays
        drawn = np.array([_compute(names, cells, weights) for weights in draws @ counts]).reshape(resamples, len(names))
    out = {}
    for column, name in enumerate(names):
        if not np.isnan(points[column]):
            low, high = _interval(drawn[:, column])
            out[name] = AgreementFigure(float(points[column]), low, high, _size(name, observed))
    return out


def confusion(observed: Iterable[LabelledPair]) -> dict[str, dict[str, int]]:
    """Return the confusion table: label → the scorer's word → how often."""
    table: dict[str, dict[str, int]] = {}
    for pair in observed:
        words = table.setdefault(pair.label, {})
        words[pair.word] = words.get(pair.word, 0) + 1
    return table


class _Cells(NamedTuple):
    """The distinct observations: three arrays of the same length."""

    truth: Any
    predicted: Any
    value: Any


def _count(observed: Sequence[LabelledPair]) -> tuple[_Cells, Any]:
    """Return the distinct observations and their counts: a row for each conversation, a column for each observation."""
    conversations = {name: index for index, name in enumerate(dict.fromkeys(pair.conversation for pair in observed))}
    distinct = sorted({(pair.truth, pair.predicted, pair.value) for pair in observed})
    cells = {cell: index for index, cell in enumerate(distinct)}
    counts = np.zeros((len(conversations), len(cells)), dtype=np.int64)
    for pair in observed:
        counts[conversations[pair.conversation], cells[pair.truth, pair.predicted, pair.value]] += 1
    truth, predicted, value = (np.array(column) for column in zip(*cells, strict=True))
    return _Cells(truth, predicted, value), counts


def _interval(values: Any) -> tuple[float | None, float | None]:
    """Return the middle 95 % of the resamples; resamples in which the figure is undefined are left out."""
    known = values[~np.isnan(values)]
    if not len(known):
        return None, None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def _compute(names: Sequence[str], cells: _Cells, weights: Any) -> list[float]:
    return [_FORMULAS[name](cells, weights) for name in names]


def _size(name: str, observed: Sequence[LabelledPair]) -> int:
    """Return a figure's denominator: predicted positives for precision, labelled positives for recall."""
    if name == "precision":
        return sum(pair.predicted for pair in observed)
    if name in ("recall", "sensitivity"):
        return sum(pair.truth for pair in observed)
    if name in ("false_alarm_rate", "specificity"):
        return sum(not pair.truth for pair in observed)
    return len(observed)


def _share(part: Any, whole: Any) -> float:
    return float(part / whole) if whole else float("nan")


def _precision(cells: _Cells, weights: Any) -> float:
    return _share(weights[cells.truth & cells.predicted].sum(), weights[cells.predicted].sum())


def _recall(cells: _Cells, weights: Any) -> float:
    return _share(weights[cells.truth & cells.predicted].sum(), weights[cells.truth].sum())


def _f1(cells: _Cells, weights: Any) -> float:
    """Return the harmonic mean of precision and recall."""
    if not weights[cells.truth].any():
        return float("nan")
    both = weights[cells.truth].sum() + weights[cells.predicted].sum()
    return _share(2 * weights[cells.truth & cells.predicted].sum(), both)


def _agreement(cells: _Cells, weights: Any) -> float:
    return _share(weights[cells.truth == cells.predicted].sum(), weights.sum())


def _false_alarms(cells: _Cells, weights: Any) -> float:
    return _share(weights[~cells.truth & cells.predicted].sum(), weights[~cells.truth].sum())


def _specificity(cells: _Cells, weights: Any) -> float:
    """Return the share of negatives that the scorer leaves alone."""
    return 1.0 - _false_alarms(cells, weights)


def _ac1(cells: _Cells, weights: Any) -> float:
    """Return Gwet's AC1 (2008), which stays near the agreement where one answer is rare and kappa does not."""
    total = weights.sum()
    if not total:
        return float("nan")
    positive = float(weights[cells.truth].sum() + weights[cells.predicted].sum()) / (2 * float(total))
    by_chance = 2 * positive * (1 - positive)
    return (_agreement(cells, weights) - by_chance) / (1 - by_chance)


def _kappa(cells: _Cells, weights: Any) -> float:
    """Return Cohen's kappa; undefined if the label and the scorer both give one and the same answer throughout."""
    if _one_sided(cells.truth, weights) and _one_sided(cells.predicted, weights):
        return float("nan")
    return float(cohen_kappa_score(cells.truth, cells.predicted, sample_weight=weights))


def _auc(cells: _Cells, weights: Any) -> float:
    """Return the area under the ROC curve of the scorer's number."""
    if _one_sided(cells.truth, weights):
        return float("nan")
    return float(roc_auc_score(cells.truth, cells.value, sample_weight=weights))


def _one_sided(column: Any, weights: Any) -> bool:
    return not (weights[column].any() and weights[~column].any())


_FORMULAS: dict[str, Callable[[_Cells, Any], float]] = {
    "precision": _precision,
    "recall": _recall,
    "f1": _f1,
    "kappa": _kappa,
    "auc": _auc,
    "agreement": _agreement,
    "false_alarm_rate": _false_alarms,
    "sensitivity": _recall,
    "specificity": _specificity,
    "ac1": _ac1,
}

FIGURES = tuple(_FORMULAS)  #: the names that `figures` accepts
