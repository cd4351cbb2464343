"""Headlines: what the comparisons of releases say, in words for the top of the view.

Names come from the traffic and are only cut here: who prints a headline makes it safe to print.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import NamedTuple

from turnsignal.agents.demo.live_comparison import ReleaseChange
from turnsignal.agents.demo.live_statistics import LiveStatistics
from turnsignal.agents.demo.trends import RunningMean
from turnsignal.stream.records.scores import CITED, CLARIFICATION_FREE, DANGLING, FOLLOW_UP
from turnsignal.stream.statistics.directions import CHANGED, SAME, WASTED, WORSE

SHARES = (CLARIFICATION_FREE, CITED, DANGLING)  #: figures that read better as a percentage
NAMES = {FOLLOW_UP: "follow-up"}  #: of figures, where people say something else

_LATER = 86_400.0  #: seconds before the latest row, beyond which a time needs its date


class Headline(NamedTuple):
    """A sentence and the figures that it rests on; change: worse, changed, or that no difference is shown."""

    change: str
    sentence: str
    figures: tuple[str, ...] = ()


def headlines(statistics: LiveStatistics, now: float) -> list[Headline]:
    """Say in words what changed, the worst news first, and that nothing did where that is so. now: event time."""
    named = [finding for finding in statistics.findings if finding.changes]
    groups = groupby(sorted(named, key=_group), key=_group)
    written = [_headline(statistics, [*findings], now) for _, findings in groups]
    if written:
        return sorted(written, key=lambda headline: headline.change != WORSE)
    return [Headline(SAME, _nothing(statistics))]


def name_figure(figure: str) -> str:
    """Return what people call a figure."""
    return NAMES.get(figure, figure)


def format_mean(figure: str, mean: RunningMean) -> str:
    """Write the mean of a figure as it is read best; "-" where nothing was scored."""
    value = mean.get()
    if value is None:
        return "-"
    return f"{value:.0%}" if figure in SHARES else f"{value:.2f}"


def name_version(version: str | None) -> str:
    """Write a version, cut to 20 characters."""
    return "(no version)" if version is None else cut(version, 20)


def cut(text: str, limit: int) -> str:
    """Cut a text to so many characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def overall(finding: ReleaseChange) -> str:
    """Return the weightiest of a finding's changes."""
    return WORSE if WORSE in finding.changes.values() else CHANGED


def _group(finding: ReleaseChange) -> tuple[str, str, str]:
    return finding.after or "", overall(finding), finding.before or ""


def _headline(statistics: LiveStatistics, findings: Sequence[ReleaseChange], now: float) -> Headline:
    change, first = overall(findings[0]), findings[0]
    assistants = _join(cut(finding.assistant, 30) for finding in findings)
    since = _time(min(finding.since for finding in findings), now)
    names = {name: None for finding in findings for name, word in finding.changes.items() if word == change}
    sentence = (
        f"{name_version(first.after)} of {assistants} {_verb(statistics, names, change)} since {since} (event time)"
    )
    order = [name for name in statistics.figures if name in names]
    figures = [_moved(statistics, findings, name) for name in order or list(names)]
    if not order:
        figures = [cut(name, 60) for name in names]
    return Headline(change, sentence, tuple(figures))


def _verb(statistics: LiveStatistics, names: Iterable[str], change: str) -> str:
    if change == CHANGED:
        return "changed"
    return "retrieves worse" if set(names) <= {*statistics.measures, WASTED, CITED} else "answers worse"


def _moved(statistics: LiveStatistics, findings: Sequence[ReleaseChange], figure: str) -> str:
    """Write a figure of the release before and of this one, over all assistants that the headline is about."""
    means = RunningMean(), RunningMean()
    for finding in findings:
        for mean, version in zip(means, (finding.before, finding.after), strict=True):
            known = statistics.releases.get((finding.assistant, version))
            if known is not None:
                mean.merge(known.mean(figure))
    before, after = (format_mean(figure, mean) for mean in means)
    return f"{name_figure(figure)} {before} → {after}"


def _nothing(statistics: LiveStatistics) -> str:
    names = sorted((f.after or "", f.before or "", f.assistant) for f in statistics.findings)
    compared = groupby(names, lambda name: name[:2])
    pairs = [
        f"{name_version(after)} against {name_version(before)} ({_join(cut(f[2], 30) for f in some)})"
        for (after, before), some in compared
    ]
    if pairs:
        return f"Nothing shown to have changed: {'; '.join(pairs)}{_too_early(statistics)}"
    if not statistics.rows:
        return "No scores yet"
    return f"Nothing to compare yet: that takes a release after another, of {statistics.minimum} conversations each"


def _too_early(statistics: LiveStatistics) -> str:
    """Name the versions that answer and are not compared for any assistant yet."""
    compared = {version for finding in statistics.findings for version in (finding.before, finding.after)}
    answering = (release[1] for release, known in statistics.releases.items() if known.responses)
    versions = dict.fromkeys(name_version(version) for version in answering if version not in compared)
    return f". Too early to tell: {', '.join(versions)}" if versions else ""


def _join(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _time(time: float, now: float) -> str:
    moment = datetime.fromtimestamp(time, UTC)
    return moment.strftime("%H:%M UTC" if now - time < _LATER else "%Y-%m-%d %H:%M UTC")
