"""Alerts: when one would have fired, had a recording been live, and why."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from turnsignal.agents.report.escaping import plain
from turnsignal.stream.detection.backtest import MAX_SERIES
from turnsignal.stream.detection.detector import DAY, PAGE, TICKET
from turnsignal.stream.detection.known_incidents import MatchedIncidents, Tried

SHOWN = 20  #: incidents; summary.json has them all


def format_alerts(summary: Mapping[str, Any]) -> Iterator[Text]:
    """Give what a back-test says, in lines; nothing where nobody asked for one."""
    alerts: Mapping[str, Any] | None = summary.get("alerts")
    if alerts is None:
        return
    days, pages, tickets = alerts["days"], alerts[PAGE], alerts[TICKET]
    yield Text(f"{pages:,} pages and {tickets:,} tickets would have fired in {days:.1f} days.")
    if days <= 1.0:
        yield Text("No alarm opens before a series is known for a day, and has 1,000 values.")
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


def format_refused(alerts: Mapping[str, Any]) -> Iterator[Text]:
    """Name the records that were set aside, the first of them with file, line and reason."""
    if refused := alerts.get("refused"):
        yield Text(f"{refused['records']:,} records were set aside, as they are none of series:")
        yield from (Text("  " + plain(line, 500)) for line in refused["first"])


def format_known(matched: MatchedIncidents) -> Iterator[Text]:
    """Say which known incidents would have raised an alert, and how late."""
    of = len(matched.hits) + len(matched.misses)
    yield Text(f"{len(matched.hits):,} of {of:,} known incidents would have raised an alert.", style="bold")
    for hit in matched.hits[:SHOWN]:
        tier, hours = hit.incident.tier, hit.delay / DAY * 24
        yield Text(f"  {plain(hit.known.name, 80)}: {tier} after {hours:.1f} hours ({hit.incident.id})")
    for word, these in (("missed", matched.misses), ("not in this recording", matched.outside)):
        for known in these[:SHOWN]:
            yield Text(f"  {plain(known.name, 80)}: {word}")
    tickets = len(matched.false) - matched.false_pages
    yield Text(f"Called, and none of them: {matched.false_pages:,} pages, {tickets:,} tickets.")


def format_tried(tried: Sequence[Tried]) -> Iterator[Text]:
    """Say which setting has at most one false page in 30 days, and what it costs."""
    for each in tried:
        yield Text(
            f"alerts.assistants = {each.assistants:,}: {each.false_pages:,} false pages, {each.false_per_month:.1f} in"
            f" 30 days; known incidents with an alert: {each.hits:,} of {each.hits + each.misses:,}"
        )
    if tried and tried[-1].false_per_month > 1.0:
        yield Text("None of these settings has one false page in 30 days at most.")
