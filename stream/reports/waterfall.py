"""Waterfall: of all answers, which share first fails at each stage, and what it would gain if that stage were right.

The gain is the share of answers that fail there, times the share of good ones among those that passed: answers that
would get through fare like those that did. Where those that fail are the harder ones anyhow, it is less.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from turnsignal.stream.reports.answers import NO_VERSION, Answers, StageTable, clusters
from turnsignal.stream.reports.standardised import FEWEST, average, part_weight
from turnsignal.stream.statistics.directions import SAME
from turnsignal.stream.statistics.intervals import (
    Difference,
    Estimate,
    Interval,
    adjust,
    difference,
    mean_over_turns,
    rate,
)
from turnsignal.stream.statistics.promise import PROMISE
from turnsignal.stream.truth.stages import AnswerStage, Basis

NOTHING_PASSED = "no answer got through it, so nothing shows what mending it would gain"
_LEAST_SHARE = 0.01  #: smallest change of a share that is worth naming
_ENOUGH = 20  #: answers judged by labels, and by the diagnosis, from which on both are compared
_OTHERWISE = 0.1  #: by which they fail another share
_STAND_FOR_ALL = 0.2  #: share of answers that are complete, from which on they may stand for those that are not
_LEAST_LOSS = 0.2  #: smallest fall of the share of answers of which a stage is known that is worth naming
#: where a stage fails, the stage before it that says whose fault that is
BLAMED_BEFORE = {
    AnswerStage.CHUNKS: AnswerStage.RETRIEVAL,
    AnswerStage.GENERATION: AnswerStage.RETRIEVAL,
    AnswerStage.FORMAT: AnswerStage.GENERATION,
}


class StageFigures(NamedTuple):
    """What one stage does to answers.

    judged: answers that reached it and of which it is known; failed: those it is the first to fail; share: of all
    answers; rate: of those that are judged, None where none is; of_bad: of those that fail anywhere, None where none
    does; gain: in the share of good answers if it were always right, None where nothing shows it; right_before: of
    those that fail, how many are known to have been right at the stage of `BLAMED_BEFORE`; known: of all answers, the
    share of which it is known whether it was right, those included that failed earlier; parts: the rate of each part of
    `StageTable.before`.
    """

    stage: AnswerStage
    judged: int
    failed: int
    share: Estimate
    rate: Estimate | None
    of_bad: Interval | None
    gain: Interval | None
    right_before: int
    known: Estimate
    parts: dict[int, Estimate]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "stage": self.stage.value,
            "known": self.known.interval.as_json(),
            "judged": self.judged,
            "failed": self.failed,
            "right_before": self.right_before,
            "share": self.share.interval.as_json(),
            "rate": None if self.rate is None else self.rate.interval.as_json(),
            "of_bad": None if self.of_bad is None else self.of_bad.as_json(),
            "gain": None if self.gain is None else self.gain.as_json(),
            **({"why": NOTHING_PASSED} if self.gain is None else {}),
        }


class Waterfall(NamedTuple):
    """All stages of some answers.

    answers: of which anything is known; total: all of them; complete: of which it is known whether retrieval and
    generation were right, and those that are none; good: share of all that fail nowhere, where the complete ones that
    are answers stand for the others that are; None where there are only others, or so few that are no labelled sample:
    those whose follow-up a rule recognises are those who complain.
    """

    answers: int
    conversations: int
    total: int
    complete: int
    good: Interval | None
    stages: tuple[StageFigures, ...]

    @property
    def first(self) -> StageFigures | None:
        """The stage to mend first: that with the greatest gain; None where no stage fails."""
        failing = [figures for figures in self.stages if figures.failed]
        return max(failing, key=_worth, default=None)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {
            "answers": self.answers,
            "conversations": self.conversations,
            "total": self.total,
            "complete": self.complete,
            "good": None if self.good is None else self.good.as_json(),
            "mend_first": None if self.first is None else self.first.stage.value,
            "stages": [figures.as_json() for figures in self.stages],
        }


def _worth(figures: StageFigures) -> float:
    """Return a stage's gain; where nothing gets through, all that it fails."""
    return figures.share.value if figures.gain is None else figures.gain.value


_Sums = npt.NDArray[np.float64]
_Evidence = tuple[int, Estimate, dict[int, Estimate]]


def waterfall(table: StageTable) -> Waterfall | None:
    """Return the waterfall of some answers; None where nothing is known of any."""
    judged, good, complete, weight = table.judged(), table.good(), table.complete(), table.weight()
    if not judged.any():
        return None
    stages = list(AnswerStage)
    columns = [judged, judged & ~good, weight, weight * good]
    for stage in stages:
        passed = table.passed(stage)
        columns += [table.failed(stage), passed, passed & good]
    sums = table.sums(columns)
    sums = sums[sums[:, 0] > 0]
    n, bad, weights, fine = sums[:, :4].T
    evidence = _evidence(table)
    figures = tuple(
        _figures(stage, evidence[stage], n, bad, *sums[:, 4 + 3 * i : 7 + 3 * i].T) for i, stage in enumerate(stages)
    )
    is_sample = 2 * int((complete & table.labelled()).sum()) > complete.sum()
    is_known = weights.any() and (is_sample or complete.sum() >= _STAND_FOR_ALL * len(table))
    share = mean_over_turns(clusters(weights, fine)).interval if is_known else None
    return Waterfall(int(n.sum()), len(sums), len(table), int(complete.sum()), share, figures)


def _evidence(table: StageTable) -> dict[AnswerStage, _Evidence]:
    """Return of each stage those that fail there and were right before, the share that is known, and rates of parts."""
    every = np.ones(len(table), dtype=np.bool_)
    sums = table.sums([every, *map(table.known, AnswerStage)])
    known = {
        stage: mean_over_turns(clusters(sums[:, 0], column))
        for stage, column in zip(AnswerStage, sums[:, 1:].T, strict=True)
    }
    before = {
        stage: int((table.failed(stage) & table.passed(earlier)).sum()) for stage, earlier in BLAMED_BEFORE.items()
    }
    return {stage: (before.get(stage, 0), known[stage], _parts(table, stage)) for stage in AnswerStage}


def _parts(table: StageTable, stage: AnswerStage) -> dict[int, Estimate]:
    """Return how often a stage fails in each part of those that it judges."""
    failed = table.failed(stage)
    judged, before = failed | table.passed(stage), table.before(stage)
    rates: dict[int, Estimate] = {}
    for part in np.unique(before[judged]):
        chosen = judged & (before == part)
        turns, fails = table.sums([chosen, chosen & failed]).T
        rates[int(part)] = mean_over_turns(clusters(turns, fails))
    return rates


def _figures(
    stage: AnswerStage, evidence: _Evidence, n: _Sums, bad: _Sums, failed: _Sums, passed: _Sums, good: _Sums
) -> StageFigures:
    share = mean_over_turns(clusters(n, failed))
    of_bad = mean_over_turns(clusters(bad, failed)).interval if bad.any() else None
    gain = _gain(share, n, failed, passed, good)
    judged = failed + passed
    rate = mean_over_turns(clusters(judged, failed)) if judged.any() else None
    return StageFigures(stage, int(judged.sum()), int(failed.sum()), share, rate, of_bad, gain, *evidence)


def _gain(share: Estimate, n: _Sums, failed: _Sums, passed: _Sums, good: _Sums) -> Interval | None:
    """Return failed ÷ n × good ÷ passed with its interval over conversations, by linearisation (delta method)."""
    if not failed.any():
        return Interval(0.0, 0.0, share.interval.high if passed.any() else 0.0, share.n)
    if not passed.any():
        return None
    rate = mean_over_turns(clusters(passed, good))
    value = share.value * rate.value
    if not good.any():
        return Interval(0.0, 0.0, share.interval.high * rate.interval.high, share.n)
    residuals = value * (failed / failed.sum() - n / n.sum() + good / good.sum() - passed / passed.sum())
    conversations = len(n)
    variance = float(residuals @ residuals) * conversations / max(1, conversations - 1)
    size = value * (1 - value) / variance if variance > 1e-12 and 0 < value < 1 else float(conversations)
    return Estimate(value, size, max(1, conversations - 1), conversations).interval


class StageChange(NamedTuple):
    """How often a stage fails where it is judged, in one version and the one before; adjusted: for all stages.

    Of those judged, because fewer answers that reach a stage make it fail fewer of all, whatever it does. And within
    parts of them (`in_parts`) of which the stages before are known alike: where retrieval got worse, those that still
    reach generation are mostly answers without documents, of which other things are known. now, was: both rates,
    averaged with the same weights.
    """

    stage: AnswerStage
    now: float
    was: float
    delta: Difference
    in_parts: bool
    adjusted: float = 1.0

    @property
    def direction(self) -> str:
        """What is said of it."""
        if self.adjusted > PROMISE or abs(self.delta.value) < _LEAST_SHARE:
            return SAME
        return "fails more" if self.delta.value > 0 else "fails less"

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        figures = {name: round(getattr(self.delta, name), 6) for name in ("value", "low", "high")}
        rates = {"now": round(self.now, 6), "was": round(self.was, 6), "in_parts": self.in_parts}
        adjusted = float(f"{self.adjusted:.3g}")
        return {"stage": self.stage.value, **figures, **rates, "adjusted": adjusted, "verdict": self.direction}


def compare_stages(after: Waterfall, before: Waterfall, minimum: int) -> list[StageChange]:
    """Return how each stage moved, all of them under one promise.

    Left out are those that fail in neither, those that judge nothing alike in both, and those of which fewer than
    `minimum` conversations are judged in one of them.
    """
    changes: list[StageChange] = []
    logged: list[tuple[bool, bool]] = []  # of the stages before: whether anything is known of it, after and before
    for mine, theirs in zip(after.stages, before.stages, strict=True):
        enough = all(side.rate is not None and side.rate.n >= minimum for side in (mine, theirs))
        alike = all(now == was for now, was in logged)
        change = _change(mine, theirs, is_logged_alike=alike) if enough else None
        changes += [] if change is None else [change]
        logged.append((mine.judged > 0, theirs.judged > 0))
    adjusted = adjust([change.delta.p for change in changes])
    return [change._replace(adjusted=p) for change, p in zip(changes, adjusted, strict=True)]


def _change(mine: StageFigures, theirs: StageFigures, *, is_logged_alike: bool) -> StageChange | None:
    """Return how a stage moved; is_logged_alike: whether the same of the stages before it are known in both."""
    if mine.rate is None or theirs.rate is None or not (mine.failed or theirs.failed):
        return None
    whole = StageChange(mine.stage, mine.rate.value, theirs.rate.value, difference(mine.rate, theirs.rate), False)
    if mine.parts.keys() == theirs.parts.keys() and len(mine.parts) == 1:
        return whole
    pairs = [
        (mine.parts[part], theirs.parts[part])
        for part in mine.parts.keys() & theirs.parts.keys()
        if min(mine.parts[part].n, theirs.parts[part].n) >= FEWEST
    ]
    if pairs:
        weights = [part_weight(*pair) for pair in pairs]
        now, was = (
            float(np.average([side.value for side in sides], weights=weights)) for sides in zip(*pairs, strict=True)
        )
        return StageChange(mine.stage, now, was, average(pairs), True)
    return None if is_logged_alike else whole  # what is logged of one version only tells no parts of the other


def lost_evidence(after: Waterfall, before: Waterfall) -> list[AnswerStage]:
    """Return the stages that are known of a smaller share of answers than before, all of them under one promise."""
    pairs = [
        (mine.stage, difference(mine.known, theirs.known))
        for mine, theirs in zip(after.stages, before.stages, strict=True)
        if mine.known.value > 0 or theirs.known.value > 0
    ]
    adjusted = adjust([delta.p for _, delta in pairs])
    return [
        stage for (stage, delta), p in zip(pairs, adjusted, strict=True) if p <= PROMISE and delta.value <= -_LEAST_LOSS
    ]


def newest_versions(answers: Answers, minimum: int, order: Sequence[str | None] = ()) -> list[tuple[str, Waterfall]]:
    """Return the versions that enough conversations have met, in the order in which they are compared.

    order: that of a replay, where two that answer side by side stand behind their baseline; others as they came.
    """
    places = {version or NO_VERSION: place for place, version in enumerate(order)}
    names = sorted(answers.versions.all, key=lambda name: places.get(name, len(places)))
    known = [(name, waterfall(answers.of_version(name))) for name in names]
    return [(name, flow) for name, flow in known if flow is not None and flow.conversations >= minimum]


def bases(answers: Answers) -> dict[str, dict[str, int]]:
    """Return of each stage how many answers were judged by labels, and how many by the diagnosis."""
    return {
        stage.value: {basis.value: answers.bases[stage.value, basis.value] for basis in Basis}
        for stage in AnswerStage
        if any(answers.bases[stage.value, basis.value] for basis in Basis)
    }


def seen_otherwise(answers: Answers) -> Iterator[tuple[str, Estimate, Estimate]]:
    """Give the stages that fail another share by labels than by the diagnosis, with both shares.

    Answers of which some have labels are alike, mostly; so what differs is how much each of both sees.
    """
    for stage in AnswerStage:
        keys = [(stage.value, basis.value) for basis in (Basis.TRUTH, Basis.DIAGNOSIS)]
        if min(answers.bases[key] for key in keys) < _ENOUGH:
            continue
        labelled, diagnosed = (rate(answers.failed_by[key], answers.bases[key]) for key in keys)
        change = difference(labelled, diagnosed)
        if abs(change.value) >= _OTHERWISE and change.p <= PROMISE:
            yield stage.value, labelled, diagnosed
