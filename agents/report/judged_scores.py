"""Judged scores at the end of a replay: one table, a line for each release and judge."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType

from turnsignal.agents.report.escaping import plain
from turnsignal.agents.report.tables import add, fold, make_table, number

_SHOWN = 20  #: lines; the rest stands in the summary


def format_judged_scores(summary: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield lines of what judges said of each release; none where no verdict was read."""
    rows = summary.get("judged") or []
    if not rows:
        return
    columns = (number("mean"), number("n"), number("coverage"), number("cost"), fold("not judged"))
    table, drawn = make_table(fold("release"), fold("judged by"), *columns, title="What judges say")
    for row in rows[:_SHOWN]:
        mean = "-" if row["mean"] is None else f"{row['mean']:.3f}"
        why = ", ".join(f"{reason} {by}" for reason, by in row["unscored"].items())
        release = f"{plain(row['assistant'], 60)} {plain(row['version'] or '', 60)}".strip()
        cells = (mean, str(row["n"]), f"{row['coverage']:.0%}", f"{row['cost']:g}", plain(why, 200))
        add(table, [release, plain(row["scorer"], 90), *cells])
    yield drawn
