"""Resuming: a run that Ctrl-C interrupts ends with a line that says how to go on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click


@contextmanager
def saying_how_to_resume(kept: Path | None) -> Iterator[None]:
    """On Ctrl-C say whether the same command goes on, or begins anew.

    kept: the file, or the directory of checkpoints, that notes how far the run came; None without `--resume`.
    """
    try:
        yield
    except KeyboardInterrupt:
        if kept is not None and (kept.is_file() or any(kept.glob("*.checkpoint"))):
            click.echo(f"turnsignal: {kept} notes how far it came; the same command goes on from there", err=True)
        else:
            why = "nothing was noted yet" if kept is not None else "begun with --resume, it could go on from here"
            click.echo(f"turnsignal: {why}; the same command begins anew", err=True)
        raise
