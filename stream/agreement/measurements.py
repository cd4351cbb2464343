"""Measurements: the figures of one comparison, overall and by class, beside published figures for the same data.

Every kind of scorer has the same shape, so the table, the page and the JSON read only one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from turnsignal.stream.agreement.comparisons import ComparisonResult, ScoreDifference
from turnsignal.stream.agreement.figures import RESAMPLES, AgreementFigure, LabelledPair, confusion, figures
from turnsignal.stream.agreement.mappings import (
    Anchor,
    CitationLabels,
    FollowUpLabels,
    InstructionLabels,
    Labels,
    VerdictLabels,
)
from turnsignal.stream.agreement.raters import alpha
from turnsignal.stream.statistics.intervals import Clusters, Interval, clustered_mean
from turnsignal.stream.statistics.prediction_powered import JudgedLabel, corrected_mean

MAX_DIFFERENCE = "max_abs_difference"
CALLED = "called clarification"
JUDGED_GOOD = "judged good"
OF_JUDGES = ("sensitivity", "specificity", "kappa", "ac1", "auc", "agreement")

_WORDS_SHOWN = 4
_KINDS = ("floor", "human", "published")


class ClassRow(NamedTuple):
    """One figure of one class. detail: a remark in words."""

    name: str
    figure: str
    value: float
    n: int
    detail: str = ""


@dataclass(slots=True)
class Measurement:
    """The figures of one comparison.

    name: the data set's name, with the comparison's after a slash if it has one; kind: what is compared; figures: by
    name; classes: largest first; table: label → our word → how often; labelled, unscored, left_out: as in
    ComparisonResult; judged, sampled_out: answers that a judge was asked of, and not, for others stand for them;
    valueless: reason → those that it gave no value for; continuations: observations that another data set can use as
    negatives.
    """

    name: str
    kind: str
    figures: dict[str, AgreementFigure]
    classes: list[ClassRow]
    table: dict[str, dict[str, int]]
    labelled: int
    unscored: Counter[str]
    left_out: Counter[str]
    anchors: tuple[Anchor, ...] = ()
    continuations: list[LabelledPair] = field(default_factory=list)
    judged: int = 0
    sampled_out: int = 0
    valueless: Counter[str] = field(default_factory=Counter)


def measurement(name: str, labels: Labels, outcome: ComparisonResult, resamples: int = RESAMPLES) -> Measurement:
    """Compute the figures of a comparison; undefined figures are left out."""
    seen = outcome.observed
    if isinstance(labels, FollowUpLabels):
        kind, by_name = "follow-ups", figures(seen, _meaningful_figures(seen), resamples)
        classes = _called(seen) + _by_group(seen, [name for name in by_name if name in ("f1", "recall")][-1:])
    elif isinstance(labels, CitationLabels):
        prefix = "extraction_" if labels.means == "cited" else ""
        kind, both = "citations", figures(seen, ("precision", "recall"), resamples)
        by_name = {prefix + name: figure for name, figure in both.items()}
        classes = [row._replace(figure=prefix + row.figure) for row in _by_group(seen, ("precision", "recall"))]
    elif isinstance(labels, VerdictLabels):
        kind, by_name = "verdicts", _of_verdicts(outcome, resamples)
        classes = _judged_good(seen) + _by_group(seen, ("agreement", "sensitivity", "specificity"))
    elif isinstance(labels, InstructionLabels):
        kind, by_name = "instructions", figures(seen, ("agreement", "kappa"), resamples)
        classes = _by_group(seen, ("agreement",))
    else:
        kind, by_name, classes = "measures", _largest(outcome.differences), _by_measure(outcome.differences)
    return Measurement(
        name,
        kind,
        by_name,
        classes,
        confusion(seen),
        outcome.labelled,
        +outcome.unscored,
        +outcome.left_out,
        labels.anchors,
        [pair for pair in seen if not pair.truth] if isinstance(labels, FollowUpLabels) else [],
        len(outcome.judged),
        outcome.sampled_out,
        +outcome.valueless,
    )


def _of_verdicts(outcome: ComparisonResult, resamples: int) -> dict[str, AgreementFigure]:
    """Return how far judge and people agree, how far people do, and the judged rate as it is and corrected.

    Where labels are too few to correct it, their own rate stands in the place of the corrected one: `labelled_rate`.
    """
    by_name = figures(outcome.observed, OF_JUDGES, resamples)
    ceiling = alpha(outcome.rated, resamples)
    if ceiling is not None:
        by_name["alpha_of_raters"] = ceiling
    if outcome.judged:
        by_name["judged_rate"] = _as_figure(_raw_rate(outcome.judged), len(outcome.judged))
        corrected = corrected_mean(outcome.judged)
        if corrected is not None:
            name = "labelled_rate" if corrected.by_labels else "corrected_rate"
            by_name[name] = AgreementFigure(corrected.value, corrected.low, corrected.high, corrected.n)
    return by_name


def _raw_rate(judged: Sequence[JudgedLabel]) -> Interval:
    by_conversation: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    scale = len(judged) / sum(each.weight for each in judged)  # so that 1 is an answer, on average
    for each in judged:
        sums = by_conversation[each.conversation]
        sums[0] += scale * each.weight
        sums[1] += scale * each.weight * each.judged
    clusters = Clusters()
    for turns, total in by_conversation.values():
        clusters.add(turns, total)
    return clustered_mean(clusters)


def _as_figure(interval: Interval, n: int) -> AgreementFigure:
    return AgreementFigure(interval.value, interval.low, interval.high, n)


def _meaningful_figures(seen: Sequence[LabelledPair]) -> tuple[str, ...]:
    """Return the figures that these labels can support: without negatives, precision is 1 whatever is predicted."""
    if all(pair.truth for pair in seen):
        return ("recall",)
    if not any(pair.truth for pair in seen):
        return ("false_alarm_rate",)
    return ("precision", "recall", "f1", "kappa", "auc", "agreement")


def with_false_alarms(
    measured: Measurement, negatives: Sequence[LabelledPair], of: str, resamples: int = RESAMPLES
) -> None:
    """Add the false alarm rate on another data set's continuations to a measurement without continuations."""
    rates = figures(negatives, ("false_alarm_rate",), resamples)
    measured.figures.update(rates)
    measured.classes += [row._replace(name=f"{of}: {row.name}") for row in _called(negatives)]


def _called(seen: Iterable[LabelledPair]) -> list[ClassRow]:
    """Return the share of turns that our rules call clarifications, and our words for them, for each label."""
    return _predicted(seen, CALLED)


def _judged_good(seen: Iterable[LabelledPair]) -> list[ClassRow]:
    """Return the share of turns that a judge calls good, and its labels, for each label of people."""
    return _predicted(seen, JUDGED_GOOD)


def _predicted(seen: Iterable[LabelledPair], figure: str) -> list[ClassRow]:
    by_label: defaultdict[str, list[LabelledPair]] = defaultdict(list)
    for pair in seen:
        by_label[pair.label].append(pair)
    rows = []
    for label, pairs in by_label.items():
        words = Counter(pair.word for pair in pairs).most_common(_WORDS_SHOWN)
        share = sum(pair.predicted for pair in pairs) / len(pairs)
        rows.append(ClassRow(label, figure, share, len(pairs), ", ".join(f"{word} {n}" for word, n in words)))
    return _in_order(rows)


def _by_group(seen: Iterable[LabelledPair], wanted: Sequence[str]) -> list[ClassRow]:
    by_group: defaultdict[str, list[LabelledPair]] = defaultdict(list)
    for pair in seen:
        if pair.group:
            by_group[pair.group].append(pair)
    rows = []
    for group, pairs in by_group.items():
        wrong = sum(pair.truth != pair.predicted for pair in pairs)
        for name, figure in figures(pairs, wanted, resamples=0).items():
            detail = f"{wrong} of {len(pairs)} differ" if wrong else ""
            rows.append(ClassRow(group, name, figure.value or 0.0, figure.n, detail))
    return _in_order(rows)


def _by_measure(differences: Iterable[ScoreDifference]) -> list[ClassRow]:
    rows: defaultdict[str, list[float]] = defaultdict(list)
    for difference in differences:
        rows[f"{difference.group} {difference.measure}".strip()].append(difference.distance)
    return [ClassRow(name, MAX_DIFFERENCE, max(distances), len(distances)) for name, distances in rows.items()]


def _largest(differences: Sequence[ScoreDifference]) -> dict[str, AgreementFigure]:
    """Return the largest difference; a maximum has no interval."""
    distances = [difference.distance for difference in differences]
    return {MAX_DIFFERENCE: AgreementFigure(max(distances), None, None, len(distances))} if distances else {}


def _in_order(rows: list[ClassRow]) -> list[ClassRow]:
    return sorted(rows, key=lambda row: (-row.n, row.name))


class FigureRow(NamedTuple):
    """One figure as text, "" for an empty cell."""

    name: str
    figure: str
    n: str
    ours: str
    interval: str
    floor: str
    people: str
    published: str


def figure_rows(measured: Measurement) -> list[FigureRow]:
    """Format a measurement as text, a row for each figure; a floor is marked as reached or not."""
    rows = []
    for name, figure in measured.figures.items():
        if figure.value is None:
            continue
        marks = {kind: [a.value for a in measured.anchors if (a.figure, a.kind) == (name, kind)] for kind in _KINDS}
        floors = [_marked(name, figure.value, floor) for floor in marks["floor"]]
        people, published = (", ".join(format_figure(name, value) for value in marks[kind]) for kind in _KINDS[1:])
        interval = "" if figure.low is None or figure.high is None else _span(name, figure.low, figure.high)
        ours = format_figure(name, figure.value)
        n = f"{figure.n:,}"
        rows.append(FigureRow(measured.name, name, n, ours, interval, ", ".join(floors), people, published))
    return rows


def reached(name: str, value: float, floor: float) -> bool:
    """Return whether a value is at least as good as a floor."""
    return value <= floor if name in (MAX_DIFFERENCE, "false_alarm_rate") else value >= floor


def format_figure(name: str, value: float) -> str:
    """Format a figure with as many digits as its kind needs."""
    if name == MAX_DIFFERENCE:
        return f"{value:.1e}"
    return f"{value:.4f}" if name.startswith("extraction") else f"{value:.3f}"


def describe_sampling(measured: Measurement) -> str:
    """Describe how many answers have no verdict with a value, and what that means for the rates; "" where all have."""
    failed = measured.valueless.total()
    total = measured.judged + measured.sampled_out + failed
    parts = []
    if measured.sampled_out:
        parts.append(
            f"{measured.sampled_out:,} of {total:,} answers were sampled out; in the rates, each that was judged counts"
            " by the inverse of the probability that it was"
        )
    if failed:
        why = ", ".join(f"{n:,} {reason}" for reason, n in measured.valueless.most_common())
        parts.append(
            f"{failed:,} of {total:,} answers got no value ({why}); the rates are of the others, and too good where"
            " bad answers are what the judge fails on"
        )
    return "; ".join(parts)


def describe_unscored(measured: Measurement) -> str:
    """Describe the labels that could not be compared, and why; "" if all could."""
    parts = [f"{n:,} {reason}" for reason, n in measured.unscored.most_common()]
    parts += [f"{n:,} left out: {label}" for label, n in measured.left_out.most_common()]
    return "; ".join(parts)


def _marked(name: str, value: float, floor: float) -> str:
    return f"{format_figure(name, floor)} {'✓' if reached(name, value, floor) else '✗'}"


def _span(name: str, low: float, high: float) -> str:
    return f"{format_figure(name, low)}–{format_figure(name, high)}"
