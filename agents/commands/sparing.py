"""Sparing: a command that writes files refuses to write over one that it reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click


class OutFile(click.Path):
    """A file that a command writes."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, dir_okay=False)


class SparingCommand(click.Command):
    """A command whose files to write are none of those to read, nor each other; else it ends with 2 before anything."""

    def invoke(self, ctx: click.Context) -> Any:
        """Compare the files, and run the command."""
        from turnsignal.agents.files.writing import spare_inputs

        outputs = [path for path in self._paths(ctx, written=True) if path != Path("-")]
        if outputs:
            spare_inputs(outputs, self._paths(ctx, written=False))
        return super().invoke(ctx)

    def _paths(self, ctx: click.Context, *, written: bool) -> Iterator[Path]:
        for param in self.params:
            if isinstance(param.type, click.Path) and isinstance(param.type, OutFile) is written:
                value = ctx.params.get(param.name or "")
                yield from map(Path, value if isinstance(value, tuple) else () if value is None else (value,))
