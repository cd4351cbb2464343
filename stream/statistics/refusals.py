"""Refusals: more answers that fail may be right, where most of them decline."""

from collections.abc import Mapping

from turnsignal.stream.statistics.claim import Claim
from turnsignal.stream.statistics.directions import FAILED, REFUSED, RISE, WORSE
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.promise import moved

_MAY_BE_RIGHT = (
    "mostly refusals: if they ought to be, which nothing here tells, name their texts in the suite's `exempt`"
)


def doubt_refusals(
    claimed: dict[str, Claim], deltas: Mapping[str, Difference], beside: Mapping[str, Difference]
) -> None:
    """Say beside more answers that fail that they are refusals, mostly, which may be right."""
    failed, refused = deltas.get(FAILED), beside.get(REFUSED)
    if failed is None or refused is None or not moved(refused, RISE, max(0.0, failed.value / 2)):
        return
    for name in (FAILED, "unanswered"):
        if name in claimed and claimed[name].change == WORSE and not claimed[name].why:
            claimed[name] = claimed[name]._replace(why=_MAY_BE_RIGHT)
