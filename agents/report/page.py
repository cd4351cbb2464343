"""The page of `turnsignal report`: one HTML file, with everything in it, to read and to send to somebody.

Sentences first, then pictures (SVG), then tables. Names and texts come from strangers: the template escapes all of
them, control characters are made visible, and the page forbids itself scripts, and to fetch anything.
"""

from collections.abc import Mapping
from typing import Any

from turnsignal.agents.pages.html import html_templates
from turnsignal.agents.report.escaping import plain
from turnsignal.stream.reports.article_text import describe_blame, describe_overlap, describe_pair, describe_several
from turnsignal.stream.reports.waterfall_text import describe_meaning, told_by_citations
from turnsignal.stream.text.signed import signed
from turnsignal.stream.truth.stages import AnswerStage

_WIDE = 600  #: length of a bar that stands for all answers


def page(report: Mapping[str, Any]) -> str:
    """Return the page of a traffic report, as `TrafficReport.as_json` has it."""
    environment = html_templates("turnsignal.agents.report")
    environment.filters |= {"plain": plain, "number": _number, "signed": signed, "share": _share, "wide": _wide}
    environment.filters |= {
        "blame": describe_blame,
        "several": describe_several,
        "overlap": describe_overlap,
        "pair": describe_pair,
    }
    stages = (report["waterfall"] or {"stages": []})["stages"]
    by_citations = told_by_citations(report["known_by"])
    meanings = {
        stage["stage"]: describe_meaning(
            AnswerStage(stage["stage"]), stage["failed"], stage["right_before"], by_citations=by_citations
        )
        for stage in stages
    }
    return environment.get_template("page.html.j2").render(report=report, meanings=meanings)


def _number(value: float) -> str:
    return f"{value:,}"


def _share(interval: Mapping[str, Any] | None, bounds: bool = False) -> str:
    """Write a share as a percentage, or both ends of its interval."""
    if interval is None:
        return ""
    if bounds:
        return f"{interval['low']:.1%} to {interval['high']:.1%}"
    return f"{interval['value']:.1%}"


def _wide(share: float) -> str:
    return f"{share * _WIDE:.1f}"
