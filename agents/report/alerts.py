"""Alerts: when one would have fired, had a recording been live, and why."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from turnsignal.agents.report.escaping import plain
from turnsignal.stream.detection.backtest import MAX_SERIES
from turnsignal.stream.detection.baseline import LEAST_KNOWN
from turnsignal.stream.detection.detector import DAY, PAGE, TICKET
from turnsignal.stream.detection.known_incidents import MatchedIncidents, Tried
from turnsignal.stream.detection.wording import format_time
from turnsignal.stream.text.counts import count_of

SHOWN = 20  #: incidents; summary.json has them all
NOT_HERE = (
    "Not in this: what only Prometheus counts (TurnsignalAnswersMissing, TurnsignalUsersSilent, "
    "TurnsignalInstructionRuleBroken and the budgets)."
)
_SHORT = 3  # series that were not watched; summary.json has them all


def format_alerts(summary: Mapping[str, Any]) -> Iterator[Text]:
    """Give what a back-test says, in lines; nothing where nobody asked for one."""
    alerts: Mapping[str, Any] | None = summary.get("alerts")
    if alerts is None:
        return
    days, pages, tickets = alerts["days"], alerts[PAGE], alerts[TICKET]
    if alerts["series"]["watched"]:
        yield Text(f"{count_of(pages, 'page')} and {count_of(tickets, 'ticket')} would have fired in {days:.1f} days.")
    yield Text(_describe_series(alerts["series"]))
    if alerts["unwatched"]:
        yield Text(f"{alerts['unwatched']:,} values were of series beyond {MAX_SERIES:,}, which nobody watches.")
    if decided := alerts.get("decisions"):
        idle = f"; {decided['about_nothing']:,} of them are about nothing here" if decided["about_nothing"] else ""
        yield Text(f"{decided['heard']:,} decisions of operators were heard{idle}.")
    for incident in alerts["incidents"][:SHOWN]:
        yield from (Text(plain(line, 500)) for line in incident["text"])
    if len(alerts["incidents"]) > SHOWN:
        yield Text(f"… and {len(alerts['incidents']) - SHOWN:,} more in summary.json")
    yield Text(NOT_HERE)
    yield Text()


def _describe_series(series: Mapping[str, Any]) -> str:
    """Say how many series were watched, and how many were not, and why."""
    watched, short = series["watched"], series["not_watched"]
    if not watched and not short:
        return "No series was watched, so nothing could fire: there was none to watch."
    named = [_describe_short(each) for each in short[:_SHORT]]
    if len(short) > _SHORT:
        named.append(f"and {len(short) - _SHORT:,} more")
    why = f"fewer than {LEAST_KNOWN:,} values, or a day, before the end ({', '.join(named)})"
    if not watched:
        return f"No series was watched, so nothing could fire: {why}."
    begun = f"1 series was watched, from {format_time(series['from'])} on"
    if watched > 1:
        begun = f"{watched:,} series were watched, the first from {format_time(series['from'])} on"
    not_watched = f"{len(short):,} {'was' if len(short) == 1 else 'were'} not, so nothing could fire there: {why}"
    return f"{begun}; {not_watched}." if short else f"{begun}."


def _describe_short(short: Mapping[str, Any]) -> str:
    lane = f" (lane {short['lane']})" if short["lane"] else ""
    who = f"{plain(short['scorer'], 60)} of {plain(short['assistant'], 60)}{lane}"
    return f"{who}: {short['values']:,} values in {short['days']:.1f} days"


def format_refused(alerts: Mapping[str, Any]) -> Iterator[Text]:
    """Name the records that were set aside, the first of them with file, line and reason."""
    if refused := alerts.get("refused"):
        yield Text(f"{refused['records']:,} records were set aside, as they are none of series:")
        yield from (Text("  " + plain(line, 500)) for line in refused["first"])


def format_known(matched: MatchedIncidents) -> Iterator[Text]:
    """Say which known incidents would have raised an alert, and how late."""
    of = len(matched.hits) + len(matched.misses)
    if matched.unwatched:
        late = f"{len(matched.unwatched):,} known incidents began before any series of their assistants was watched:"
        yield Text(f"{late} these say nothing, as what is usual was not known yet.", style="bold")
    if of or not matched.unwatched:
        others = "other " if matched.unwatched else ""
        yield Text(f"{len(matched.hits):,} of {of:,} {others}known incidents would have raised an alert.", style="bold")
    for hit in matched.hits[:SHOWN]:
        tier, hours = hit.incident.tier, hit.delay / DAY * 24
        yield Text(f"  {plain(hit.known.name, 80)}: {tier} after {hours:.1f} hours ({hit.incident.id})")
    without = (
        ("missed", matched.misses),
        ("not watched yet", matched.unwatched),
        ("not in this recording", matched.outside),
    )
    for word, these in without:
        for known in these[:SHOWN]:
            yield Text(f"  {plain(known.name, 80)}: {word}")
    tickets = len(matched.false) - matched.false_pages
    yield Text(f"Called, and none of them: {count_of(matched.false_pages, 'page')}, {count_of(tickets, 'ticket')}.")


def format_tried(tried: Sequence[Tried]) -> Iterator[Text]:
    """Say which setting has at most one false page in 30 days, and what it costs."""
    if not tried:
        yield Text("No setting of alerts.assistants was tried, as no series was watched.")
    for each in tried:
        yield Text(
            f"alerts.assistants = {each.assistants:,}: {each.false_pages:,} false pages, {each.false_per_month:.1f} in"
            f" 30 days; known incidents with an alert: {each.hits:,} of {each.hits + each.misses:,}"
        )
    if tried and tried[-1].false_per_month > 1.0:
        yield Text("None of these settings has one false page in 30 days at most.")
