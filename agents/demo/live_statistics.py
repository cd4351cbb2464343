"""Live statistics: what a person wants to see at a glance of score rows as they come, by assistant and version.

Rows are taken in one by one; a row that replaces another takes its place in the numbers. Whatever comes in is traffic
from outside, so the number of releases, checks and remembered rows is bounded.
"""

from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from turnsignal.agents.demo.live_comparison import LiveComparison, ReleaseChange
from turnsignal.agents.demo.trends import RunningMean, Trends
from turnsignal.stream.judging.judges import judged_scorers
from turnsignal.stream.pipeline.compliance import COMPLIANCE
from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.pipeline.scoring import DIAGNOSIS, relevancy_name
from turnsignal.stream.records.environments import PRODUCTION
from turnsignal.stream.records.scores import (
    CITED,
    CLARIFICATION_FREE,
    DANGLING,
    FOLLOW_UP,
    Stage,
)
from turnsignal.stream.suite import Suite

MAX_RELEASES = 24  #: shown apart; what comes later goes to OTHERS
OTHERS: Release = ("(others)", None)
BAD_SHOWN = 5
LEAST = 30  #: a check is called the worst only when it was applied to so many answers

_REMEMBERED = 20_000  #: follow-up rows that can still be replaced
_MAX_NAMES = 200  #: checks and diagnosis rows counted per release
_RATE_SECONDS = 5.0  #: rates are means over so long


class WeakestCheck(NamedTuple):
    """The check that fails most often: its share of failures (0–1) among the n answers that it applied to."""

    check: str
    share: float
    n: int


class BadExchange(NamedTuple):
    """An exchange that went wrong, with the reason in words. follow_ups: turn ids of what the user said then."""

    conversation_id: str
    turn_id: str
    follow_ups: tuple[str, ...]
    release: Release
    label: str
    explanation: str


@dataclass(slots=True)
class ReleaseStatistics:
    """What is known of one release. means: by figure; passes, fails: by check; diagnosis: counts."""

    responses: int = 0
    exchanges: int = 0
    means: dict[str, RunningMean] = field(default_factory=dict)
    passes: Counter[str] = field(default_factory=Counter)
    fails: Counter[str] = field(default_factory=Counter)
    diagnosis: Counter[str] = field(default_factory=Counter)

    def mean(self, figure: str) -> RunningMean:
        """Return the mean of a figure, empty where nothing was scored."""
        return self.means.get(figure) or RunningMean()

    def worst(self) -> WeakestCheck | None:
        """Return the check that fails most often, None while none has failed or all were applied too rarely."""
        applied = {check: self.fails[check] + self.passes[check] for check in self.fails}
        failing = [WeakestCheck(check, self.fails[check] / n, n) for check, n in applied.items() if n >= LEAST]
        return max(failing, key=lambda worst: (worst.share, worst.n, worst.check), default=None)


class _CountedRow(NamedTuple):
    """What a follow-up row added, so that its replacement can take it out again."""

    release: Release
    time: float
    values: tuple[tuple[str, float], ...]
    diagnosis: str


class LiveStatistics:
    """Everything that the view shows of score rows and summaries.

    relevancy: name of the measure that stands for relevancy; figures: those that are shown, the weightier first;
    releases: in the order in which they came; findings: what comparisons say, as of the last `refresh`; latest: event
    time of the newest row.
    """

    def __init__(self, suite: Suite) -> None:
        self.relevancy = relevancy_name(suite)
        ranked = (self.relevancy,) if self.relevancy else ()
        self.judged = judged_scorers(suite.judges)
        self.figures = (*ranked, FOLLOW_UP, *self.judged, CLARIFICATION_FREE, COMPLIANCE, CITED, DANGLING)
        self.measures = frozenset(measure.name for measure in suite.parsed_measures)
        self.minimum = suite.aggregates.minimum_n
        self.releases: dict[Release, ReleaseStatistics] = {}
        self.trends = Trends()
        self.findings: list[ReleaseChange] = []
        self.bad: deque[BadExchange] = deque(maxlen=BAD_SHOWN)
        self.meanings: dict[str, str] = {}
        self.latest = 0.0
        self.rows = 0
        self.exchanges = 0
        self.conversations = 0
        self.dead_letters: Counter[str] = Counter()
        self._comparison = LiveComparison(suite)
        self._bad_below = suite.thresholds.follow_ups
        self._counted: OrderedDict[str, _CountedRow] = OrderedDict()

    def on_row(self, row: Mapping[str, Any]) -> None:
        """Take in a score row; one of another environment than production is only counted."""
        self.rows += 1
        self.latest = max(self.latest, row["time"])
        if not _of_production(row):
            return
        if row["stage"] == Stage.RESPONSE:
            self._on_response(row)
        elif row["stage"] == Stage.FOLLOW_UP:
            self._on_follow_up(row)
        else:
            if row["stage"] == Stage.VERDICT:
                self._on_verdict(row)
            return
        self._comparison.on_row(row)

    def on_summary(self, summary: Mapping[str, Any]) -> None:
        """Count a closed conversation, once; one of another environment than production is left out."""
        if _of_production(summary):
            self.conversations += summary["closes"] == 1

    def on_dead_letter(self, reason: str) -> None:
        """Take in a dead letter."""
        _count(self.dead_letters, reason)

    def refresh(self) -> None:
        """Compare the releases that it is time for."""
        self.findings = self._comparison.findings()

    def diagnosis(self, version: str | None = None) -> Counter[str]:
        """Add up the diagnosis rows of a version of all assistants; of all versions without one."""
        known = [release for (_, named), release in self.releases.items() if version is None or named == version]
        return sum((release.diagnosis for release in known), Counter())

    def _release(self, record: Mapping[str, Any]) -> tuple[Release, ReleaseStatistics]:
        release: Release = (str(record.get("assistant") or "-"), record.get("version"))
        if release not in self.releases and len(self.releases) >= MAX_RELEASES:
            release = OTHERS
        return release, self.releases.setdefault(release, ReleaseStatistics())

    def _on_response(self, row: Mapping[str, Any]) -> None:
        release, statistics = self._release(row)
        statistics.responses += 1
        for score in row["scores"]:
            scorer, value = score["scorer"], score["value"]
            if value is None:
                continue
            if scorer in self.figures:
                self._add(release, scorer, row["time"], value)
            elif score.get("label") in ("pass", "fail"):
                _count(statistics.passes if score["label"] == "pass" else statistics.fails, scorer)

    def _on_verdict(self, row: Mapping[str, Any]) -> None:
        release, _ = self._release(row)
        for score in row["scores"]:
            if score["value"] is not None and score["scorer"] in self.judged:
                self._add(release, score["scorer"], row["time"], score["value"])

    def _on_follow_up(self, row: Mapping[str, Any]) -> None:
        before = self._counted.pop(row.get("replaces") or "", None)
        if before is not None:
            self._take_out(before)
        release, statistics = self._release(row)
        scores = {score["scorer"]: score for score in row["scores"]}
        judged, diagnosed = scores.get(FOLLOW_UP, {}), scores.get(DIAGNOSIS, {})
        known = {figure: scores.get(figure, {}).get("value") for figure in (FOLLOW_UP, CLARIFICATION_FREE)}
        values = tuple((figure, value) for figure, value in known.items() if value is not None)
        counted = _CountedRow(release, row["time"], values, str(diagnosed.get("label")))
        self._counted[row["id"]] = counted
        if len(self._counted) > _REMEMBERED:
            self._counted.popitem(last=False)
        self.exchanges += 1
        statistics.exchanges += 1
        _count(statistics.diagnosis, counted.diagnosis)
        if len(self.meanings) < _MAX_NAMES:
            self.meanings.setdefault(counted.diagnosis, str(diagnosed.get("explanation")))
        for figure, value in values:
            self._add(release, figure, row["time"], value)
        if known[FOLLOW_UP] is not None and known[FOLLOW_UP] < self._bad_below:
            words = str(judged.get("label")), str(judged.get("explanation") or "")
            follow_ups = row.get("follow_ups") or [row.get("follow_up")]
            turns = row["conversation_id"], row["turn_id"], tuple(map(str, filter(None, follow_ups)))
            self.bad.append(BadExchange(*turns, release, *words))

    def _add(self, release: Release, figure: str, time: float, value: float, sign: int = 1) -> None:
        self.releases[release].means.setdefault(figure, RunningMean()).add(value, sign)
        self.trends.add((release, figure), time, value, sign)

    def _take_out(self, counted: _CountedRow) -> None:
        statistics = self.releases[counted.release]
        self.exchanges -= 1
        statistics.exchanges -= 1
        statistics.diagnosis[counted.diagnosis] -= 1
        for figure, value in counted.values:
            self._add(counted.release, figure, counted.time, value, -1)


class Rate:
    """How fast a count grows: its mean over the last seconds; the clock is handed in."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, float]] = deque()

    def update(self, now: float, count: float) -> float:
        """Take in a count and return its growth per second."""
        if self._seen and count < self._seen[-1][1]:
            self._seen.clear()  # a worker was started again and counts from 0
        self._seen.append((now, count))
        while len(self._seen) > 2 and now - self._seen[1][0] >= _RATE_SECONDS:
            self._seen.popleft()
        began, first = self._seen[0]
        return (count - first) / (now - began) if now > began else 0.0


def sum_metric(page: str, name: str, keep: Callable[[str], bool] = lambda _: True) -> float:
    """Add up the series of one metric on a page of /metrics.

    >>> sum_metric('turns_total{role="user"} 3.0', "turns_total")
    3.0
    """
    total = 0.0
    for line in page.splitlines():
        if line.startswith(name) and line[len(name) : len(name) + 1] in ("{", " "):
            series, _, value = line.partition(" # ")[0].rpartition(" ")
            if keep(series[len(name) :]):
                total += float(value)
    return total


def _of_production(record: Mapping[str, Any]) -> bool:
    return bool(record.get("environment", PRODUCTION) == PRODUCTION)


def _count(counts: Counter[str], word: str) -> None:
    if word in counts or len(counts) < _MAX_NAMES:
        counts[word] += 1
