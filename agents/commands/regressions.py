"""`turnsignal regressions …`: the incidents of an assistant's answers, and what an operator decides about them."""

import time
from typing import TYPE_CHECKING

import click

from turnsignal.agents.commands.options import JSON, open_console, print_json, reach_settings
from turnsignal.agents.commands.suggestions import SuggestingGroup
from turnsignal.stream.errors import ConfigError, TurnsignalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from turnsignal.agents.settings import Settings
    from turnsignal.stream.records.decisions import Decision
    from turnsignal.stream.records.regressions import Incident

_SHOWN = 50  # incidents of a list; --json has them all
_LINE = 500  # characters of a line


@click.group(
    cls=SuggestingGroup,
    short_help="List incidents, show one, accept a new level.",
    epilog="Example: turnsignal regressions list",
)
def regressions() -> None:
    """List incidents of answers that changed, show one, and decide that a new level is the usual one."""


@regressions.command(
    "list",
    short_help="List the incidents of every assistant, open ones first.",
    epilog="Example: turnsignal regressions list --open",
)
@click.option("--open", "only_open", is_flag=True, help="Only incidents that are open.")
@JSON
def list_(*, only_open: bool, as_json: bool) -> None:
    """List the incidents of every assistant, the newest first; open ones stand before those that are over."""
    known = [one for one in _read(reach_settings()).values() if one.closed is None or not only_open]
    known.sort(key=lambda incident: (incident.closed is None, incident.opened), reverse=True)
    if as_json:
        print_json([incident.as_json() for incident in known])
        return
    from turnsignal.agents.report.escaping import plain

    lines = [line for incident in known[:_SHOWN] for line in incident.text[:2]]
    if len(known) > _SHOWN:
        lines.append(f"… and {len(known) - _SHOWN:,} more with --json")
    _print([plain(line, _LINE) for line in lines or ["No incident is known."]])


@regressions.command(
    short_help="Show an incident: since when, what, why, and examples.",
    epilog="Example: turnsignal regressions show 5d0c2f8a91b3e640",
)
@click.argument("incident_id", metavar="ID")
@JSON
def show(incident_id: str, *, as_json: bool) -> None:
    """Show an incident: since when, from what to what, which version, which instruction, and five conversations."""
    from turnsignal.agents.report.escaping import plain

    incident = _find(_read(reach_settings()), incident_id)
    if as_json:
        print_json(incident.as_json())
        return
    _print([plain(line, _LINE) for line in incident.text])


@regressions.command(
    short_help="Take the level of an open incident for the usual one.",
    epilog="Example: turnsignal regressions accept 5d0c2f8a91b3e640",
)
@click.argument("incident_id", metavar="ID")
def accept(incident_id: str) -> None:
    """Take the level that an open incident is about for the usual one, and close it.

    Its scorers learn anew what is usual, and call nothing for a day and 1,000 values.
    """
    from turnsignal.stream.records.decisions import ACCEPT, Decision

    settings = reach_settings()
    incident = _find(_read(settings), incident_id)
    if incident.closed is not None:
        msg = f"expected an open incident, got {incident.id}, which is over ({incident.closed_by})"
        raise ConfigError(msg)
    _send(settings, [Decision(ACCEPT, incident.assistant, incident.lane, time.time(), incident.id)])
    click.echo(f"Sent; the watch worker closes {incident.id} when it has read it: turnsignal regressions list --open")


@regressions.command(
    short_help="Take what an ASSISTANT's scorers say now for the usual.",
    epilog="Example: turnsignal regressions rebase support",
)
@click.argument("assistant")
def rebase(assistant: str) -> None:
    """Take whatever all scorers of an ASSISTANT say from now on for the usual; open incidents of it close.

    For a change of everything that is wanted. No alarm opens for a day and 1,000 values of each scorer.
    """
    from turnsignal.agents.kafka.logs import find_log
    from turnsignal.agents.kafka.topics import topic_names
    from turnsignal.stream.pipeline.batch_output import LANE
    from turnsignal.stream.records.decisions import MAX_ASSISTANT, REBASE, Decision

    if not 0 < len(assistant) <= MAX_ASSISTANT:
        msg = f"expected the name of an assistant, 1 to {MAX_ASSISTANT} characters; got {len(assistant)}"
        raise ConfigError(msg)
    settings = reach_settings()
    # As many as workers write: by the topic as it is, which may have more partitions than the settings of this shell.
    lanes = range(-(-len(find_log(settings, topic_names(settings.prefix)["turns"])) // LANE))
    _send(settings, [Decision(REBASE, assistant, lane, time.time()) for lane in lanes])
    click.echo("Sent; the watch worker learns anew what is usual as soon as it has read it.")


def _read(settings: "Settings") -> "Mapping[str, Incident]":
    """Read the newest record of every incident; what cannot be read as one is passed over, and counted."""
    from turnsignal.agents.kafka.logs import find_log, read_log
    from turnsignal.agents.kafka.topics import topic_names
    from turnsignal.stream.detection.incidents import newest
    from turnsignal.stream.detection.wording import lines_of
    from turnsignal.stream.records.regressions import read_incident

    incidents, unread, topic = [], 0, topic_names(settings.prefix)["regressions"]
    for records in read_log(settings, topic, find_log(settings, topic), committed=True):
        for record in records:
            try:
                incidents.append(read_incident(record.value or b""))
            except ValueError:
                unread += 1
    if unread:
        click.echo(f"{unread:,} records of the topic are no incidents that this turnsignal reads.", err=True)
    known = newest(incidents)
    for incident in known.values():
        incident.text = lines_of(incident)
    return known


def _find(known: "Mapping[str, Incident]", incident_id: str) -> "Incident":
    """Find an incident by its id, or by how that begins."""
    matches = [incident for name, incident in known.items() if name.startswith(incident_id) and incident_id]
    if len(matches) != 1:
        named = f"{len(matches)} of them" if matches else f"none of {len(known):,}"
        msg = (
            f"expected the id of an incident, got {incident_id[:80]!r}, {named}; `turnsignal regressions list` has all"
        )
        raise TurnsignalError(msg)
    return matches[0]


def _send(settings: "Settings", decisions: "Iterable[Decision]") -> None:
    from turnsignal.agents.kafka.sending import Sender
    from turnsignal.agents.kafka.topics import topic_names
    from turnsignal.stream.records.decisions import series_key
    from turnsignal.stream.replay import Recorded

    sender = Sender(settings, topic_names(settings.prefix)["decisions"])
    for decision in decisions:
        key, value = series_key(decision.assistant, decision.lane), decision.encode()
        sender.send(Recorded(0.0, 0, key, value, 0), key, value)
    sender.flush()


def _print(lines: "Iterable[str]") -> None:
    from rich.text import Text

    from turnsignal.agents.report.tables import print_lines

    print_lines(open_console(), map(Text, lines))
