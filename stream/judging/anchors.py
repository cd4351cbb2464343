"""Anchors: how far a cascade agrees with its last step, from the share of exchanges that went there in any case.

An exchange that the cascade sent to its last step agrees with it by definition. The anchors are a random part of those
that it decided before: each stands for as many as its probability says, as a verdict does for what was not sampled.
"""

from collections.abc import Sequence
from typing import NamedTuple

from turnsignal.stream.judging.deliberation import JURY
from turnsignal.stream.judging.inquiry import JUDGE
from turnsignal.stream.judging.judges import Judge
from turnsignal.stream.judging.panels import threshold_of
from turnsignal.stream.judging.repeats import REPEAT
from turnsignal.stream.records.verdicts import Verdict
from turnsignal.stream.statistics.intervals import Clusters, clustered_mean


class CascadeAgreement(NamedTuple):
    """The share of exchanges in which the cascade and its last step agree on good or bad, with a 95 % interval.

    anchors: exchanges that it rests on; early: the share that was decided before the last step.
    """

    value: float
    low: float
    high: float
    anchors: int
    early: float


def cascade_agreement(judge: Judge, verdicts: Sequence[Verdict]) -> CascadeAgreement | None:
    """Return how far a judge's cascade agrees with its last step; None without anchors."""
    threshold, last = threshold_of(judge.chosen.rubric), JUDGE if judge.part.jury is None else JURY
    differing = Clusters()
    anchors, early, total = 0, 0.0, 0.0
    for verdict in verdicts:
        if verdict.value is None or not verdict.inclusion:
            continue
        weight = 1 / verdict.inclusion
        total += weight
        steps = [step for step in verdict.steps if step.step != REPEAT]
        is_anchor = any(step.inclusion < 1 for step in steps)
        early += weight if is_anchor or verdict.decided_by != last else 0.0
        if is_anchor and verdict.decided_by == last:
            before = [step.value for step in steps if step.inclusion == 1 and step.value is not None]
            differs = (before[-1] >= threshold) != (verdict.value >= threshold)
            differing.add(weight, weight * differs)
            anchors += 1
    if not anchors:
        return None
    share, interval = early / total, clustered_mean(differing)
    value, low, high = (1 - share * bound for bound in (interval.value, interval.high, interval.low))
    return CascadeAgreement(value, low, high, anchors, share)
