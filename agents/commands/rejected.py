"""How a run ends that could not read its input: with 1, and a line that says so."""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnsignal.agents.process.exits import EXIT_FAILED

if TYPE_CHECKING:
    from turnsignal.agents.files.file_reports import FileReport


def count_read(files: Sequence[Path], refused: Path) -> int:
    """Count the lines of files that were read. refused: JSON lines of those that were not, each with its file."""
    from turnsignal.agents.files.reading import read_lines

    lines = sum(bool(line) for path in files for block in read_lines(path) for line in block.lines)
    return lines - _refused_files(files, refused).total()


def _refused_files(files: Iterable[Path], refused: Path) -> Counter[str]:
    """Return of which of the files lines were refused, and how many."""
    import orjson

    names = {str(path) for path in files}
    if not names or not refused.is_file():
        return Counter()
    with refused.open("rb") as lines:
        return Counter(name for line in lines if (name := orjson.loads(line).get("file")) in names)


def end_by_unread(files: Iterable[Path], read: int, refused: Path, what: str) -> None:
    """End with 1 when none of the records of some files could be read, and some were refused.

    read: how many were; refused: JSON lines of what was not, each with its file; what: one of them is.
    """
    wrong = None if read else next(iter(_refused_files(files, refused)), None)
    if wrong is not None:
        click.echo(f"turnsignal: {wrong}: no {what} could be read", err=True)
        sys.exit(EXIT_FAILED)


def end_by_cut(reports: "Iterable[FileReport]") -> None:
    """End with 1 when a file ends within its records: nobody knows how much is missing."""
    if any(report.is_cut for report in reports):
        click.echo("turnsignal: a file ends early (see above): what it should hold behind that is missing", err=True)
        sys.exit(EXIT_FAILED)


def end_by_no_answer(answers: int, rejected: int, read: int) -> None:
    """End with 1 when no answer was read, and as many lines were rejected as read: these may be the answers."""
    if rejected and rejected >= read and not answers:
        click.echo("turnsignal: no answer of an assistant could be read, so nothing is scored", err=True)
        sys.exit(EXIT_FAILED)


def end_by_rejected(rejected: int, read: int, too_many: Callable[[int, int], bool] | None) -> None:
    """End with 1 when no line could be read, or too many could not."""
    if not read:
        click.echo("turnsignal: no line could be read", err=True)
        sys.exit(EXIT_FAILED)
    if too_many is not None and too_many(rejected, rejected + read):
        click.echo(
            f"turnsignal: {rejected:,} of {rejected + read:,} lines could not be read, more than --max-rejected",
            err=True,
        )
        sys.exit(EXIT_FAILED)
