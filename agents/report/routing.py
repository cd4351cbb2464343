"""What a routing report says: Waterfall's text, line for line, and for the terminal what to mend first."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Column
from rich.text import Text

from turnsignal.agents.report.escaping import plain
from turnsignal.agents.report.tables import add, fold, make_table, number
from turnsignal.stream.reports.routing_errors import AGENTS, FEWER, MORE
from turnsignal.stream.text.signed import signed
from turnsignal.stream.text.visible import visible

_STYLES = {MORE: "red", FEWER: "green"}
_SHOWN = 10  # lines of a table
_NAME = 60  # characters of a label
_TITLES = {AGENTS: "combination of agents"}


def format_analysis(metrics: Mapping[str, Any]) -> str:
    """Write `analysis_report.txt`: the lines of Waterfall's script, then the figures that they leave out."""
    dataset, multi, to_multi = metrics["dataset"], metrics["multi_label"], metrics["single_to_multi"]
    lines = [
        "=== DATASET STATISTICS ===",
        f"GT entries: {dataset['gt_total']}",
        f"Pred entries: {dataset['pred_total']}",
        f"Common IDs: {dataset['common']}",
        f"Missing IDs: {len(dataset['missing'])}",
        f"Extra IDs: {len(dataset['extra'])}",
        "",
        "=== CLASS DISTRIBUTIONS ===",
        *_distribution("GT", metrics["distribution"]["gt"]),
        *_distribution("PRED", metrics["distribution"]["pred"]),
        "=== OVERALL METRICS ===",
        f"Exact-match accuracy: {metrics['exact_match']:.3f}",
        f"Weighted F1-score: {metrics['report']['weighted avg']['f1-score']:.3f}",
        "",
        "=== MULTI-LABEL ANALYSIS ===",
        f"Total multi-label: {multi['total']}",
        f"Exact matches: {multi['exact_match']}",
        "",
        "=== SINGLE→MULTI INSPECTION ===",
        f"Total single→multi: {to_multi['total']}, correct includes: {to_multi['correct']}",
        "",
        "=== INCORRECT PREDICTIONS ===",
        *map(_incorrect, metrics["incorrect"]),
    ]
    if beside := metrics.get("predicted_only"):
        report = beside["report"]
        lines += ["", "=== LABELS ONLY PREDICTED, NOT COUNTED ABOVE ==="]
        lines += [f"  {visible(one['label'])}: {one['count']} ({one['pct']:.1f}%)" for one in beside["labels"]]
        lines += [f"Micro F1-score with them: {report['micro avg']['f1-score']:.3f}"]
        lines += [f"Macro F1-score with them: {report['macro avg']['f1-score']:.3f}"]
    return "\n".join(lines) + "\n"


def _distribution(side: str, labels: list[Mapping[str, Any]]) -> list[str]:
    counted = [f"  {visible(one['label'])}: {one['count']} ({one['pct']:.1f}%)" for one in labels]
    return [f"-- {side} --", *counted, ""]


def _incorrect(entry: Mapping[str, Any]) -> str:
    return (
        f"- ID {visible(str(entry['id']))}: GT={entry['gt']} PRED={entry['pred']} "
        f"partial={entry['partial']} missed={entry['missed']} extra={entry['extra']}"
    )


def format_routing(report: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Give a sentence, what mending would gain, each class, and where and beside which words errors are."""
    entries, exact, errors = report["entries"], report["exact_match"], report["errors"]
    weighted, micro = (report["averages"][name]["f1-score"] for name in ("weighted avg", "micro avg"))
    yield Text(
        f"{entries['scored']:,} queries, {exact['value']:.1%} sent to exactly their agents"
        f" ({exact['low']:.1%} to {exact['high']:.1%}); F1 {weighted:.3f} weighted, {micro:.3f} micro",
        style="bold",
    )
    if errors["partial"] or errors["complete"]:
        yield Text(f"Sent wrongly: {errors['partial']:,} to some of their agents, {errors['complete']:,} to none")
    for note in report["notes"]:
        yield Text(plain(note, 300))
    left = report["left_out"]
    yield from _gains(report["gains"], left["gains"])
    yield from _classes(report["classes"])
    for dimension, groups in report["groups"].items():
        yield from _groups(dimension, groups, left["groups"][dimension])
    yield from _words(report["words"])


def _gains(gains: list[Mapping[str, Any]], left: int) -> Iterator[RenderableType]:
    if not gains:
        return
    columns = [number("queries"), number("exact"), number("95 %"), number("weighted F1")]
    table, drawn = make_table(fold("error", width=24), *columns, title="What mending would gain")
    for gain in gains[:_SHOWN]:
        exact = gain["exact"]
        interval = f"{exact['low']:.3f} to {exact['high']:.3f}"
        figures = [f"{gain['n']:,}", signed(exact["value"]), interval, signed(gain["weighted_f1"])]
        add(table, [_error(gain), *figures])
    yield drawn
    yield from _left(len(gains), left)
    yield Text("exact: share of all queries that this alone would put right; queries: all that have the error")


def _error(gain: Mapping[str, Any]) -> str:
    missed, extra = (None if gain[name] is None else plain(gain[name], _NAME) for name in ("missed", "extra"))
    if missed is not None and extra is not None:
        return f"{extra} instead of {missed}"
    return f"{extra} asked without need" if missed is None else f"{missed} left out"


def _classes(classes: Mapping[str, Mapping[str, Any]]) -> Iterator[RenderableType]:
    columns = [number(name) for name in ("queries", "predicted", "precision", "recall", "F1")]
    table, drawn = make_table(fold("class", width=24), *columns, title="Classes, those with most errors first")
    worst = sorted(classes.items(), key=lambda item: (-_errors(item[1]), item[0]))
    for name, figures in worst[:_SHOWN]:
        shares = [f"{figures[key]:.3f}" for key in ("precision", "recall", "f1-score")]
        add(table, [plain(name, _NAME), f"{figures['support']:,.0f}", f"{figures['predicted']:,}", *shares])
    yield drawn
    yield from _left(len(classes))


def _errors(figures: Mapping[str, Any]) -> int:
    """Return how many queries miss the class or have it without need."""
    missed: float = (1 - figures["recall"]) * figures["support"]
    extra: float = (1 - figures["precision"]) * figures["predicted"]
    return round(missed + extra)


def _groups(dimension: str, groups: list[Mapping[str, Any]], left: int) -> Iterator[RenderableType]:
    shown = [group for group in groups if group["errors"] or group["verdict"] in _STYLES]
    if not shown:
        return
    title = _TITLES.get(dimension, dimension)
    columns = [number("queries"), number("errors"), number("error rate"), number("adjusted p")]
    columns += [Column("verdict", no_wrap=True), fold("most often sent to")]
    table, drawn = make_table(fold(title, width=20), *columns, title=f"Errors by {title}")
    for group in shown[:_SHOWN]:
        rate, adjusted, instead = group["error_rate"], group["adjusted"], group["instead"]
        cells = [f"{group['n']:,}", f"{group['errors']:,}", f"{rate['value']:.3f}"]
        cells.append("" if adjusted is None else f"{adjusted:.3g}")
        sent = "" if instead is None else f"{plain(instead['agents'], _NAME)} ({instead['n']:,})"
        verdict = Text(group["verdict"], style=_STYLES.get(group["verdict"], ""))
        add(table, [plain(group["name"], _NAME), *cells, verdict, sent])
    yield drawn
    yield from _left(len(shown), left)


def _words(words: Mapping[str, Any]) -> Iterator[RenderableType]:
    if words["reason"] is not None:
        yield Text()
        yield Text(f"Words: unscored, {words['reason']}")
        return
    columns = [number("queries"), number("errors"), number("log-odds"), number("adjusted p")]
    table, drawn = make_table(
        fold("word", width=20), *columns, title="Words that go with errors, and with right answers"
    )
    for word in (*words["errors"][:_SHOWN], *words["right"][: _SHOWN // 2]):
        figures = [
            f"{word['n']:,}",
            f"{word['errors']:,}",
            signed(word["log_odds"], 2),
            f"{word['adjusted']:.3g}",
        ]
        add(table, [plain(word["word"], _NAME), *figures])
    if words["errors"] or words["right"]:
        yield drawn
    else:
        yield Text()
        yield Text("No word goes with errors more than chance would have it.")
    yield Text(f"Of {words['compared']:,} words in {words['read']:,} queries; adjusted for their number")


def _left(n: int, beyond: int = 0) -> Iterator[RenderableType]:
    if n > _SHOWN:
        further = f", and {beyond:,} that it leaves out" if beyond else ""
        yield Text(f"and {n - _SHOWN:,} more in routing.json{further}")
