"""The conversation processor: what one turn means for its conversation, from the row it earns to the means it moves.

Turns, gaps and the end of a conversation come in through `on_…` methods, which change the conversation's state and
return what else happened: rows to write, exchanges for the judges, and words to count.
"""

import math
from collections.abc import Callable
from typing import Any

from turnsignal.stream.citations.earlier_documents import remember
from turnsignal.stream.conversations.asked_labels import remember_labels
from turnsignal.stream.conversations.judged import Fate, JudgedMemory
from turnsignal.stream.conversations.means import named
from turnsignal.stream.conversations.pairing import (
    ASSISTANT,
    GAP_ASSISTANT,
    GAP_USER,
    USER,
    KeptTurn,
    Pairing,
    PendingResponse,
    affected_responses,
    comes_apart,
    exchange,
    pair_response,
    prompted,
    unprompted,
)
from turnsignal.stream.conversations.state import BEFORE_ALL, Conversation
from turnsignal.stream.conversations.windows import MergedScores
from turnsignal.stream.follow_ups.rules import FollowUpReading
from turnsignal.stream.pipeline import votes
from turnsignal.stream.pipeline.closing import ENDED, Closing
from turnsignal.stream.pipeline.effects import Close, Effects, RecordContext, ScoreRow, VerdictRow
from turnsignal.stream.pipeline.exchange_queue import ExchangeQueue
from turnsignal.stream.pipeline.follow_up_scoring import FollowUpScorer
from turnsignal.stream.pipeline.human_labels import HumanLabels
from turnsignal.stream.pipeline.observer import Observer
from turnsignal.stream.pipeline.score_layout import ScoreLayout
from turnsignal.stream.pipeline.scoring import ResponseScorer
from turnsignal.stream.pipeline.verdict_scoring import ExpectedJudges, Judged, describe_judged
from turnsignal.stream.records.environments import name_environment
from turnsignal.stream.records.scores import (
    CLARIFICATION_FREE,
    FOLLOW_UP,
    FOLLOW_UP_PRECISION,
    Outcome,
    Stage,
    Unscored,
    row_id,
)
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.suite import Suite

_FOLLOWED_UP = Outcome.FOLLOWED_UP
_RESPONSE_STAGE, _FOLLOW_UP_STAGE = Stage.RESPONSE, Stage.FOLLOW_UP
_COUNTED = Fate.COUNTED


class ConversationProcessor:
    """Apply turns to conversations under one suite.

    observer: is told of everything that is scored; cpu_clock: seconds of processor time; environment: which one
    moves means and windows.
    """

    def __init__(
        self,
        suite: Suite,
        observer: Observer | None = None,
        cpu_clock: Callable[[], float] | None = None,
        environment: str | None = None,
    ) -> None:
        self._observer = observer
        self._environment = environment
        self._limits = suite.limits
        self._responses = ResponseScorer(suite, cpu_clock)
        self._follow_ups = FollowUpScorer(suite)
        self._layout = ScoreLayout(suite)
        self._closing = Closing(suite, self._follow_ups, self._layout, observer)
        self._queue = ExchangeQueue(suite) if suite.exchanges.share else None
        self._expected = ExpectedJudges(suite.judges)
        self._labels = HumanLabels(suite.judges)
        self._judged_environment = name_environment(environment)
        self._suite = suite.fingerprint

    def describe(self, key: bytes, state: Conversation) -> dict[str, Any]:
        """Return what is remembered of a conversation, for people to read: without the texts."""
        scorers, windows = self._layout.scorers if state.suite == self._suite else [], self._layout.windows
        merged = state.score_windows.merge_pending(windows, state.last) if scorers else MergedScores([], [])
        return {
            "conversation_id": key.decode(),
            "open": not state.closed,
            "first": state.first,
            "last": state.last,
            **state.counts(),
            "duplicates": state.duplicates,
            "closes": state.closes,
            "suite": state.suite,
            "scores": named(merged.means, scorers),
            **describe_judged(state),
            "votes": votes.describe(state),
            "windows": [
                {"size": window.size, "start": window.start, "scores": named(window.means, scorers)}
                for window in merged.windows
            ],
        }

    def on_user(self, context: RecordContext, turn: Turn) -> Effects:
        """Take in a user turn: it is the follow-up of the response before it."""
        state = context.state
        kept = self._keep(turn, USER, context.time)
        if kept.remainder is not None and self._queue is not None and self._queue.takes(context.key):
            kept.remainder = state.admit_remainder(turn.text[self._limits.kept_characters :], self._limits)
        if not state.responses:
            state.asked = PendingResponse(
                turn.assistant, turn.version, turn.model, turn.platform, environment=turn.environment
            )
        if self._observer is not None:
            self._observer.on_user(context.key, turn)
        effects = Effects()
        if turn.truth is not None or state.labels is not None:
            self._remember_labels(context, turn, effects)
        self._insert(context, kept, effects)
        return effects

    def on_response(self, context: RecordContext, turn: Turn) -> Effects:
        """Take in an assistant turn: score its citations and instructions now, its follow-up when that comes."""
        key, state = context.key, context.state
        state.responses += 1
        if state.asked is not None:
            state.asked = None
        if turn.truth is None and state.labels is not None:
            turn.truth = state.labels.of_answer(state.kept, context.time)
            if turn.retrieved:  # what comes next answers another question, which may be late
                state.labels = None
        scored = self._responses.score(turn, state.earlier)
        if turn.retrieved:
            state.earlier = remember(state.earlier, turn.retrieved)
        who = turn.assistant, turn.version, turn.model, turn.platform
        response = PendingResponse(*who, scored.relevancy, scored.compliance, environment=turn.environment)
        kept = self._keep(turn, ASSISTANT, context.time, response)
        name = row_id(turn.conversation_id, turn.turn_id, _RESPONSE_STAGE, turn.turn_id, self._suite)
        fields = {"late": True} if context.late else {}
        row = ScoreRow(name, _RESPONSE_STAGE, turn.turn_id, response, context.time, scored, fields, context.offset)
        if self._observer is not None:
            self._observer.on_response(key, state, turn, scored)
        self._move_means(state, row)
        effects = Effects([row])
        index = self._insert(context, kept, effects)
        if index is None:
            return effects
        if turn.environment == self._environment and not prompted(state.kept, index):
            effects.counts += ("orphan",)
        if self._queue is not None and self._queue.takes(key):
            effects.exchanges += (self._queue.on_response(context, index, name, turn),)
            self._expected.expect(state, _RESPONSE_STAGE, name, context.time)
            state.drop_remainders(waiting=True)  # or a long prompt would be written again with every other answer to it
        return effects

    def on_close(self, key: bytes, state: Conversation, end: float = math.inf) -> Close:
        """Close a conversation; end: event time at which the recording ends."""
        return self._closing.close(key, state, end)

    def on_verdict(self, memory: JudgedMemory, judged: Judged) -> VerdictRow:
        """Take a verdict into what its conversation remembers of judges, and return its row."""
        row, verdict = judged.take_in(memory, self._judged_environment), judged.verdict
        if memory.labels and row.encoded is not None and verdict.environment == self._judged_environment:
            row.meetings = self._labels.on_verdict(memory, verdict.turn_id, judged.scorer, verdict.value)
        return row

    def close_anew(self, key: bytes, state: Conversation, row: VerdictRow) -> Close | None:
        """Return what is written anew of a closed conversation where a verdict was the last one awaited."""
        return self._closing.close_anew(key, state) if state.closed and row.fate is _COUNTED else None

    def on_gap(self, context: RecordContext, role: str) -> Effects:
        """Note that a record of this conversation could not be read, so that what follows it judges nothing."""
        state = context.state
        state.gaps += 1
        # Named by its number, which is the same live and in a replay, unlike its offset.
        gap = KeptTurn(f"gap:{state.gaps}", GAP_USER if role == "user" else GAP_ASSISTANT, state.last, "")
        effects = Effects()
        self._insert(context, gap, effects)
        return effects

    def _keep(self, turn: Turn, role: str, time: float, response: PendingResponse | None = None) -> KeptTurn:
        """Return a turn as it is kept."""
        text, most = turn.text, self._limits.kept_characters
        if len(text) <= most:
            return KeptTurn(turn.turn_id, role, time, text, response)
        return KeptTurn(turn.turn_id, role, time, text[:most], response, "")

    def _remember_labels(self, context: RecordContext, turn: Turn, effects: Effects) -> None:
        """Remember what is known of a question until it is answered; one that comes late has been."""
        state = context.state
        if state.kept and state.kept[-1].time > context.time:
            return
        if turn.truth is None:
            state.labels = None
            return
        state.labels = remember_labels(turn.turn_id, turn.truth)
        effects.counts += ("labels_cut",) * (state.labels.truth != turn.truth)

    def _insert(self, context: RecordContext, turn: KeptTurn, effects: Effects) -> int | None:
        """Keep a turn in event-time order, and pair every response again whose follow-up it may have changed.

        Returns its index among the kept turns; None when it is too old to be kept.
        """
        state = context.state
        prompted_before = state.prompted and state.evicted_before > BEFORE_ALL  # as the property, for every turn
        index = state.insert(turn, self._limits)
        if index is not None:
            affected = affected_responses(state.kept, index)
        else:
            effects.counts += ("expired",)
            # A question that came too late to be kept is one all the same, to the answers that had none before.
            affected = unprompted(state.kept) if state.prompted_before and not prompted_before else []
        for at in affected:
            pairing = pair_response(state.kept, at)
            response = state.kept[at].response
            if pairing is None or response is None or pairing.key == response.pairing:
                continue
            if prompted(state.kept, at) or state.prompted_before:
                self._pair(context, at, response, pairing, effects)
        return index

    def _pair(
        self, context: RecordContext, index: int, response: PendingResponse, pairing: Pairing, effects: Effects
    ) -> None:
        """Add the follow-up row of the response at `index`, which replaces the row before it if there was one."""
        key, state = context.key, context.state
        turn = state.kept[index]
        followed_up = pairing.outcome is _FOLLOWED_UP
        fields = _pairing_fields(pairing, response, late=context.late)
        if response.row_id:
            self._retract(state, response)
            if state.judged is not None:
                state.judged.replace(response.row_id)
        around = exchange(state.kept, index, pairing.turn.text)
        if followed_up:
            scored, reading = self._follow_ups.score(around, response, gap=pairing.gap)
        else:
            scored, reading = self._follow_ups.leave(Unscored.NOT_APPLICABLE, response, pairing.outcome), None
            state.superseded += 1
        replaced = bool(response.row_id) and response.pairing != ENDED
        before = (response.strict, response.precision, response.free) if replaced else None
        # An answer that comes late between two messages leaves the first of them alone again: no row may come twice.
        apart = replaced and comes_apart(response.pairing, pairing)
        saw = f"{pairing.key}\x1f{response.row_id}" if apart else pairing.key
        response.pairing = pairing.key
        response.row_id = row_id(key.decode(), turn.turn_id, _FOLLOW_UP_STAGE, saw, self._suite)
        response.row_time = time = turn.time if turn.time > pairing.turn.time else pairing.turn.time
        _remember(response, reading)
        if response.clarification:
            state.clarifications += 1
        elif response.went_on:
            state.went_on += 1
        name = response.row_id
        row = ScoreRow(name, _FOLLOW_UP_STAGE, turn.turn_id, response, time, scored, fields, context.offset)
        row.closed_as = "replaced" if replaced else "gap" if pairing.gap else pairing.outcome
        # Series and metrics take nothing back: where the row says what the one before it said, they have that.
        row.moves = before != (response.strict, response.precision, response.free)
        self._move_means(state, row)
        effects.rows.append(row)
        if self._observer is not None:
            self._observer.on_follow_up(key, turn.turn_id, response, scored, around)
        if self._queue is not None and followed_up and not pairing.gap and self._queue.takes(key):
            effects.exchanges += (self._queue.on_follow_up(context, index, pairing.turn, reading),)
            self._expected.expect(state, _FOLLOW_UP_STAGE, response.row_id, pairing.turn.time)

    def _retract(self, state: Conversation, response: PendingResponse) -> None:
        """Retract the values of the row that is replaced from the counts, means and windows."""
        state.clarifications -= response.clarification
        state.went_on -= response.went_on
        known = {FOLLOW_UP: response.strict, FOLLOW_UP_PRECISION: response.precision, CLARIFICATION_FREE: response.free}
        values = {name: value for name, value in known.items() if value is not None}
        if not values:
            state.superseded -= response.pairing.startswith(Outcome.SUPERSEDED)
            return
        if state.suite != self._suite or response.environment != self._environment:
            return  # it was never part of these means
        positions, _ = self._layout.positions(tuple(values))
        state.score_windows.retract(
            self._layout.windows, response.row_time, state.last, positions, tuple(values.values())
        )

    def _move_means(self, state: Conversation, row: ScoreRow) -> None:
        """Add a row's values to the means and to the windows of its event time.

        Notes in the row what its scorers had said before, and how many windows it came too late for.
        """
        if state.suite != self._suite:
            state.adopt_suite(self._suite)
        scored = row.scored
        if not scored.values or row.responder.environment != self._environment:
            return
        positions, pick = self._layout.positions(scored.scorers)
        row.earlier = state.score_windows.look_up(pick)
        row.window_expired = state.score_windows.add(
            self._layout.windows, row.time, state.last, positions, scored.values
        )


def _pairing_fields(pairing: Pairing, response: PendingResponse, *, late: bool) -> dict[str, Any]:
    """Return the fields of a follow-up row that say how the exchange closed, and which row this one replaces."""
    fields: dict[str, Any] = {"outcome": pairing.outcome}
    if pairing.outcome is _FOLLOWED_UP:
        fields["follow_up"] = pairing.turn.turn_id
        if len(pairing.turns) > 1:
            fields["follow_ups"] = pairing.turns
    if late:
        fields["late"] = True
    if response.row_id:
        fields["replaces"] = response.row_id
    return fields


def _remember(response: PendingResponse, reading: FollowUpReading | None) -> None:
    """Remember with a response what its follow-up says of it; reading: None where there is nothing to read."""
    if reading is None:
        response.clarification = response.went_on = False
        response.strict = response.precision = response.free = None
        return
    response.clarification, response.went_on = reading.clarification, reading.goes_on
    response.strict, response.precision, response.free = reading.strict, reading.precision, reading.clarification_free
