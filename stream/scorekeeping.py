"""Scorekeeping: what one turn means for its conversation, from the row it writes to the means it moves.

Turns, gaps and the end of a conversation come in through `on_…` methods; what happened goes to the outbox.
"""

from collections.abc import Callable
from typing import Any, Protocol

from stream import votes
from stream.compliance import COMPLIANCE
from stream.conversations import Conversation
from stream.follow_up_scoring import FollowUpScorer
from stream.follow_ups import conversation_outcome
from stream.outbox import Outbox
from stream.pairing import (
    ASSISTANT,
    GAP_ASSISTANT,
    GAP_USER,
    USER,
    Answer,
    Link,
    Slot,
    exchange,
    link,
    link_key,
    prompted,
    touched,
)
from stream.scores import Outcome, Stage, Unscored, row_id
from stream.scoring import (
    CLARIFICATION_FREE,
    CONVERSATION,
    FOLLOW_UP,
    FOLLOW_UP_PRECISION,
    ResponseScorer,
    Scored,
    relevancy_name,
    scorer_names,
)
from stream.stats import Means, mean, named
from stream.suite import Suite
from stream.turns import Turn
from stream.windows import Frame, Settled, Standing

_ENDED = link_key(Outcome.ENDED, "")
_OUTCOME_VALUES = {"resolved": 1.0, "clarified": 0.5, "abandoned": 0.0}


class Watch(Protocol):
    """Told of what is scored as it happens: what a replay sums up beyond rows. A worker has none and pays nothing."""

    def on_response(self, key: bytes, state: Conversation, turn: Turn, scored: Scored) -> None:
        """Take note of a response; its conversation is as it was before it, but for the number of responses."""
        ...

    def on_follow_up(self, key: bytes, turn_id: str, answer: Answer, scored: Scored) -> None:
        """Take note of what followed the response `turn_id`, in place of what was known to follow it."""
        ...

    def on_close(self, key: bytes, state: Conversation, answer: Answer, outcome: str, means: Means) -> None:
        """Take note of a close, after which the conversation may come back; answer: its last one."""
        ...

    def on_vote(self, key: bytes, state: Conversation) -> None:
        """Take note of a vote; its conversation is as it is with it."""
        ...


class Scorekeeper:
    """Apply turns to conversations under one suite; processor: tells seconds of processor time."""

    def __init__(self, suite: Suite, watch: Watch | None = None, processor: Callable[[], float] | None = None) -> None:
        self._watch = watch
        self._limits = suite.limits
        self._responses = ResponseScorer(suite, processor)
        self._follow_ups = FollowUpScorer(suite)
        self._relevancy = relevancy_name(suite)
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
        slot = Slot(turn.turn_id, USER, time, turn.text[: self._limits.kept_characters])
        self._put(key, state, slot, outbox, offset, late=late)

    def on_response(
        self, key: bytes, state: Conversation, turn: Turn, time: float, outbox: Outbox, offset: int, *, late: bool
    ) -> None:
        """Take in an assistant turn: score its citations and instructions now, its follow-up when that comes."""
        state.responses += 1
        scored = self._responses.score(turn)
        answer = Answer(turn.assistant, turn.version, turn.model, turn.platform, scored.relevancy, scored.compliance)
        slot = Slot(turn.turn_id, ASSISTANT, time, turn.text[: self._limits.kept_characters], answer)
        row = row_id(turn.conversation_id, turn.turn_id, Stage.RESPONSE, turn.turn_id, self._suite)
        extra: dict[str, Any] = {"source": outbox.source(offset)}
        if late:
            extra["late"] = True
        outbox.row(key, row, Stage.RESPONSE, slot, answer, time, scored, extra)
        outbox.response(answer, scored)
        if self._watch is not None:
            self._watch.on_response(key, state, turn, scored)
        self._observe(key, state, answer, time, scored, outbox)
        index = self._put(key, state, slot, outbox, offset, late=late)
        if index is None:
            return
        if not prompted(state.slots, index):
            outbox.tally.pairing["orphan"] += 1
        if outbox.queues(key):
            outbox.queue(key, Stage.RESPONSE, slot, answer, exchange(state.slots, index, ""), documents=turn.retrieved)

    def on_gap(self, key: bytes, state: Conversation, role: str, outbox: Outbox, offset: int) -> None:
        """Note that a record of this conversation could not be read: what follows it judges nothing."""
        state.gaps += 1
        # Named by its number, which is the same live and in a replay, unlike its offset.
        gap = Slot(f"gap:{state.gaps}", GAP_USER if role == "user" else GAP_ASSISTANT, state.last, "")
        self._put(key, state, gap, outbox, offset, late=False)

    def on_close(self, key: bytes, state: Conversation, outbox: Outbox) -> None:
        """Close a conversation: write its summary, and a row for its last response."""
        at = state.last + self._limits.idle
        state.closed = True
        state.closes += 1
        state.settle(self._limits)
        last = next((slot for slot in reversed(state.slots) if slot.role == ASSISTANT), state.left)
        answer = last.answer if last is not None else None
        outcome = self._outcome(state) if answer is not None else None
        self._under_this_suite(state)
        means = state.standing.settle(self._frame, state.last).means
        diagnosis = self._follow_ups.diagnosis(
            *(self._mean(means, scorer) for scorer in (self._relevancy, FOLLOW_UP, COMPLIANCE))
        )
        summary = {
            "schema": 1,
            "conversation_id": key.decode(),
            "assistant": answer.assistant if answer else None,
            "version": answer.version if answer else None,
            "model": answer.model if answer else None,
            "platform": answer.platform if answer else None,
            "first": state.first,
            "last": state.last,
            "closed_at": at,
            "closes": state.closes,
            "turns": state.turns,
            "responses": state.responses,
            "clarifications": state.clarifications,
            "superseded": state.superseded,
            "late": state.late,
            "gaps": state.gaps,
            "outcome": outcome,
            "diagnosis": diagnosis["label"],
            "meaning": diagnosis["explanation"],
            "scores": named(means, self.scorers),
            "suite": self._suite,
        }
        voted = votes.describe(state)
        if voted is not None:
            summary["votes"] = voted
        outbox.summary(key, summary)
        if last is None or answer is None or outcome is None:
            return
        value = _OUTCOME_VALUES[outcome]
        scored = Scored([{"scorer": CONVERSATION, "value": value, "label": outcome}, diagnosis])
        if voted is not None:
            scored.scores.append(votes.score(voted))
        # The number of turns is part of it: a turn that is not kept (system, too late) re-opens a conversation as well.
        saw = f"{state.slots[-1].turn_id}#{state.turns}"
        row = row_id(key.decode(), last.turn_id, Stage.CLOSE, saw, self._suite)
        extra: dict[str, Any] = {}
        if not answer.link or answer.link == _ENDED:
            extra["outcome"] = Outcome.ENDED
            answer.link, answer.row = _ENDED, row  # its follow-up, should it come, replaces this row
            outbox.tally.pairing[Outcome.ENDED] += 1
        if state.close_row:
            extra["replaces"] = state.close_row
        outbox.row(key, row, Stage.CLOSE, last, answer, at, scored, extra)
        state.close_row = row
        outbox.tally.outcomes[answer.assistant, answer.version, outcome] += 1
        if self._watch is not None:
            self._watch.on_close(key, state, answer, outcome, means)

    def _put(
        self, key: bytes, state: Conversation, slot: Slot, outbox: Outbox, offset: int, *, late: bool
    ) -> int | None:
        """Keep a turn in its place, and write a follow-up row for every response whose link it changed."""
        index = state.put(slot, self._limits)
        if index is None:
            outbox.tally.pairing["expired"] += 1
            return None
        for place in touched(state.slots, index):
            found = link(state.slots, place)
            answer = state.slots[place].answer
            if found is None or answer is None or found.key == answer.link:
                continue
            if state.forgot_turns or prompted(state.slots, place):
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
        followed_up = found.outcome is Outcome.FOLLOWED_UP
        extra: dict[str, Any] = {"source": outbox.source(offset), "outcome": found.outcome}
        if followed_up:
            extra["follow_up"] = found.turn.turn_id
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
        replaced = bool(answer.row) and answer.link != _ENDED
        answer.link = found.key
        answer.row = row_id(key.decode(), slot.turn_id, Stage.FOLLOW_UP, found.key, self._suite)
        answer.row_time = max(slot.time, found.turn.time)
        answer.clarification = reading is not None and reading.clarification
        answer.strict = None if reading is None else reading.strict
        answer.precision = None if reading is None else reading.precision
        answer.free = None if reading is None else reading.clarification_free
        state.clarifications += answer.clarification
        outbox.row(key, answer.row, Stage.FOLLOW_UP, slot, answer, answer.row_time, scored, extra)
        outbox.pairing(answer, found, scored.diagnosis, replaced=replaced)
        self._observe(key, state, answer, answer.row_time, scored, outbox)
        if self._watch is not None:
            self._watch.on_follow_up(key, slot.turn_id, answer, scored)
        if followed_up and not found.gap and outbox.queues(key):
            outbox.queue(key, Stage.FOLLOW_UP, slot, answer, around, follow_up=found.turn)

    def _retract(self, state: Conversation, answer: Answer) -> None:
        """Take the row that is replaced out of the running means and windows again."""
        state.clarifications -= answer.clarification
        known = {FOLLOW_UP: answer.strict, FOLLOW_UP_PRECISION: answer.precision, CLARIFICATION_FREE: answer.free}
        values = {name: value for name, value in known.items() if value is not None}
        if not values:
            state.superseded -= answer.link.startswith(Outcome.SUPERSEDED)
            return
        if state.suite != self._suite:
            return  # it was never part of this suite's means
        places = tuple(self._place[name] for name in values)
        state.standing.take_out(self._frame, answer.row_time, state.last, places, tuple(values.values()))

    def _observe(
        self, key: bytes, state: Conversation, answer: Answer, time: float, scored: Scored, outbox: Outbox
    ) -> None:
        """Let a row move the means, the windows, the series and the metrics."""
        self._under_this_suite(state)
        if scored.values:
            self._add(state, time, scored, outbox)
        outbox.observe(key, answer, time, scored)

    def _add(self, state: Conversation, time: float, scored: Scored, outbox: Outbox) -> None:
        """Put a row's values into the means and into the windows of its event time."""
        places = self._places.get(scored.scorers)
        if places is None:
            places = self._places[scored.scorers] = tuple(self._place[scorer] for scorer in scored.scorers)
        expired = state.standing.add(self._frame, time, state.last, places, scored.values)
        if expired:
            outbox.tally.pairing["window_expired"] += expired

    def _under_this_suite(self, state: Conversation) -> None:
        """Start new means when the suite has changed: a mean never mixes what two suites mean by a name."""
        if state.suite != self._suite:
            state.suite, state.standing = self._suite, Standing()
            for answer in [slot.answer for slot in state.slots if slot.answer is not None]:
                # Not in the new means, so never to be taken out of them.
                answer.strict = answer.precision = answer.free = None

    def _mean(self, means: Means, scorer: str) -> float | None:
        place = self._place.get(scorer)
        return None if place is None else mean(means, place)

    def _outcome(self, state: Conversation) -> str:
        """Say how the conversation went: abandoned when its last user turn was a clarification."""
        last = next((slot for slot in reversed(state.slots) if slot.role == USER), None)
        spelled = link_key(Outcome.FOLLOWED_UP, last.turn_id) if last is not None else None
        unhappy = any(s.answer is not None and s.answer.clarification and s.answer.link == spelled for s in state.slots)
        return conversation_outcome(state.clarifications, unhappy)
