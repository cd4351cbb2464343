"""Reading in: the files that a command is given, with a bar while that takes long, and what became of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnsignal.agents.commands.options import shown_progress

if TYPE_CHECKING:
    from turnsignal.agents.files.importing import Imported
    from turnsignal.agents.files.recognising import HowToRead


@contextmanager
def read_in(files: Sequence[Path], how: "HowToRead", say: Callable[[str], None]) -> "Iterator[Imported]":
    """Give files ready to be read as turns, until the end of this context; say: takes one line for a person."""
    from turnsignal.agents.files.converting import size_of
    from turnsignal.agents.files.format_reading import DEALING
    from turnsignal.agents.files.importing import Imported

    with ExitStack() as stack:
        with shown_progress("putting conversations together", size_of(files), DEALING) as (_, reading, _records):
            imported = stack.enter_context(Imported(files, how, reading, say))
        yield imported


def echo_described(lines: Iterable[str], *, err: bool = False) -> None:
    """Print what became of files, warnings so that nobody misses them; err: on standard error."""
    for line in lines:
        if line.lstrip().startswith("warning:"):
            click.secho(line, fg="yellow", bold=True, err=err)
        else:
            click.echo(line, err=err)
