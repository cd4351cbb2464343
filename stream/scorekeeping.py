"""Scorekeeping: what one turn means for its conversation, from the row it writes to the means it moves.

Turns, gaps and the end of a conversation come in through `on_…` methods; what happened goes to the outbox.
"""

import math
from collections.abc import Callable
from typing import Any

from stream import votes
from stream.closing import ENDED, Closing
from stream.conversations import Conversation
from stream.follow_up_scoring import FollowUpScorer
from stream.outbox import Outbox
from stream.pairing import (
    ASSISTANT,
    GAP_ASSISTANT,
    GAP_USER,
    TOGETHER,
    USER,
    Answer,
    Link,
    Slot,
    exchange,
    link,
    prompted,
    touched,
    unprompted,
)
from stream.scores import (
    CLARIFICATION_FREE,
    FOLLOW_UP,
    FOLLOW_UP_PRECISION,
    Outcome,
    Stage,
    Unscored,
    row_id,
)
from stream.scoring import (
    ResponseScorer,
    Scored,
    scorer_names,
)
from stream.stats import named
from stream.suite import Suite
from stream.turns import Turn
from stream.watching import Watch
from stream.windows import Frame, Settled

_FOLLOWED_UP = Outcome.FOLLOWED_UP
_RESPONSE_STAGE, _FOLLOW_UP_STAGE = Stage.RESPONSE, Stage.FOLLOW_UP


class Scorekeeper:
    """Apply turns to conversations under one suite.

    processor: tells seconds of processor time; environment: which one moves means, windows and counts.
    """

    def __init__(
        self,
        suite: Suite,
        watch: Watch | None = None,
        processor: Callable[[], float] | None = None,
        environment: str | None = None,
    ) -> None:
        self._watch = watch
        self._environment = environment
        self._limits = suite.limits
        self._truth = suite.exchanges.truth
        self._responses = ResponseScorer(suite, processor)
        self._follow_ups = FollowUpScorer(suite)
        self._closing = Closing(suite, self._follow_ups, watch, environment)
        self._suite = suite.fingerprint
        self.scorers = scorer_names(suite)
        self._frame = Frame(suite.window_specs, len(self.scorers))
        self._place = {scorer: 2 * i for i, scorer in enumerate(self.scorers)}
        self._places: dict[tuple[str, ...], tuple[int, ...]] = {}

    def describe(self, key: bytes, state: Conversation) -> dict[str, Any]:
        """Spell out what is remembered of a conversation, for people: without the texts."""
        scorers = self.scorers if state.suite == self._suite else []
        standing = state.standing.settle(self._frame, state.last) if scorers else Settled([], [])
        return {
            "conversation_id": key.decode(),
            "open": not state.closed,
            "first": state.first,
            "last": state.last,
            "turns": state.turns,
            "responses": state.responses,
            "clarifications": state.clarifications,
            "went_on": state.went_on,
            "superseded": state.superseded,
            "late": state.late,
            "duplicates": state.duplicates,
            "gaps": state.gaps,
            "closes": state.closes,
            "suite": state.suite,
            "scores": named(standing.means, scorers),
            "votes": votes.describe(state),
            "windows": [
                {"size": window.size, "start": window.start, "scores": named(window.means, scorers)}
                for window in standing.windows
            ],
        }

    def on_user(
        self, key: bytes, state: Conversation, turn: Turn, time: float, outbox: Outbox, offset: int, *, late: bool
    ) -> None:
        """Take in a user turn: it judges the response before it."""
        slot = self._slot(turn, USER, time)
        if slot.rest is not None and outbox.queues(key):
            slot.rest = state.admit_rest(turn.text[self._limits.kept_characters :], self._limits)
        if not state.responses:
            state.asked = Answer(turn.assistant, turn.version, turn.model, turn.platform, environment=turn.environment)
        self._put(key, state, slot, outbox, offset, late=late)

    def on_response(
        self, key: bytes, state: Conversation, turn: Turn, time: float, outbox: Outbox, offset: int, *, late: bool
    ) -> None:
        """Take in an assistant turn: score its citations and instructions now, its follow-up when that comes."""
        state.responses += 1
        state.asked = None
        scored = self._responses.score(turn)
        answer = Answer(turn.assistant, turn.version, turn.model, turn.platform, scored.relevancy, scored.compliance)
        answer.environment = turn.environment
        slot = self._slot(turn, ASSISTANT, time, answer)
        row = row_id(turn.conversation_id, turn.turn_id, _RESPONSE_STAGE, turn.turn_id, self._suite)
        extra: dict[str, Any] = {"source": outbox.source(offset)}
        if late:
            extra["late"] = True
        outbox.row(key, row, _RESPONSE_STAGE, slot, answer, time, scored, extra)
        outbox.response(answer, scored)
        if self._watch is not None:
            self._watch.on_response(key, state, turn, scored)
        self._observe(key, state, answer, time, scored, outbox)
        index = self._put(key, state, slot, outbox, offset, late=late)
        if index is None:
            return
        if turn.environment == self._environment and not prompted(state.slots, index):
            outbox.tally.pairing["orphan"] += 1
        if outbox.queues(key):
            outbox.queue_response(key, row, state.slots, index, answer, turn, truth=self._truth)
            state.leave_rests(waiting=True)  # or a long prompt would be written again with every other answer to it

    def on_close(self, key: bytes, state: Conversation, outbox: Outbox, end: float = math.inf) -> None:
        """Close a conversation; end: event time at which the recording ends."""
        self._closing.close(key, state, outbox, end)

    def on_gap(self, key: bytes, state: Conversation, role: str, outbox: Outbox, offset: int) -> None:
        """Note that a record of this conversation could not be read: what follows it judges nothing."""
        state.gaps += 1
        # Named by its number, which is the same live and in a replay, unlike its offset.
        gap = Slot(f"gap:{state.gaps}", GAP_USER if role == "user" else GAP_ASSISTANT, state.last, "")
        self._put(key, state, gap, outbox, offset, late=False)

    def _slot(self, turn: Turn, role: str, time: float, answer: Answer | None = None) -> Slot:
        """Return a turn as it is kept."""
        text, most = turn.text, self._limits.kept_characters
        if len(text) <= most:
            return Slot(turn.turn_id, role, time, text, answer)
        return Slot(turn.turn_id, role, time, text[:most], answer, "")

    def _put(
        self, key: bytes, state: Conversation, slot: Slot, outbox: Outbox, offset: int, *, late: bool
    ) -> int | None:
        """Keep a turn in its place, and write a follow-up row for every response whose link it changed."""
        prompted_before = state.prompted_before
        index = state.put(slot, self._limits)
        if index is not None:
            places = touched(state.slots, index)
        else:
            outbox.tally.pairing["expired"] += 1
            # A question that came too late to be kept is one all the same, to the answers that had none before.
            places = unprompted(state.slots) if state.prompted_before and not prompted_before else []
        for place in places:
            found = link(state.slots, place)
            answer = state.slots[place].answer
            if found is None or answer is None or found.key == answer.link:
                continue
            if state.prompted_before or prompted(state.slots, place):
                self._pair(key, state, place, answer, found, outbox, offset, late=late)
        return index

    def _pair(
        self,
        key: bytes,
        state: Conversation,
        index: int,
        answer: Answer,
        found: Link,
        outbox: Outbox,
        offset: int,
        *,
        late: bool,
    ) -> None:
        """Write the follow-up row of the response at `index`, correcting the one before if there was one."""
        slot = state.slots[index]
        followed_up = found.outcome is _FOLLOWED_UP
        extra: dict[str, Any] = {"source": outbox.source(offset), "outcome": found.outcome}
        if followed_up:
            extra["follow_up"] = found.turn.turn_id
            if len(found.turns) > 1:
                extra["follow_ups"] = found.turns
        if late:
            extra["late"] = True
        if answer.row:
            extra["replaces"] = answer.row
            self._retract(state, answer)
        around = exchange(state.slots, index, found.turn.text)
        if followed_up:
            scored, reading = self._follow_ups.score(around, answer, gap=found.gap)
        else:
            scored, reading = self._follow_ups.leave(Unscored.NOT_APPLICABLE, answer, found.outcome), None
            state.superseded += 1
        replaced = bool(answer.row) and answer.link != ENDED
        told = (answer.strict, answer.precision, answer.free) if replaced else None
        # An answer that comes late between two messages leaves the first of them alone again: no row may come twice.
        returns = answer.link.count(TOGETHER) >= len(found.turns)
        answer.link = found.key
        saw = f"{found.key}\x1f{answer.row}" if returns else found.key
        answer.row = row_id(key.decode(), slot.turn_id, _FOLLOW_UP_STAGE, saw, self._suite)
        answer.row_time = max(slot.time, found.turn.time)
        answer.clarification = reading is not None and reading.clarification
        answer.strict = None if reading is None else reading.strict
        answer.precision = None if reading is None else reading.precision
        answer.free = None if reading is None else reading.clarification_free
        answer.went_on = reading is not None and reading.goes_on
        state.clarifications += answer.clarification
        state.went_on += answer.went_on
        outbox.row(key, answer.row, _FOLLOW_UP_STAGE, slot, answer, answer.row_time, scored, extra)
        outbox.pairing(answer, found, scored.diagnosis, replaced=replaced)
        again = told == (answer.strict, answer.precision, answer.free)
        self._observe(key, state, answer, answer.row_time, scored, outbox, again=again)
        if self._watch is not None:
            self._watch.on_follow_up(key, slot.turn_id, answer, scored)
        if followed_up and not found.gap and outbox.queues(key):
            outbox.queue_follow_up(key, state.slots, index, answer, found.turn, reading)

    def _retract(self, state: Conversation, answer: Answer) -> None:
        """Take the row that is replaced out of the running means and windows again."""
        state.clarifications -= answer.clarification
        state.went_on -= answer.went_on
        known = {FOLLOW_UP: answer.strict, FOLLOW_UP_PRECISION: answer.precision, CLARIFICATION_FREE: answer.free}
        values = {name: value for name, value in known.items() if value is not None}
        if not values:
            state.superseded -= answer.link.startswith(Outcome.SUPERSEDED)
            return
        if state.suite != self._suite or answer.environment != self._environment:
            return  # it was never part of these means
        places = tuple(self._place[name] for name in values)
        state.standing.take_out(self._frame, answer.row_time, state.last, places, tuple(values.values()))

    def _observe(
        self,
        key: bytes,
        state: Conversation,
        answer: Answer,
        time: float,
        scored: Scored,
        outbox: Outbox,
        *,
        again: bool = False,
    ) -> None:
        """Let a row move the means, the windows, the series and the metrics.

        again: it says what the row that it replaces said; series and metrics, which take nothing back, have that.
        """
        state.come_under(self._suite)
        if scored.values and answer.environment == self._environment:
            self._add(state, time, scored, outbox)
        if not again:
            outbox.observe(key, answer, time, scored)

    def _add(self, state: Conversation, time: float, scored: Scored, outbox: Outbox) -> None:
        """Put a row's values into the means and into the windows of its event time."""
        places = self._places.get(scored.scorers)
        if places is None:
            places = self._places[scored.scorers] = tuple(self._place[scorer] for scorer in scored.scorers)
        expired = state.standing.add(self._frame, time, state.last, places, scored.values)
        if expired:
            outbox.tally.pairing["window_expired"] += expired
