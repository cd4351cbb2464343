"""Closing: what the end of a conversation brings: its outcome, its summary, and a row for its last response."""

import math
from collections.abc import Mapping
from typing import Any

from turnsignal.stream.conversations import judged
from turnsignal.stream.conversations.judged_follow_ups import JudgedFollowUps, judged_follow_ups
from turnsignal.stream.conversations.means import Means, named
from turnsignal.stream.conversations.pairing import ASSISTANT, USER, KeptTurn, PendingResponse, pairing_key
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.diagnosis import NO_ANSWER
from turnsignal.stream.follow_ups.outcomes import VALUES, Outcomes
from turnsignal.stream.pipeline import votes
from turnsignal.stream.pipeline.compliance import COMPLIANCE
from turnsignal.stream.pipeline.effects import Close, ScoreRow
from turnsignal.stream.pipeline.follow_up_scoring import FollowUpScorer
from turnsignal.stream.pipeline.observer import Observer
from turnsignal.stream.pipeline.score_layout import ScoreLayout
from turnsignal.stream.pipeline.scoring import CONVERSATION, Scored, relevancy_name
from turnsignal.stream.records.environments import name_environment
from turnsignal.stream.records.scores import (
    FOLLOW_UP,
    FREE_OUTCOMES,
    ConversationOutcome,
    Outcome,
    Score,
    Stage,
    Unscored,
    row_id,
)
from turnsignal.stream.records.summaries import Summary
from turnsignal.stream.statistics.directions import FREE_CONVERSATIONS
from turnsignal.stream.suite import Suite

ENDED = pairing_key(Outcome.ENDED, "")  #: the pairing of a response that nothing followed


class Closing:
    """Close conversations under one suite; the rest as in `ConversationProcessor`."""

    def __init__(
        self, suite: Suite, follow_ups: FollowUpScorer, layout: ScoreLayout, observer: Observer | None = None
    ) -> None:
        self._observer = observer
        self._limits = suite.limits
        self._follow_ups = follow_ups
        self._layout = layout
        self._outcomes = Outcomes(suite.follow_up_rules)
        self._relevancy = relevancy_name(suite)
        self._suite = suite.fingerprint

    def close(self, key: bytes, state: Conversation, end: float = math.inf) -> Close:
        """Close a conversation: return its summary, and a row for its last response.

        end: event time at which the recording ends; where it ends before the conversation does, there is no outcome.
        """
        state.closed = True
        state.closes += 1
        state.schedule(self._limits)
        state.drop_remainders(waiting=False)
        state.adopt_suite(self._suite)
        last, response = _who_spoke(state)
        cut = end <= state.quiet_since + self._limits.idle
        means = state.score_windows.merge_pending(self._layout.windows, state.last).means
        summary, diagnosis = self._summarise(key, state, means, end, cut=cut)
        if last is None or response is None or (summary.outcome is None and not cut):
            return Close(summary, None)
        row = self._close_row(state, last, response, summary, diagnosis)
        if self._observer is not None:
            self._observer.on_close(key, state, response, (summary.outcome or Unscored.CUT).value, means)
        return Close(summary, row, self._judge_row(state, summary, row))

    def close_anew(self, key: bytes, state: Conversation) -> Close | None:
        """Return what is written anew of a closed conversation for verdicts that came after; None while some are due.

        Its summary, and a row where judges say how the conversation went.
        """
        last, response = _who_spoke(state)
        if state.judged is None or state.judged.awaiting or state.suite != self._suite or not state.closes:
            return None
        means = state.score_windows.merge_pending(self._layout.windows, state.last).means
        summary, diagnosis = self._summarise(key, state, means, math.inf, cut=False)
        if last is None or response is None or summary.outcome is None:
            return Close(summary, None)
        row = self._make_row(state, last, response, summary, diagnosis)
        return Close(summary, None, self._judge_row(state, summary, row))

    def _summarise(
        self, key: bytes, state: Conversation, means: Means, end: float, *, cut: bool
    ) -> tuple[Summary, dict[str, Any]]:
        """Return the summary of a closed conversation, and its diagnosis as a score."""
        outcome = None if cut else self._outcomes.find(state)
        diagnosis = self._diagnose(means, outcome)
        _, response = _who_spoke(state)
        scores = named(means, self._layout.scorers)
        if state.judged is not None:
            scores |= judged.named(state.judged.means().items())
        summary = Summary(
            schema=1,
            conversation_id=key.decode(),
            assistant=response.assistant if response else None,
            version=response.version if response else None,
            model=response.model if response else None,
            platform=response.platform if response else None,
            first=state.first,
            last=state.last,
            closed_at=min(state.last + self._limits.idle, max(state.last, end)),
            closes=state.closes,
            environment=name_environment(state.environment),
            **state.counts(),
            outcome=outcome,
            clarification_free=None if outcome is None else outcome in FREE_OUTCOMES,
            diagnosis=diagnosis["label"],
            meaning=diagnosis["explanation"],
            scores=scores,
            suite=self._suite,
            votes=votes.describe(state),
            awaiting=None if state.judged is None else state.judged.awaiting,
        )
        return summary, diagnosis

    def _close_row(
        self,
        state: Conversation,
        last: KeptTurn,
        response: PendingResponse,
        summary: Summary,
        diagnosis: Mapping[str, Any],
    ) -> ScoreRow:
        """Return the row of a conversation's last response, which its follow-up replaces, should one come."""
        row = self._make_row(state, last, response, summary, diagnosis)
        if summary.outcome is not None and last.response is not None and response.pairing in ("", ENDED):
            row.closed_as = Outcome.ENDED
            response.pairing, response.row_id = ENDED, row.id
        if state.close_row:
            row.fields["replaces"] = state.close_row
        state.close_row = row.id
        return row

    def _make_row(
        self,
        state: Conversation,
        last: KeptTurn,
        response: PendingResponse,
        summary: Summary,
        diagnosis: Mapping[str, Any],
    ) -> ScoreRow:
        scored = _encode_close(summary.outcome, diagnosis)
        if summary.votes is not None:
            scored.scores.append(votes.score(summary.votes))
        # The number of turns is part of it: a turn that is not kept (system, too late) re-opens a conversation as well.
        saw = f"{state.kept[-1].turn_id}#{state.turns}"
        name = row_id(summary.conversation_id, last.turn_id, Stage.CLOSE, saw, self._suite)
        fields: dict[str, Any] = {"turns": state.turns, "environment": state.environment}
        if summary.outcome is not None and last.response is not None and response.pairing in ("", ENDED):
            fields["outcome"] = Outcome.ENDED
        return ScoreRow(name, Stage.CLOSE, last.turn_id, response, summary.closed_at, scored, fields, moves=False)

    def _judge_row(self, state: Conversation, summary: Summary, row: ScoreRow) -> ScoreRow | None:
        """Return a close row with how judges read the conversation; None where none does, or while some are awaited.

        The row without it stays what it is without judges, and is the one that later rows name.
        """
        if state.judged is None or state.judged.awaiting or summary.outcome is None:
            return None
        follow_ups = judged_follow_ups(state.judged, state.clarifications + state.went_on)
        scores = [_judge_outcome(summary.outcome, read) for read in follow_ups]
        if not scores:
            return None
        by = state.judged.verdict_ids().hex()
        name = row_id(summary.conversation_id, row.turn_id, Stage.CLOSE, row.id, self._suite, by)
        scored = Scored([*row.scored.scores, *scores])
        fields = row.fields | {"replaces": row.id}
        return ScoreRow(name, Stage.CLOSE, row.turn_id, row.responder, row.time, scored, fields, moves=False)

    def _diagnose(self, means: Means, outcome: ConversationOutcome | None) -> dict[str, Any]:
        """Read the conversation's means together; who got no answer in the end was not helped."""
        scorers = (self._relevancy, FOLLOW_UP, COMPLIANCE)
        relevancy, follow_ups, compliance = (self._layout.mean(means, scorer) for scorer in scorers)
        if outcome is not ConversationOutcome.UNANSWERED:
            return self._follow_ups.diagnosis(relevancy, follow_ups, compliance)
        return self._follow_ups.diagnosis(relevancy, 0.0, compliance) | {"explanation": NO_ANSWER}


def _who_spoke(state: Conversation) -> tuple[KeptTurn | None, PendingResponse | None]:
    """Return the turn that a conversation is closed by, and who gave it or was asked."""
    last = _last_spoken(state)
    return last, last.response if last is not None and last.response is not None else state.asked


def _last_spoken(state: Conversation) -> KeptTurn | None:
    """Return the newest response; without any the newest user turn, which nobody answered."""
    responses = [turn for turn in state.kept if turn.role == ASSISTANT]
    if responses or state.last_evicted_response is not None:
        return responses[-1] if responses else state.last_evicted_response
    return next((turn for turn in reversed(state.kept) if turn.role == USER), None)


def _encode_close(outcome: ConversationOutcome | None, diagnosis: Mapping[str, Any]) -> Scored:
    """Encode the scores of a close row; outcome: None where the recording is cut."""
    if outcome is None:
        scores = [Score(name, unscored=Unscored.CUT) for name in (CONVERSATION, FREE_CONVERSATIONS)]
    else:
        missing = Unscored.NO_EVIDENCE if outcome is ConversationOutcome.SILENT else None
        scores = [
            Score(CONVERSATION, VALUES.get(outcome), outcome, missing),
            Score(FREE_CONVERSATIONS, float(outcome in FREE_OUTCOMES), outcome),
        ]
    return Scored([*(score.as_json() for score in scores), dict(diagnosis)])


def _judge_outcome(ruled: ConversationOutcome, read: JudgedFollowUps) -> dict[str, Any]:
    """Return how a conversation went by a judge of its follow-ups; whether it was answered is the rules' to say.

    There is a value only where the judge has read all of them, and has an opinion of some. Of what it was not asked
    about the rules know the failures alone, so that a mean would fall with the judge's share; and a correction that
    nobody read would make the mean rise while an endpoint is down. Nor does a correction that was read count by itself:
    those conversations would be scored of which something bad was read, and the others not.
    """
    name = read.scorer.replace(FOLLOW_UP, CONVERSATION, 1)
    if read.missing is not None:
        return Score(name, unscored=read.missing).as_json()
    if not read.went_on:
        return Score(name, None, ConversationOutcome.SILENT, Unscored.NO_EVIDENCE).as_json()
    outcome = ConversationOutcome.RESOLVED if all(read.went_on) else ConversationOutcome.CLARIFIED
    outcome = outcome if read.went_on[-1] else ConversationOutcome.ABANDONED
    if ruled is ConversationOutcome.UNANSWERED:
        outcome = ruled
    inclusion = None if read.inclusion >= 1 else round(read.inclusion, 6)
    return Score(name, VALUES[outcome], outcome, inclusion=inclusion).as_json()
