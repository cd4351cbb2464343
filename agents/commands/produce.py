"""`turnsignal produce …`: recorded turns, or any chat log, into Kafka."""

import shlex
from collections.abc import Callable
from pathlib import Path

import click

from turnsignal.agents.commands.options import (
    FEEDBACK,
    FILES,
    FORMAT,
    HASH_USERS,
    MAPPING,
    MAX_REJECTED,
    SPEED,
    STRICT,
    how_to_read,
    reach_settings,
    shown_progress,
)
from turnsignal.agents.commands.sparing import OutFile, SparingCommand


@click.command(
    cls=SparingCommand,
    short_help="Send recorded turns, or any chat log, to Kafka.",
    epilog="Example: turnsignal produce turns.jsonl.gz --speed 60x",
)
@click.argument("files", type=FILES, nargs=-1, required=True)
@click.option(
    "--speed",
    type=SPEED,
    default="max",
    show_default=True,
    help="Event time against the clock, such as 60x; at max, days come within minutes, and when an incident began or "
    "an alert fired says nothing.",
)
@click.option("--topic", help="Where to send them.  [the turns topic]")
@click.option("--as-is", is_flag=True, help="Keep the order of the files; without, turns are sorted by their time.")
@click.option("--rejects", type=OutFile(), default="rejects.jsonl", show_default=True)
@click.option(
    "--resume",
    type=OutFile(),
    help="Note in this file how far it came; the same command goes on from there, and sends nothing twice.",
)
@FEEDBACK
@FORMAT
@MAPPING
@STRICT
@HASH_USERS
@MAX_REJECTED
def produce(
    files: tuple[Path, ...],
    *,
    speed: float,
    topic: str | None,
    as_is: bool,
    rejects: Path,
    resume: Path | None,
    feedback: tuple[Path, ...],
    format_name: str | None,
    mapping: Path | None,
    strict: bool,
    user_key: Path | None,
    max_rejected: Callable[[int, int], bool] | None,
) -> None:
    """Send recorded turns, or any chat log, to Kafka, keyed by conversation, and feedback to its own topic.

    The file - is standard input, which is read to its end before anything is sent.

    With --resume, a run that ended in whatever way, kill -9 among them, is taken up again: each record carries its
    number in a header, by which what was sent since the last note is found on the topic. That takes the right to read
    it; where it may not be read, was made anew or has dropped records since, a line says how many may come twice. A run
    that was done sends nothing more. Lines that no worker could take in go to the reject file, with their number and
    the reason; the rest goes on. Ends with 1 when no line could be read, or more than --max-rejected.
    """
    import time

    from turnsignal.agents.commands.reading import echo_described, read_in
    from turnsignal.agents.commands.rejected import end_by_cut, end_by_rejected, end_by_unread
    from turnsignal.agents.commands.resuming import saying_how_to_resume
    from turnsignal.agents.files.produce import produce_files
    from turnsignal.agents.files.reading import Recording, TurnFile
    from turnsignal.agents.kafka.topics import topic_names
    from turnsignal.agents.process.interrupts import ending_on_signals
    from turnsignal.agents.report.unread import describe_files

    how = how_to_read(format_name, mapping, strict=strict, user_key=user_key)
    settings = reach_settings()
    names = topic_names(settings.prefix)
    name = topic or names["turns"]
    with (
        ending_on_signals(),
        saying_how_to_resume(resume),
        read_in(files, how, click.echo) as imported,
        shown_progress("reading", Recording(imported.sources, feedback=feedback).size) as (console, reading, sending),
    ):
        feedback_files: tuple[Path | TurnFile, ...] = (*feedback, *imported.feedback)
        done = produce_files(
            settings,
            imported.sources,
            name,
            refused=imported.refused,
            now=time.time(),
            rejects=rejects,
            feedback=(feedback_files, names["feedback"]) if feedback_files else None,
            speed=speed or None,
            as_is=as_is,
            resume=resume,
            read_as=how.identity,
            reading=reading,
            sending=sending,
            say=lambda line: console.print(line, markup=False, highlight=False, soft_wrap=True),
        )
    if done.is_repeated:
        click.echo(f"All {done.skipped:,} records were done before; to send them again: rm {shlex.quote(str(resume))}")
        return
    if done.skipped:
        click.echo(f"Went on after {done.skipped:,} records that were done before.")
    click.echo(f"Sent {done.sent:,} turns to {name}.")
    if feedback_files:
        click.echo(f"Sent {done.feedback:,} records of feedback to {names['feedback']}.")
    echo_described(describe_files(imported.reports, done.assumed))
    if done.rejects is not None:
        reasons = ", ".join(f"{reason} {n}" for reason, n in sorted(done.rejected.items()))
        click.echo(f"Rejected {done.rejected.total():,} lines ({reasons}); see {done.rejects}.")
    if done.rejects is not None and not done.skipped:
        end_by_unread(feedback, done.feedback, done.rejects, "record of feedback")
    end_by_cut(imported.reports)
    end_by_rejected(done.rejected.total(), done.sent + done.feedback + done.skipped, max_rejected)
