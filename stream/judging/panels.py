"""Panels: who is asked beside a judge's own model. A cascade before it, so that it is seldom asked; a jury after it."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.rubric import Ratio, Rubric
from turnsignal.stream.records.verdicts import LOST, MAX_REASONING, Unjudged, Verdict

HALF = 0.5  #: the threshold of a rubric that has none
_EXACT = 1e-9

_Model = Annotated[str, Field(max_length=200)]


class _PanelPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CascadePart(_PanelPart):
    """Who decides before the judge's own model is asked: each step only where the one before is unsure.

    rules: confidence from which on the rules' reading of a follow-up decides, left out where they do not take part;
    small: a cheaper model; margin: distance from the rubric's threshold within which a value is unsure; where the step
    before has a value, it is sure if both are good or both bad; anchor: share of exchanges about which the last step is
    always asked.
    """

    rules: Ratio | None = None
    small: _Model | None = None
    margin: Annotated[float, Field(ge=0, lt=0.5)] = 0.3
    anchor: Ratio = 0.02

    @model_validator(mode="after")
    def _some_step(self) -> "CascadePart":
        if self.rules is None and self.small is None:
            msg = "expected rules = CONFIDENCE, small = MODEL, or both, as steps before the judge's model; got neither"
            raise ValueError(msg)
        return self

    def is_sure(self, value: float | None, before: float | None, rubric: Rubric) -> bool:
        """Whether a step's value decides. before: what the step before came to, None where it had no value."""
        threshold = threshold_of(rubric)
        if value is None:
            return False
        if before is not None:
            return (value >= threshold) == (before >= threshold)
        return abs(value - threshold) > self.margin + _EXACT


class JuryPart(_PanelPart):
    """Several models that decide together with the judge's own: always, or after a cascade where that is unsure.

    beside: the other models; decide: by the majority of good and bad, then the most frequent label among it, or by the
    mean of values; quorum: jurors that must have a value, where others find nothing to look at, left out for more than
    half. One that fails leaves all without: those that are left agree where it is easy, and their mean is another one.
    """

    beside: Annotated[tuple[_Model, ...], Field(min_length=1, max_length=10, strict=False)]
    decide: Literal["majority", "mean"] = "majority"
    quorum: Annotated[int, Field(ge=1, le=11)] | None = None

    @model_validator(mode="after")
    def _can_meet(self) -> "JuryPart":
        jurors = len(self.beside) + 1
        if self.quorum is not None and self.quorum > jurors:
            msg = f"expected a quorum of at most {jurors}, the judge's model and those beside it; got {self.quorum}"
            raise ValueError(msg)
        return self

    def conclude(self, votes: Sequence[Verdict], rubric: Rubric) -> Judgement:
        """Return what jurors come to together, with a reason where they come to nothing."""
        failed = [vote for vote in votes if vote.unscored in LOST]
        if failed:
            detail = (
                f"{len(failed)} of {len(votes)} jurors failed, first {failed[0].judge.asked}: {failed[0].reasoning}"
            )
            return Judgement(unscored=failed[0].unscored, reasoning=detail[:MAX_REASONING])
        valid = [vote for vote in votes if vote.value is not None]
        without = Counter(vote.unscored for vote in votes if vote.unscored is not None)
        notes = "".join(f" {n} of {len(votes)} jurors have no value: {reason}." for reason, n in without.items())
        quorum = self.quorum or len(votes) // 2 + 1
        if not valid and len(without) == 1:
            return Judgement(unscored=votes[0].unscored, reasoning=votes[0].reasoning)
        if len(valid) < quorum:
            detail = f"expected a value of {quorum} jurors at least, got {len(valid)}.{notes}"
            return Judgement(unscored=Unjudged.QUORUM, reasoning=detail)
        judgement = _mean(valid) if self.decide == "mean" else _majority(valid, rubric)
        judgement.reasoning = (judgement.reasoning + notes)[:MAX_REASONING]
        return judgement


def threshold_of(rubric: Rubric) -> float:
    """Return the value from which on a rubric's result is good."""
    return HALF if rubric.threshold is None else rubric.threshold


def _mean(votes: Sequence[Verdict]) -> Judgement:
    value = sum(vote.value or 0.0 for vote in votes) / len(votes)
    labels = {vote.label for vote in votes}
    label = labels.pop() if len(labels) == 1 else None
    return Judgement(label, round(value, 6), f"The mean of {len(votes)} jurors.")


def _majority(votes: Sequence[Verdict], rubric: Rubric) -> Judgement:
    good = [vote for vote in votes if (vote.value or 0.0) >= threshold_of(rubric)]
    if 2 * len(good) == len(votes):
        detail = f"{len(good)} jurors find it good, as many find it bad."
        return Judgement(unscored=Unjudged.TIE, reasoning=detail)
    most = good if 2 * len(good) > len(votes) else [vote for vote in votes if vote not in good]
    detail = f"{len(most)} of {len(votes)} jurors agree: {most[0].reasoning}"
    if rubric.items is not None:
        return Judgement(None, _mean(most).value, detail)
    counts = Counter(vote.label for vote in most)
    # Of labels given equally often the one that the rubric names first, as it tells each juror, too.
    label = max(rubric.label_names, key=lambda name: counts[name])
    return Judgement(label, rubric.values[label], detail)
