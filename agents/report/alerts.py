"""Alerts: when a recording would have been called, had it been live, and why."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from turnsignal.agents.report.escaping import plain
from turnsignal.stream.detection.backtest import MAX_SERIES
from turnsignal.stream.detection.detector import PAGE, TICKET

SHOWN = 20  #: incidents; summary.json has them all


def format_alerts(summary: Mapping[str, Any]) -> Iterator[Text]:
    """Give what a back-test says, in lines; nothing where nobody asked for one."""
    alerts: Mapping[str, Any] | None = summary.get("alerts")
    if alerts is None:
        return
    days, pages, tickets = alerts["days"], alerts[PAGE], alerts[TICKET]
    yield Text(f"In {days:.1f} days would have been called: {pages:,} pages, {tickets:,} tickets.")
    if days <= 1.0:
        yield Text("Nothing is called before a series is known for a day, and has 1,000 values.")
    if alerts["unwatched"]:
        yield Text(f"{alerts['unwatched']:,} values were of series beyond {MAX_SERIES:,}, which nobody watches.")
    if decided := alerts.get("decisions"):
        idle = f"; {decided['about_nothing']:,} of them are about nothing here" if decided["about_nothing"] else ""
        yield Text(f"{decided['heard']:,} decisions of operators were heard{idle}.")
    for incident in alerts["incidents"][:SHOWN]:
        yield from (Text(plain(line, 500)) for line in incident["text"])
    if len(alerts["incidents"]) > SHOWN:
        yield Text(f"… and {len(alerts['incidents']) - SHOWN:,} more in summary.json")
    yield Text()
