"""`turnsignal convert …`: any chat log → a file of turns, with what was understood, left out, and missing."""

import gzip
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO

import click

from turnsignal.agents.commands.options import FILES, FORMAT, MAPPING, MAX_REJECTED, how_to_read
from turnsignal.agents.process.exits import EXIT_FAILED
from turnsignal.stream.errors import TurnsignalError

_OUT = click.Path(path_type=Path, dir_okay=False)


@click.command(epilog="Example: turnsignal convert traces.json --out turns.jsonl.gz")
@click.argument("files", type=FILES, nargs=-1, required=True)
@click.option("--out", type=_OUT, help="File of turns (.jsonl or .jsonl.gz).")
@click.option("--check", is_flag=True, help="Say what the telemetry lacks, and what mends it; needs no --out.")
@click.option("--propose", type=_OUT, help="Write a first mapping for these records to this file, and do no more.")
@FORMAT
@MAPPING
@MAX_REJECTED
def convert(
    files: tuple[Path, ...],
    *,
    out: Path | None,
    check: bool,
    propose: Path | None,
    format_name: str | None,
    mapping: Path | None,
    max_rejected: Callable[[int, int], bool] | None,
) -> None:
    """Convert any chat log to turns, and say what was understood, what was left out, and what is missing.

    \b
    A mapping reads what no format is known for:
    [turns]                        one record is one turn; or [exchanges]: question and answer in one
    conversation_id = "session.id" a path in the record
    role = { path = "kind", visitor = "user" }    values that mean a role
    text = "body.text"
    timestamp = "at"               ISO 8601, or seconds or milliseconds since 1970
    date_format = "%d.%m.%Y %H:%M" where times are written otherwise (as strptime has it)
    documents = "hits"             a list of ids, texts, or objects with an id
    separator = "|"                where several ids stand in one text
    list = "events"                where one record holds a list of turns
    \b
    Also: turn_id, citations, assistant, version, model, platform, user_id, environment, vote;
    version = { value = "2025-06" } is the same for all.

    Ends with 1 when no record could be read, or more than --max-rejected.
    """
    from turnsignal.agents.files.converting import Converted, convert_files, propose_for
    from turnsignal.agents.report.unread import describe_assumed, describe_import, describe_letter

    how = how_to_read(format_name, mapping, strict=False)
    if propose is not None:
        _write(propose, propose_for(files))
        click.echo(
            f"Wrote a first mapping to {propose}; try: turnsignal convert {files[0]} --mapping {propose} --check"
        )
        return
    if out is None and not check:
        raise click.UsageError("expected --out FILE, --check or --propose FILE; got none of them")
    with nullcontext() if out is None else _open(out) as file:
        done: Converted = convert_files(files, how, file, click.echo)
    for report in done.reports:
        for line in describe_import(report):
            click.echo(line)
    _tell(describe_assumed(done.assumed))
    for reason, (n, letter) in done.refused.items():
        click.echo(f"  refused, {reason}: {n:,}; the first: {describe_letter(letter)}")
    if check:
        for share in done.completeness.shares():
            if share.of:
                click.echo(f"{share.n / share.of:5.0%} {share.what} ({share.n:,} of {share.of:,})")
                if share.is_low:
                    click.echo(f"      {share.mend}")
    if out is not None:
        click.echo(f"Wrote {done.turns:,} turns to {out}.")
    refused = sum(n for n, _ in done.refused.values())
    if not done.turns or (max_rejected is not None and max_rejected(refused, refused + done.turns)):
        click.echo(f"turnsignal: {refused:,} records could not be read, {done.turns:,} turns could", err=True)
        sys.exit(EXIT_FAILED)


def _tell(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line.removesuffix(" --strict refuses such lines."))


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            if path.suffix != ".gz":
                yield file
            else:
                with gzip.GzipFile("", "wb", 6, file, 0) as zipped:  # no time and no name: same turns, same bytes
                    yield zipped  # type: ignore[misc]
    except OSError as error:
        msg = f"{path}: expected a file that can be written, got: {error.strerror}"
        raise TurnsignalError(msg) from None


def _write(path: Path, text: str) -> None:
    with _open(path) as file:
        file.write(text.encode())
