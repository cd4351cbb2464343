"""Cite rates: how often the document at each rank of the context is cited, per assistant and version.

The live counters have rank bands, for a panel; a replay counts every rank, and gives each rate its interval.
"""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.statistics.intervals import wilson

MAX_RANK = 20  #: ranks that stand for themselves; those beyond are one, written "21+"
_WAITING = 500  #: lengths of contexts that wait to be spelled out by rank


class _Counts:
    """Counts of one release; retrieved, cited: by rank, the last place for those beyond; waiting: ranks → responses."""

    __slots__ = ("cited", "retrieved", "waiting")

    def __init__(self) -> None:
        self.retrieved = [0] * (MAX_RANK + 2)
        self.cited = [0] * (MAX_RANK + 2)
        self.waiting: dict[tuple[int, ...], int] = {}

    def as_rows(self) -> None:
        """Turn the contexts that wait into counts by rank: most have the same ranks."""
        for ranks, by in self.waiting.items():
            for rank in ranks:
                self.retrieved[min(rank, MAX_RANK + 1)] += by
        self.waiting.clear()


class CiteRates:
    """Documents retrieved and cited by context rank; `count` per response, then `rows`."""

    def __init__(self) -> None:
        self._counts: defaultdict[Release, _Counts] = defaultdict(_Counts)

    def count(self, assistant: str, version: str | None, ranks: tuple[int, ...], cited: tuple[int, ...]) -> None:
        """Count one response: the ranks of its documents, and of those that it cites (1-based)."""
        counts = self._counts[assistant, version]
        waiting = counts.waiting
        waiting[ranks] = waiting.get(ranks, 0) + 1
        if len(waiting) > _WAITING:
            counts.as_rows()
        for rank in cited:
            counts.cited[rank if rank <= MAX_RANK else MAX_RANK + 1] += 1

    def merge(self, other: "CiteRates", fold: Callable[[Release], Release] = lambda release: release) -> None:
        """Add what another part counted; fold: gives the release that another one counts for."""
        for release, added in other._counts.items():
            added.as_rows()
            counts = self._counts[fold(release)]
            for rank in range(1, MAX_RANK + 2):
                counts.retrieved[rank] += added.retrieved[rank]
                counts.cited[rank] += added.cited[rank]

    def rows(self, minimum: int) -> list[dict[str, Any]]:
        """Say, per release and rank, how many were retrieved and cited; the rate from `minimum` retrieved on.

        The interval is Wilson's over documents: those of one conversation are taken as independent here.
        """
        return [
            {"assistant": release[0], "version": release[1], "ranks": _by_rank(self._counts[release], minimum)}
            for release in sorted(self._counts, key=lambda release: (release[0], release[1] or ""))
        ]


def _by_rank(counts: _Counts, minimum: int) -> list[dict[str, Any]]:
    counts.as_rows()
    rows = []
    for rank in range(1, MAX_RANK + 2):
        retrieved, cited = counts.retrieved[rank], counts.cited[rank]
        if retrieved:
            name = str(rank) if rank <= MAX_RANK else f"{MAX_RANK + 1}+"
            row: dict[str, Any] = {"rank": name, "retrieved": retrieved, "cited": cited}
            if retrieved >= minimum:
                rate = wilson(min(cited, retrieved), retrieved).as_json()
                row["rate"] = {key: rate[key] for key in ("value", "low", "high")}
            else:
                row["silent"] = f"n too small: {retrieved} < {minimum}"
            rows.append(row)
    return rows
