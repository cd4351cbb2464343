"""Resuming: a run that Ctrl-C interrupts ends with a line that says how to go on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click


@contextmanager
def saying_how_to_resume(kept: Path | None) -> Iterator[None]:
    """On Ctrl-C say whether the same command goes on, or begins anew.

    kept: the file, or the directory of checkpoints, that notes how far the run came; None for nowhere.
    """
    try:
        yield
    except KeyboardInterrupt:
        if kept is not None and (kept.is_file() or any(kept.glob("*.checkpoint"))):
            click.echo(f"turnsignal: {kept} notes how far it came; the same command goes on from there", err=True)
        elif kept is not None:
            click.echo("turnsignal: nothing was noted yet; the same command begins anew", err=True)
        raise
