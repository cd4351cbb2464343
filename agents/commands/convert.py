"""`turnsignal convert …`: any chat log → a file of turns, with what was understood, left out, and missing."""

import shlex
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

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
from turnsignal.agents.commands.rejected import end_by_cut
from turnsignal.agents.commands.sparing import OutFile, SparingCommand
from turnsignal.agents.process.exits import EXIT_FAILED
from turnsignal.stream.errors import ConfigError

if TYPE_CHECKING:
    from turnsignal.agents.files.converting import Converted, Known

_OUT = OutFile()
_DASH = Path("-")  #: standard output


@click.command(
    cls=SparingCommand,
    short_help="Convert any chat log to turns, and say what is missing.",
    epilog="Example: turnsignal convert traces.json --out turns.jsonl.gz",
)
@click.argument("files", type=FILES, nargs=-1, required=True)
@click.option("--out", type=_OUT, help="File of turns (.jsonl or .jsonl.gz); - is standard output.")
@click.option("--feedback", type=_OUT, help="File for votes, scores and labels by people, as feedback on the turns.")
@click.option("--check", is_flag=True, help="Say what the telemetry lacks, and what mends it; needs no --out.")
@click.option("--propose", type=_OUT, help="Write a first mapping for these records to this file, and do no more.")
@click.option(
    "--keep-asides",
    "keeps_asides",
    is_flag=True,
    help="Keep calls of a log whose answers come back in no history: classifiers, titles.",
)
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
    keeps_asides: bool,
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
    zone = "Europe/Berlin"         whose times are that name no zone (left out: UTC); of an hour
                                   that comes twice in autumn, the first
    order = "turn_index"           without times: the number of a turn; or { value = "file" }
    documents = "hits"             a list of ids, texts, or objects with an id
    documents = { path = "hits", id = "ref" }     where the key of the id is not known
    separator = "|"                where several ids stand in one text
    list = "events"                where one record holds a list of turns
    list = "chats.*.events"        one for each key; the key is conversation_id = "*"
    list = ["source", "events"]    what stands at several paths
    last = "current_node"          where items are a tree: the last one that users see, and what leads to it
    hidden = "private"             what marks notes among staff, which are left out; or shown = "is_public"
    conversation_id = "../id"      the id of what holds the list, where its items have an id, too
    \b
    [exchanges]
    question = "request.messages"  a text, or the messages of a model's call, with what was said before
    answer = "response"            a text, or what the model responded
    history = "chat_history"       what was said before, where it stands beside the question
    \b
    vote = "feedback"              up or down, true or false, 1 or -1, by these or other words
    vote = { path = "stars", "5" = 1, "1" = -1 }    of stars, what each means
    Also: turn_id, citations, assistant, version, model, platform, user_id, environment;
    version = { value = "2025-06" } is the same for all.

    Ends with 1 when no record could be read, or more than --max-rejected.
    """
    from turnsignal.agents.files.converting import IMPORTING, convert_files, size_of
    from turnsignal.agents.process.interrupts import ending_on_signals

    if sum((out == _DASH, feedback == _DASH, as_json)) > 1:
        raise click.UsageError("expected one thing on standard output, got several of --json, --out - and --feedback -")
    how = how_to_read(format_name, mapping, strict=False, user_key=user_key)._replace(keeps_asides=keeps_asides)
    if propose is not None:
        _propose(files, propose, err=as_json)
        return
    if out is None and not check:
        raise click.UsageError("expected --out FILE, --check or --propose FILE; got none of them")
    _spare_strangers(out, feedback)
    is_taken = as_json or _DASH in (out, feedback)  # standard output, so that what is said goes to standard error
    with (
        ending_on_signals(),
        shown_progress("converting", size_of(files), IMPORTING) as bars,
        _opened(out) as file,
        _opened(feedback) as feedback_file,
    ):
        done = convert_files(files, how, file, partial(click.echo, err=is_taken), feedback_file, bars[1])
    if as_json:
        print_json(done.as_json(check=check))
    else:
        _describe(done, check=check, quoted=user_key is None, err=is_taken)
    if out is not None:
        click.echo(f"Wrote {done.turns:,} turns to {_named(out)}.", err=is_taken)
    if feedback is not None:
        votes = sum(report.votes for report in done.reports)
        beside = f"; votes on {votes:,} answers stand with these, in the turns" if votes else ""
        click.echo(f"Wrote {done.feedback:,} records of feedback to {_named(feedback)}{beside}.", err=is_taken)
    refused = sum(n for n, _ in done.refused.values()) + sum(report.strangers for report in done.reports)
    if not done.turns or (max_rejected is not None and max_rejected(refused, max(done.records, refused))):
        is_empty = not (done.records or refused or done.turns)
        what = f"{refused:,} records could not be read, {done.turns:,} turns could"
        click.echo(f"turnsignal: {'expected records, got none at all' if is_empty else what}", err=True)
        sys.exit(EXIT_FAILED)
    end_by_cut(done.reports)


def _propose(files: tuple[Path, ...], to: Path, *, err: bool) -> None:
    """Write a first mapping, and say how much it reads and what is doubtful."""
    from turnsignal.agents.files.converting import propose_for
    from turnsignal.agents.files.writing import write_file

    proposed, known = propose_for(files)
    content = proposed.text.encode()
    if to == _DASH:
        err = True
        click.get_binary_stream("stdout").write(content)
    else:
        _spare_edited(to, content)
        write_file(to, content)
    given = " ".join(shlex.quote(str(path)) for path in files)
    if known is not None:
        click.echo(f"warning: read as {known.name}, {_describe_need(known, proposed.text, given)}", err=True)
    read = f"{proposed.read:,} of the first {proposed.of:,} records"
    if proposed.is_open:
        click.echo(f"warning: This mapping reads nothing until it says who speaks; then {read}.", err=err)
    elif proposed.is_poor:
        click.echo(f"warning: This mapping reads {read}; correct it before you use it.", err=err)
    else:
        click.echo(f"This mapping reads {read}.", err=err)
    for doubt in proposed.doubts:
        click.echo(f"warning: {doubt}", err=True)
    mapping = shlex.quote(str(to))
    sentence = f"Wrote a first mapping to {_named(to)}"
    click.echo(
        sentence if to == _DASH else f"{sentence}; try: turnsignal convert {given} --mapping {mapping} --check", err=err
    )


def _describe_need(known: "Known", proposed: str, given: str) -> str:
    """Say whether records of a known format need a mapping: they may where it reads nothing of whose they are."""
    from turnsignal.stream.text.toml import write_value as toml

    if not known.unnamed:
        return f"it needs no mapping: turnsignal replay {given}"
    alone = f"each of the first {known.unnamed:,} requests is a conversation of its own"
    if known.key is None:
        return f"{alone}; where that is right, it needs no mapping: turnsignal replay {given}"
    ways = ["the mapping reads it"] if f"conversation_id = {toml(known.key)}\n" in proposed else []
    ways += [f"to give it a name that {known.name} reads: {known.mend}"] if known.mend is not None else []
    way = "; or ".join(ways or ["name it in the mapping as conversation_id"])
    return f"{alone}, and {known.key} looks like the conversation's id; {way}"


def _spare_edited(to: Path, content: bytes) -> None:
    """Raise ConfigError where something else stands in the place of a proposal, such as one that was edited."""
    try:
        is_other = to.is_file() and to.read_bytes() != content
    except OSError:
        is_other = False  # writing it says why that cannot be
    if is_other:
        msg = (
            f"{to}: expected a file that is not there yet, got one that holds something else, and may be edited; name "
            f"another file, or remove it first: rm {shlex.quote(str(to))}"
        )
        raise ConfigError(msg)


def _spare_strangers(out: Path | None, feedback: Path | None) -> None:
    """Raise ConfigError where one of the files is there and holds what no convert wrote."""
    from turnsignal.agents.files.writing import spare_others_lines
    from turnsignal.stream.records.feedback import decode_feedback
    from turnsignal.stream.records.turns import decode_turn

    for path, what, decode in ((out, "turns", decode_turn), (feedback, "feedback", decode_feedback)):
        if path is not None and path != _DASH:
            spare_others_lines(path, what, decode)


def _opened(path: Path | None) -> AbstractContextManager[IO[bytes] | None]:
    """Return what writes a file, or - to standard output; nothing where none is wanted."""
    from turnsignal.agents.files.writing import written

    if path is None or path == _DASH:
        return nullcontext(None if path is None else click.get_binary_stream("stdout"))
    return written(path, zipped=path.suffix == ".gz")


def _named(path: Path) -> str:
    return "standard output" if path == _DASH else str(path)


def _describe(done: "Converted", *, check: bool, quoted: bool, err: bool) -> None:
    """Say what came of the files. quoted: with what could not be read, where that may be shown."""
    from turnsignal.agents.commands.reading import echo_described
    from turnsignal.agents.report.unread import (
        describe_assumed,
        describe_import,
        describe_letter,
        describe_set_aside,
        describe_way_out,
    )

    whole = {reason: n - done.in_part[reason] for reason, (n, _) in done.refused.items()}
    for counts, became in ((whole, "set aside"), (done.in_part, "read in part")):
        if aside := describe_set_aside(counts, max(0, done.records - sum(counts.values())), became):
            click.secho(aside, fg="yellow", bold=True, err=err)
    for report in done.reports:
        echo_described(describe_import(report), err=err)
    for line in describe_assumed(done.assumed):
        click.echo(line.removesuffix(" --strict refuses such lines."), err=err)
    for reason, (n, letter) in done.refused.items():
        click.echo(f"  refused, {reason}: {n:,}; the first: {describe_letter(letter)}", err=err)
        for line in describe_way_out(reason, letter, quoted=quoted):
            click.echo(line, err=err)
    if not check and (apart := done.completeness.fallen_apart()) is not None:
        click.echo(f"warning: {apart.n:,} of {apart.of:,} {apart.what}: {apart.mend}", err=True)
    if not check and (unlogged := done.completeness.unlogged()) is not None:
        click.echo(f"warning: {unlogged}", err=True)
    for share in done.completeness.shares() if check else ():
        if share.of:
            click.echo(f"{share.n / share.of:5.0%} {share.what} ({share.n:,} of {share.of:,})", err=err)
            if share.is_low:
                click.echo(f"      {share.mend}", err=err)
