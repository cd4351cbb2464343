"""What judges came to: a line for each judge, why others have no value, and what it cost."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from turnsignal.agents.files.probing import ProbedJudge
from turnsignal.agents.report.escaping import plain
from turnsignal.agents.report.tables import add, fold, make_table, number
from turnsignal.stream.judging.aggregation import value_also
from turnsignal.stream.judging.anchors import cascade_agreement
from turnsignal.stream.judging.inquiry import JUDGE
from turnsignal.stream.judging.judges import NANO, Judge, same_family
from turnsignal.stream.records.verdicts import LOST, Verdict
from turnsignal.stream.statistics.intervals import Clusters, clustered_mean

_FEW = 0.02  #: share of a cascade's exchanges that may be lost beside a mean of the others
_SHOWN = 5  #: verdicts whose reasoning is shown for each judge, the worst ones


def summarize(judge: Judge, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return a judge's figures: coverage, mean with interval, labels, reasons, cost."""
    scored = [verdict for verdict in verdicts if verdict.value is not None]
    labels = Counter(verdict.label for verdict in verdicts if verdict.label)
    labels.update(claim.label for verdict in verdicts for claim in verdict.claims)
    judged_models = {verdict.model for verdict in verdicts}
    lost = sum(verdict.unscored in LOST for verdict in verdicts)
    # Of a cascade, only what early steps are sure of may be left then: its mean would be that of easy exchanges.
    is_left = judge.part.cascade is not None and lost > _FEW * len(verdicts)
    agreement = cascade_agreement(judge, scored) if judge.part.cascade is not None else None
    families = {model for model in judged_models for each in judge.members if same_family(each.model, model)}
    return {
        "judge": judge.part.name,
        "rubric": judge.chosen.name,
        "model": judge.part.model,
        "answered_by": sorted({verdict.judge.answered for verdict in verdicts if verdict.judge.answered}),
        "eligible": len(verdicts),
        "judged": len(scored),
        "cached": sum(verdict.cached for verdict in verdicts),
        "cut": sum(bool(verdict.cut) for verdict in scored),
        **mean_of({} if is_left else {one.id: (one.conversation_id, one.value or 0.0) for one in scored}),
        "no_mean": f"{lost:,} of {len(verdicts):,} exchanges were not judged, those that need a model before others"
        if is_left
        else "",
        "also": {name: _also(() if is_left else scored, of) for name, of in judge.chosen.rubric.also.items()},
        "labelled": sum(bool(verdict.label or verdict.claims) for verdict in scored),
        "decided_by": dict(Counter(str(verdict.decided_by) for verdict in scored).most_common()),
        "cascade": None if agreement is None else agreement._asdict(),
        "labels": dict(labels.most_common()),
        "unscored": dict(Counter(str(verdict.unscored) for verdict in verdicts if verdict.unscored).most_common()),
        "why": _why(verdicts),
        "attempts": sum(verdict.attempts for verdict in verdicts if not verdict.cached),
        "cost": sum(round(verdict.cost * NANO) for verdict in verdicts if not verdict.cached) / NANO,
        "price_known": judge.price is not None,
        "same_family": sorted(str(model) for model in families),
    }


def _why(verdicts: Sequence[Verdict]) -> dict[str, str]:
    """Return the most frequent reasoning beside each reason: whether it was the key, the URL, the model."""
    reasonings: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        if verdict.unscored and verdict.reasoning:
            reasonings.setdefault(str(verdict.unscored), Counter())[verdict.reasoning] += 1
    return {reason: counted.most_common(1)[0][0] for reason, counted in reasonings.items()}


def mean_of(values: Mapping[str, tuple[str, float]]) -> dict[str, float | None]:
    """Return the mean of values by conversation with its 95 % interval."""
    by_conversation: dict[str, list[float]] = {}
    for conversation, value in values.values():
        by_conversation.setdefault(conversation, []).append(value)
    if not by_conversation:
        return {"mean": None, "low": None, "high": None}
    sums = Clusters()
    for own in by_conversation.values():
        sums.add(len(own), sum(own))
    interval = clustered_mean(sums)
    return {"mean": round(interval.value, 6), "low": round(interval.low, 6), "high": round(interval.high, 6)}


def _also(scored: Sequence[Verdict], values: Mapping[str, float]) -> float | None:
    each = (value_also([claim.label for claim in verdict.claims] or [str(verdict.label)], values) for verdict in scored)
    known = [value for value in each if value is not None]
    return round(sum(known) / len(known), 6) if known else None


def format_judged(rows: Sequence[Mapping[str, Any]], verdicts: Sequence[Verdict]) -> Iterator[RenderableType]:
    """Yield what to print of all judges: figures, reasons, warnings, the worst exchanges."""
    table, shown = make_table(
        fold("judge"), fold("model"), number("judged"), number("mean"), number("95 % interval"), number("cost")
    )
    for row in rows:
        interval = "" if row["mean"] is None else f"{row['low']:.3f}–{row['high']:.3f}"
        mean = "–" if row["mean"] is None else f"{row['mean']:.3f}"
        cost = f"{row['cost']:.4f}" if row["price_known"] else "?"
        coverage = f"{row['judged']:,} of {row['eligible']:,}"
        add(table, (row["judge"], plain(row["model"], 40), coverage, mean, interval, cost))
    yield shown
    for row in rows:
        yield from _notes(row)
    for row in rows:
        worst = [verdict for verdict in verdicts if verdict.judge.name == row["judge"] and verdict.value is not None]
        worst = sorted(worst, key=lambda verdict: (verdict.value or 0.0, verdict.id))[:_SHOWN]
        if worst:
            yield Text(f"\n{row['judge']}, lowest first")
        for verdict in worst:
            about = f"{plain(verdict.conversation_id, 40)} {plain(verdict.turn_id, 40)}"
            label = f" {verdict.label}" if verdict.label else ""
            yield Text(f"  {verdict.value:.2f}{label}  {about}: {plain(verdict.reasoning, 200)}")


def _notes(row: Mapping[str, Any]) -> Iterator[Text]:
    name = row["judge"]
    if row["labels"]:
        yield Text(f"{name}: " + ", ".join(f"{label} {n:,}" for label, n in row["labels"].items()))
    for other, value in row["also"].items():
        few = f", of the {row['labelled']:,} with a label" if row["labelled"] < row["judged"] else ""
        yield Text(f"{name}, {other}: " + ("–" if value is None else f"{value:.3f}{few}"))
    if row["no_mean"]:
        yield Text(f"{name}: no mean, as {row['no_mean']}")
    if row["unscored"]:
        yield from _unscored(row)
        for reason in row["unscored"]:
            if reason in row["why"]:
                yield Text(f"  {reason}, most often: {plain(row['why'][reason], 300)}")
    if set(row["decided_by"]) - {JUDGE}:
        yield Text(f"{name}: decided by " + ", ".join(f"{step} {n:,}" for step, n in row["decided_by"].items()))
    if (agreed := row["cascade"]) is not None:
        yield Text(
            f"{name}: agrees with its last step in {agreed['value']:.1%} ({agreed['low']:.1%}–{agreed['high']:.1%}),"
            f" by {agreed['anchors']:,} exchanges that went there in any case"
        )
    if row["cut"]:
        yield Text(f"{name}: {row['cut']:,} of {row['judged']:,} saw shortened texts (max_input)")
    if row["same_family"]:
        models = ", ".join(plain(model, 40) for model in row["same_family"])
        yield Text(f"{name}: its model is of the family of a judged one ({models}), which it may favour")
    if not row["price_known"]:
        yield Text(f'{name}: what it costs is not known; add [judging.prices."{plain(row["model"], 80)}"] to the suite')


def _unscored(row: Mapping[str, Any]) -> Iterator[Text]:
    """Yield why some have no value, where any has none."""
    if row["unscored"]:
        reasons = ", ".join(f"{reason} {n:,}" for reason, n in row["unscored"].items())
        yield Text(f"{row['judge']}: not judged: {reasons}")


def summarize_probed(probed: ProbedJudge) -> dict[str, Any]:
    """Return how often a judge's answers flipped, by probe."""
    probes = [
        {
            "probe": flips.probe,
            "compared": flips.compared,
            "flipped": flips.flipped,
            "unscored": flips.unscored,
            "rate": None if flips.rate is None else [round(bound, 6) for bound in flips.rate[:3]],
        }
        for flips in probed.flips
    ]
    return {
        "judge": probed.judge,
        "asked": probed.asked,
        "cost": probed.cost,
        "price_known": probed.price_known,
        "unscored": probed.unscored,
        "probes": probes,
    }


def format_probed(rows: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Yield what to print of probes."""
    table, shown = make_table(
        fold("judge"), fold("probe"), number("compared"), number("flipped"), number("rate"), number("95 % interval")
    )
    for row in rows:
        for probe in row["probes"]:
            rate, low, high = probe["rate"] or (None, None, None)
            known = ("–", "") if rate is None else (f"{rate:.3f}", f"{low:.3f}–{high:.3f}")
            add(table, (row["judge"], probe["probe"], f"{probe['compared']:,}", f"{probe['flipped']:,}", *known))
    yield shown
    for row in rows:
        cost = f"{row['cost']:.4f}" if row["price_known"] else "? (no price in [judging.prices])"
        yield Text(f"{row['judge']}: {row['asked']:,} exchanges; all calls together {cost}")
        yield from _unscored(row)
