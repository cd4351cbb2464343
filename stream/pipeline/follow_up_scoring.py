"""Scoring by follow-ups: what the user's next message says of the answer before it, as scores, with the diagnosis.

Three scores: `follow_up` (0–1) and its precision policy where a rule recognises the message, and `clarification_free`
for every message that the rules can read. A message that no rule recognises is neither good nor bad.
"""

from typing import Any

import orjson

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.pairing import PendingResponse
from turnsignal.stream.diagnosis import Diagnosis, diagnose, level
from turnsignal.stream.follow_ups.commands import is_enough
from turnsignal.stream.follow_ups.failures import MEANING
from turnsignal.stream.follow_ups.rules import FollowUp, FollowUpReading
from turnsignal.stream.pipeline.scoring import DIAGNOSIS, FOLLOW_UPS, Scored
from turnsignal.stream.records.scores import CLARIFICATION_FREE, FOLLOW_UP, FOLLOW_UP_PRECISION, Score, Unscored
from turnsignal.stream.suite import Suite

#: Thanks, or going on, after an answer that is none says nothing of that answer.
_POLITE = FollowUpReading(
    label=FollowUp.OTHER,
    strict=None,
    precision=None,
    confidence=0.0,
    clarification=False,
    explanation=f"The user goes on or thanks, after an answer that is {MEANING}.",
    decided_by="rules",
    unscored=Unscored.NO_SIGNAL,
)


class FollowUpScorer:
    """Score a response by the user's next message, and say what that means together with the rest."""

    def __init__(self, suite: Suite) -> None:
        self._rules = suite.follow_up_rules
        self._thresholds = suite.thresholds
        self._encoded: dict[tuple[FollowUpReading, str], Scored] = {}

    def score(self, exchange: Exchange, answer: PendingResponse, *, gap: bool) -> tuple[Scored, FollowUpReading | None]:
        """Score a response by its follow-up; behind a gap, and where the follow-up is empty, it is unscored."""
        if gap:
            return self.leave(Unscored.GAP, answer), None
        if not exchange.follow_up or exchange.follow_up.isspace():
            return self.leave(Unscored.NOT_APPLICABLE, answer), None
        try:
            reading = self._rules.read(exchange)
        except Exception:
            return self.leave(Unscored.ERROR, answer), None
        if reading.goes_on and self._rules.failures.is_failing(exchange.response):
            reading = reading if is_enough(exchange.response, exchange.prompt) else _POLITE
        diagnosis = self._diagnose(answer.relevancy, reading.strict, answer.compliance)
        scored = self._encoded.get((reading, diagnosis.row))
        if scored is None:  # there are some forty readings and 27 rows
            scored = self._encoded[reading, diagnosis.row] = _encode_follow_up(reading, diagnosis)
        return scored, reading

    def leave(self, reason: Unscored, answer: PendingResponse, label: str | None = None) -> Scored:
        """Return the unscored form of a follow-up row."""
        diagnosis = self.diagnosis(answer.relevancy, None, answer.compliance)
        return Scored(
            scores=[
                Score(FOLLOW_UP, None, label, reason).as_json(),
                Score(FOLLOW_UP_PRECISION, None, label, reason).as_json(),
                Score(CLARIFICATION_FREE, None, unscored=reason).as_json(),
                diagnosis,
            ],
            unscored=tuple((name, reason) for name in FOLLOW_UPS),
            diagnosis=diagnosis["label"],
        )

    def diagnosis(
        self, relevancy: float | None, follow_ups: float | None, instructions: float | None
    ) -> dict[str, Any]:
        """Return the diagnosis as a score without value: its row as label, its sentence as explanation."""
        return _encode_diagnosis(self._diagnose(relevancy, follow_ups, instructions))

    def _diagnose(self, relevancy: float | None, follow_ups: float | None, instructions: float | None) -> Diagnosis:
        limits = self._thresholds
        return diagnose(
            level(relevancy, limits.relevancy),
            level(follow_ups, limits.follow_ups),
            level(instructions, limits.instructions),
        )


def _encode_diagnosis(diagnosis: Diagnosis) -> dict[str, Any]:
    return {"scorer": DIAGNOSIS, "value": None, "label": diagnosis.row, "explanation": diagnosis.sentence}


def _encode_follow_up(reading: FollowUpReading, diagnosis: Diagnosis) -> Scored:
    free = reading.clarification_free
    reason = reading.unscored
    read = None if reason is not None else reading.label
    scores = [
        Score(FOLLOW_UP, reading.strict, read, reason, reading.explanation, reading.decided_by).as_json(),
        Score(FOLLOW_UP_PRECISION, reading.precision, read, reason).as_json(),
        Score(CLARIFICATION_FREE, free, unscored=reason if free is None else None).as_json(),
        _encode_diagnosis(diagnosis),
    ]
    if reason is None:
        scores[0]["confidence"] = reading.confidence
    values = {
        name: value
        for name, value in zip(FOLLOW_UPS, (reading.strict, reading.precision, free), strict=True)
        if value is not None
    }
    return Scored(
        scores=[orjson.Fragment(orjson.dumps(scores)[1:-1])],
        scorers=tuple(values),
        values=tuple(values.values()),
        unscored=tuple((name, reason) for name in FOLLOW_UPS if name not in values and reason is not None),
        diagnosis=diagnosis.row,
        bare=reading.bare,
        label=reading.label if reason is None else None,
        wants_person=reading.wants_person,
    )
