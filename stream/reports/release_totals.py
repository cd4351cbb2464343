"""Release totals: the conversations of one release, summed up as they come."""

import math
from array import array
from collections import Counter
from dataclasses import dataclass, field, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.reports.first_answers import FirstAnswer, FirstAnswers
from turnsignal.stream.statistics.intervals import Batches, Clusters

SUMS = len(fields(Clusters))  #: of a figure, which `Clusters` holds
MOMENTS = SUMS + 3  #: of a figure in all
MAX_RELEASES = 1_000  #: told apart in a recording; a field that holds ids of sessions would make one of each
#: what the releases beyond those count for, all together
OTHER_RELEASES: Release = ("other", f"releases beyond {MAX_RELEASES:,}")
_SECONDS = -3  #: where the count of the seconds to an answer stands in a conversation's values
_MOST_STRATA = 8  #: platforms of a release that are summed up apart; the names are those of strangers
_WAITING = 256  #: conversations of a release whose values wait to be summed up at once


class NamedReleases:
    """The releases that are told apart: the first `MAX_RELEASES` that come; `merge` the parts."""

    def __init__(self) -> None:
        self._named: dict[Release, None] = {}

    def fold(self, release: Release) -> Release:
        """Return the release itself where it is told apart, else what all others count for."""
        if release not in self._named:
            if len(self._named) >= MAX_RELEASES:
                return OTHER_RELEASES
            self._named[release] = None
        return release

    def merge(self, other: "NamedReleases") -> None:
        """Add another part's, as far as there is room."""
        for release in other._named:
            self.fold(release)


class ConversationScores(NamedTuple):
    """How one conversation went, in little memory.

    release: of its last answer; outcome: `cut` where the recording ended before it; first: event time of its first
    turn; quiet: event time from which on it was idle; clock: stream time at its last turn; headless: its first turn was
    an answer; answers: how many; parts: release → count and sum of each figure's values, in turn, and the number of
    answers last; the release of the first answer comes first; opened: event time of that answer;
    first_answer: what is kept of it; turns: how many.
    """

    release: Release
    outcome: str
    first: float
    quiet: float
    clock: float
    headless: bool
    answers: int
    parts: "dict[Release, array[float]]"
    opened: float
    turns: int = 0
    first_answer: FirstAnswer | None = None


@dataclass(slots=True)
class ReleaseTotals:
    """The conversations of one release.

    first: smallest event time, seconds since 1970; moments: a row per figure: the fields of `Clusters`, and the sums of
    answers × count, answers² × count, answers × count²; answered: conversations, and sums of answers, answers², ³
    and ⁴; left_out: conversations that the recording cuts, by
    reason; seconds: to an answer, by the time at which its conversation began, since answers are slow together, with
    the load; waiting: values of conversations that are not in the moments yet; turns: of the conversations that count;
    first_answers: of conversations that the release began; strata: totals by platform, which have no strata themselves.
    """

    first: float
    moments: npt.NDArray[np.float64]
    answered: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(5))
    outcomes: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    seconds: Batches = field(default_factory=Batches)
    waiting: "list[array[float]]" = field(default_factory=list)
    turns: int = 0
    first_answers: FirstAnswers = field(default_factory=FirstAnswers)
    strata: "dict[str, ReleaseTotals]" = field(default_factory=dict)

    @property
    def placed(self) -> bool:
        """Whether the platform of every conversation is known; it is that of its first answer."""
        return sum([stratum.outcomes.total() for stratum in self.strata.values()]) == self.outcomes.total()

    def stratum(self, platform: str) -> "ReleaseTotals | None":
        """Return the totals of the conversations of one platform, which are summed up beside those of all.

        None where there are too many: the first by name are kept, which are the same in whatever order they come.
        """
        known = self.strata.get(platform)
        if known is None:
            if len(self.strata) >= _MOST_STRATA:
                if platform > (last := max(self.strata)):
                    return None
                del self.strata[last]
            known = self.strata[platform] = ReleaseTotals(self.first, np.zeros_like(self.moments))
        return known

    def update(self, values: "array[float]", opened: float) -> None:
        """Add a conversation's values; opened: event time of its first answer."""
        self.waiting.append(values)
        self.seconds.add(opened, *values[_SECONDS:-1])
        if len(self.waiting) >= _WAITING:
            self.add_waiting()

    def add_waiting(self) -> None:
        """Add the values that wait to the moments."""
        if self.waiting:
            values = np.frombuffer(b"".join(self.waiting)).reshape(len(self.waiting), -1)
            turns, totals, answers = values[:, 0:-1:2], values[:, 1:-1:2], values[:, -1:]
            means = totals / np.maximum(turns, 1)
            turns2, cross, answers2 = turns * turns, turns * totals, answers * answers
            columns = [turns > 0, turns, totals, turns2, cross, totals * totals, means, means * means]
            columns += [turns2 * turns, turns2 * turns2, turns * cross, totals * cross]
            columns += [answers * turns, answers2 * turns, answers * turns2]
            self.moments += np.stack([column.sum(axis=0) for column in columns], axis=1)
            powers = [answers > 0, answers, answers2, answers2 * answers, answers2 * answers2]
            self.answered += [column.sum() for column in powers]
            self.waiting.clear()

    def sums(self, figure: int) -> Clusters:
        """Return the sums of the figure at this index."""
        self.add_waiting()
        return Clusters(*self.moments[figure, :SUMS].tolist())

    def scored(self, figure: int) -> Clusters:
        """Return the sums of the answers that have the figure at this index, of all answers."""
        sums = self.sums(figure)
        conversations, answers, answers2, answers3, answers4 = self.answered.tolist()
        cross, cross_answers, cross_turns = self.moments[figure, SUMS:].tolist()
        first = (conversations, answers, sums.turns, answers2, cross, sums.turns2)
        return Clusters(*first, turns3=answers3, turns4=answers4, cross_turns=cross_answers, cross_total=cross_turns)

    def copy(self) -> "ReleaseTotals":
        """Return what merges apart from this."""
        empty = ReleaseTotals(self.first, np.zeros_like(self.moments))
        empty.merge(self)
        return empty

    def merge(self, other: "ReleaseTotals") -> None:
        """Add another part's."""
        other.add_waiting()
        self.add_waiting()
        self.first = min(self.first, other.first)
        self.moments += other.moments
        self.answered += other.answered
        self.outcomes.update(other.outcomes)
        self.left_out.update(other.left_out)
        self.seconds.merge(other.seconds)
        self.turns += other.turns
        self.first_answers.merge(other.first_answers)
        for platform, theirs in other.strata.items():
            if (mine := self.stratum(platform)) is not None:
                mine.merge(theirs)


def begun_by(went: ConversationScores) -> Release:
    """Return the release that answered first in a conversation."""
    return next(iter(went.parts), went.release)


def as_begun(went: ConversationScores) -> ConversationScores:
    """Put all of a conversation on the release that began it."""
    opener = begun_by(went)
    whole = array("d", map(math.fsum, zip(*went.parts.values(), strict=True)))
    return went._replace(release=opener, parts={opener: whole})
