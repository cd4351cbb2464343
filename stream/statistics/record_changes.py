"""Record changes: what was asked or written down otherwise, which moves figures of a release that serves as before.

A log that hides what users write, or leaves it out, looks like users who leave. Answers that are stamped before their
questions look like questions that nobody answers, and users' messages within a template look like the same question
again. And where other questions are asked, more or fewer of them need documents. Such a change is said, and what it
may have moved is neither better nor worse for that.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from turnsignal.stream.records.scores import CITED, CLARIFICATION_FREE, DANGLING, FOLLOW_UP, FOLLOW_UP_PRECISION
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    ASKED_TWICE,
    ASKS_BACK,
    BEFORE_ASKED,
    BEGUN_BEHIND,
    BY_USERS,
    DOCUMENTS,
    ELSEWHERE,
    FAILED,
    FALL,
    FOLLOWED,
    FREE_CONVERSATIONS,
    IN_PARTS,
    LEAST,
    LISTED,
    LOGGED_AGAIN,
    LOWERED,
    MASKED,
    RESUMED,
    RISE,
    ROUNDED,
    SORTED,
    UNANSWERED_OF_ALL,
    WITH_DOCUMENTS,
    coverage_name,
)
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.promise import moved
from turnsignal.stream.statistics.rankings import share_gone

_UNMARKED = {
    LISTED: "end with a list of sources",
    MASKED: "have citations of which a part is masked",
    LOWERED: "have no capital letter",
}  #: how answers may be written down so that what they cite is not known
_RESOLVES, _COMPLIANCE = "citation.resolves", "compliance"
_MUCH = 0.1  #: share of answers, from which on a record that changed is said
_SURE = (
    0.001  #: p from which on a change of the record is said by itself; what it explains is claimed less from 0.05 on
)
_OF_EACH = 2.0  #: conversations that are silent or not for each answer whose follow-up is hidden: most have two answers
_OF_PARTS = 3.0  #: answers that cite for each that comes in parts: one part may cite what is logged with another
_OF_MISSING = 4.0  #: answers that failed for each behind which a user asks once more: others leave, or wait
_OF_COPIES = 3.0  #: conversations, or answers, for each answer that is logged again: most have two more beside it
_AROUND = 0.7  #: share of first questions that a word came to stand in, or ceased to: more than any topic has
_OF_REPLIES = 1.5  #: follow-ups, or answers without documents, for each answer that asks something back: most get one
_ONLY_REPLIES = 0.6  #: conversations in which nothing else follows, for each answer that asks something back
_READ_AS_GOOD = 0.1  #: by which a reply to that is read as better than others that do not complain
_NEED = 0.1  #: share of first questions, from which on it is no chance that others get documents
_OF_NEEDS = 3.0  #: answers for each question that is known by its words: most are rare, and tell less than they know
_OF_WORDS = 3.0  #: questions for each with one word: what tells a topic stands in a third of its questions
#: what depends on that a follow-up is read, whatever it says; a thanks that is hidden looks like a question, too
_HEARD = ("silent", "resolved", "unanswered", "conversation", FREE_CONVERSATIONS)
_UNANSWERED = ("unanswered", UNANSWERED_OF_ALL)
_BY_CONVERSATION = (*_HEARD, "abandoned", UNANSWERED_OF_ALL)
_TIMED = (*BY_USERS, *_UNANSWERED, ANSWER_SECONDS, WITH_DOCUMENTS)


class RecordChange(NamedTuple):
    """One change of what was asked or written down.

    why: in words; most: figures that it may move → how far; note: a sentence of its own, "" for none; hides: it can
    only hide what is bad, so what is worse stays so; by_chance: what goes beyond has to be shown, too.
    """

    why: str
    most: Mapping[str, float]
    note: str = ""
    hides: bool = False
    by_chance: bool = False

    def accounts_for(self, name: str, delta: Difference) -> bool:
        """Say whether a figure may have moved as far by that alone."""
        most = self.most.get(name, -1.0)
        if self.by_chance:
            return most >= 0 and delta.low <= most and delta.high >= -most
        return abs(delta.value) <= most


class Circumstances(NamedTuple):
    """What is known of two sides beside their figures.

    words: how far the share of first questions with a word moved most; needs: by how much more of them are of those
    that get documents; around: by how much more of the first answers begin or end with one sentence, and which;
    clarified: share of follow-ups that ask to clarify, of the side with more; cut: by how much more of the first
    answers are cut off at one length; ranked: figures that depend on the order of documents.
    """

    words: float = 0.0
    needs: float = 0.0
    around: tuple[float, str] = 0.0, ""
    clarified: float = 0.0
    cut: float = 0.0
    ranked: Collection[str] = ()


def record_changes(
    deltas: Mapping[str, Difference],
    beside: Mapping[str, Difference],
    known: Circumstances,
) -> list[RecordChange]:
    """Return how the record of a release differs from that of the release before.

    deltas: after − before of every figure; beside: of `OF_THE_RECORD`, where known.
    """
    unread = _unread(deltas, beside)
    others = _others_asked(known.words, hidden=unread is not None) or _need_others(deltas, known.needs)
    changes = [
        unread,
        _in_a_row(deltas),
        _too_early(beside),
        _apart(beside),
        _again(beside),
        _elsewhere(beside),
        _stamped(beside),
        _unmarked(beside, known.cut),
        _kept_out(deltas),
        _sorted(beside, known.ranked),
        _resumed(beside, known.clarified),
        _unlogged(deltas, beside),
        others,
        _around(deltas, *known.around),
        _asks_back(deltas, known.clarified),
    ]
    return [change for change in changes if change is not None]


def _note(change: Difference, sentence: str) -> str:
    return sentence if change.p <= _SURE else ""


def _unread(deltas: Mapping[str, Difference], beside: Mapping[str, Difference]) -> RecordChange | None:
    """Tell users who write what cannot be read from users who leave: these write nothing."""
    read, followed = deltas.get(coverage_name(FOLLOW_UP)), beside.get(FOLLOWED)
    if read is None or followed is None:
        return None
    way = _which_way(read, _MUCH)
    asks = deltas.get(ASKS_BACK)  # who is asked something replies in a word, which says nothing of how it went
    by = way * (read.value - followed.value) - (0.0 if asks is None else abs(asks.value))
    if not way or by < way * read.value / 2:
        return None
    words = "more" if way == RISE else "fewer"
    why = f"{words} of the messages behind answers can be read"
    ask = "are users' texts hidden in the log, or in other languages?" if way == FALL else "were they hidden before?"
    most = {**dict.fromkeys(_HEARD, _OF_EACH * by), WITH_DOCUMENTS: by}  # a hidden thanks is answered without any
    return RecordChange(why, most, _note(read, f"{why}, by {by:.0%} of answers: {ask}"))


def _which_way(delta: Difference | None, least: float) -> int:
    """Return which way a figure moved clearly, 0 where it did not."""
    return next((way for way in (RISE, FALL) if delta is not None and moved(delta, way, least)), 0)


def _in_a_row(deltas: Mapping[str, Difference]) -> RecordChange | None:
    parts = deltas.get(IN_PARTS)
    way = _which_way(parts, _MUCH)
    if parts is None or not way:
        return None
    why = f"{'more' if way == RISE else 'fewer'} answers come several in a row"
    ask = (
        "do they come in several messages now (of one turn_id the first counts), or are messages of users missing?"
        if way == RISE
        else ""
    )
    note = _note(parts, f"{why}, by {abs(parts.value):.0%} of answers: {ask}") if ask else ""
    most = {**dict.fromkeys((*_HEARD, FAILED), _OF_EACH * abs(parts.value)), CITED: _OF_PARTS * abs(parts.value)}
    return RecordChange(why, most, note)


def _too_early(beside: Mapping[str, Difference]) -> RecordChange | None:
    early = beside.get(BEFORE_ASKED)
    way = _which_way(early, LEAST[BEFORE_ASKED])
    if early is None or not way:
        return None
    why = f"{'more' if way == RISE else 'fewer'} conversations begin with an answer out of documents"
    ask = "are answers stamped before their questions?" if way == RISE else "were they stamped before their questions?"
    # Answers without a question are no answers, but where they fail: of fewer, more do.
    most = {**dict.fromkeys(_TIMED, 1.0), FAILED: abs(early.value) / 3}
    return RecordChange(why, most, _note(early, f"{why}, by {abs(early.value):.0%} of answers: {ask}"))


def _apart(beside: Mapping[str, Difference]) -> RecordChange | None:
    behind = beside.get(BEGUN_BEHIND)
    way = _which_way(behind, LEAST[BEGUN_BEHIND])
    if behind is None or not way:
        return None
    why = f"{'more' if way == RISE else 'fewer'} conversations begin with a thanks"
    ask = "does each message have a conversation of its own?" if way == RISE else "did messages have one each?"
    note = _note(behind, f"{why}, {abs(behind.value):.0%} of them: {ask}")
    return RecordChange(why, dict.fromkeys(_BY_CONVERSATION, 1.0), note)


def _again(beside: Mapping[str, Difference]) -> RecordChange | None:
    copies = beside.get(LOGGED_AGAIN)
    way = _which_way(copies, LEAST[LOGGED_AGAIN])
    if copies is None or not way:
        return None
    why = f"{'more' if way == RISE else 'fewer'} exchanges are logged twice under other ids"
    ask = "does each request log the messages before it?" if way == RISE else "did each request log those before it?"
    most = dict.fromkeys((*BY_USERS, *_BY_CONVERSATION, FAILED, CITED, WITH_DOCUMENTS), _OF_COPIES * abs(copies.value))
    return RecordChange(why, most, _note(copies, f"{why}, by {abs(copies.value):.0%} of answers: {ask}"))


def _elsewhere(beside: Mapping[str, Difference]) -> RecordChange | None:
    """Tell documents that are logged with another turn from a search that finds nothing."""
    moved_to = beside.get(ELSEWHERE)
    way = _which_way(moved_to, LEAST[ELSEWHERE])
    if moved_to is None or not way:
        return None
    why = f"documents stand on {'more' if way == RISE else 'fewer'} turns of tools or users, where nothing reads them"
    most = dict.fromkeys((WITH_DOCUMENTS, CITED, DANGLING), _OF_PARTS * abs(moved_to.value))
    return RecordChange(why, most, _note(moved_to, f"{why}, by {abs(moved_to.value):.0%} of answers"))


def _stamped(beside: Mapping[str, Difference]) -> RecordChange | None:
    rounded = beside.get(ROUNDED)
    way = _which_way(rounded, LEAST[ROUNDED])
    if rounded is None or not way:
        return None
    why = f"{'more' if way == RISE else 'fewer'} answers are stamped with whole minutes, or with their question's time"
    note = _note(rounded, f"{why}, {abs(rounded.value):.0%} of them: what took how long is not known there")
    return RecordChange(why, {ANSWER_SECONDS: 1.0}, note)


def _unlogged(deltas: Mapping[str, Difference], beside: Mapping[str, Difference]) -> RecordChange | None:
    """Tell answers that fail less from those that fail and are no longer logged: users write once more behind both."""
    twice, failed = beside.get(ASKED_TWICE), deltas.get(FAILED)
    if twice is None or failed is None or _which_way(twice, LEAST[ASKED_TWICE]) != RISE or failed.value >= 0:
        return None
    why = f"{twice.value:.0%} more answers come behind several messages in a row: answers between them may be missing"
    return RecordChange(why, dict.fromkeys((FAILED, *_UNANSWERED), _OF_MISSING * twice.value), hides=True)


def _unmarked(beside: Mapping[str, Difference], cut: float) -> RecordChange | None:
    """Tell answers that do not cite from those whose citations stand in a list, or were cut off or masked."""
    by, why = cut, "are cut off at one length"
    for name, ways in _UNMARKED.items():
        moved_to = beside.get(name)
        if moved_to is not None and _which_way(moved_to, LEAST[name]):
            by, why = moved_to.value, ways
    if not by:
        return None
    why = f"{'more' if by > 0 else 'fewer'} answers {why}"
    most = dict.fromkeys((CITED, DANGLING, _RESOLVES, _COMPLIANCE), _OF_PARTS * abs(by))
    return RecordChange(why, most, f"{why}, {abs(by):.0%} of them: what their sentences cite is not known there")


def _kept_out(deltas: Mapping[str, Difference]) -> RecordChange | None:
    """Tell invented citations from those of documents that the log leaves out, such as all behind the third."""
    given = deltas.get(DOCUMENTS)
    way = _which_way(given, LEAST[DOCUMENTS])
    if given is None or not way:
        return None
    gone = share_gone(given)
    why = f"{gone:.0%} {'fewer' if way == FALL else 'more'} documents stand behind answers: are all of them logged?"
    return RecordChange(why, dict.fromkeys((CITED, DANGLING, _RESOLVES, _COMPLIANCE), gone))


def _sorted(beside: Mapping[str, Difference], ranked: Collection[str]) -> RecordChange | None:
    in_order = beside.get(SORTED)
    way = _which_way(in_order, LEAST[SORTED])
    if in_order is None or not way:
        return None
    why = f"{'more' if way == RISE else 'fewer'} answers have their documents in the order of the ids"
    note = _note(in_order, f"{why}, {abs(in_order.value):.0%} of them: is that the order in which they were found?")
    return RecordChange(why, dict.fromkeys(ranked, 1.0), note)


def _resumed(beside: Mapping[str, Difference], clarified: float) -> RecordChange | None:
    """Tell users who complain less from questions of another day that stand behind an answer, and do not complain."""
    later = beside.get(RESUMED)
    way = _which_way(later, LEAST[RESUMED])
    if later is None or not way:
        return None
    by = abs(later.value)
    why = f"{by:.0%} {'more' if way == RISE else 'fewer'} questions come when their conversation had been idle"
    read = dict.fromkeys((FOLLOW_UP, FOLLOW_UP_PRECISION), _OF_REPLIES * by * (clarified + _READ_AS_GOOD))
    most = {**dict.fromkeys(_BY_CONVERSATION, 1.0), **read, CLARIFICATION_FREE: _OF_REPLIES * by * clarified}
    note = _note(later, f"{why}: does a user's thread count as one conversation?")
    return RecordChange(why, most, note, by_chance=True)


def _others_asked(words: float, *, hidden: bool) -> RecordChange | None:
    if words >= _AROUND and not hidden:
        why = f"{words:.0%} more, or fewer, of the first questions hold a certain word"
        most = dict.fromkeys((*BY_USERS, *_BY_CONVERSATION, WITH_DOCUMENTS), 1.0)
        return RecordChange(why, most, f"{why}: is something else written around users' messages in the log?")
    why = f"other questions are asked: of the first ones, {words:.0%} more, or fewer, hold a certain word"
    return RecordChange(why, {WITH_DOCUMENTS: _OF_WORDS * words}) if words else None


def _need_others(deltas: Mapping[str, Difference], needs: float) -> RecordChange | None:
    given = deltas.get(WITH_DOCUMENTS)
    if given is None or abs(needs) < _NEED or needs * given.value < 0:
        return None
    why = (
        f"other questions are asked: by their words, {abs(needs):.0%} {'more' if needs > 0 else 'fewer'} get documents"
    )
    return RecordChange(why, {WITH_DOCUMENTS: _OF_NEEDS * abs(needs)})


def _around(deltas: Mapping[str, Difference], share: float, sentence: str) -> RecordChange | None:
    """Tell answers that fail less from those whose failing words stand beside others now."""
    fewer = [-deltas[name].value for name in (FAILED, *_UNANSWERED) if name in deltas]
    if not share or max(fewer, default=0.0) <= 0:
        return None
    why = f'{share:.0%} more answers begin or end with "{sentence}", beside which rules may not see refusals'
    most = {**dict.fromkeys(_BY_CONVERSATION, _OF_EACH * max(fewer)), **dict.fromkeys((FAILED, *_UNANSWERED), 1.0)}
    return RecordChange(why, most, hides=True)


def _asks_back(deltas: Mapping[str, Difference], clarified: float) -> RecordChange | None:
    """Tell users who complain more from fewer replies to what the release itself asked, none of which complains."""
    asks = deltas.get(ASKS_BACK)
    way = _which_way(asks, LEAST[ASKS_BACK])
    if asks is None or not way:
        return None
    why = f"{abs(asks.value):.0%} {'more' if way == RISE else 'fewer'} answers ask something back first"
    replies = _OF_REPLIES * abs(asks.value)
    read = dict.fromkeys((FOLLOW_UP, FOLLOW_UP_PRECISION), replies * (clarified + _READ_AS_GOOD))
    by_outcome = dict.fromkeys(_HEARD, abs(asks.value) * _ONLY_REPLIES)
    return RecordChange(
        why, {**by_outcome, **read, CLARIFICATION_FREE: replies * clarified, WITH_DOCUMENTS: replies}, by_chance=True
    )
