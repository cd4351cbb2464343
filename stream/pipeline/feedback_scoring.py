"""Scoring by feedback: each feedback has one row, whenever it comes.

A row depends only on the feedback and on who gave the response that it is about, never on the follow-up. Votes and
follow-ups are compared where both are known: in summaries, see `stream.pipeline.votes`.
"""

from typing import Any

from turnsignal.stream.conversations import recent_ids as recent
from turnsignal.stream.conversations.feedback_memory import MAX_IDS, KeptFeedback, NewestFeedback
from turnsignal.stream.conversations.pairing import PendingResponse, Responder
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
_NOBODY: Responder = PendingResponse("", None, None, None)


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

    def read(self, record: Record, output: BatchOutput) -> KeptFeedback | None:
        """Read one record, as it is kept; None where it went to the dead letters."""
        broker_time = record.timestamp / 1000 if record.timestamp > 0 else None
        try:
            feedback = decode_feedback(record.value, record.key or b"", broker_time)
        except Refused as refused:
            output.add_undecodable(record, refused, self._topic)
            return None
        if self._redaction is not None:
            self._redaction.apply_to_feedback(feedback, output.deltas.redactions)
        rater = None if feedback.rater is None else rater_digest(feedback.rater)
        content = (feedback.vote, feedback.reason, feedback.scorer, feedback.value, feedback.label, rater)
        return KeptFeedback(feedback.id, feedback.turn_id, feedback.kind, feedback.time, record.offset, *content)

    def recognise(self, state: Conversation, feedback: KeptFeedback, name: str = "") -> Seen:
        """Say whether feedback came before, and remember it if it is new; name: by default its id."""
        memory = state.feedback_memory()
        seen, entry = recent.look_up(memory.ids, name or feedback.id, feedback.content)
        if seen is Seen.NEW:
            memory.ids = recent.add(memory.ids, entry, MAX_IDS)
        return seen

    def on_feedback(self, key: bytes, state: Conversation, feedback: KeptFeedback) -> list[ScoreRow]:
        """Take in new feedback: return its row, or let it wait until its turn comes."""
        responder = state.responder(feedback.turn_id)
        if responder is not None or state.has_had(feedback.turn_id):
            return [self._row(key, state, feedback, responder, KNOWN)]
        oldest = state.wait_for_turn(feedback)
        return [] if oldest is None else [self._row(key, state, oldest, None, KNOWN)]

    def on_turn(self, context: RecordContext, turn_id: str) -> list[ScoreRow]:
        """Return the rows of the feedback that has waited for a turn, now that it has come."""
        key, state = context.key, context.state
        waiting = state.feedback_memory().waiting
        ready = [feedback for feedback in waiting if feedback.turn_id == turn_id]
        waiting[:] = [feedback for feedback in waiting if feedback.turn_id != turn_id]
        return [self._row(key, state, feedback, state.responder(turn_id), WAITED) for feedback in ready]

    def on_vote(self, context: RecordContext, turn: Turn) -> list[ScoreRow]:
        """Return the row of the vote that a turn carries; a turn may come again to carry a vote, which counts once."""
        state = context.state
        feedback = KeptFeedback("", turn.turn_id, VOTE, turn.time, context.offset, turn.vote)
        if self.recognise(state, feedback, f"{feedback.turn_id}\x1f{feedback.vote}") is not Seen.NEW:
            return []
        return [self._row(context.key, state, feedback, state.responder(feedback.turn_id), KNOWN)]

    def on_end(self, key: bytes, state: Conversation) -> list[ScoreRow]:
        """Give up waiting, as the turns do not come any more; return the rows of what has waited."""
        if state.feedback is None:
            return []
        waiting, state.feedback.waiting = state.feedback.waiting, []
        return [self._row(key, state, feedback, None, WAITED) for feedback in waiting]

    def _row(
        self, key: bytes, state: Conversation, feedback: KeptFeedback, responder: Responder | None, result: str
    ) -> ScoreRow:
        """Return the row of one feedback; a vote that nothing replaces moves the metrics and the series."""
        shown_id = feedback.id or f"\x1f{feedback.vote}"  # a turn's vote has no id; no feedback can have this one
        name = row_id(key.decode(), feedback.turn_id, Stage.FEEDBACK, shown_id, self._suite)
        vote = feedback.vote if feedback.kind == VOTE else None
        new = NewestFeedback(feedback.time, feedback.id, name, feedback.about, feedback.turn_id, vote or 0)
        replaces, replaced_by = state.feedback_memory().replace(new)
        fields: dict[str, Any] = {"feedback": _describe(feedback)}
        if replaces:
            fields["replaces"] = replaces
        if replaced_by:
            fields["replaced_by"] = replaced_by
        if vote is not None and self._observer is not None:
            self._observer.on_vote(key, state)
        return ScoreRow(
            name,
            Stage.FEEDBACK,
            feedback.turn_id,
            responder or _NOBODY,
            feedback.time,
            _score(feedback, known=responder is not None),
            fields,
            offset=feedback.offset,
            topic=self._topic if feedback.id else None,
            fate=UNKNOWN if responder is None else result,
            moves=responder is not None and not replaced_by,
            meetings=self._labels.on_label(state, feedback),
        )


def _describe(feedback: KeptFeedback) -> dict[str, Any]:
    """Return what a row says of its feedback, without what stands in the row anyway."""
    fields = {"id": feedback.id or None, "kind": feedback.kind, "scorer": feedback.scorer, "rater": feedback.rater}
    return {name: value for name, value in fields.items() if value is not None}


def _score(feedback: KeptFeedback, *, known: bool) -> Scored:
    """Return feedback as a score; about a response that nobody knows it has a label, and no value."""
    value, label = feedback.value, feedback.label
    if feedback.kind == VOTE:
        value, label = float((feedback.vote or 0) > 0), _LABELS.get(feedback.vote or 0)
    elif feedback.kind != LABEL:
        value, label = None, feedback.kind
    score = Score(
        feedback.kind,
        value if known else None,
        label,
        None if known else Unscored.UNKNOWN_TURN,
        feedback.reason,
    )
    is_value = known and feedback.kind == VOTE and value is not None
    return Scored(
        scores=[score.as_json()],
        scorers=(feedback.kind,) if is_value else (),
        values=(value,) if is_value and value is not None else (),
    )
