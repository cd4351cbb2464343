"""Wording: an incident in lines that an engineer on call can check."""

from collections.abc import Iterator
from datetime import UTC, datetime

from turnsignal.stream.detection.detector import PAGE, TICKET, VERSION
from turnsignal.stream.detection.policy import leaning_of
from turnsignal.stream.records.regressions import UNKNOWN, Incident, ScorerChange
from turnsignal.stream.statistics.directions import BETTER, CHANGED
from turnsignal.stream.text.signed import signed

_SHOWN = 60  # characters of a name
_LONG = 3_600.0  # seconds


def describe_incident(incident: Incident) -> Iterator[str]:
    """Describe in lines what happened, and what the evidence was."""
    end = "" if incident.closed is None else f", {incident.closed_by} by {format_time(incident.closed)}"
    part = f" (lane {incident.lane})" if incident.lane else ""
    yield f"{format_time(incident.opened)}  {_tier(incident)}  {_short(incident.assistant)}{part}{end}  [{incident.id}]"
    for change in incident.changes:
        yield f"    {change.scorer}: {describe_change(change)}; {_meaning(change)}"
        yield f"      {change.promise}"
    if incident.instruction:
        yield f"    worst instruction: {incident.instruction}"
    if incident.ranks:
        yield f"    worst ranks: {incident.ranks}"
    if incident.after:
        yield f"    {incident.after.sentence}"
    if incident.conversations:
        yield f"    conversations: {', '.join(incident.conversations)}"


def describe_change(change: ScorerChange) -> str:
    """Describe a change in numbers: lower, from 0.80 to 0.70 (−0.10, 95 % −0.13 to −0.07), 400 values since …"""
    bounds = f"{signed(change.change, 2)}, 95 % {signed(change.low, 2)} to {signed(change.high, 2)}"
    moved = f"from {change.before:.2f} to {change.after:.2f} ({bounds})"
    since = f"{change.n:,} values since {_format_since(change)}"
    if change.scope == VERSION:
        between = f"in {_short(change.version) or 'none'} than in {_short(change.replaces or '') or 'none'}"
        return f"{change.direction} {between}, {moved}, {since}"
    return f"{change.direction}, {moved}, {since}, now of {_short(change.version) or 'no version'}"


def _meaning(change: ScorerChange) -> str:
    if change.meaning == CHANGED and leaning_of(change.scorer, change.direction) == BETTER:
        return f"{CHANGED}, not called better: by itself it knows neither the other figures nor who left without a word"
    return change.meaning


def lines_of(incident: Incident) -> list[str]:
    """Return the text of a record, described anew where an older version wrote of 1970 what it did not know."""
    if any(change.since == UNKNOWN for change in incident.changes):
        return list(describe_incident(incident))
    return incident.text


def _format_since(change: ScorerChange) -> str:
    if change.since == UNKNOWN:
        return "the first that was watched, or before"
    return format_time(change.since) + (" or before (not watched until then)" if change.or_before else "")


def _tier(incident: Incident) -> str:
    """Name the tier, and since when where it became a page long after it was opened."""
    raised = min((change.called for change in incident.changes if change.tier == PAGE), default=incident.opened)
    return incident.tier if raised <= incident.opened + _LONG else f"{TICKET}, {PAGE} from {format_time(raised)}"


def _short(name: str) -> str:
    return name if len(name) <= _SHOWN else f"{name[: _SHOWN - 1]}…"


def format_time(time: float) -> str:
    """Write an event time to the minute."""
    try:
        return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):  # a year that no calendar has
        return f"{time:.0f} s"
