"""The table of `turnsignal measure`: all figures, then figures by class, then the sources of the anchors."""

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from turnsignal.agents.measure.run import MeasuredSet
from turnsignal.stream.agreement.measurements import (
    Measurement,
    describe_sampling,
    describe_unscored,
    figure_rows,
    format_figure,
)

HEADINGS = ("set", "figure", "n", "ours", "95 % interval", "floor", "people", "published")


def format_table(measured: Sequence[MeasuredSet]) -> Iterator[RenderableType]:
    """Yield what to print, in order. Texts from data are not read as Rich markup."""
    measurements = [measurement for folder in measured for measurement in folder.measurements]
    if measurements:
        yield _overview(measurements)
    for measurement in measurements:
        if measurement.classes:
            yield _classes(measurement)
    for measurement in measurements:
        yield from _notes(measurement)
    for folder in measured:
        yield Text(f"{folder.name}: {_summary(folder)}")


def _overview(measurements: Sequence[Measurement]) -> Table:
    table = Table(*HEADINGS, box=SIMPLE, title="How far each scorer agrees with the labels", title_justify="left")
    for column in table.columns[2:]:
        column.justify = "right"
    for measurement in measurements:
        for number, row in enumerate(figure_rows(measurement)):
            table.add_row(*(Text(cell) for cell in row._replace(name=row.name if number == 0 else "")))
        table.add_section()
    return table


def _classes(measurement: Measurement) -> Table:
    title = Text(f"{measurement.name}, {measurement.kind}, by class")
    table = Table("class", "figure", "n", "value", "", box=SIMPLE, title=title, title_justify="left")
    for row in measurement.classes:
        cells = (row.name, row.figure, f"{row.n:,}", format_figure(row.figure, row.value), row.detail)
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _notes(measurement: Measurement) -> Iterator[Text]:
    for anchor in measurement.anchors:
        if anchor.says:
            yield Text(
                f"{measurement.name}: {anchor.kind} {anchor.figure}"
                f" {format_figure(anchor.figure, anchor.value)}: {anchor.says}"
            )
    if unscored := describe_unscored(measurement):
        yield Text(f"{measurement.name}: {measurement.labelled:,} labels, not compared: {unscored}")
    if sampling := describe_sampling(measurement):
        yield Text(f"{measurement.name}: {sampling}")


def _summary(folder: MeasuredSet) -> str:
    if folder.note:
        return folder.note
    dead = f", {folder.dead_letters:,} dead letters" if folder.dead_letters else ""
    title = f" ({folder.title})" if folder.title else ""
    return f"{folder.turns:,} turns, {folder.conversations:,} conversations{dead}{title}"
