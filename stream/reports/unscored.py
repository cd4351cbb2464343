"""Unscored: what could not be scored and why, over all releases, in few lines."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class UnscoredScorers(NamedTuple):
    """Scorers of which equally much is unscored, for the same reasons. of: how many there were to score."""

    scorers: tuple[str, ...]
    n: int
    of: int
    reasons: tuple[tuple[str, int], ...]


def unscored(scores: Iterable[Mapping[str, Any]]) -> list[UnscoredScorers]:
    """Add up, over releases, what could not be scored and why; scorers that say the same come together."""
    counts: dict[str, int] = {}
    reasons: dict[str, Counter[str]] = {}
    for row in scores:
        scorer = row["scorer"]
        counts[scorer] = counts.get(scorer, 0) + row["n"]
        reasons.setdefault(scorer, Counter()).update(row.get("unscored", {}))
    alike: dict[tuple[int, tuple[tuple[str, int], ...]], list[str]] = {}
    for scorer, n in counts.items():
        if reasons[scorer]:
            alike.setdefault((n, tuple(reasons[scorer].most_common())), []).append(scorer)
    return [
        UnscoredScorers(tuple(scorers), n, n + sum(count for _, count in why), why)
        for (n, why), scorers in alike.items()
    ]
