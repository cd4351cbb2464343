"""How a run ends that could not read its input: with 1, and a line that says so."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import click

from turnsignal.agents.process.exits import EXIT_FAILED


def end_by_unread_feedback(files: Iterable[Path], read: int, refused: Path) -> None:
    """End with 1 when no record of feedback could be read, and some were refused.

    read: records of feedback; refused: JSON lines of what was, each with its file.
    """
    import orjson

    names = {str(path) for path in files}
    if read or not names or not refused.is_file():
        return
    with refused.open("rb") as lines:
        wrong = next((name for line in lines if (name := orjson.loads(line).get("file")) in names), None)
    if wrong is not None:
        click.echo(f"turnsignal: {wrong}: no record of feedback could be read", err=True)
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
