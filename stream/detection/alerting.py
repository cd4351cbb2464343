"""Alerting: what a suite says of alerts, `[alerts]`; it moves no score, and is in no fingerprint."""

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from turnsignal.stream.detection.detector import HIGHER, LOWER
from turnsignal.stream.detection.policy import AlertPolicy
from turnsignal.stream.records.scores import (
    CITED,
    CITED_ARTICLE,
    CLARIFICATION_FREE,
    DANGLING,
    FOLLOW_UP,
    FOLLOW_UP_PRECISION,
    ROUTING,
)
from turnsignal.stream.statistics.directions import VOTE, WASTED
from turnsignal.stream.text.misspelt import hint

#: scorers of every suite, beside its measures and checks
FIXED = (
    *(WASTED, CITED, DANGLING, "compliance", FOLLOW_UP, FOLLOW_UP_PRECISION, CLARIFICATION_FREE),
    *(ROUTING, CITED_ARTICLE, VOTE),
)
BAD_BUDGET = 0.2  #: of the scores of a scorer that pages, unless the suite says otherwise
_NEVER_BAD = (WASTED, DANGLING)  # the better the lower they are: no threshold says where bad begins
_JUDGED = "(by="  # in the name of a scorer whose values come from a judge; which there are is not known here
_WAYS = {"lower": frozenset({LOWER}), "higher": frozenset({HIGHER}), "both": frozenset({LOWER, HIGHER})}


class AlertPart(BaseModel):
    """Which scorers wake somebody when they change.

    page: scorers that page, by default the three qualities of the diagnosis; all others make tickets; ignore: scorers
    that are not watched at all; worse: scorer → the direction in which it pages, where that is not what is worse;
    assistants: over how many assistants together there is one false page in 30 days at most: the more there are, the
    longer each alarm takes; bad_budget: scorer → share of its scores that may be bad over 30 days, by default a fifth
    of each scorer that pages.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    page: Annotated[tuple[str, ...], Field(strict=False)] | None = None
    ignore: Annotated[tuple[str, ...], Field(strict=False)] = ()
    worse: dict[str, Literal["lower", "higher", "both"]] = Field(default_factory=dict)
    assistants: Annotated[int, Field(ge=1, le=100_000)] = 1
    bad_budget: dict[str, Annotated[float, Field(gt=0, le=1)]] | None = None

    def check(self, own: Iterable[str]) -> None:
        """Refuse scorers that there are not. own: the suite's measures and checks. Raises ValueError."""
        known = [*own, *FIXED]
        budgets = self.bad_budget or {}
        named = (("page", self.page or ()), ("ignore", self.ignore), ("worse", self.worse), ("bad_budget", budgets))
        for key, names in named:
            for name in names:
                if name not in known and _JUDGED not in name:
                    expected = f"expected alerts.{key} to name scorers of this suite"
                    msg = f"{expected}; got {name[:80]!r}; {hint(name, known)}"
                    raise ValueError(msg)
        for name in budgets:
            if name in _NEVER_BAD or _JUDGED in name:
                msg = (
                    f"expected alerts.bad_budget to name scorers whose scores are good or bad; got {name!r}, whose are"
                )
                msg += " neither"
                raise ValueError(msg)
        if both := set(self.page or ()) & set(self.ignore):
            msg = f"expected a scorer to page or to be ignored; got {min(both)!r} in alerts.page and alerts.ignore"
            raise ValueError(msg)

    def budgets(self, usual: Iterable[str]) -> dict[str, float]:
        """Return the share of scores that may be bad, by scorer. usual: who pages where nothing is said."""
        if self.bad_budget is not None:
            return dict(self.bad_budget)
        paging = usual if self.page is None else self.page
        return {name: BAD_BUDGET for name in paging if name not in _NEVER_BAD and _JUDGED not in name}

    def policy(self, usual: Iterable[str], qualities: dict[str, str]) -> AlertPolicy:
        """Return what the detectors need to know. usual: who pages where nothing is said; qualities: by scorer."""
        paging = frozenset(usual if self.page is None else self.page) - frozenset(self.ignore)
        ways = {name: _WAYS[way] for name, way in self.worse.items()}
        return AlertPolicy(paging, frozenset(self.ignore), ways, self.assistants, qualities)
