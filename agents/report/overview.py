"""The first screen of a result: what was read, the findings, and the figures of each release."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from turnsignal.agents.replaying.files import SUMMARY
from turnsignal.agents.replaying.result import ReplayResult
from turnsignal.agents.report.escaping import plain
from turnsignal.agents.report.tables import add, fold, indent, make_table, number
from turnsignal.agents.report.unread import describe_dead_letters, describe_set_aside
from turnsignal.stream.records.scores import CITED, CLARIFICATION_FREE, DANGLING, FOLLOW_UP, Unscored
from turnsignal.stream.records.turns import DEFAULT_ASSISTANT
from turnsignal.stream.reports.findings import Finding
from turnsignal.stream.reports.unscored import UnscoredScorers
from turnsignal.stream.statistics.directions import BETTER, CHANGED, WORSE
from turnsignal.stream.text.counts import count_of

ROWS = 12  #: releases that are shown; the summary has them all
_FINDINGS = 8
_FIGURES = (FOLLOW_UP, CLARIFICATION_FREE, "compliance", CITED, DANGLING)  #: beside relevancy; narrow ones drop some
_COUNTS, _FIGURE_WIDTH = 18, 12  #: columns that counts take, and a figure
_SIGNS = {WORSE: ("▼", "red"), BETTER: ("▲", "green"), CHANGED: ("●", "yellow"), "note": ("·", "dim")}

_HEADINGS = {CLARIFICATION_FREE: "clarifi-\ncation_free"}  #: of names that are wider than their figures

Release = tuple[str, str | None]


def format_overview(result: ReplayResult, width: int = 120) -> Iterator[RenderableType]:
    """Give the first screen of a result, as lines and a table for a console of so many columns."""
    summary = result.summary
    yield Text(_headline(summary), style="bold")
    if aside := describe_set_aside(summary["dead_letters"], _records_read(summary)):
        yield Text(f"{aside} What follows is without them; why stands below.", style="bold yellow")
    yield from map(Text, describe_environments(summary))
    if not summary["turns"]:
        return
    yield Text()
    if result.findings:
        yield indent([_finding(finding) for finding in result.findings[:_FINDINGS]])
    if len(result.findings) > _FINDINGS:
        yield Text(f"… and {len(result.findings) - _FINDINGS} more findings: --json has them all", style="dim")
    if why := _why_no_follow_up(summary):
        yield Text(why, style="yellow")
    if summary["quality"]:
        yield from _releases(summary, width)
    if len(summary["quality"]) > ROWS:
        yield Text(f"… and {len(summary['quality']) - ROWS} more releases in {SUMMARY}", style="dim")
    yield from _why_unscored(result)


def describe_environments(summary: Mapping[str, Any]) -> Iterator[str]:
    """Say which turns a recording holds that are not in the figures; a summary of an older version does not say."""
    others: Mapping[str, int] = summary.get("other_environments", {})
    if others:
        listed = " and ".join(f"{n:,} of {name}" for name, n in others.items())
        here, options = summary["environment"], " or ".join(f"--environment {name}" for name in others)
        if summary["turns"]:
            yield f"These figures are of {here}; turns that have rows alone: {listed}: {options} shows their figures."
        else:
            yield f"No turn is of {here}; there are {listed}: {options} shows their figures."


def describe_input(result: ReplayResult) -> Iterator[str]:
    """Describe what was read beside turns, and what could not be."""
    summary = result.summary
    by_kind = Counter[str]()
    for row in summary["feedback"]:
        by_kind[row["kind"]] += row["n"]
    if by_kind:
        unknown = sum(row["n"] for row in summary["feedback"] if row["result"] == "unknown")
        received = ", ".join(f"{kind} {n:,}" for kind, n in sorted(by_kind.items()))
        yield f"  feedback: {received}" + (f"; {unknown:,} of turns that are not known" if unknown else "")
    if repeated := summary.get("pairing", {}).get("duplicate"):
        yield f"  came again, and counted once: {count_of(repeated, 'record')}"
    yield from describe_dead_letters(summary["dead_letters"], result.directory / "dead-letters.jsonl")
    yield from (f"  redacted, {kind}: {n:,}" for kind, n in summary.get("redactions", {}).items())
    if not (summary["turns"] or summary["other_environments"]):
        yield "No turn could be read: why, stands above. A turn is a JSON object a line: see `turnsignal schema turn`."


def _headline(summary: Mapping[str, Any]) -> str:
    turns, begun = sum(summary["turns"].values()), summary["conversations"]["begun"]
    assistants = len({row["assistant"] for row in summary["quality"]})
    releases = len(summary["quality"])
    parts = [count_of(turns, "turn"), count_of(begun, "conversation")]
    if turns:
        parts += [count_of(assistants, "assistant"), count_of(releases, "release")]
    dead = sum(summary["dead_letters"].values())
    return ", ".join([*parts, count_of(dead, "dead letter")] if dead else parts)


def _records_read(summary: Mapping[str, Any]) -> int:
    turns = sum(summary["turns"].values()) + sum(summary.get("other_environments", {}).values())
    return int(turns + sum(row["n"] for row in summary["feedback"]))


def _why_no_follow_up(summary: Mapping[str, Any]) -> str:
    """Say that no answer has a follow-up that tells something, or that there is none; empty where any has."""
    if not summary["turns"].get("assistant"):
        if dead := sum(summary["dead_letters"].values()):
            return f"No answer of an assistant could be read: are they among the {count_of(dead, 'dead letter')}?"
        return (
            "Nobody answers: the recording holds no message of an assistant. Where one does, a mapping says by which "
            "word it goes: turnsignal convert FILE --propose mapping.toml"
        )
    figures = [row.get("figures", {}).get(f"coverage({FOLLOW_UP})") for row in summary["quality"]]
    covered = [figure["value"] for figure in figures if figure is not None]
    if any(covered) or not figures or (not covered and summary["turns"].get("user")):
        return ""
    unread = [row["unscored"] for row in summary["scores"] if row["scorer"] == FOLLOW_UP]
    if any(reason in reasons for reasons in unread for reason in (Unscored.NO_SIGNAL, Unscored.LANGUAGE)):
        return "What users wrote next tells nothing of the answers: no rule recognises it, or none reads its language."
    sentence = "No follow-up could be read: what users thought of the answers is not in these figures. "
    if not summary["turns"].get("user"):
        return f"{sentence}The recording holds no message of a user."
    return f"{sentence}No message could be read as a reply to an answer: have all turns of a conversation one id?"


def _finding(finding: Finding) -> tuple[Text, Text]:
    sign, style = _SIGNS[finding.change]
    return Text(sign, style=style), Text(plain(finding.sentence, 400), style="bold" if finding.change == WORSE else "")


def _releases(summary: Mapping[str, Any], width: int) -> Iterator[RenderableType]:
    """Draw a row for each release: how much there is of it, and its figures over all answers, those of cut ones too.

    Name the figures for which the console is too narrow.
    """
    scores = {(row["assistant"], row["version"], row["scorer"]): row for row in summary["scores"]}
    moved = _moved(summary)
    rows = summary["quality"][:ROWS]
    releases: list[Release] = [(row["assistant"], row["version"]) for row in rows]
    names = name_releases(releases)
    known, beside = _figures(summary, releases, scores), _COUNTS + min(30, max(map(len, names)))
    figures = known[: max(2, (width - beside) // _FIGURE_WIDTH)]
    counts = [number("conver-\nsations"), number("answers")]
    table, drawn = make_table(fold("release"), *counts, *(number(_heading(name)) for name in figures))
    for name, release, row in zip(names, releases, rows, strict=True):
        conversations = row["conversations"] + sum(row["left_out"].values())
        cells = [Text(_figure(scores.get((*release, one))), style=moved.get((*release, one), "")) for one in figures]
        add(table, [name, f"{conversations:,}", f"{_answers(scores, release):,}", *cells])
    yield drawn
    if left_out := known[len(figures) :]:
        wide = beside + len(known) * _FIGURE_WIDTH
        yield Text(f"Narrower than {wide} columns: {', '.join(left_out)} left out; {SUMMARY} has them", style="dim")


def name_releases(releases: Sequence[Release]) -> list[str]:
    """Name releases for a table: `support v2`; the assistant is left out where nobody named any."""
    alone = {assistant for assistant, _ in releases} == {DEFAULT_ASSISTANT}
    return [
        plain(version or "-", 30) if alone else f"{plain(assistant, 30)} {plain(version or '-', 30)}"
        for assistant, version in releases
    ]


def _figures(
    summary: Mapping[str, Any],
    releases: Sequence[Release],
    scores: Mapping[tuple[str, str | None, str], Mapping[str, Any]],
) -> list[str]:
    """Choose the figures that have a value in any release."""
    wanted = [summary.get("relevancy", ""), *_FIGURES]
    return [name for name in wanted if any(scores.get((*release, name), {}).get("n") for release in releases)]


def _moved(summary: Mapping[str, Any]) -> dict[tuple[str, str | None, str], str]:
    """Return the colour of each figure that is named better or worse than in the release before."""
    styles = {WORSE: "red", BETTER: "green", CHANGED: "yellow"}
    return {
        (row["assistant"], row["after"], name): styles[delta["verdict"]]
        for row in summary["comparisons"]
        for name, delta in row["deltas"].items()
        if delta["verdict"] in styles
    }


def _answers(scores: Mapping[tuple[str, str | None, str], Mapping[str, Any]], release: Release) -> int:
    row = scores.get((*release, CITED), {"n": 0})
    return int(row["n"] + sum(row.get("unscored", {}).values()))


def _heading(name: str) -> str:
    """Break a name that is wider than its figures."""
    return name if len(name) < _FIGURE_WIDTH else _HEADINGS.get(name, name)


def _figure(row: Mapping[str, Any] | None) -> str:
    """Write a mean and half of its 95 % interval: `0.83 ±.04`."""
    if row is None or not row["n"]:
        return "-"
    if "low" not in row:
        return f"{row['mean']:.2f}"
    half = (row["high"] - row["low"]) / 2
    return f"{row['mean']:.2f} ±{f'{half:.2f}'.removeprefix('0')}"


def _why_unscored(result: ReplayResult) -> Iterator[Text]:
    """Say of relevancy and of follow-ups what is unscored and why, where anything is."""
    for name in (result.summary.get("relevancy", ""), FOLLOW_UP):
        for part in result.unscored:
            if name in part.scorers:
                yield Text(describe_unscored(part._replace(scorers=(name,))), style="dim")


def describe_unscored(part: UnscoredScorers) -> str:
    """Say how much scorers could score, and what stood against the rest."""
    names = ", ".join(part.scorers[:3]) + (f" and {len(part.scorers) - 3} more" if len(part.scorers) > 3 else "")
    why = ", ".join(f"{n:,} {reason.replace('_', ' ')}" for reason, n in part.reasons)
    return f"{names}: {part.n:,} of {part.of:,} scored; {why}"
