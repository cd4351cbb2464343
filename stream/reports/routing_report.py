"""The routing report: figures of every label, errors by kind of query, words that go with them, and what to mend."""

from collections.abc import Collection, Iterator
from typing import Any

from turnsignal.stream.reports.labelled import LabelledQueries
from turnsignal.stream.reports.routing import Routing
from turnsignal.stream.reports.routing_errors import LEAST_WORD, MOST_READ, error_groups, error_words, mendings
from turnsignal.stream.statistics.intervals import wilson

MOST_IDS = 1_000  #: that are named of queries that were left out

_NO_TEXTS = "no query has its text: give it as `query` in the ground truth, or a file of queries by id"
_FEW_TEXTS = f"no word is in {LEAST_WORD} queries"


def report_routing(routing: Routing, notes: Collection[str] = ()) -> dict[str, Any]:
    """Return what `routing.json` holds; notes: sentences about how the files were read."""
    queries, everything = routing.queries, routing.of_all_labels
    partial = sum(pair.is_partial for pair in queries)
    gains, gains_left = mendings(routing)
    groups = error_groups(routing)
    predicted = {one["label"]: one["count"] for one in routing.distribution(predicted=True)}
    return {
        "entries": {
            "gt": routing.totals[0],
            "pred": routing.totals[1],
            "common": routing.common,
            "missing": len(routing.missing),
            "extra": len(routing.extra),
            "filtered": len(routing.filtered),
            "scored": len(queries),
        },
        "filtered": routing.filtered[:MOST_IDS],
        "notes": list(notes),
        "exact_match": wilson(routing.exact, len(queries)).as_json(),
        "averages": {name: figures.as_json() for name, figures in everything.averages.items()},
        "classes": {
            label: {**figures.as_json(), "predicted": predicted.get(label, 0)}
            for label, figures in everything.classes.items()
        },
        "predicted_only": routing.predicted_only,
        "errors": {"partial": partial, "complete": len(queries) - routing.exact - partial},
        "gains": [gain.as_json() for gain in gains],
        "groups": {name: [group.as_json() for group in of.groups] for name, of in groups.items()},
        "words": _words(routing),
        "left_out": {"gains": gains_left, "groups": {name: of.left_out for name, of in groups.items()}},
    }


def _words(routing: Routing) -> dict[str, Any]:
    words = error_words(routing.queries)
    return {
        "read": words.read,
        "compared": words.compared,
        "reason": _NO_TEXTS if not words.read else None if words.compared else _FEW_TEXTS,
        "errors": [word.as_json() for word in words.errors],
        "right": [word.as_json() for word in words.right],
    }


def describe_reading(
    expected: LabelledQueries, predicted: LabelledQueries, routing: Routing, remove: Collection[str]
) -> Iterator[str]:
    """Give a sentence for each thing that a reader of the figures should know of the files."""
    for name, file in (("ground truth", expected), ("predictions", predicted)):
        if file.unlabelled:
            yield f"Without any `labels` in the {name}, taken to belong to none: {file.unlabelled:,}."
        for how, n in file.read_anew.items():
            if n:
                yield f"With labels {how} in the {name}: {n:,}."
    if routing.missing:
        yield f"Not scored, without a prediction: {len(routing.missing):,}."
    if routing.extra:
        yield f"Not scored, not in the ground truth: {len(routing.extra):,}."
    if routing.filtered:
        yield f"Left out for what they belong to, as asked: {len(routing.filtered):,}."
    known = {label for query in expected.by_id.values() for label in query.labels}
    for label in sorted(set(remove) - known):
        yield f"No query of the ground truth belongs to {label!r}, which was to be left out."
    if only := routing.predicted_only:
        names = ", ".join(repr(one["label"]) for one in only[:5])
        more = f" and {len(only) - 5:,} more" if len(only) > 5 else ""
        yield f"Only predicted: {names}{more}. They count here, and not in `report` of metrics.json."
    texts = sum(bool(pair.query.text) for pair in routing.queries)
    if texts > MOST_READ:
        yield f"Words were read of {MOST_READ:,} of {texts:,} queries."
