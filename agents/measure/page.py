"""The page of `turnsignal measure`: one self-contained HTML file with a picture for each comparison.

Labels and names come from data, so the template escapes everything.
"""

from collections.abc import Sequence

from turnsignal.agents.measure.pictures import picture
from turnsignal.agents.measure.run import MeasuredSet
from turnsignal.agents.measure.table import HEADINGS
from turnsignal.agents.pages.html import html_templates
from turnsignal.stream.agreement.measurements import (
    Measurement,
    describe_sampling,
    describe_unscored,
    figure_rows,
    format_figure,
)


def page(measured: Sequence[MeasuredSet]) -> str:
    """Return the page."""
    environment = html_templates("turnsignal.agents.measure")
    environment.filters["columns"] = _columns
    return environment.get_template("page.html.j2").render(
        measured=measured,
        headings=HEADINGS,
        figure_rows=figure_rows,
        unscored=describe_unscored,
        sampling=describe_sampling,
        format_figure=format_figure,
        picture=picture,
    )


def _columns(measured: Measurement) -> list[str]:
    """Return our words, the most frequent first, as columns of the table of label against word."""
    total: dict[str, int] = {}
    for words in measured.table.values():
        for word, n in words.items():
            total[word] = total.get(word, 0) + n
    return sorted(total, key=lambda word: (-total[word], word))
