"""`--topic turns --from … --to …`: a range of a topic in place of files, as `turnsignal export` would write it."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from turnsignal.stream.errors import TurnsignalError

EXPORTED_TURNS = "exported-turns.jsonl.gz"  #: beside the results


def or_from_topic(files: str, out: Path) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a command that reads files take a range of the topic of turns instead.

    files: the parameter that they come in; out: the directory of its results where none is given.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option("--topic", type=click.Choice(["turns"]), help="Read turns from Kafka instead of files.")
        @click.option("--from", "since", metavar="TIME", help="With --topic: turns that came in then or later.")
        @click.option("--to", "until", metavar="TIME", help="With --topic: turns that came in before.")
        @wraps(command)
        def taking(*, topic: str | None, since: str | None, until: str | None, **given: Any) -> Any:
            if topic is None:
                if since or until:
                    raise click.UsageError("--from and --to are of --topic turns; got them without it")
                return command(**given)
            if given[files]:
                raise click.UsageError("--topic and files exclude each other; got both")
            into = Path(given.get("out") or out) / EXPORTED_TURNS
            if not (given.get("resume") and into.is_file()):  # what is gone on with is what was begun
                _export(topic, since, until, into)
            return command(**{**given, files: (into,)})

        return taking

    return decorate


def _export(topic: str, since: str | None, until: str | None, into: Path) -> None:
    """Write a range of a topic to a file, in place of the one that an earlier run has written there."""
    from turnsignal.agents.commands.export import describe_gone, read_range
    from turnsignal.agents.commands.options import reach_settings, shown_progress
    from turnsignal.agents.files.exporting import Wanted, export_topic

    wanted = Wanted(topic, *read_range(since, until))
    settings = reach_settings()
    into.unlink(missing_ok=True)
    with shown_progress("exporting", 1) as (_, _, sending):
        exported = export_topic(settings, wanted, into, sending)
    for line in describe_gone(topic, exported.gone):
        click.echo(line, err=True)
    click.echo(f"Read {exported.lines:,} records of {topic} into {into}.", err=True)
    if not exported.lines:
        into.unlink()
        msg = f"{topic}: expected turns that came in from {since or 'the beginning'} to {until or 'now'}, got none"
        raise TurnsignalError(msg)
