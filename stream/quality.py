"""Quality: how the conversations of a release went, with n and intervals, and whether the next release went worse.

Single conversations are noise: some people explore, some leave (S0). So nothing is said of fewer than a minimum of
them, and every figure that is said comes with its 95 % interval. A conversation counts for the release of its last
answer.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stream.intervals import Clusters, Interval, clustered_mean, difference, wilson
from stream.stats import Means
from stream.tallies import Release

OUTCOMES = ("resolved", "clarified", "abandoned")
LOWER_IS_BETTER = frozenset({"clarified", "abandoned", "wasted_context"})

_WAITING = 256  #: conversations of a release whose values wait to be summed up at once


class Went(NamedTuple):
    """How one conversation went, in little memory.

    first: event time of its first turn; answers: responses; values: count and sum of each scorer's values, in turn.
    """

    release: Release
    outcome: str
    first: float
    answers: int
    values: "array[float]"


@dataclass(slots=True)
class ReleaseTotals:
    """The conversations of one release.

    first: smallest event time, seconds since 1970; moments: a row of `Clusters` fields per scorer; waiting: values of
    conversations that are not in the moments yet.
    """

    first: float
    moments: npt.NDArray[np.float64]
    outcomes: Counter[str] = field(default_factory=Counter)
    waiting: "list[array[float]]" = field(default_factory=list)

    def sum_up(self) -> None:
        """Put the values that wait into the moments."""
        if self.waiting:
            values = np.frombuffer(b"".join(self.waiting)).reshape(len(self.waiting), -1)
            turns, totals = values[:, 0::2], values[:, 1::2]
            columns = [turns > 0, turns, totals, turns * turns, turns * totals, totals * totals]
            self.moments += np.stack([column.sum(axis=0) for column in columns], axis=1)
            self.waiting.clear()


class Quality:
    """Conversations by release; `add` each once, then `rows` and `comparisons`."""

    def __init__(self, scorers: Sequence[str]) -> None:
        self.scorers = tuple(scorers)
        self._releases: dict[Release, ReleaseTotals] = {}

    def values(self, means: Means) -> "array[float]":
        """Return a conversation's values as `Went` holds them; means: in the order of the scorers."""
        return array("d", means)

    def add(self, went: Went) -> None:
        """Count a conversation; each once."""
        of_release = self._totals(went.release, went.first)
        of_release.outcomes[went.outcome] += 1
        of_release.waiting.append(went.values)
        if len(of_release.waiting) >= _WAITING:
            of_release.sum_up()

    def merge(self, other: "Quality") -> None:
        """Add what another part counted; sums of floats depend on the order, so merge in the order of the shards."""
        for release, theirs in other._releases.items():
            theirs.sum_up()
            mine = self._totals(release, theirs.first)
            mine.sum_up()
            mine.moments += theirs.moments
            mine.outcomes.update(theirs.outcomes)

    def pooled(self, scorer: str) -> Clusters:
        """Return one scorer's sums over all releases."""
        sums = Clusters()
        for of_release in self._releases.values():
            of_release.sum_up()
            sums.merge(Clusters(*of_release.moments[self.scorers.index(scorer)].tolist()))
        return sums

    def rows(self, minimum: int) -> list[dict[str, Any]]:
        """Say how each release's conversations went; nothing of fewer than `minimum`, and that it is silent."""
        return [self._row(release, minimum) for release in sorted(self._releases, key=self._by_time)]

    def comparisons(self, minimum: int) -> list[dict[str, Any]]:
        """Compare each release with the one before it of the same assistant, where both have enough conversations.

        A change is named where its interval leaves 0 out; of twenty figures one does so by chance.
        """
        rows = []
        before: dict[str, Release] = {}
        for release in sorted(self._releases, key=self._by_time):
            if self._releases[release].outcomes.total() < minimum:
                continue
            if release[0] in before:
                rows.append(self._compare(before[release[0]], release, minimum))
            before[release[0]] = release
        return rows

    def _totals(self, release: Release, first: float) -> ReleaseTotals:
        of_release = self._releases.get(release)
        if of_release is None:
            of_release = self._releases[release] = ReleaseTotals(first, np.zeros((len(self.scorers), 6)))
        of_release.first = min(of_release.first, first)
        return of_release

    def _by_time(self, release: Release) -> tuple[str, float, str]:
        return release[0], self._releases[release].first, release[1] or ""

    def _figures(self, release: Release, minimum: int) -> dict[str, Interval]:
        """Return every figure of a release that enough conversations speak of."""
        of_release = self._releases[release]
        of_release.sum_up()
        n = of_release.outcomes.total()
        figures = {outcome: wilson(of_release.outcomes[outcome], n) for outcome in OUTCOMES} if n >= minimum else {}
        for scorer, moments in zip(self.scorers, of_release.moments.tolist(), strict=True):
            if moments[0] >= minimum:
                figures[scorer] = clustered_mean(Clusters(*moments))
        return figures

    def _row(self, release: Release, minimum: int) -> dict[str, Any]:
        of_release = self._releases[release]
        n = of_release.outcomes.total()
        row: dict[str, Any] = {"assistant": release[0], "version": release[1], "conversations": n}
        row["first"] = of_release.first
        if n < minimum:
            return row | {"silent": f"n too small: {n} < {minimum}"}
        return row | {"figures": {name: found.as_json() for name, found in self._figures(release, minimum).items()}}

    def _compare(self, before: Release, after: Release, minimum: int) -> dict[str, Any]:
        old, new = self._figures(before, minimum), self._figures(after, minimum)
        deltas = {}
        for name in [name for name in new if name in old]:
            delta = difference(new[name], old[name])
            deltas[name] = delta.as_json() | {"verdict": _verdict(name, delta)}
        return {"assistant": after[0], "before": before[1], "after": after[1], "deltas": deltas}


def _verdict(name: str, delta: Interval) -> str:
    if delta.low <= 0 <= delta.high:
        return "no difference shown"
    return "worse" if (delta.value > 0) == (name in LOWER_IS_BETTER) else "better"
