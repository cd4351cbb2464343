"""`--topic turns --from … --to …`: a range of a topic in place of files, as `turnsignal export` would write it.

Any other topic of messages is read like a file of them: what `--format` and `--mapping` say holds for its records.
"""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from turnsignal.stream.errors import TurnsignalError

_OWN = "turns"
EXPORTED_TURNS = "exported-turns.jsonl.gz"  #: beside the results
EXPORTED_FEEDBACK = "exported-feedback.jsonl.gz"


def or_from_topic(files: str, out: Path) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a command that reads files take a range of a topic instead.

    files: the parameter that they come in; out: the directory of its results where none is given. A command that takes
    feedback, too, is given what came about the conversations of turnsignal's own turns, whenever it came.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option("--topic", metavar="turns|TOPIC", help="Read Kafka instead of files: our turns, or any topic.")
        @click.option("--from", "since", metavar="TIME", help="With --topic: turns that came in then or later.")
        @click.option("--to", "until", metavar="TIME", help="With --topic: turns that came in before.")
        @click.option("--whole", is_flag=True, help="With --topic: every turn of each conversation that has one there.")
        @wraps(command)
        def taking(*, topic: str | None, since: str | None, until: str | None, whole: bool, **given: Any) -> Any:
            if topic is None:
                if since or until or whole:
                    raise click.UsageError("--from, --to and --whole go with --topic; got them without it")
                return command(**given)
            if given[files]:
                raise click.UsageError("--topic and files exclude each other; got both")
            directory = Path(given.get("out") or out)
            turns, votes = directory / EXPORTED_TURNS, directory / EXPORTED_FEEDBACK
            if not (given.get("resume") and turns.is_file()):  # what is gone on with is what was begun
                beside = votes if "feedback" in given else None
                _export(topic, turns, beside, since=since, until=until, whole=whole)
            if "feedback" in given and votes.is_file():
                given["feedback"] = (*given["feedback"], votes)
            return command(**{**given, files: (turns,)})

        return taking

    return decorate


def _export(topic: str, turns: Path, votes: Path | None, *, since: str | None, until: str | None, whole: bool) -> None:
    """Write a range of a topic to files, in place of those that an earlier run has written there."""
    from turnsignal.agents.commands.export import describe_gone, read_range
    from turnsignal.agents.commands.options import reach_settings, shown_progress
    from turnsignal.agents.files.exporting import Wanted, export_topic
    from turnsignal.agents.kafka.topics import topic_names

    times = read_range(since, until)
    settings = reach_settings()
    name = _OWN if topic == topic_names(settings.prefix)[_OWN] else topic
    wanted = [(Wanted(name, *times, whole=whole), turns)]
    if votes is not None and name == _OWN:
        wanted.insert(0, (Wanted("feedback", *times, whole=True, of=_OWN), votes))
    elif votes is not None:  # what others key their records by says nothing of conversations
        votes.unlink(missing_ok=True)
    with shown_progress("exporting", 1) as (_, _, sending):
        for what, into in wanted:
            into.unlink(missing_ok=True)
            exported = export_topic(settings, what, into, sending)
            for line in describe_gone(what.topic, exported.gone):
                click.echo(line, err=True)
            if exported.lines:
                click.echo(f"Read {exported.lines:,} records of {what.topic} into {into}.", err=True)
            else:
                into.unlink()
    if not exported.lines:
        msg = f"{name}: expected records that came in from {since or 'the beginning'} to {until or 'now'}, got none"
        raise TurnsignalError(msg)
