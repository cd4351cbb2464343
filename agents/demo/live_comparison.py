"""Live comparison: whether a release that has just begun to answer went better or worse than the one before it.

It is the comparison of a replay (`stream.reports.quality`), made while conversations go on. Four things differ then.

- Nothing says which release came first where two answer side by side from the beginning, as in an experiment: neither
  has changed since anything. So a release is compared where the one before had answered alone for a while.
- A release that has just begun has young conversations only, and what is said early in a conversation differs from what
  is said late. So every conversation is compared at one age, a third of the new release's: only what happened until
  then counts, and conversations that are younger are left out. Each counts for the release that began it.
- Score rows hold neither texts nor documents, by which a replay sees that a figure rose only because less was said or
  given. So nothing is called better here: what rises has changed.
- Whoever looks often finds something by chance. So a release is looked at when it has the fewest conversations that
  say anything, and then each time that they have doubled; every look spends half of what is left of the promise that at
  most 5 % of comparisons without any difference name one, and that holds for all looks together.
"""

from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.pipeline.scoring import relevancy_name, scorer_names
from turnsignal.stream.records.scores import FOLLOW_UP, Stage
from turnsignal.stream.reports.quality import Quality
from turnsignal.stream.reports.release_order import AHEAD
from turnsignal.stream.reports.release_totals import ConversationScores
from turnsignal.stream.statistics.directions import BETTER, CHANGED, CHECKS_APPLIED, WORSE
from turnsignal.stream.statistics.promise import PROMISE
from turnsignal.stream.suite import Suite

MAX_CONVERSATIONS = 5_000  #: that are kept; the oldest go first
MAX_ROWS = 64  #: of a conversation
AGE = 1 / 3  #: of a release's age, at which conversations are compared: older ones would be fewer, younger ones short
OPEN = "open"  #: outcome of a conversation that is compared before its end: none of those that are figures

_MAX_RELEASES = 200  #: that are looked at
_GROWTH = 1.25  #: by which a release has grown when it is tried again where there was nothing to compare it with


class ReleaseChange(NamedTuple):
    """What a look at a release says.

    before, after: versions; since: event time of its first answer, seconds since 1970; conversations: how many of the
    release were compared; changes: figure → worse or changed, the primary figure first.
    """

    assistant: str
    before: str | None
    after: str | None
    since: float
    conversations: int
    changes: Mapping[str, str]


class _ScoredRow(NamedTuple):
    """One score row: event time, whether it is of a response, and (figure, value) pairs."""

    time: float
    is_response: bool
    values: tuple[tuple[int, float], ...]


@dataclass(slots=True)
class _Conversation:
    """What is known of a conversation. opened: event time of its first answer; release: which gave it; rows: by id."""

    release: Release
    opened: float
    rows: dict[str, _ScoredRow] = field(default_factory=dict)


class LiveComparison:
    """Compare releases while rows come in: `on_row` for each row, then `findings`."""

    def __init__(self, suite: Suite) -> None:
        covered = tuple(name for name in (relevancy_name(suite), FOLLOW_UP) if name)
        self._quality = (scorer_names(suite), 0.0, covered)
        figures = Quality(*self._quality).figures
        self._index = {name: 2 * index for index, name in enumerate(figures)}
        self._width = 2 * len(figures) + 1
        self._checks = frozenset(check.name for _, check in suite.parsed_checks)
        self._part = suite.aggregates
        self._idle = suite.limits.idle
        self._conversations: OrderedDict[str, _Conversation] = OrderedDict()
        self._began: dict[Release, float] = {}
        self._opened = Counter[Release]()  # conversations so far
        self._came_after: dict[Release, frozenset[str | None]] = {}  # versions that were there when it came
        self._clocks: dict[object, float] = {}  # partition → largest event time
        self._compared: dict[Release, int] = {}  # how often
        self._next: dict[Release, float] = {}  # conversations with which a release is looked at again
        self._findings: dict[Release, ReleaseChange] = {}

    def on_row(self, row: Mapping[str, Any]) -> None:
        """Take in a score row of production."""
        is_response = row["stage"] == Stage.RESPONSE
        if not is_response and row["stage"] != Stage.FOLLOW_UP:
            return
        time, conversation_id = float(row["time"]), row["conversation_id"]
        partition = (row.get("source") or {}).get("partition")
        self._clocks[partition] = max(time, self._clocks.get(partition, time))
        conversation = self._conversations.get(conversation_id)
        if conversation is None:
            if not is_response:
                return
            conversation = self._begin(conversation_id, row, time)
        elif is_response and time < conversation.opened:  # rows come in the order of arrival
            conversation.release, conversation.opened = _release(row), time
        conversation.rows.pop(row.get("replaces") or "", None)
        if len(conversation.rows) < MAX_ROWS:
            values = tuple(self._values(row["scores"], is_response=is_response))
            conversation.rows[row["id"]] = _ScoredRow(time, is_response, values)

    def findings(self) -> list[ReleaseChange]:
        """Look at the releases that it is time for; return what the last look at each says."""
        if self._clocks:
            clock = self._clock()
            for release in list(self._began):
                self._compare(release, clock)
        return list(self._findings.values())

    def _begin(self, conversation_id: str, row: Mapping[str, Any], time: float) -> _Conversation:
        release = _release(row)
        conversation = self._conversations[conversation_id] = _Conversation(release, time)
        if release in self._began or len(self._began) < _MAX_RELEASES:
            self._began[release] = min(time, self._began.get(release, time))
            if release not in self._came_after:
                there = (known for known, n in self._opened.items() if known[0] == release[0] and n >= AHEAD)
                self._came_after[release] = frozenset(version for _, version in there)
            self._opened[release] += 1
        if len(self._conversations) > MAX_CONVERSATIONS:
            self._conversations.popitem(last=False)
        return conversation

    def _values(self, scores: Iterable[Mapping[str, Any]], *, is_response: bool) -> Iterable[tuple[int, float]]:
        applied = bound = 0
        for score in scores:
            scorer, value = score["scorer"], score["value"]
            bound += scorer in self._checks
            if value is not None and scorer in self._index:
                applied += scorer in self._checks
                yield self._index[scorer], value
        if is_response and bound:
            yield self._index[CHECKS_APPLIED], applied / bound

    def _clock(self) -> float:
        """Return the event time that all partitions have reached, but for those on which nothing happens."""
        latest = max(self._clocks.values())
        return min(time for time in self._clocks.values() if time > latest - self._idle)

    def _compare(self, release: Release, clock: float) -> None:
        age = (clock - self._began[release]) * AGE
        old_enough = [
            conversation for conversation in self._conversations.values() if conversation.opened <= clock - age
        ]
        counts, minimum = Counter(conversation.release for conversation in old_enough), self._part.minimum_n
        n = counts[release]
        if age <= 0 or n < self._next.get(release, minimum):
            return
        self._next[release] = n * _GROWTH
        quality = Quality(*self._quality)
        for conversation in old_enough:
            if conversation.release[0] == release[0]:
                quality.add(self._until(conversation, conversation.opened + age))
        quality.finish(minimum)
        there = [(release[0], version) for version in self._came_after[release]]
        before = max((known for known in there if counts[known] >= minimum), key=self._began.__getitem__, default=None)
        if before is None:
            return
        rows = quality.comparisons(minimum, self._part.primary, self._part.least_change, before[1])
        row = next((row for row in rows if (row["before"], row["after"]) == (before[1], release[1])), None)
        if row is None:
            return
        times = self._compared[release] = self._compared.get(release, 0) + 1
        self._next[release] = 2 * n
        changes = dict(_named(row, PROMISE / 2**times))
        self._findings[release] = ReleaseChange(release[0], row["before"], release[1], self._began[release], n, changes)

    def _until(self, conversation: _Conversation, end: float) -> ConversationScores:
        """Return a conversation as it stood at a time."""
        values, turns = [0.0] * self._width, 0
        for row in conversation.rows.values():
            if row.time > end:
                continue
            turns += 1
            values[-1] += row.is_response
            for index, value in row.values:
                values[index] += 1
                values[index + 1] += value
        parts = {conversation.release: array("d", values)}
        opened, answers = conversation.opened, round(values[-1])
        times = (opened, end, end)
        return ConversationScores(conversation.release, OPEN, *times, False, answers, parts, opened, turns)


def _release(row: Mapping[str, Any]) -> Release:
    return str(row["assistant"]), row.get("version")


def _named(row: Mapping[str, Any], promise: float) -> Iterable[tuple[str, str]]:
    """Give the figures that a comparison names within a promise, the primary one first."""
    for name in sorted(row["deltas"], key=lambda name: name != row["primary"]):
        delta = row["deltas"][name]
        if delta["verdict"] in (WORSE, BETTER, CHANGED) and delta["adjusted"] <= promise:
            yield name, WORSE if delta["verdict"] == WORSE else CHANGED
