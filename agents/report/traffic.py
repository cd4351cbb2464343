"""What a traffic report says on the terminal: sentences, the waterfall, and what stands behind it."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from rich.console import RenderableType
from rich.table import Column
from rich.text import Text

from turnsignal.agents.report.escaping import plain
from turnsignal.agents.report.routing import format_routing
from turnsignal.agents.report.tables import add, fold, make_table, number
from turnsignal.stream.reports.article_text import describe_blame, describe_overlap, describe_pair, describe_several
from turnsignal.stream.statistics.directions import SAME
from turnsignal.stream.text.signed import signed

_NAME = 60  # characters of a name
_SHOWN = 8  # classes of a table
_PAIRS = 5  # of articles of one kind
_ROUTING = 5  # parts of the routing report: its sentences and what mending would gain


def format_traffic(report: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Give the sentences, the stages of all answers and of each version, and the labelled figures."""
    for number_, sentence in enumerate(report["says"]):
        yield Text(plain(sentence, 400), style="" if number_ else "bold")
    for note in report["notes"]:
        yield Text(plain(note, 400), style="dim")
    if report["waterfall"] is not None:
        yield _stages(report["waterfall"], report["known_by"])
        yield Text(
            "share: of these answers, those that fail there first; gain: more good answers if it were always right"
        )
    if report["compared"] is not None:
        yield _compared(report["compared"])
    yield from _classes(report["classes"])
    if report["routing"] is not None:
        yield Text()
        yield from islice(format_routing(report["routing"]), _ROUTING)
    if report["articles"] is not None:
        yield from _articles(report["articles"])
    if report["overlap"] is not None:
        yield Text()
        yield from _overlap(report["overlap"])
    if report["labelled"]["figures"]:
        yield from _labelled(report["labelled"])


def _stages(flow: Mapping[str, Any], known: Mapping[str, Any]) -> RenderableType:
    columns = [number(name) for name in ("judged", "fail first", "share", "95 %", "of bad", "gain", "95 %")]
    title = f"Where {flow['answers']:,} answers of {flow['conversations']:,} conversations fail"
    table, drawn = make_table(fold("stage", width=12), *columns, Column("known by", no_wrap=True), title=title)
    for stage in flow["stages"]:
        by = known.get(stage["stage"], {})
        names = ", ".join(name for name, n in by.items() if n)
        figures = [f"{stage['judged']:,}", f"{stage['failed']:,}", *_share(stage["share"])]
        figures += [_share(stage["of_bad"])[0], *_share(stage["gain"])]
        add(table, [stage["stage"], *(figures if stage["judged"] else [""] * len(figures)), names or "not known"])
    return drawn


def _compared(compared: Mapping[str, Any]) -> RenderableType:
    after, before = (plain(compared[side], _NAME) for side in ("after", "before"))
    columns = [number("difference"), number("95 %"), number("adjusted p"), Column("verdict", no_wrap=True)]
    table, drawn = make_table(
        fold("stage", width=12), *columns, title=f"{after} against {before}, of answers that reach a stage"
    )
    for change in compared["stages"]:
        interval = f"{signed(change['low'])} to {signed(change['high'])}"
        style = {SAME: "", "fails more": "red", "fails less": "green"}[change["verdict"]]
        cells = [change["stage"], signed(change["value"]), interval, f"{change['adjusted']:.3g}"]
        add(table, [*cells, Text(change["verdict"], style=style)])
    return drawn


def _classes(classes: Mapping[str, Any]) -> Iterator[RenderableType]:
    for title, key, style in (("fail more than others", "fail", "red"), ("do better than others", "excel", "green")):
        shown = classes[key][:_SHOWN]
        if not shown:
            continue
        columns = [number(name) for name in ("conversations", "good", "95 %", "others")]
        named = fold("class", width=24)
        table, drawn = make_table(
            named, "kind", *columns, fold("read", width=20), title=f"Questions whose answers {title}"
        )
        for row in shown:
            figures = [f"{row['conversations']:,}", *_share(row["good"]), f"{row['others']:.3f}"]
            name = Text(plain(row["name"], _NAME), style=style)
            add(table, [name, plain(row["kind"], _NAME), *figures, plain(row["read"][0], _NAME)])
        yield drawn
        if len(classes[key]) > _SHOWN:
            yield Text(f"and {len(classes[key]) - _SHOWN} more with --json")


def _articles(articles: Mapping[str, Any]) -> Iterator[RenderableType]:
    labels = ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in articles["labels"].items())
    share, interval = _share(articles["accuracy"])
    yield Text()
    yield Text(
        f"Cited article beside the labelled one, of {articles['answers']:,} answers: {share} cite one article, and a"
        f" right one ({interval}); {labels}",
        style="bold",
    )
    yield Text(describe_blame(articles))
    if any(articles["several"].values()):
        yield Text(describe_several(articles))
    table, drawn = make_table(
        number("rank"), fold("model", width=20), number("answers"), number("cite one, right"), number("95 %")
    )
    for model in articles["models"][:_SHOWN]:
        cells = [str(model["rank"]), plain(model["model"], _NAME), f"{model['answers']:,}", *_share(model["accuracy"])]
        add(table, cells)
    yield drawn


def _overlap(overlap: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Name pairs of articles that overlap; say what was not compared, and what to do about it."""
    yield Text(describe_overlap(overlap), style="bold")
    for kind in ("in_turn", "alike"):
        for pair in overlap[kind][:_PAIRS]:
            mine, other = (plain(name, _NAME) for name in pair["articles"])
            yield Text(f"  {mine} and {other}: {describe_pair(pair)}")
        if len(overlap[kind]) > _PAIRS:
            yield Text(f"  and {len(overlap[kind]) - _PAIRS} more with --json")
    if "reason" in overlap:
        yield Text(f"Texts of articles were not compared: {overlap['reason']}")


def _labelled(labelled: Mapping[str, Any]) -> Iterator[RenderableType]:
    table, drawn = make_table(fold("labelled", width=24), number("answers"), number("mean"), number("95 %"))
    for name, figure in labelled["figures"].items():
        add(table, [name, f"{figure['answers']:,}", f"{figure['value']:.3f}", _share(figure)[1]])
    yield drawn
    for name, means in labelled["structure"].items():
        yield Text(f"{name}: {means['answers']:.1f} in answers, {means['references']:.1f} in references")


def _share(interval: Mapping[str, Any] | None) -> tuple[str, str]:
    if interval is None:
        return "", ""
    return f"{interval['value']:.3f}", f"{interval['low']:.3f} to {interval['high']:.3f}"
