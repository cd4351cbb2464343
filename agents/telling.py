"""Telling: a replay's `summary.json` as tables for people; every name from the traffic is made safe to print."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from rich.console import RenderableType
from rich.table import Column, Table

from agents.replaying import SUMMARY
from agents.screen import safe
from stream.errors import TurnsignalError
from stream.review import SUSPECT

ROWS = 20  #: releases, comparisons that are shown; summary.json has them all
COLUMNS = ("resolved", "clarification_free", "follow_up", "cited", "dangling", "compliance")  #: beside the first nDCG


def read_summary(directory: Path) -> dict[str, Any]:
    """Read the summary of a replay; raises TurnsignalError when there is none that this program wrote."""
    path = directory / SUMMARY
    try:
        summary = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        msg = f"{directory}: expected a directory that `turnsignal replay --out` wrote, with {SUMMARY}; got none"
        raise TurnsignalError(msg) from None
    if not isinstance(summary, dict) or "review" not in summary:
        msg = f"{path}: expected a section `review`, got none; replay again with this version of turnsignal"
        raise TurnsignalError(msg)
    return summary


def tell_conversations(summary: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Tell how each release's conversations went, and what changed from one to the next."""
    releases = summary["quality"]
    if releases:
        yield _releases(releases[:ROWS])
        if len(releases) > ROWS:
            yield f"… and {len(releases) - ROWS} more releases in {SUMMARY}."
    for row in summary["comparisons"][:ROWS]:
        yield from _changes(row)
    for row in summary["position_bias"]:
        yield _bias(row)
    looks = [row for row in summary["review"] if row["verdict"] in SUSPECT]
    if looks:
        yield f"{len(looks)} of {len(summary['review'])} checks want a look: see `turnsignal review`."


def tell_review(rows: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Tell of each check whether it is worth its place, and what to do."""
    if not any(row["applicable"] for row in rows):
        yield "No check applied to any answer: are there assistant turns, and does the suite have checks?"
        return
    check = Column("check", overflow="fold", min_width=26)
    table = Table(check, "applicable", "fails", "rate (95 %)", "otherwise good", "verdict", "what to do")
    order = sorted(rows, key=lambda row: (row["verdict"] not in SUSPECT, row["check"]))
    for row in order:
        cells = [f"{row['applicable']:,}", f"{row['fails']:,}", _rate(row.get("rate"))]
        cells += [_rate(row.get("good_among_fails")), f"{row['verdict']}: {row['why']}", row["advice"]]
        table.add_row(safe(row["check"], 60), *cells)
    yield table


def _releases(rows: Sequence[Mapping[str, Any]]) -> Table:
    figures: Mapping[str, Any] = next((row["figures"] for row in rows if "figures" in row), {})
    ndcg = next((name for name in figures if name.startswith("nDCG")), None)
    columns = [*([ndcg] if ndcg else []), *COLUMNS]
    table = Table("assistant", "version", "conversations", *columns, title="conversations, with 95 % intervals")
    for row in rows:
        found = row.get("figures", {})
        n = row["conversations"]
        cells = [_figure(found.get(name), n) for name in columns] if found else [row["silent"]]
        table.add_row(safe(row["assistant"], 30), safe(row["version"] or "-", 30), f"{row['conversations']:,}", *cells)
    return table


def _changes(row: Mapping[str, Any]) -> Iterator[str]:
    name = f"{safe(row['assistant'], 30)} {safe(row['before'] or '-', 30)} → {safe(row['after'] or '-', 30)}"
    moved = {what: delta for what, delta in row["deltas"].items() if delta["verdict"] in ("worse", "better")}
    if not moved:
        yield f"{name}: no difference shown in {len(row['deltas'])} figures."
    for what, delta in moved.items():
        value = f"{delta['value']:+.3f} ({delta['low']:+.3f} to {delta['high']:+.3f})"
        yield f"{name}: {safe(what, 60)} {value} [bold]{delta['verdict']}[/bold]"


def _bias(row: Mapping[str, Any]) -> str:
    name = f"{safe(row['assistant'], 30)}: position bias:"
    if "silent" in row:
        return f"{name} {row['silent']}."
    places = " ".join(f"{place['value']:.2f}" for place in row["propensities"])
    told = f"{name} rank 1 to {len(row['propensities'])} looked at {places} (from {row['source']}, n = {row['n']:,})."
    for one in row.get("ndcg", ()):
        if "raw" in one:
            told += f" {safe(one['version'] or '-', 30)}: {one['measure']} {_figure(one['raw'])},"
            told += f" debiased {_figure(one['debiased'])}."
    return told


def _figure(found: Mapping[str, Any] | None, conversations: int = 0) -> str:
    """Spell a figure; where it is of fewer than half of the conversations, say of how many."""
    if found is None:
        return "-"
    few = f", n = {found['n']:,}" if 2 * found["n"] < conversations else ""
    return f"{found['value']:.3f} ({found['low']:.3f}–{found['high']:.3f}){few}"


def _rate(found: Mapping[str, Any] | None) -> str:
    return "-" if found is None else f"{found['value']:.1%} ({found['low']:.1%}–{found['high']:.1%})"
