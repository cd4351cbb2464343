"""Tables and indented lines as all results use them: no frames, so that 80 columns are enough."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Column, Table
from rich.text import Text


def make_table(*columns: Column | str, title: str = "") -> tuple[Table, RenderableType]:
    """Return an empty table, and what to print for it: a blank line, its title, the table."""
    table = Table(*columns, box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), pad_edge=False)
    heading = [Text(title, style="bold")] if title else []
    return table, Group(Text(), *heading, table)


def fold(name: str, width: int | None = None) -> Column:
    """Return a column in which long names go on in the next line."""
    return Column(name, overflow="fold", min_width=width)


def number(name: str) -> Column:
    """Return a column of figures, which are never broken."""
    return Column(name, justify="right", no_wrap=True)


def add(table: Table, cells: Iterable[str | Text]) -> None:
    """Add a row; plain strings are text, never markup."""
    table.add_row(*(cell if isinstance(cell, Text) else Text(cell) for cell in cells))


def indent(lines: Sequence[tuple[str | Text, str | Text]]) -> Table:
    """Return lines whose second part goes on below itself where it is long."""
    grid = Table.grid(Column(no_wrap=True), Column(ratio=1, overflow="fold"), padding=(0, 1, 0, 0))
    for line in lines:
        add(grid, line)
    return grid


def print_lines(console: Console, lines: Iterable[RenderableType]) -> None:
    """Print what a report gives; lines that must not be broken, so that they can be copied, stay whole."""
    for line in lines:
        console.print(line, highlight=False, soft_wrap=bool(getattr(line, "no_wrap", False)))
