"""What a comparison says: which scores differ and by how much, which labels changed, and where to look."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Column
from rich.text import Text

from turnsignal.agents.report.escaping import plain
from turnsignal.agents.report.tables import add, fold, indent, make_table, number
from turnsignal.stream.records.scores import CITED_ARTICLE, CLARIFICATION_FREE, ROUTING
from turnsignal.stream.reports.paired import EQUIVALENT, IDENTICAL
from turnsignal.stream.statistics.directions import BETTER, CHANGED, VOTE, WENT_WORSE, WORSE
from turnsignal.stream.text.counts import listed, share_of
from turnsignal.stream.text.signed import signed, signed_percent
from turnsignal.stream.text.visible import capital

_ORDER = (WORSE, BETTER, CHANGED)
_STYLES = {WORSE: "red", BETTER: "green", CHANGED: "yellow"}
_NAMED = 5  # scores that are too few to compare and named
_LABELS = 5  # changes of labels that are shown of a scorer
_EXPLANATION = 120  # characters
#: Figures that tell right answers from wrong ones that are written as well.
_TELLS_RIGHT = {CITED_ARTICLE, ROUTING, VOTE, CLARIFICATION_FREE}


def format_comparison(comparison: Mapping[str, Any], names: tuple[str, str]) -> Iterator[RenderableType]:
    """Give a sentence, the scores that differ, the labels that changed, and the conversations that moved most.

    names: of both sides, as the user knows them.
    """
    figures: Mapping[str, Mapping[str, Any]] = comparison["figures"]
    before, after = (plain(name, 60) for name in names)
    yield Text(
        f"{comparison['exchanges']:,} {'pairs' if 'pairs' in comparison else 'exchanges'} of"
        f" {comparison['conversations']:,} {'cases' if 'pairs' in comparison else 'conversations'}: {before} → {after}"
    )
    if pairs := comparison.get("pairs"):
        yield Text(
            f"Paired: {pairs['by_id']:,} by case, {pairs['by_question']:,} by the opening question; left out without a"
            f" partner: {pairs['alone'][0]:,} of {before}, {pairs['alone'][1]:,} of {after}"
        )
        if min(pairs["written"]) == 0 < max(pairs["written"]):
            side, other = (before, after) if pairs["written"][1] else (after, before)
            yield Text(
                f"Users wrote to {side} once each, and further to {other}: if it was asked first questions only, nobody"
                " left it without a word.",
                style="yellow",
            )
    if lacking := comparison.get("lacking"):
        yield Text(
            f"{capital(lacking)} ({after}): where it ran out of time or broke, they are its worst. Nothing is called"
            " better; record them, with no answer, or compare files of the same cases.",
            style="yellow",
        )
    if pairs and not comparison["judged"] and _TELLS_RIGHT.isdisjoint(figures):
        yield Text(
            "Nothing here says whether answers are right, as long as they are given: name the documents that belong to"
            " a question (`truth.doc_ids`), have a judge read the answers, or record what users write next.",
            style="yellow",
        )
    if unheard := comparison.get("unheard"):
        yield Text(f"{capital(unheard)}.", style="yellow")
    for note in comparison.get("record", ()):
        yield Text(f"{capital(note)} ({after})", style="yellow")
    if lost := comparison.get("lost"):
        gone = listed([plain(name, 60) for name in lost[:_NAMED]], len(lost))
        yield Text(f"Nothing is left in {after} to score by {gone}.", style="yellow")
    if any(comparison.get("cut", ())):
        cut = " and ".join(f"{n:,} of {side}" for n, side in zip(comparison["cut"], (before, after), strict=True))
        yield Text(
            f"Conversations that are not over when the recording ends have no outcome: {cut}. Who was left without an"
            " answer is not seen there; if all are whole, replay them with --whole-conversations.",
            style="yellow",
        )
    yield Text(_sentence(comparison, after), style="bold")
    better = {name for name, figure in figures.items() if figure["verdict"] == BETTER}
    if better & WENT_WORSE.keys():
        yield Text("What is better by follow-ups is so by what users wrote next, and by that alone.", style="dim")
    for which, side in (("only_before", before), ("only_after", after)):
        if comparison[which]:
            alone = ", ".join(_alone(name, comparison.get("review", ())) for name in comparison[which])
            yield Text(f"Not compared, only in {side}: {alone}")
    yield from _figures(figures)
    yield from _labels(comparison["labels"])
    yield from _moved(comparison["moved"])


def _alone(name: str, review: Iterable[Mapping[str, Any]]) -> str:
    """Name what only one suite scores; of a check, how many answers break it there."""
    row = next((row for row in review if row["check"] == name), None)
    if row is None:
        return plain(name, 60)
    says = f" “{plain(row['says'], 80)}”" if "says" in row else ""
    broken = f"broken in {row['fails']:,} of {row['applicable']:,} answers" if row["applicable"] else "never asked for"
    return f"{plain(name, 60)}{says} ({broken})"


def describe_too_few(comparison: Mapping[str, Any], names: Collection[str]) -> str:
    """Say how many conversations there are of how many are needed: of each of a few scores, else of the largest."""
    figures, least = comparison["figures"], f"{comparison['minimum_n']:,}"
    unit = "cases" if "pairs" in comparison else "conversations"
    if not names or len(names) == len(figures):
        return f"too few to compare: {max((figures[name]['n'] for name in names), default=0):,} {unit} of {least}"
    same = {name for name, figure in figures.items() if figure["verdict"] == IDENTICAL}
    first = sorted(names, key=lambda name: (name != comparison["primary"], name in same, name))
    counts = {name: figures[name]["n"] if name in figures else 0 for name in first}
    listed = [f"{plain(name, 60)} ({counts[name]:,} {unit} of {least})" for name in first[:_NAMED]]
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return f"too few to compare: {', '.join(listed)}{more}"


def _sentence(comparison: Mapping[str, Any], after: str) -> str:
    figures, few = comparison["figures"], comparison["too_few"]
    named = [(name, figure) for name, figure in figures.items() if figure["verdict"] in _ORDER]
    if len(few) == len(figures):
        return f"{capital(describe_too_few(comparison, few))}."
    rest = f" {capital(describe_too_few(comparison, few))}." if few else ""
    if not named:
        both = " that both suites have" if comparison["only_before"] or comparison["only_after"] else ""
        return f"No difference is shown in {'the other scores' if few else f'any score{both}'}.{rest}"
    parts = []
    for verdict in _ORDER:
        of = [
            f"{plain(name, 60)} {_write(figure)(figure['value'])}"
            for name, figure in named
            if figure["verdict"] == verdict
        ]
        if of:
            parts.append(f"{verdict}: {', '.join(of)}")
    return f"With {after} {'; '.join(parts)}{'.' if rest else ''}{rest}"


def _figures(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[RenderableType]:
    differing = [(name, figure) for name, figure in figures.items() if figure["verdict"] != IDENTICAL]
    if differing:
        columns = [number("difference"), number("95 %"), number("conversations"), number("least shown")]
        table, drawn = make_table(fold("score", width=14), *columns, Column("verdict", ratio=1))
        rank = {verdict: place for place, verdict in enumerate(_ORDER)}
        for name, figure in sorted(differing, key=lambda item: (rank.get(item[1]["verdict"], len(rank)), item[0])):
            write = _write(figure)
            interval = f"{write(figure['low'])} to {write(figure['high'])}"
            verdict = Text(figure["verdict"], style=_STYLES.get(figure["verdict"], ""))
            if "why" in figure:
                verdict.append(
                    f" ({plain(figure['why'], 80)})"
                    if figure["verdict"] == EQUIVALENT
                    else f": {plain(figure['why'], 80)}"
                )
            least = share_of(figure["least_shown"]) if "unit" in figure else f"{figure['least_shown']:.3f}"
            cells = [write(figure["value"]), interval, f"{figure['n']:,}", least]
            add(table, [plain(name, 60), *cells, verdict])
        yield drawn
        yield Text("least shown: a difference of that size would have been named in 80 of 100 such recordings")
    same = [plain(name, 60) for name, figure in figures.items() if figure["verdict"] == IDENTICAL]
    if same:
        yield Text(f"The same in every exchange: {', '.join(same)}")


def _write(figure: Mapping[str, Any]) -> Callable[[float], str]:
    """Return how the figure's difference is written: as a share where it is how many times more there is."""
    return signed_percent if "unit" in figure else signed


def _labels(labels: Mapping[str, list[Mapping[str, Any]]]) -> Iterator[RenderableType]:
    if not labels:
        return
    table, drawn = make_table(
        fold("score", width=14), fold("before"), fold("after"), number("exchanges"), title="Labels that changed"
    )
    for name, changes in labels.items():
        for change in changes[:_LABELS]:
            add(table, [plain(name, 60), plain(change["before"], 40), plain(change["after"], 40), f"{change['n']:,}"])
    yield drawn


def _moved(moved: list[Mapping[str, Any]]) -> Iterator[RenderableType]:
    if not moved:
        return
    yield Text()
    yield Text("Conversations that moved most", style="bold")
    for change in moved:
        head = f"{plain(change['conversation_id'], 60)}  {plain(change['turn_id'], 40)}  {plain(change['scorer'], 40)}"
        yield Text(head)
        yield indent([(f"  {side}", _describe(change[side])) for side in ("before", "after")])


def _describe(score: Mapping[str, Any]) -> str:
    label = f" {plain(score['label'], 40)}" if score["label"] else ""
    why = f": {plain(score['explanation'], _EXPLANATION)}" if score["explanation"] else ""
    return f"{score['value']:.2f}{label}{why}"
