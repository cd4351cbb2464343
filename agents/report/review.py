"""What a review says: of each instruction check whether it is worth its place, the suspect ones first."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Column
from rich.text import Text

from turnsignal.agents.replaying.result import ReplayResult
from turnsignal.agents.report.escaping import plain
from turnsignal.agents.report.overview import describe_environments
from turnsignal.agents.report.tables import add, fold, make_table, number
from turnsignal.stream.reports.review import SUSPECT
from turnsignal.stream.text.counts import count_of


def format_review(result: ReplayResult) -> Iterator[RenderableType]:
    """Give one sentence, a table of the checks, and what to do about each verdict."""
    rows = result.summary["review"]
    yield from map(Text, describe_environments(result.summary))
    if not any(row["applicable"] for row in rows):
        yield Text("No check applied to any answer: are there assistant turns, and does the suite have checks?")
        return
    suspect = sum(row["verdict"] in SUSPECT for row in rows)
    broken = sum(row["fails"] > 0 for row in rows)
    yield Text(
        f"{count_of(len(rows), 'check')}, {broken} of them broken at least once, {suspect} to look at", style="bold"
    )
    columns = [number("applied"), number("fails"), number("rate"), number("otherwise good,\nof failing (95 %)")]
    table, drawn = make_table(fold("check", width=14), *columns, Column("verdict", ratio=1))
    for row in sorted(rows, key=lambda row: (row["verdict"] not in SUSPECT, row["check"])):
        rate = f"{row['rate']['value']:.1%}" if "rate" in row else "-"
        cells = [f"{row['applicable']:,}", f"{row['fails']:,}", rate, _share(row.get("good_among_fails"))]
        verdict = Text(f"{row['verdict']}: {row['why']}", style="yellow" if row["verdict"] in SUSPECT else "")
        name = Text(plain(row["check"], 60))
        if "says" in row:
            name.append(f"\n{plain(row['says'], 100)}", style="dim")
        add(table, [name, *cells, verdict])
    yield drawn
    yield Text()
    for verdict, advice in dict.fromkeys((row["verdict"], row["advice"]) for row in rows):
        yield Text.assemble((f"{verdict}: ", "bold"), advice)


def _share(figure: Mapping[str, Any] | None) -> str:
    return "-" if figure is None else f"{figure['value']:.0%} ({figure['low']:.0%}–{figure['high']:.0%})"
