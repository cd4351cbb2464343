"""Asked labels: what is known of a question, remembered until its answer comes.

A set of questions with known answers has its labels on the questions, so an answer without any is scored by those of
the question before it. What is remembered stands in a conversation's state, and is bounded as its texts are.
"""

from collections.abc import Sequence

import msgspec

from turnsignal.stream.conversations.pairing import KeptTurn, asked, insertion_index
from turnsignal.stream.records.turns import Truth

MOST = 8_000  #: characters of labels that are remembered of one question


class AskedLabels(msgspec.Struct, array_like=True, gc=False):
    """What is remembered of the labels of a question; turn_id: of that question."""

    turn_id: str
    truth: Truth

    def of_answer(self, kept: Sequence[KeptTurn], time: float) -> Truth | None:
        """Return the labels where that question is the last message before an answer of this event time."""
        start, end = asked(kept, insertion_index(kept, time))
        return self.truth if start < end and kept[end - 1].turn_id == self.turn_id else None


def remember_labels(turn_id: str, truth: Truth) -> AskedLabels:
    """Remember what is known of a question: each kind of label whole, or not at all where it has no more room.

    Documents before passages, and these before a reference, which only judges read.
    """
    kept = Truth(query_type=truth.query_type, domain=truth.domain, difficulty=truth.difficulty)
    room = MOST
    for name in ("agents", "doc_ids", "chunks", "reference"):
        labels = getattr(truth, name)
        size = sum(map(len, labels or ()))  # of a text its letters
        if size <= room:
            setattr(kept, name, labels)
            room -= size
    return AskedLabels(turn_id, kept)
