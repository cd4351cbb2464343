"""Resuming: a run that Ctrl-C interrupts ends with a line that says how to go on."""

from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def saying_how_to_resume(kept: object) -> Iterator[None]:
    """On Ctrl-C say that the same command goes on; kept: where it is noted how far the run came, None for nowhere."""
    try:
        yield
    except KeyboardInterrupt:
        if kept is not None:
            click.echo(f"turnsignal: {kept} notes how far it came; the same command goes on from there", err=True)
        raise
