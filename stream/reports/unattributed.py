"""Unattributed: conversations and answers that carry no version, and the release that they belong to by their time.

What users write carries no version, so a conversation that nobody answers names no release, and neither does an error
that a gateway writes in the assistant's place. Left at that, a release that does not answer would lose its failures and
look as good as before. In a replay it is known who answered when. Each belongs to the one release that stands around
its time, or had answered last before it. Where several answer side by side, nobody can tell whose it is: it is left
out of both, and the share of the whole assistant is compared instead. A stretch in which many ask and nobody answers,
between two releases or at the end, is nobody's, and told as such.
"""

from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import add
from typing import Any, NamedTuple

from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.records.scores import ConversationOutcome
from turnsignal.stream.reports.release_totals import ConversationScores
from turnsignal.stream.statistics.intervals import Difference, difference, rate

DEFAULT = "default"  #: the assistant of turns that name none
_UNANSWERED = ConversationOutcome.UNANSWERED
_BUCKET = 600.0  #: seconds of event time of which only a release's first and last answers are kept
_MOST = 2_000  #: conversations of a partition that are kept
_HARDLY = 0.05  #: answered conversations for each other one, up to which nobody answers: more come from a release


class Silence(NamedTuple):
    """Many asked and nobody answered: from when on, until when (None: to the end), and how many asked."""

    assistant: str
    since: float
    until: float | None
    conversations: int

    def as_json(self) -> dict[str, Any]:
        """Return it as it stands in `summary.json`; times in seconds since 1970."""
        return self._asdict()


class _Answers:
    """When the releases of one assistant began to answer conversations."""

    def __init__(self, buckets: Mapping[int, Mapping[str, Sequence[float]]]) -> None:
        self.spans: dict[str, tuple[float, float]] = {}
        events: set[tuple[float, str]] = set()
        self.counts: Counter[int] = Counter()
        for bucket, versions in buckets.items():
            for version, (first, last, n) in versions.items():
                since, until = self.spans.get(version, (first, last))
                self.spans[version] = min(since, first), max(until, last)
                events |= {(first, version), (last, version)}
                self.counts[bucket] += int(n)
        self.events = sorted(events)

    def around(self, time: float) -> list[str]:
        return [version for version, (first, last) in self.spans.items() if first <= time <= last]

    def index(self, time: float) -> int:
        return bisect_right(self.events, time, key=lambda event: event[0])


class Unattributed:
    """Conversations without a version: `update` with each, `merge` the parts, then `resolve`.

    attributed: release → how many conversations count for it by their time; silences: as `Silence` tells.
    """

    def __init__(self) -> None:
        self.attributed: Counter[Release] = Counter()
        self.silences: list[Silence] = []
        self._kept: list[ConversationScores] = []
        self._answered: dict[str, dict[int, dict[str, list[float]]]] = {}
        self._plain: dict[str, float] = {}  # assistant → first answer that was one and carried no version
        self._apart: defaultdict[str, Counter[int]] = defaultdict(Counter)  # that cannot be told apart
        self._unanswered: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def update(self, went: ConversationScores) -> ConversationScores | None:
        """Return a conversation as it counts; None where that is known once all of them are."""
        if went.release[1] is not None and all(version is not None for _, version in went.parts):
            if went.parts:
                self._on_answer(next(iter(went.parts)), went.opened)
            return went
        if any(version is not None for _, version in went.parts):
            went = _with_its_own(went)
            self.attributed[went.release] += went.release[1] is not None
            self._on_answer(next(iter(went.parts)), went.opened)
            return went
        assistant = went.release[0]
        if went.parts and went.outcome != _UNANSWERED:
            self._plain[assistant] = min(self._plain.get(assistant, went.opened), went.opened)
        if went.release[1] is not None or (went.parts and not self._answered) or len(self._kept) >= _MOST:
            return went  # no release had answered by then
        self._kept.append(went)
        return None

    def merge(self, other: "Unattributed") -> None:
        """Add another part's, before either is resolved."""
        self.attributed.update(other.attributed)
        self._kept += other._kept
        for assistant, time in other._plain.items():
            self._plain[assistant] = min(self._plain.get(assistant, time), time)
        for assistant, buckets in other._answered.items():
            for versions in buckets.values():
                for version, (first, last, n) in versions.items():
                    self._on_answer((assistant, version), first, last, n)

    def resolve(self, minimum: int) -> Iterator[ConversationScores]:
        """Give every kept conversation as it counts; minimum: questions without an answer that make a silence."""
        groups: defaultdict[tuple[str, int], list[ConversationScores]] = defaultdict(list)
        known = {assistant: _Answers(buckets) for assistant, buckets in sorted(self._answered.items())}
        kept, self._kept = self._kept, []
        for went in kept:
            assistant, time = went.release[0], _time(went)
            if assistant not in known and len(known) == 1 and self._is_nobody(assistant, went):
                assistant = next(iter(known))
            answers = known.get(assistant)
            if answers is None:
                yield went
                continue
            if went.outcome == _UNANSWERED:
                self._unanswered[assistant][_bucket(time)] += 1
            around = answers.around(time)
            if len(around) == 1:
                yield self._attribute(went, (assistant, around[0]))
            elif around:
                self._apart[assistant][_bucket(time)] += 1
                yield _as_release(went, (assistant, None))
            else:
                groups[assistant, answers.index(time)].append(went)
        for (assistant, index), some in sorted(groups.items(), key=lambda item: item[0]):
            yield from self._between(assistant, index, some, known[assistant], minimum)

    def silent_since(self, assistant: str) -> float | None:
        """Return when the first silence of an assistant began; None where there is none."""
        return min((silence.since for silence in self.silences if silence.assistant == assistant), default=None)

    def apart(self, after: Release) -> int:
        """Return how many without an answer cannot be told apart since a release began to answer."""
        begun = self._begun(after)
        return 0 if begun is None else _since(self._apart[after[0]], begun)

    def change(self, after: Release, minimum: int) -> Difference | None:
        """Compare the share of an assistant's conversations that name no release and got no answer.

        Before and since a release began to answer; None where nothing is apart, or of fewer than `minimum`.
        """
        begun = self._begun(after)
        if begun is None or not self.apart(after):
            return None
        answered, missing = _Answers(self._answered[after[0]]).counts, self._unanswered[after[0]]
        new, since = _since(missing, begun), _since(missing, begun) + _since(answered, begun)
        old = missing.total() - new
        before = missing.total() + answered.total() - since
        if min(before, since) < minimum:
            return None
        return difference(rate(new, since), rate(old, before))

    def _is_nobody(self, assistant: str, went: ConversationScores) -> bool:
        """Say whether an assistant is none of its own: without a name, or one that only ever failed, as a gateway."""
        return assistant == DEFAULT or (bool(went.parts) and assistant not in self._plain)

    def _between(
        self, assistant: str, index: int, some: list[ConversationScores], answers: _Answers, minimum: int
    ) -> Iterator[ConversationScores]:
        """Give the conversations between two releases, or before the first, or after the last answer of all."""
        since = answers.events[index - 1][0] if index else None
        until = answers.events[index][0] if index < len(answers.events) else None
        missing = sum(went.outcome == _UNANSWERED for went in some)
        if missing >= minimum and len(some) - missing <= _HARDLY * missing:
            first = min(map(_time, some))
            self.silences.append(Silence(assistant, first, until, missing))
        nobodys = len(some) >= minimum or (
            since is None and self._plain.get(assistant, _time(some[0])) < _time(some[0])
        )
        version = None if nobodys else answers.events[max(0, index - 1)][1]
        for went in some:
            yield _as_release(went, (assistant, None)) if nobodys else self._attribute(went, (assistant, version))

    def _attribute(self, went: ConversationScores, release: Release) -> ConversationScores:
        self.attributed[release] += 1
        return _as_release(went, release)

    def _begun(self, release: Release) -> int | None:
        times = [bucket for bucket, versions in self._answered.get(release[0], {}).items() if release[1] in versions]
        return min(times, default=None)

    def _on_answer(self, release: Release, first: float, last: float | None = None, n: float = 1) -> None:
        assistant, version = release
        if version is None:
            return
        last = first if last is None else last
        versions = self._answered.setdefault(assistant, {}).setdefault(_bucket(first), {})
        known = versions.get(version)
        if known is None:
            versions[version] = [first, last, n]
        else:
            known[:] = min(known[0], first), max(known[1], last), known[2] + n


def _since(counts: Mapping[int, int], bucket: int) -> int:
    return sum(n for at, n in counts.items() if at >= bucket)


def _bucket(time: float) -> int:
    return int(time // _BUCKET)


def _time(went: ConversationScores) -> float:
    return went.opened if went.parts else went.first


def _as_release(went: ConversationScores, release: Release) -> ConversationScores:
    """Put a conversation on a release: all of its answers carried no version."""
    parts: dict[Release, array[float]] = {}
    for one, values in went.parts.items():
        own = (release[0], one[1]) if release[1] is None else release
        parts[own] = array("d", map(add, parts[own], values)) if own in parts else values
    return went._replace(release=release, parts=parts)


def _with_its_own(went: ConversationScores) -> ConversationScores:
    """Put answers without a version on a release that answered in the same conversation."""
    named = [release for release in went.parts if release[1] is not None]

    def own(release: Release) -> Release:
        if release[1] is not None:
            return release
        same = [one for one in named if one[0] == release[0]]
        return same[-1] if same else named[-1] if release[0] == DEFAULT else release

    parts: dict[Release, array[float]] = {}
    for release, values in went.parts.items():
        mine = own(release)
        parts[mine] = array("d", map(add, parts[mine], values)) if mine in parts else values
    return went._replace(release=own(went.release), parts=parts)
