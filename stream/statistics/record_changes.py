"""Record changes: what was asked or written down otherwise, which moves figures of a release that serves as before.

A log that hides what users write, or leaves it out, looks like users who leave. Answers that are stamped before their
questions look like questions that nobody answers. And where other questions are asked, more or fewer of them need
documents. Such a change is said, and what it may have moved is neither better nor worse for that.
"""

from collections.abc import Mapping
from typing import NamedTuple

from turnsignal.stream.records.scores import FOLLOW_UP
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    BEFORE_ASKED,
    BY_USERS,
    FALL,
    FIRST_QUESTION,
    FOLLOWED,
    IN_PARTS,
    LEAST,
    RISE,
    UNANSWERED_OF_ALL,
    WITH_DOCUMENTS,
    coverage_name,
)
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.promise import moved

_MUCH = 0.1  #: share of answers, from which on a record that changed is said
_SURE = (
    0.001  #: p from which on a change of the record is said by itself; what it explains is claimed less from 0.05 on
)
_OF_EACH = 2.0  #: conversations that are silent or not for each answer whose follow-up is hidden: most have two answers
_HEARD = frozenset(("silent", "resolved"))  #: what depends on that a follow-up is read, whatever it says
_TIMED = frozenset((*BY_USERS, "unanswered", UNANSWERED_OF_ALL, ANSWER_SECONDS, WITH_DOCUMENTS))


class RecordChange(NamedTuple):
    """One change of what was asked or written down.

    why: in words; figures: that it may move; most: as far as that; note: a sentence of its own, "" for none.
    """

    why: str
    figures: frozenset[str]
    most: float = 1.0
    note: str = ""

    def accounts_for(self, name: str, delta: Difference) -> bool:
        """Say whether a figure may have moved as far by that alone."""
        return name in self.figures and abs(delta.value) <= self.most


def record_changes(
    deltas: Mapping[str, Difference], beside: Mapping[str, Difference], ratio: float
) -> list[RecordChange]:
    """Return how the record of a release differs from that of the release before.

    deltas: after − before of every figure; beside: of `FOLLOWED`, `BEFORE_ASKED` and `FIRST_QUESTION`, where known;
    ratio: how many times as long the last one's mean is.
    """
    changes = [_unread(deltas, beside), _in_a_row(deltas), _too_early(beside), _others_asked(beside, ratio)]
    return [change for change in changes if change is not None]


def _note(change: Difference, sentence: str) -> str:
    return sentence if change.p <= _SURE else ""


def _unread(deltas: Mapping[str, Difference], beside: Mapping[str, Difference]) -> RecordChange | None:
    """Tell users who write what cannot be read from users who leave: these write nothing."""
    read, followed = deltas.get(coverage_name(FOLLOW_UP)), beside.get(FOLLOWED)
    if read is None or followed is None:
        return None
    way = RISE if read.value > 0 else FALL
    by = way * (read.value - followed.value)
    if not moved(read, way, _MUCH) or by < way * read.value / 2:
        return None
    words = "more" if way == RISE else "fewer"
    why = f"{words} of the messages behind answers can be read"
    ask = "are users' texts hidden in the log, or in other languages?" if way == FALL else "were they hidden before?"
    return RecordChange(why, _HEARD, _OF_EACH * by, _note(read, f"{why}, by {by:.0%} of answers: {ask}"))


def _in_a_row(deltas: Mapping[str, Difference]) -> RecordChange | None:
    parts = deltas.get(IN_PARTS)
    if parts is None:
        return None
    way = RISE if parts.value > 0 else FALL
    if not moved(parts, way, _MUCH):
        return None
    why = f"{'more' if way == RISE else 'fewer'} answers come several in a row"
    ask = "do they come in several messages now, or are messages of users missing?" if way == RISE else ""
    note = _note(parts, f"{why}, by {abs(parts.value):.0%} of answers: {ask}") if ask else ""
    return RecordChange(why, _HEARD, _OF_EACH * abs(parts.value), note)


def _too_early(beside: Mapping[str, Difference]) -> RecordChange | None:
    early = beside.get(BEFORE_ASKED)
    if early is None:
        return None
    way = RISE if early.value > 0 else FALL
    if not moved(early, way, LEAST[BEFORE_ASKED]):
        return None
    why = f"{'more' if way == RISE else 'fewer'} conversations begin with an answer out of documents"
    ask = "are answers stamped before their questions?" if way == RISE else "were they stamped before their questions?"
    return RecordChange(why, _TIMED, 1.0, _note(early, f"{why}, by {abs(early.value):.0%} of answers: {ask}"))


def _others_asked(beside: Mapping[str, Difference], ratio: float) -> RecordChange | None:
    length = beside.get(FIRST_QUESTION)
    if length is None:
        return None
    if not moved(length, RISE if length.value > 0 else FALL, LEAST[FIRST_QUESTION]):
        return None
    return RecordChange(
        f"other questions are asked: first ones are {ratio:.1f} times as long", frozenset((WITH_DOCUMENTS,))
    )
