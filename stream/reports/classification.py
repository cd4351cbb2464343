"""Classification: precision, recall and F1 where a query may belong to several classes, as scikit-learn counts them.

Of each class, and their averages: micro over all labels, macro over classes, weighted by how many queries a class has,
samples over queries. What would be divided by nothing is 0, as its `zero_division=0` has it. Sums over labels alone, so
that classes may be many.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

Labels = Sequence[str]
F1 = "f1-score"
#: names as in scikit-learn's report
MICRO, MACRO, WEIGHTED, SAMPLES = "micro avg", "macro avg", "weighted avg", "samples avg"


class ClassCounts(NamedTuple):
    """Of each class how many queries have it, how many predictions do, and how many both."""

    expected: Counter[str]
    predicted: Counter[str]
    both: Counter[str]

    def f1(self, label: str, both: int = 0, predicted: int = 0) -> float:
        """Return F1 of a class; both, predicted: as many more."""
        total = self.expected[label] + self.predicted[label] + predicted
        return _ratio(2 * (self.both[label] + both), total)


class Figures(NamedTuple):
    """Precision, recall and F1; support: how many queries have the class, or labels they have in all."""

    precision: float
    recall: float
    f1: float
    support: float

    def as_json(self) -> dict[str, float]:
        """Return them under scikit-learn's names."""
        return {"precision": self.precision, "recall": self.recall, F1: self.f1, "support": self.support}


class Classified(NamedTuple):
    """The figures of each class, in the order of the classes, and the four averages by name."""

    classes: dict[str, Figures]
    averages: dict[str, Figures]


def count_classes(pairs: Iterable[tuple[Labels, Labels]]) -> ClassCounts:
    """Count (expected, predicted) labels, each once in a query."""
    counts = ClassCounts(Counter(), Counter(), Counter())
    for expected, predicted in pairs:
        counts.expected.update(expected)
        counts.predicted.update(predicted)
        counts.both.update(set(expected).intersection(predicted))
    return counts


def classify(pairs: Collection[tuple[Labels, Labels]], classes: Sequence[str]) -> Classified:
    """Return the figures of these classes, one or more; predicted labels that are none of them are left out.

    pairs: (expected, predicted) labels of each query, one or more.
    """
    counts, known = count_classes(pairs), frozenset(classes)
    figures = {
        label: _figures(counts.expected[label], counts.predicted[label], counts.both[label]) for label in classes
    }
    support = sum(counts.expected[label] for label in classes)
    predicted, both = (sum(side[label] for label in classes) for side in (counts.predicted, counts.both))
    of_classes = list(figures.values())
    weights = [one.support for one in of_classes]
    samples = [_sample(set(mine) & known, set(theirs) & known) for mine, theirs in pairs]
    averages = {
        MICRO: _figures(support, predicted, both),
        MACRO: _average(of_classes, None, support),
        WEIGHTED: _average(of_classes, weights if support else None, support),
        SAMPLES: _average(samples, None, support),
    }
    return Classified(figures, averages)


def _sample(expected: set[str], predicted: set[str]) -> Figures:
    return _figures(len(expected), len(predicted), len(expected & predicted))


def _figures(expected: int, predicted: int, both: int) -> Figures:
    return Figures(
        _ratio(both, predicted), _ratio(both, expected), _ratio(2 * both, expected + predicted), float(expected)
    )


def _average(figures: Sequence[Figures], weights: Sequence[float] | None, support: int) -> Figures:
    columns = np.array([one[:3] for one in figures], dtype=np.float64).T
    precision, recall, f1 = (float(np.average(column.copy(), weights=weights)) for column in columns)
    return Figures(precision, recall, f1, float(support))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
