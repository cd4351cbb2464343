"""Scoring by feedback: each feedback has one row, whenever it comes.

A row depends only on the feedback and on who gave the response that it is about, never on the follow-up. Votes and
follow-ups are compared where both are known: in summaries, see `stream.pipeline.votes`.
"""

from typing import Any

from turnsignal.stream.conversations import recent_ids as recent
from turnsignal.stream.conversations.heard import MAX_IDS, NewestFeedback, Reaction
from turnsignal.stream.conversations.pairing import PendingResponse
from turnsignal.stream.conversations.recent_ids import Seen
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.errors import Refused
from turnsignal.stream.pipeline.batch_output import BatchOutput
from turnsignal.stream.pipeline.effects import RecordContext, ScoreRow
from turnsignal.stream.pipeline.human_labels import HumanLabels
from turnsignal.stream.pipeline.observer import Observer
from turnsignal.stream.pipeline.scoring import Scored
from turnsignal.stream.records.feedback import LABEL, VOTE, decode_feedback, rater_digest
from turnsignal.stream.records.scores import Score, Stage, Unscored, row_id
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.records.wire import Record
from turnsignal.stream.suite import Suite

KNOWN, WAITED, UNKNOWN = "known", "waited", "unknown"  #: what became of feedback

_LABELS = {1: "up", -1: "down"}
_NOBODY = PendingResponse("", None, None, None)


class FeedbackScorer:
    """Return the row of every feedback: at once, when its turn comes, or when the wait for its turn is over.

    topic: where feedback comes from.
    """

    def __init__(self, suite: Suite, topic: str, observer: Observer | None = None) -> None:
        self._suite = suite.fingerprint
        self._redaction = suite.redaction
        self._topic = topic
        self._observer = observer
        self._labels = HumanLabels(suite.judges)

    def read(self, record: Record, output: BatchOutput) -> Reaction | None:
        """Read one record, as it is kept; None where it went to the dead letters."""
        broker_time = record.timestamp / 1000 if record.timestamp > 0 else None
        try:
            feedback = decode_feedback(record.value, record.key or b"", broker_time)
        except Refused as refused:
            output.refuse(record, refused, self._topic)
            return None
        if self._redaction is not None:
            self._redaction.apply_to_feedback(feedback, output.deltas.redactions)
        rater = None if feedback.rater is None else rater_digest(feedback.rater)
        content = (feedback.vote, feedback.reason, feedback.scorer, feedback.value, feedback.label, rater)
        return Reaction(feedback.id, feedback.turn_id, feedback.kind, feedback.time, record.offset, *content)

    def recognise(self, state: Conversation, reaction: Reaction, name: str = "") -> Seen:
        """Say whether feedback came before, and remember it if it is new; name: by default its id."""
        heard = state.feedback_memory()
        seen, mark = recent.look_up(heard.ids, name or reaction.id, reaction.content)
        if seen is Seen.NEW:
            heard.ids = recent.add(heard.ids, mark, MAX_IDS)
        return seen

    def on_feedback(self, key: bytes, state: Conversation, reaction: Reaction) -> list[ScoreRow]:
        """Take in new feedback: return its row, or let it wait until its turn comes."""
        response = state.answer(reaction.turn_id)
        if response is not None or state.has_had(reaction.turn_id):
            return [self._row(key, state, reaction, response, KNOWN)]
        oldest = state.wait_for_turn(reaction)
        return [] if oldest is None else [self._row(key, state, oldest, None, KNOWN)]

    def on_turn(self, context: RecordContext, turn_id: str) -> list[ScoreRow]:
        """Return the rows of the feedback that has waited for a turn, now that it has come."""
        key, state = context.key, context.state
        waiting = state.feedback_memory().waiting
        ready = [reaction for reaction in waiting if reaction.turn_id == turn_id]
        waiting[:] = [reaction for reaction in waiting if reaction.turn_id != turn_id]
        return [self._row(key, state, reaction, state.answer(turn_id), WAITED) for reaction in ready]

    def on_vote(self, context: RecordContext, turn: Turn) -> list[ScoreRow]:
        """Return the row of the vote that a turn carries; a turn may come again to carry a vote, which counts once."""
        state = context.state
        reaction = Reaction("", turn.turn_id, VOTE, turn.time, context.offset, turn.vote)
        if self.recognise(state, reaction, f"{reaction.turn_id}\x1f{reaction.vote}") is not Seen.NEW:
            return []
        return [self._row(context.key, state, reaction, state.answer(reaction.turn_id), KNOWN)]

    def on_end(self, key: bytes, state: Conversation) -> list[ScoreRow]:
        """Give up waiting, as the turns do not come any more; return the rows of what has waited."""
        if state.heard is None:
            return []
        waiting, state.heard.waiting = state.heard.waiting, []
        return [self._row(key, state, reaction, None, WAITED) for reaction in waiting]

    def _row(
        self, key: bytes, state: Conversation, reaction: Reaction, response: PendingResponse | None, result: str
    ) -> ScoreRow:
        """Return the row of one feedback; a vote that nothing replaces moves the metrics and the series."""
        saw = (
            reaction.id or f"\x1f{reaction.vote}"
        )  # the vote of a turn has no id; this is no id that feedback can have
        name = row_id(key.decode(), reaction.turn_id, Stage.FEEDBACK, saw, self._suite)
        vote = reaction.vote if reaction.kind == VOTE else None
        new = NewestFeedback(reaction.time, reaction.id, name, reaction.about, reaction.turn_id, vote or 0)
        replaces, replaced_by = state.feedback_memory().replace(new)
        fields: dict[str, Any] = {"feedback": _describe(reaction)}
        if replaces:
            fields["replaces"] = replaces
        if replaced_by:
            fields["replaced_by"] = replaced_by
        if vote is not None and self._observer is not None:
            self._observer.on_vote(key, state)
        return ScoreRow(
            name,
            Stage.FEEDBACK,
            reaction.turn_id,
            response or _NOBODY,
            reaction.time,
            _score(reaction, known=response is not None),
            fields,
            offset=reaction.offset,
            topic=self._topic if reaction.id else None,
            fate=UNKNOWN if response is None else result,
            moves=response is not None and not replaced_by,
            meetings=self._labels.on_label(state, reaction),
        )


def _describe(reaction: Reaction) -> dict[str, Any]:
    """Return what a row says of its feedback, without what stands in the row anyway."""
    fields = {"id": reaction.id or None, "kind": reaction.kind, "scorer": reaction.scorer, "rater": reaction.rater}
    return {name: value for name, value in fields.items() if value is not None}


def _score(reaction: Reaction, *, known: bool) -> Scored:
    """Return feedback as a score; about a response that nobody knows it has a label, and no value."""
    value, label = reaction.value, reaction.label
    if reaction.kind == VOTE:
        value, label = float((reaction.vote or 0) > 0), _LABELS.get(reaction.vote or 0)
    elif reaction.kind != LABEL:
        value, label = None, reaction.kind
    score = Score(
        reaction.kind,
        value if known else None,
        label,
        None if known else Unscored.UNKNOWN_TURN,
        reaction.reason,
    )
    is_value = known and reaction.kind == VOTE and value is not None
    return Scored(
        scores=[score.as_json()],
        scorers=(reaction.kind,) if is_value else (),
        values=(value,) if is_value and value is not None else (),
    )
