"""`turnsignal convert …`: any chat log → a file of turns, with what was understood, left out, and missing."""

import shlex
import sys
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnsignal.agents.commands.options import (
    FILES,
    FORMAT,
    HASH_USERS,
    JSON,
    MAPPING,
    MAX_REJECTED,
    how_to_read,
    print_json,
    shown_progress,
)
from turnsignal.agents.commands.sparing import OutFile, SparingCommand
from turnsignal.agents.process.exits import EXIT_FAILED

if TYPE_CHECKING:
    from turnsignal.agents.files.converting import Converted

_OUT = OutFile()


@click.command(cls=SparingCommand, epilog="Example: turnsignal convert traces.json --out turns.jsonl.gz")
@click.argument("files", type=FILES, nargs=-1, required=True)
@click.option("--out", type=_OUT, help="File of turns (.jsonl or .jsonl.gz).")
@click.option("--feedback", type=_OUT, help="File for votes, scores and labels by people, as feedback on the turns.")
@click.option("--check", is_flag=True, help="Say what the telemetry lacks, and what mends it; needs no --out.")
@click.option("--propose", type=_OUT, help="Write a first mapping for these records to this file, and do no more.")
@JSON
@FORMAT
@MAPPING
@HASH_USERS
@MAX_REJECTED
def convert(
    files: tuple[Path, ...],
    *,
    out: Path | None,
    feedback: Path | None,
    check: bool,
    propose: Path | None,
    as_json: bool,
    format_name: str | None,
    mapping: Path | None,
    user_key: Path | None,
    max_rejected: Callable[[int, int], bool] | None,
) -> None:
    """Convert any chat log to turns, and say what was understood, what was left out, and what is missing.

    The file - is standard input.

    \b
    A mapping reads what no format is known for:
    [turns]                        one record is one turn; or [exchanges]: question and answer in one
    conversation_id = "session.id" a path in the record
    role = { path = "kind", visitor = "user" }    values that mean a role
    text = "body.text"
    timestamp = "at"               ISO 8601, or seconds or milliseconds since 1970
    date_format = "%d.%m.%Y %H:%M" where times are written otherwise (as strptime has it)
    documents = "hits"             a list of ids, texts, or objects with an id
    documents = { path = "hits", id = "ref" }     where the key of the id is not known
    separator = "|"                where several ids stand in one text
    list = "events"                where one record holds a list of turns
    list = "chats.*.events"        one for each key; the key is conversation_id = "*"
    list = ["source", "events"]    what stands at several paths
    conversation_id = "../id"      the id of what holds the list, where its items have an id, too
    \b
    Also: turn_id, citations, assistant, version, model, platform, user_id, environment, vote;
    version = { value = "2025-06" } is the same for all.

    Ends with 1 when no record could be read, or more than --max-rejected.
    """
    from turnsignal.agents.files.converting import IMPORTING, convert_files, size_of
    from turnsignal.agents.files.writing import written
    from turnsignal.agents.process.interrupts import ending_on_signals

    how = how_to_read(format_name, mapping, strict=False, user_key=user_key)
    if propose is not None:
        _propose(files, propose, err=as_json)
        return
    if out is None and not check:
        raise click.UsageError("expected --out FILE, --check or --propose FILE; got none of them")
    with (
        ending_on_signals(),
        shown_progress("converting", size_of(files), IMPORTING) as bars,
        nullcontext() if out is None else written(out, zipped=out.suffix == ".gz") as file,
        nullcontext() if feedback is None else written(feedback, zipped=feedback.suffix == ".gz") as feedback_file,
    ):
        done = convert_files(files, how, file, partial(click.echo, err=as_json), feedback_file, bars[1])
    if as_json:
        print_json(done.as_json(check=check))
    else:
        _describe(done, check=check)
    if out is not None:
        click.echo(f"Wrote {done.turns:,} turns to {out}.", err=as_json)
    if feedback is not None:
        click.echo(f"Wrote {done.feedback:,} records of feedback to {feedback}.", err=as_json)
    refused = sum(n for n, _ in done.refused.values())
    if not done.turns or (max_rejected is not None and max_rejected(refused, refused + done.turns)):
        click.echo(f"turnsignal: {refused:,} records could not be read, {done.turns:,} turns could", err=True)
        sys.exit(EXIT_FAILED)


def _propose(files: tuple[Path, ...], to: Path, *, err: bool) -> None:
    """Write a first mapping, and say how much it reads and what is doubtful."""
    from turnsignal.agents.files.converting import propose_for
    from turnsignal.agents.files.writing import write_file

    proposed, known = propose_for(files)
    write_file(to, proposed.text.encode())
    given = " ".join(shlex.quote(str(path)) for path in files)
    if known:
        click.echo(f"warning: read as {known}, it needs no mapping: turnsignal replay {given}", err=True)
    read = f"This mapping reads {proposed.read:,} of the first {proposed.of:,} records"
    click.echo(f"warning: {read}; correct it before you use it." if proposed.is_poor else f"{read}.", err=err)
    for doubt in proposed.doubts:
        click.echo(f"warning: {doubt}", err=True)
    mapping = shlex.quote(str(to))
    click.echo(f"Wrote a first mapping to {to}; try: turnsignal convert {given} --mapping {mapping} --check", err=err)


def _describe(done: "Converted", *, check: bool) -> None:
    from turnsignal.agents.commands.reading import echo_described
    from turnsignal.agents.report.unread import (
        describe_assumed,
        describe_import,
        describe_letter,
        describe_set_aside,
        describe_way_out,
    )

    if aside := describe_set_aside({reason: n for reason, (n, _) in done.refused.items()}, done.turns):
        click.secho(aside, fg="yellow", bold=True)
    for report in done.reports:
        echo_described(describe_import(report))
    for line in describe_assumed(done.assumed):
        click.echo(line.removesuffix(" --strict refuses such lines."))
    for reason, (n, letter) in done.refused.items():
        click.echo(f"  refused, {reason}: {n:,}; the first: {describe_letter(letter)}")
        for line in describe_way_out(reason, letter):
            click.echo(line)
    for share in done.completeness.shares() if check else ():
        if share.of:
            click.echo(f"{share.n / share.of:5.0%} {share.what} ({share.n:,} of {share.of:,})")
            if share.is_low:
                click.echo(f"      {share.mend}")
