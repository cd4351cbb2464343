"""Routing: which agents queries were sent to, beside those they belong to; Waterfall's report, and what it leaves out.

Waterfall's script drops predicted labels that no query belongs to, so its precision is too good. Its figures stay as
they are, because somebody compares with them; those that count every label stand beside.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.reports.classification import Classified, classify
from turnsignal.stream.reports.labelled import DIMENSIONS, Labelled, LabelledQueries, QueryId

Labels = tuple[str, ...]


class RoutedQuery(NamedTuple):
    """A query that both files have: the agents that it belongs to, and those that it was sent to."""

    query: Labelled
    predicted: Labels

    @property
    def expected(self) -> Labels:
        """The agents that it belongs to."""
        return self.query.labels

    @property
    def is_exact(self) -> bool:
        """Whether it was sent to those agents and no others."""
        return set(self.expected) == set(self.predicted)

    @property
    def is_partial(self) -> bool:
        """Whether some of the agents are right, and not all."""
        return not self.is_exact and not set(self.expected).isdisjoint(self.predicted)

    @property
    def missed(self) -> list[str]:
        """Agents that it should have been sent to, and was not."""
        return [label for label in self.expected if label not in self.predicted]

    @property
    def extra(self) -> list[str]:
        """Agents that it was sent to, and should not have been."""
        return [label for label in self.predicted if label not in self.expected]


class Routing:
    """Queries of both files side by side.

    totals: queries of each file; common: in both; missing: ids without a prediction; extra: ids that only the
    predictions have; filtered: ids left out because they belong to a class to remove; queries: all others, by id.
    """

    def __init__(self, expected: LabelledQueries, predicted: LabelledQueries, remove: Collection[str] = ()) -> None:
        mine, theirs = expected.by_id, predicted.by_id
        self.totals = (len(mine), len(theirs))
        self.missing = _in_order(mine[name].id for name in mine.keys() - theirs.keys())
        self.extra = _in_order(theirs[name].id for name in theirs.keys() - mine.keys())
        common = _in_order(mine[name].id for name in mine.keys() & theirs.keys())
        self.common = len(common)
        pairs = [RoutedQuery(mine[str(name)], theirs[str(name)].labels) for name in common]
        removed = frozenset(remove)
        self.filtered = [pair.query.id for pair in pairs if not removed.isdisjoint(pair.expected)]
        self.queries = [pair for pair in pairs if removed.isdisjoint(pair.expected)]
        self._refuse_nothing(expected, predicted, sorted(removed))

    def _refuse_nothing(self, expected: LabelledQueries, predicted: LabelledQueries, removed: list[str]) -> None:
        if not self.common:
            names = [repr(next(iter(file.by_id), "nothing at all"))[:80] for file in (expected, predicted)]
            msg = f"expected queries that both files have, got none: ids such as {names[0]} there and {names[1]} here"
        elif not self.queries:
            names = [repr(label) for label in removed]
            msg = f"expected queries to be left, got none: all {self.common:,} belong to {' or '.join(names)}"
        elif not self.classes:
            msg = (
                f"expected labels of the queries, got none of any of {len(self.queries):,}: `labels` is a list such as"
                ' ["billing"]'
            )
        else:
            return
        raise TurnsignalError(msg)

    @cached_property
    def pairs(self) -> list[tuple[Labels, Labels]]:
        """(expected, predicted) labels of each query."""
        return [(pair.expected, pair.predicted) for pair in self.queries]

    @cached_property
    def classes(self) -> list[str]:
        """The classes that queries belong to."""
        return sorted({label for pair in self.queries for label in pair.expected})

    @cached_property
    def predicted_only(self) -> list[dict[str, Any]]:
        """Classes that only predictions have, as `distribution` gives them."""
        known = frozenset(self.classes)
        return [one for one in self.distribution(predicted=True) if one["label"] not in known]

    @cached_property
    def exact(self) -> int:
        """How many queries were sent to the agents that they belong to, and no others."""
        return sum(pair.is_exact for pair in self.queries)

    @cached_property
    def of_classes(self) -> Classified:
        """Waterfall's figures: of the classes that queries belong to."""
        return classify(self.pairs, self.classes)

    @cached_property
    def of_all_labels(self) -> Classified:
        """Figures of every class, those that only predictions have included."""
        if not self.predicted_only:
            return self.of_classes
        return classify(self.pairs, sorted([*self.classes, *(one["label"] for one in self.predicted_only)]))

    def distribution(self, *, predicted: bool = False) -> list[dict[str, Any]]:
        """Return each label with its count and its share in percent, the most frequent first."""
        counts = Counter(label for pair in self.queries for label in (pair.predicted if predicted else pair.expected))
        total = sum(counts.values())
        return [{"label": label, "count": n, "pct": n / total * 100} for label, n in counts.most_common()]


def s1_metrics(routing: Routing) -> dict[str, Any]:
    """Return `metrics.json` with the keys of Waterfall's script in their order.

    Where predictions have labels that no query belongs to, `predicted_only` follows: which, and the figures that count
    them.
    """
    multi = [pair for pair in routing.queries if len(pair.expected) > 1]
    multi_exact = sum(pair.is_exact for pair in multi)
    to_multi = [pair for pair in routing.queries if len(pair.expected) == 1 and len(pair.predicted) > 1]
    right = sum(pair.expected[0] in pair.predicted for pair in to_multi)
    metrics = {
        "dataset": {
            "gt_total": routing.totals[0],
            "pred_total": routing.totals[1],
            "common": routing.common,
            "missing": routing.missing,
            "extra": routing.extra,
        },
        "distribution": {"gt": routing.distribution(), "pred": routing.distribution(predicted=True)},
        "exact_match": routing.exact / len(routing.queries),
        "report": figures_as_json(routing.of_classes),
        "multi_label": {
            "total": len(multi),
            "exact_match": multi_exact,
            "accuracy": multi_exact / len(multi) if multi else None,
        },
        "single_to_multi": {
            "total": len(to_multi),
            "correct": right,
            "pct_correct": right / len(to_multi) * 100 if to_multi else None,
        },
        "incorrect": [_incorrect(pair) for pair in routing.queries if not pair.is_exact],
    }
    if routing.predicted_only:
        report = figures_as_json(routing.of_all_labels)
        metrics["predicted_only"] = {"labels": routing.predicted_only, "report": report}
    return metrics


def figures_as_json(classified: Classified) -> dict[str, dict[str, float]]:
    """Return the figures as scikit-learn's report has them: the classes, then the averages."""
    return {name: figures.as_json() for name, figures in (*classified.classes.items(), *classified.averages.items())}


def known_dimensions(queries: Iterable[RoutedQuery]) -> list[str]:
    """Return what is known of any of the queries, of `DIMENSIONS`."""
    known = {name for pair in queries for name in pair.query.dimensions}
    return [name for name in DIMENSIONS if name in known]


def _incorrect(pair: RoutedQuery) -> dict[str, Any]:
    return {
        "id": pair.query.id,
        "gt": list(pair.expected),
        "pred": list(pair.predicted),
        "partial": pair.is_partial,
        "missed": pair.missed,
        "extra": pair.extra,
    }


def _in_order(names: Iterable[QueryId]) -> list[QueryId]:
    """Sort ids: whole numbers by their size, texts by theirs, and both together as texts."""
    ids: Sequence[QueryId] = list(names)
    if all(isinstance(name, int) for name in ids):
        return sorted(ids)
    return sorted(ids, key=str)
