"""Judged scores of a replay: what judges said of each release, beside what the rules say.

Summed up in whole numbers, so that it is the same in whatever order verdicts come. Each score weighs by the inverse of
the probability with which it was asked for, in the mean and in the coverage.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import orjson

from turnsignal.stream.conversations.judged import LEAST, PARTS
from turnsignal.stream.records.environments import PRODUCTION
from turnsignal.stream.records.scores import Stage

_NANO = 1_000_000_000  #: parts of the currency
_MARKED = f'"stage":"{Stage.VERDICT}"'.encode()

_Judged = tuple[str, str | None, str]  #: assistant, version, scorer


class JudgedScores:
    """What judges said, by release and scorer. environment: whose answers count."""

    def __init__(self, environment: str = PRODUCTION) -> None:
        self._environment = environment
        self._sums: Counter[tuple[_Judged, str]] = Counter()
        self._unscored: Counter[tuple[_Judged, str]] = Counter()

    def add(self, row: bytes) -> None:
        """Take in a score row as it was written; rows of other stages are passed over."""
        if _MARKED not in row:
            return
        judged: Mapping[str, Any] = orjson.loads(row)
        if judged["stage"] != Stage.VERDICT or judged.get("environment", PRODUCTION) != self._environment:
            return
        about, (score, *_) = judged["verdict"], judged["scores"]
        name = (judged["assistant"] or "", judged["version"], score["scorer"])
        weight = round(PARTS / max(about["inclusion"], LEAST)) if about["inclusion"] else 0
        self._sums[name, "cost"] += round(about["cost"] * _NANO)
        if score.get("unscored"):
            self._unscored[name, score["unscored"]] += 1
            return
        self._sums[name, "n"] += 1
        self._sums[name, "cut"] += bool(about.get("cut"))
        self._sums[name, "weight"] += weight
        self._sums[name, "total"] += weight * round(score["value"] * PARTS)

    def merge(self, other: "JudgedScores") -> None:
        """Add the sums of another partition."""
        self._sums.update(other._sums)
        self._unscored.update(other._unscored)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row for each release and judge, for `summary.json`.

        n, mean: of the scores, the mean weighted; weight: for how many answers they stand; coverage: scores among all
        answers that came to this judge, sampled out or not; cut: share of material that had been shortened; cost: in
        the currency of the suite's prices, also of what failed; unscored: by reason.
        """
        names = {name for name, _ in (*self._sums, *self._unscored)}
        return [self._row(name) for name in sorted(names, key=lambda name: (name[0], name[1] or "", name[2]))]

    def _row(self, name: _Judged) -> dict[str, Any]:
        n, weight = self._sums[name, "n"], self._sums[name, "weight"]
        unscored = {reason: by for (known, reason), by in sorted(self._unscored.items()) if known == name}
        assistant, version, scorer = name
        return {
            "assistant": assistant,
            "version": version,
            "scorer": scorer,
            "n": n,
            "mean": round(self._sums[name, "total"] / (weight * PARTS), 6) if weight else None,
            "weight": round(weight / PARTS, 3),
            "coverage": round(n / (n + sum(unscored.values())), 6),
            "cut": round(self._sums[name, "cut"] / n, 6) if n else None,
            "cost": self._sums[name, "cost"] / _NANO,
            "unscored": unscored,
        }
