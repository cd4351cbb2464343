"""Judged scores of a replay: what judges said of each release, beside what the rules say.

Summed up in whole numbers, so that it is the same in whatever order verdicts come. Each score weighs by the inverse of
the probability with which it was asked for, in the mean and in the coverage. Of a cascade, what each
step decides stands for itself: where some of it was not read, as while an endpoint is down, its mean counts for all
that came to it (poststratification), and where nothing of it was read, there is no mean. Else only what the rules are
sure of would be left, and the mean would move although no answer is another one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from turnsignal.stream.conversations.judged import LEAST, PARTS
from turnsignal.stream.judging.deliberation import RULES
from turnsignal.stream.judging.inquiry import JUDGE
from turnsignal.stream.records.environments import PRODUCTION
from turnsignal.stream.records.scores import Stage
from turnsignal.stream.records.verdicts import LOST

_NANO = 1_000_000_000  #: parts of the currency
_MARKED = f'"stage":"{Stage.VERDICT}"'.encode()

_Judged = tuple[str, str | None, str]  #: assistant, version, scorer

_FEW = 0.02  #: share of what came, up to which a kind of which nothing was read is left out of the mean


_UNASKED = ""  #: step of what was lost before it was known which model would have decided


class _StepSum(NamedTuple):
    """Name of a sum of what one step of a judge decides."""

    step: str
    what: str


class _Read(NamedTuple):
    """What one step of a judge decides: weight and total of what was read, weight of what was lost."""

    weight: float
    total: float
    lost: float


class JudgedScores:
    """What judges said, by release and scorer. environment: whose answers count."""

    def __init__(self, environment: str = PRODUCTION) -> None:
        self._environment = environment
        self._sums: Counter[tuple[_Judged, str | _StepSum]] = Counter()
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
        step = score.get("decided_by") or (_UNASKED if score.get("unscored") else JUDGE)
        if score.get("unscored"):
            self._unscored[name, score["unscored"]] += 1
            self._sums[name, _StepSum(step, "lost")] += weight * (score["unscored"] in LOST)
            return
        self._sums[name, "n"] += 1
        self._sums[name, "cut"] += bool(about.get("cut"))
        self._sums[name, _StepSum(step, "weight")] += weight
        self._sums[name, _StepSum(step, "total")] += weight * round(score["value"] * PARTS)

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
        n, mean = self._sums[name, "n"], self._mean(name)
        parts = [(known, key) for known, key in self._sums if known == name and isinstance(key, _StepSum)]
        weight = sum(self._sums[each] for each in parts if each[1].what == "weight")
        unscored = {reason: by for (known, reason), by in sorted(self._unscored.items()) if known == name}
        assistant, version, scorer = name
        return {
            "assistant": assistant,
            "version": version,
            "scorer": scorer,
            "n": n,
            "mean": None if mean is None else round(mean, 6),
            "weight": round(weight / PARTS, 3),
            "coverage": round(n / (n + sum(unscored.values())), 6),
            "cut": round(self._sums[name, "cut"] / n, 6) if n else None,
            "cost": self._sums[name, "cost"] / _NANO,
            "unscored": unscored,
        }

    def _mean(self, name: _Judged) -> float | None:
        """Return the weighted mean, the exchanges that each step decides counting for all that came to it."""
        steps = sorted({key.step for known, key in self._sums if known == name and isinstance(key, _StepSum)})
        sums = {step: _Read(*(self._sums[name, _StepSum(step, what)] for what in _Read._fields)) for step in steps}
        unasked = sums.pop(_UNASKED, _Read(0, 0, 0)).lost
        ruled, asked = sums.pop(RULES, _Read(0, 0, 0)), _pool(list(sums.values()))
        asked = asked or _Read(0, 0, sum(part.lost for part in sums.values()))
        pooled = _pool([ruled, asked._replace(lost=asked.lost + unasked)])
        return None if pooled is None else pooled.total / (pooled.weight * PARTS)


def _pool(parts: Sequence[_Read]) -> _Read | None:
    """Return parts as one, each by its mean for all that came of it; None where of one nothing was read."""
    came = sum(part.weight + part.lost for part in parts)
    if any(not part.weight and part.lost > _FEW * came for part in parts):
        return None
    read = [part for part in parts if part.weight]
    if len(read) <= 1 or not any(part.lost for part in read):
        return _Read(*map(sum, zip(*read, strict=True))) if read else None  # in whole numbers, whatever the order
    weight = sum(part.weight + part.lost for part in read)
    return _Read(weight, sum(part.total * (part.weight + part.lost) / part.weight for part in read), 0)
