"""Reasons: when a judge stops judging and when it judges again, said once each and not for every exchange."""

from typing import NamedTuple

from turnsignal.stream.records.verdicts import LOST, Unjudged

QUIET = 60.0  #: seconds without it, after which a reason is over


class ReasonChange(NamedTuple):
    """A reason that a judge has begun to give, or, with `over`, gives no more. detail: of the first verdict."""

    judge: str
    reason: Unjudged
    detail: str
    over: bool


class ReasonWatch:
    """Take note of verdicts and return what is news. now: seconds of any clock that never goes back."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, Unjudged], float] = {}

    def on_verdict(self, judge: str, reason: Unjudged | None, detail: str, now: float) -> ReasonChange | None:
        """Return the change that a verdict is, None where it is no news."""
        if reason not in LOST or reason is None:
            return None
        known = (judge, reason) in self._seen
        self._seen[judge, reason] = now
        return None if known else ReasonChange(judge, reason, detail, over=False)

    def on_time(self, now: float) -> list[ReasonChange]:
        """Return the reasons that are over."""
        over = [key for key, seen in self._seen.items() if now - seen >= QUIET]
        for key in over:
            del self._seen[key]
        return [ReasonChange(judge, reason, "", over=True) for judge, reason in over]
