"""Record changes: what was asked or written down otherwise, which moves figures of a release that serves as before.

A log that hides what users write, or leaves it out, looks like users who leave. Answers that are stamped before their
questions look like questions that nobody answers, and users' messages within a template look like the same question
again. And where a release asks something back first, users reply to that. Such a change is said, and what it may have
moved is neither better nor worse for that.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from turnsignal.stream.records.scores import CITED, CLARIFICATION_FREE, DANGLING, FOLLOW_UP, FOLLOW_UP_PRECISION
from turnsignal.stream.statistics.by_users import SOME_DECLINED
from turnsignal.stream.statistics.directions import (
    ANSWER_SECONDS,
    ASKED_TWICE,
    ASKS_AGAIN,
    ASKS_BACK,
    BEFORE_ASKED,
    BEGUN_BEHIND,
    BEGUN_COMPLAINING,
    BETTER,
    BY_CONVERSATION,
    BY_USERS,
    CITES_EARLIER,
    COMPLAINED,
    COMPLAINED_UNASKED,
    DOCUMENTS,
    ELSEWHERE,
    EXEMPTED,
    FAILED,
    FALL,
    FOLLOWED,
    FREE_CONVERSATIONS,
    HANDED_ON,
    HIDDEN,
    IN_PARTS,
    INVITES,
    LEAST,
    LISTED,
    LOGGED_AGAIN,
    LOWERED,
    MASKED,
    NAMED,
    OF_FOLLOW_UPS,
    ONLY_ASKS,
    PERSON,
    RECALLED,
    REFORMATTED,
    REPLIED,
    RESUMED,
    RISE,
    ROUNDED,
    THANKED,
    UNANSWERED_OF_ALL,
    WITH_DOCUMENTS,
    WORSE,
    coverage_name,
)
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.other_ids import Replaced, other_ids
from turnsignal.stream.statistics.other_order import by_ids, put_last
from turnsignal.stream.statistics.other_questions import HARDER, other_questions
from turnsignal.stream.statistics.promise import moved
from turnsignal.stream.statistics.rankings import share_gone
from turnsignal.stream.statistics.record_change import SURE, RecordChange, more, note_of

_UNMARKED = {
    LISTED: "end with a list of sources",
    NAMED: "name documents in a style that is read as no citation",
    MASKED: "have citations of which a part is masked",
    LOWERED: "have no capital letter",
}  #: how answers may be written down so that what they cite is not known
_RESOLVES, _COMPLIANCE = "citation.resolves", "compliance"
_MUCH = 0.1  #: share of answers, from which on a record that changed is said
_SEEN_HIDDEN = 0.25  #: answers whose question is seen to be hidden for each whose follow-up cannot be read, at least
#: figure of answers that need no documents → what they do
_OUT_OF_NONE = {
    EXEMPTED: "are texts that the suite exempts",
    HANDED_ON: "come behind a hand-off, from people as far as turns tell",
}
_OF_EACH = 2.0  #: conversations that are silent or not for each answer whose follow-up is hidden: most have two answers
_OF_PARTS = 3.0  #: answers that cite for each that comes in parts: one part may cite what is logged with another
_OF_MISSING = 4.0  #: answers that failed for each behind which a user asks once more: others leave, or wait
_OF_COPIES = 3.0  #: conversations, or answers, for each answer that is logged again: most have two more beside it
_OF_REPLIES = 1.5  #: follow-ups, or answers without documents, for each answer that asks something back: most get one
_OF_ASKED = 2.0  #: follow-ups for each answer behind which one may reply to what was asked: not all have one
_FEW_ASKED = 0.005  #: share of answers behind which as many more may, from which on it counts
_OF_RECALLS = 4.0  #: conversations, or follow-ups, for each that begins so: many who find out later do not come back
_READ_MORE = 0.5  #: by which complaints are read more often than other messages, at most
_OF_SPLITS = 10.0  #: conversations that are parts for each that begins with a thanks: most parts begin with a question
_OF_THANKS = 3.0  #: answers for each message behind one of them
_OF_MOODS = 1.5  #: follow-ups that complain for each conversation that begins so: there are more ways to say it later
_OF_THOSE = 1.5  #: times as far as who begins so tells at most: of others in that mood, it shows only later
_OF_RECOGNISED = 2.0  #: times as far as of all that is read: of about half of that rules know what it says
_OF_INVITED = 1.5  #: follow-ups, or conversations, for each that no longer ends without a word: some bring several
_ONLY_REPLIES = 0.6  #: conversations in which nothing else follows, for each answer that asks something back
_READ_AS_GOOD = 0.1  #: by which a reply to that is read as better than others that do not complain
_LONGER = 1.25  #: times as long, from which on answers may say what users would have asked next
_FAR_LONGER = 2.0  #: times as long, from which on that is said
_OF_LONGER = 0.6  #: conversations in which nothing more is asked, for each time that answers are longer
#: what depends on that a follow-up is read, whatever it says; a thanks that is hidden looks like a question, too
_HEARD = ("silent", "resolved", "unanswered", "conversation", FREE_CONVERSATIONS)
_UNANSWERED = ("unanswered", UNANSWERED_OF_ALL)
_TIMED = (*BY_USERS, *_UNANSWERED, ANSWER_SECONDS, WITH_DOCUMENTS)


class Circumstances(NamedTuple):
    """What is known of two sides beside their figures.

    words: how far the share of first questions with a word moved most; expected: how far figures move by the words of
    first questions alone; by_complaints: the same by how many of those complain; around: by how much more of the first
    answers begin or end with one sentence, and which; clarified: share of follow-ups that ask to clarify, of the side
    with more; cut: by how much more of the first answers are cut off at one length; ranked: figures that depend on the
    order of documents; unthanked: hardly anybody thanks on one of both sides; length: how many times as long first
    answers are; replaced: documents of before in whose place others come; replies: bare ones to whether it helped, per
    conversation, of the side that asks that more; thinning: how many times as many answers had a message behind them
    before.
    """

    words: float = 0.0
    expected: Mapping[str, Difference] = {}
    by_complaints: Mapping[str, Difference] = {}
    around: tuple[float, str] = 0.0, ""
    clarified: float = 0.0
    cut: float = 0.0
    ranked: Collection[str] = ()
    unthanked: bool = False
    length: float = 1.0
    replaced: Replaced | None = None
    replies: float = 0.0
    thinning: float = 1.0


def record_changes(
    deltas: Mapping[str, Difference],
    beside: Mapping[str, Difference],
    known: Circumstances,
) -> list[RecordChange]:
    """Return how the record of a release differs from that of the release before.

    deltas: after − before of every figure; beside: of `OF_THE_RECORD`, where known.
    """
    unread = _unread(deltas, beside)
    apart = _apart(beside)
    changes = [
        unread,
        _in_a_row(deltas),
        _too_early(beside),
        apart,
        _again(beside),
        _elsewhere(beside),
        _stamped(beside),
        _unmarked(beside, known.cut),
        _kept_out(deltas),
        by_ids(beside, known.ranked),
        put_last(deltas, beside, known.ranked),
        _cites_earlier(beside),
        *_resumed(beside, known.clarified),
        _unthanked(deltas, beside, known.clarified, known.length) if known.unthanked and apart is None else None,
        _unlogged(deltas, beside),
        *other_questions(
            deltas, known.words, known.expected, known.ranked, beside.get(THANKED), is_hidden=unread is not None
        ),
        _around(deltas, *known.around),
        _asks_back(deltas, beside, known.clarified),
        _asks_beside(beside, known.clarified),
        _says_more(deltas, beside, known.length),
        _other_length(known.length),
        _thinned(deltas, beside, known.clarified, known.thinning),
        _asks_for_form(beside),
        _asks_for_a_person(beside),
        _recalled(beside),
        _begun_complaining(beside, known.by_complaints),
        _invited(deltas, beside, known.replies),
        other_ids(deltas, known.replaced),
        *(_out_of_no_documents(name, what, beside) for name, what in _OUT_OF_NONE.items()),
    ]
    return [change for change in changes if change is not None]


def _unread(deltas: Mapping[str, Difference], beside: Mapping[str, Difference]) -> RecordChange | None:
    """Tell users who write what cannot be read from users who leave: these write nothing."""
    read, followed = _change_of(coverage_name(FOLLOW_UP), deltas, _MUCH), beside.get(FOLLOWED)
    if read is None or followed is None:
        return None
    way = RISE if read.value > 0 else FALL
    complained = beside.get(COMPLAINED)
    asks = deltas.get(ASKS_BACK)  # who is asked something replies in a word, which says nothing of how it went
    by = way * (read.value - followed.value) - (0.0 if asks is None else abs(asks.value))
    if way == RISE and complained is not None:
        by -= _READ_MORE * max(0.0, complained.value)
    if by < abs(read.value) / 2:
        return None
    why = f"{more(read)} of the messages behind answers can be read"
    hidden = beside.get(HIDDEN)
    may_be_hidden = hidden is not None and moved(hidden, RISE, by * _SEEN_HIDDEN)
    fewer = "in other languages, or do they say what no rule knows, as who has to ask on does?"
    fewer = f"are users' texts {'hidden in the log, or ' if may_be_hidden else ''}{fewer}"
    ask = fewer if way == FALL else "were they hidden before, or do more users complain?"
    most = {**dict.fromkeys(_HEARD, _OF_EACH * by), WITH_DOCUMENTS: by}  # a hidden thanks is answered without any
    return RecordChange(why, most, note_of(read, f"{why}, by {by:.0%} of answers: {ask}"))


def _change_of(name: str, among: Mapping[str, Difference], least: float | None = None) -> Difference | None:
    """Return how a figure moved, None where it did not clearly; least: by how much, as `LEAST` has it by default."""
    delta = among.get(name)
    least = LEAST[name] if least is None else least
    is_clear = delta is not None and any(moved(delta, way, least) for way in (RISE, FALL))
    return delta if is_clear else None


def _in_a_row(deltas: Mapping[str, Difference]) -> RecordChange | None:
    parts = _change_of(IN_PARTS, deltas, _MUCH)
    if parts is None:
        return None
    why = f"{more(parts)} answers come several in a row"
    ask = "do they come in several messages now (of one turn_id the first counts), or are messages of users missing?"
    note = note_of(parts, f"{why}, by {abs(parts.value):.0%} of answers: {ask}") if parts.value > 0 else ""
    most = {**dict.fromkeys((*_HEARD, FAILED), _OF_EACH * abs(parts.value)), CITED: _OF_PARTS * abs(parts.value)}
    most["unanswered"] = _OF_EACH * abs(deltas[FAILED].value) if FAILED in deltas else 0.0  # of no message that waits
    return RecordChange(why, most, note)


def _too_early(beside: Mapping[str, Difference]) -> RecordChange | None:
    early = _change_of(BEFORE_ASKED, beside)
    if early is None:
        return None
    why = f"{more(early)} conversations begin with an answer out of documents"
    ask = (
        "are answers stamped before their questions?"
        if early.value > 0
        else "were they stamped before their questions?"
    )
    # Answers without a question are no answers, but where they fail: of fewer, more do.
    most = {**dict.fromkeys(_TIMED, 1.0), FAILED: abs(early.value) / 3}
    return RecordChange(why, most, note_of(early, f"{why}, by {abs(early.value):.0%} of answers: {ask}"))


def _apart(beside: Mapping[str, Difference]) -> RecordChange | None:
    behind = _change_of(BEGUN_BEHIND, beside)
    if behind is None:
        return None
    why = f"{more(behind)} conversations begin with a thanks"
    ask = (
        "is one conversation logged as several, as where a page is loaded anew?"
        if behind.value > 0
        else "was one logged as several?"
    )
    note = note_of(behind, f"{why}, {abs(behind.value):.0%} of them: {ask}")
    most = dict.fromkeys(BY_CONVERSATION, _OF_SPLITS * abs(behind.value))
    # Where a part begins with a thanks, nobody need answer that; of the others it says nothing.
    most |= dict.fromkeys(_UNANSWERED, _OF_EACH * abs(behind.value))
    return RecordChange(why, most, note)


def _again(beside: Mapping[str, Difference]) -> RecordChange | None:
    copies = _change_of(LOGGED_AGAIN, beside)
    if copies is None:
        return None
    why = f"{more(copies)} exchanges are logged twice under other ids"
    ask = (
        "does each request log the messages before it?" if copies.value > 0 else "did each request log those before it?"
    )
    most = dict.fromkeys((*BY_USERS, *BY_CONVERSATION, FAILED, CITED, WITH_DOCUMENTS), _OF_COPIES * abs(copies.value))
    return RecordChange(why, most, note_of(copies, f"{why}, by {abs(copies.value):.0%} of answers: {ask}"))


def _elsewhere(beside: Mapping[str, Difference]) -> RecordChange | None:
    """Tell documents that are logged with another turn from a search that finds nothing."""
    moved_to = _change_of(ELSEWHERE, beside)
    if moved_to is None:
        return None
    why = f"documents stand on {more(moved_to)} turns of tools or users, where nothing reads them"
    most = dict.fromkeys((WITH_DOCUMENTS, CITED, DANGLING), _OF_PARTS * abs(moved_to.value))
    return RecordChange(why, most, note_of(moved_to, f"{why}, by {abs(moved_to.value):.0%} of answers"))


def _stamped(beside: Mapping[str, Difference]) -> RecordChange | None:
    rounded = _change_of(ROUNDED, beside)
    if rounded is None:
        return None
    why = f"{more(rounded)} answers are stamped with whole minutes, or with their question's time"
    note = note_of(rounded, f"{why}, {abs(rounded.value):.0%} of them: what took how long is not known there")
    return RecordChange(why, {ANSWER_SECONDS: 1.0}, note)


def _out_of_no_documents(name: str, what: str, beside: Mapping[str, Difference]) -> RecordChange | None:
    """Tell answers that need no documents from a search that finds none; of many it is the search.

    Prompts prescribe what is said where nothing is found, too, and nobody may come behind a hand-off.
    """
    change = _change_of(name, beside)
    if change is None:
        return None
    why, by = f"{more(change)} answers {what}", abs(change.value)
    most = {WITH_DOCUMENTS: by} if by <= SOME_DECLINED else {}
    return RecordChange(why, most, note_of(change, f"{why}, by {by:.0%} of answers"), by_chance=True)


def _unlogged(deltas: Mapping[str, Difference], beside: Mapping[str, Difference]) -> RecordChange | None:
    """Tell answers that fail less from those that fail and are no longer logged: users write once more behind both."""
    twice, failed = _change_of(ASKED_TWICE, beside), deltas.get(FAILED)
    if twice is None or twice.value < 0:
        return None
    why = f"{twice.value:.0%} more answers come behind several messages in a row: answers between them may be missing"
    fewer = (FAILED, *_UNANSWERED) if failed is not None and failed.value < 0 else ()
    return RecordChange(why, dict.fromkeys(fewer, _OF_MISSING * twice.value), note_of(twice, why), (BETTER,))


def _unmarked(beside: Mapping[str, Difference], cut: float) -> RecordChange | None:
    """Tell answers that do not cite from those whose citations stand in a list, or were cut off or masked."""
    by, why = cut, "are cut off at one length"
    for name, ways in _UNMARKED.items():
        if (change := _change_of(name, beside)) is not None:
            by, why = change.value, ways
    if not by:
        return None
    why = f"{'more' if by > 0 else 'fewer'} answers {why}"
    most = dict.fromkeys((CITED, DANGLING, _RESOLVES, _COMPLIANCE), _OF_PARTS * abs(by))
    return RecordChange(why, most, f"{why}, {abs(by):.0%} of them: what their sentences cite is not known there")


def _kept_out(deltas: Mapping[str, Difference]) -> RecordChange | None:
    """Tell invented citations from those of documents that the log leaves out, such as all behind the third."""
    given = _change_of(DOCUMENTS, deltas)
    if given is None:
        return None
    gone = share_gone(given)
    why = f"{gone:.0%} {more(given)} documents stand behind answers: are all of them logged?"
    return RecordChange(why, dict.fromkeys((CITED, DANGLING, _RESOLVES, _COMPLIANCE), gone))


def _cites_earlier(beside: Mapping[str, Difference]) -> RecordChange | None:
    """Say why fewer answers can be ranked where more cite what was searched for an earlier question."""
    earlier = _change_of(CITES_EARLIER, beside)
    if earlier is None:
        return None
    why = f"{more(earlier)} answers cite only documents that an earlier answer of their conversation retrieved"
    note = note_of(earlier, f"{why}, {abs(earlier.value):.0%} of them: no ranking can be told of these")
    return RecordChange(why, {}, note)


def _resumed(beside: Mapping[str, Difference], clarified: float) -> list[RecordChange]:
    """Tell users who complain less from questions of another day that stand behind an answer, and do not complain.

    Of these, more make the share of complaints fall, and fewer make it rise: where it moved the other way, users came
    back to complain, or ceased to.
    """
    later = _change_of(RESUMED, beside)
    if later is None:
        return []
    by = abs(later.value)
    why = f"{by:.0%} {more(later)} questions come when their conversation had been idle"
    read = dict.fromkeys((FOLLOW_UP, FOLLOW_UP_PRECISION), _OF_REPLIES * by * (clarified + _READ_AS_GOOD))
    complaints = {**read, CLARIFICATION_FREE: _OF_REPLIES * by * clarified}
    most = dict.fromkeys(BY_CONVERSATION, 1.0)
    most |= dict.fromkeys(_UNANSWERED, by)  # as many have something behind a message that nobody answered
    most[WITH_DOCUMENTS] = _OF_REPLIES * by  # who replies to "did it work out?" of the day after needs none
    note = note_of(later, f"{why}: does a user's thread count as one conversation?")
    withdrawn = (BETTER,) if later.value > 0 else (WORSE,)
    return [
        RecordChange(why, most, note, by_chance=True),
        RecordChange(why, complaints, withdraws=withdrawn, by_chance=True),
    ]


def _unthanked(
    deltas: Mapping[str, Difference], beside: Mapping[str, Difference], clarified: float, length: float
) -> RecordChange | None:
    """Tell users who turn silent from those whose thanks a log leaves out: less content ones thank less, but do.

    Where answers came to say far more or less, that may be why nobody thanks: it is asked, and excuses nothing.
    """
    thanks = _change_of(THANKED, beside)
    if thanks is None or thanks.p > SURE:
        return None
    complaints = _change_of(COMPLAINED, beside, LEAST[THANKED])
    if complaints is not None and (complaints.value > 0) == (thanks.value < 0):
        return None  # what a log leaves out makes no answer be complained of
    followed, asks = beside.get(FOLLOWED), deltas.get(ASKS_BACK)
    replies = 0.0 if asks is None else max(0.0, asks.value)  # who leaves still replied to what was asked back
    if followed is not None and followed.high - replies < thanks.value < 0:
        return None  # other messages fail to come, too: users leave
    by = abs(thanks.value)
    left_out = "hardly a message thanks any more: are such messages left out of the log?"
    why = left_out if thanks.value < 0 else "hardly a message thanked before: were such messages left out of the log?"
    if ONLY_ASKS in deltas and moved(deltas[ONLY_ASKS], RISE if thanks.value < 0 else FALL, LEAST[ONLY_ASKS]):
        return None  # there is nothing to thank for
    if _is_far(length):
        return RecordChange(why, {}, why)
    read = dict.fromkeys((FOLLOW_UP, FOLLOW_UP_PRECISION), _OF_REPLIES * by)
    most = {**dict.fromkeys(_HEARD, _OF_EACH * by), **read, CLARIFICATION_FREE: _OF_THANKS * by * clarified}
    return RecordChange(why, most, why, by_chance=True)


def _around(deltas: Mapping[str, Difference], share: float, sentence: str) -> RecordChange | None:
    """Tell answers that fail less from those whose failing words stand beside others now."""
    fewer = [-deltas[name].value for name in (FAILED, *_UNANSWERED) if name in deltas]
    if not share or max(fewer, default=0.0) <= 0:
        return None
    why = f'{share:.0%} more answers begin or end with "{sentence}", beside which rules may not see refusals'
    most = {**dict.fromkeys(BY_CONVERSATION, _OF_EACH * max(fewer)), **dict.fromkeys((FAILED, *_UNANSWERED), 1.0)}
    return RecordChange(why, most, withdraws=(BETTER,))


def _asks_back(
    deltas: Mapping[str, Difference], beside: Mapping[str, Difference], clarified: float
) -> RecordChange | None:
    """Tell users who complain more from fewer replies to what the release itself asked, none of which complains.

    It holds where an answer comes of the replies: not where most conversations never get one, nor of what is asked in
    the same words once more. Who replies is not silent; who leaves at the question is, and was never answered.
    """
    asks, complained = _change_of(ASKS_BACK, deltas), beside.get(COMPLAINED)
    if asks is None:
        return None
    way = RISE if asks.value > 0 else FALL
    again, never = (max(0.0, way * deltas[name].value) if name in deltas else 0.0 for name in (ASKS_AGAIN, ONLY_ASKS))
    only = deltas.get(ONLY_ASKS)
    left = 0.0 if only is None else max(0.0, only.high if way == RISE else -only.low)
    by = max(0.0, abs(asks.value) - again)
    why = f"{abs(asks.value):.0%} {more(asks)} answers ask something back first"
    replies = _OF_REPLIES * by
    read = dict.fromkeys((FOLLOW_UP, FOLLOW_UP_PRECISION), replies * (clarified + _READ_AS_GOOD))
    by_outcome = dict.fromkeys(_HEARD, by * _ONLY_REPLIES)
    for name, reply in (("silent", FALL), ("resolved", RISE)):
        if name in deltas and deltas[name].value * way * reply < 0:
            by_outcome[name] = left
    most = {**by_outcome, **read, CLARIFICATION_FREE: replies * clarified}
    if complained is not None and moved(complained, way, 0.0):
        most = {}  # of all answers more are complained about, and who only replies does not complain
    if way == RISE and never >= LEAST[ONLY_ASKS]:
        most = {}  # what is asked leads to no answer
    return RecordChange(why, {**most, WITH_DOCUMENTS: _OF_REPLIES * abs(asks.value)}, by_chance=True)


def _asks_beside(beside: Mapping[str, Difference], clarified: float) -> RecordChange | None:
    """Tell users who complain less from those who are asked for something behind each answer, and reply to that.

    What would be a complaint behind an answer that asks nothing is none behind "which plan do you have?"; and of more
    messages, which are replies, fewer complain.
    """
    complained, unasked = beside.get(COMPLAINED), beside.get(COMPLAINED_UNASKED)
    replied = _change_of(REPLIED, beside)
    hidden = 0.0 if complained is None or unasked is None else unasked.value - complained.value
    hidden = hidden if abs(hidden) >= _FEW_ASKED else 0.0
    replies = 0.0 if replied is None else replied.value
    by = hidden + replies
    if not by:
        return None
    hidden, replies = (abs(share) if share * by > 0 else 0.0 for share in (hidden, replies))
    why = f"{abs(by):.0%} {'more' if by > 0 else 'fewer'} answers get what may reply to a question beside what they say"
    most = _of_users(_OF_ASKED * hidden, _OF_EACH * hidden)
    most[CLARIFICATION_FREE] += _OF_REPLIES * replies * clarified
    for name in (FOLLOW_UP, FOLLOW_UP_PRECISION):
        most[name] += _OF_REPLIES * replies * (clarified + _READ_AS_GOOD)
    return RecordChange(why, most, withdraws=(BETTER,) if by > 0 else (WORSE,), by_chance=True)


def _says_more(
    deltas: Mapping[str, Difference], beside: Mapping[str, Difference], length: float
) -> RecordChange | None:
    """Tell users who leave from those with nothing left to ask: these leave no complaint behind, and thank as before.

    Follow-ups do not tell, of which more are complaints where the other ones are no longer needed.
    """
    if (thanks := _change_of(THANKED, beside)) is not None and thanks.value < 0:
        return None
    silent, abandoned = deltas.get("silent"), deltas.get("abandoned")
    if length < _LONGER or silent is None or silent.value <= 0 or (abandoned and moved(abandoned, RISE, 0.0)):
        return None
    why = f"first answers are {length:.1f} times as long, so that users may have less to ask, or leave"
    return RecordChange(why, dict.fromkeys(("silent", "resolved"), _OF_LONGER * (length - 1.0)))


def _other_length(length: float) -> RecordChange | None:
    """Say that answers say far more or less: no figure is worse for that, and none of users' may show it yet."""
    if not _is_far(length):
        return None
    why = f"first answers are {length:.2g} times as long"
    return RecordChange(why, {}, why)


def _is_far(length: float) -> bool:
    """Say whether answers say far more or less. length: how many times as long they are."""
    return not 1 / _FAR_LONGER < length < _FAR_LONGER


def _thinned(
    deltas: Mapping[str, Difference], beside: Mapping[str, Difference], clarified: float, thinning: float
) -> RecordChange | None:
    """Tell fewer complaints from as many among more messages, and more complaints from as many among fewer.

    Who asks a long answer to be made shorter goes on from it, and so does who asks what a vague one leaves open. It
    accounts for as much as the same complaints make of so many messages: that they are not shown to be more does not
    say that they are no more. What is scored of them may be any part, as where thanks alone fail to come. Whoever has
    less to ask thanks as before: where fewer do, users leave.
    """
    free, complained, followed = deltas.get(CLARIFICATION_FREE), beside.get(COMPLAINED), beside.get(FOLLOWED)
    if free is None or complained is None or followed is None:
        return None
    way, fewer = (RISE, "fewer") if free.value > 0 else (FALL, "more")
    if moved(complained, -way, 0.0) or not moved(followed, way, 0.0):
        return None
    if way == FALL and THANKED in beside and moved(beside[THANKED], FALL, LEAST[THANKED]):
        return None
    why = (
        f"{more(followed)} answers have a message behind them, by {abs(followed.value):.0%}, and no {fewer} a complaint"
    )
    before = clarified if way == RISE else max(0.0, clarified - abs(free.value))
    most = {**dict.fromkeys(OF_FOLLOW_UPS, 1.0), CLARIFICATION_FREE: before * abs(thinning - 1.0)}
    return RecordChange(why, most, by_chance=True)


def _asks_for_form(beside: Mapping[str, Difference]) -> RecordChange | None:
    """Tell users who go on from those who want the same shorter, or as a list: by their words they go on, too."""
    asked = _change_of(REFORMATTED, beside)
    if asked is None:
        return None
    by = abs(asked.value)
    why = f"{by:.0%} {more(asked)} answers are asked for in another form, such as shorter"
    most = _of_users(_OF_REPLIES * by, _OF_EACH * by)
    return RecordChange(why, most, note_of(asked, why))


def _asks_for_a_person(beside: Mapping[str, Difference]) -> RecordChange | None:
    """Say that more users want a person, which excuses nothing: for answers that do not help, or whatever comes."""
    asked = _change_of(PERSON, beside)
    if asked is None:
        return None
    why = f"users ask for a person behind {abs(asked.value):.0%} {more(asked)} answers"
    return RecordChange(why, {}, note_of(asked, why))


def _of_users(follow_ups: float, conversations: float) -> dict[str, float]:
    """Return how far figures of follow-ups may move, and those of whole conversations.

    Whether they are answered is not among these: no mood of users leaves a message without an answer.
    """
    by_mood = [name for name in BY_CONVERSATION if name not in _UNANSWERED]
    return dict.fromkeys(OF_FOLLOW_UPS, follow_ups) | dict.fromkeys(by_mood, conversations)


def _recalled(beside: Mapping[str, Difference]) -> RecordChange | None:
    """Tell users who are content from those who find out later, and come back in another conversation."""
    came_back = _change_of(RECALLED, beside)
    if came_back is None:
        return None
    of_users, by = (*BY_USERS, *BY_CONVERSATION), came_back.value
    if by > 0:
        why = f"{by:.0%} more conversations begin with what was answered another time: did it turn out wrong?"
        return RecordChange(why, dict.fromkeys(of_users, 1.0), note_of(came_back, why), (BETTER,))
    why = (
        f"{-by:.0%} fewer conversations begin with what was answered another time: who complained later does so at once"
    )
    return RecordChange(why, dict.fromkeys(of_users, -_OF_RECALLS * by), note_of(came_back, why), (WORSE,))


def _begun_complaining(
    beside: Mapping[str, Difference], by_complaints: Mapping[str, Difference]
) -> RecordChange | None:
    """Tell users who complain of answers from those who complain of the world, or swear: these do so at once, too.

    By how much, users of each release tell: as far as who begins so goes on so. Where that is merely how a topic is
    asked about ("it does not connect"), it accounts for no complaints of answers.
    """
    complaining = _change_of(BEGUN_COMPLAINING, beside)
    if complaining is None:
        return None
    by = abs(complaining.value)
    why = f"{by:.0%} {more(complaining)} conversations begin with a complaint or a swear word, before any answer"
    most = {}
    for name, bound in _of_users(_OF_MOODS * by, _OF_EACH * by).items():
        if (move := by_complaints.get(HARDER.get(name, name))) is not None:
            times = _OF_THOSE * (_OF_RECOGNISED if name in (FOLLOW_UP, FOLLOW_UP_PRECISION) else 1.0)
            most[name] = min(bound, times * max(abs(move.low), abs(move.high)))
    ask = "is something wrong outside the answers?" if complaining.value > 0 else "was something wrong before?"
    withdrawn = (WORSE,) if complaining.value > 0 else (BETTER,)
    return RecordChange(why, most, note_of(complaining, f"{why}: {ask}"), withdrawn, by_chance=True)


def _invited(deltas: Mapping[str, Difference], beside: Mapping[str, Difference], replies: float) -> RecordChange | None:
    """Tell users who complain more from those who are asked to, and left without a word before.

    Who says no more than that it helped, or did not, was silent before, too, and complains of nothing else.
    """
    invites, silent = _change_of(INVITES, beside), deltas.get("silent")
    if invites is None or silent is None or invites.value * silent.value >= 0:
        return None
    why = f"{abs(invites.value):.0%} {more(invites)} answers ask whether they helped, or to be told what is wrong"
    other_messages = max(0.0, min(abs(silent.value), abs(invites.value)) - replies)
    most = dict.fromkeys((*BY_USERS, *BY_CONVERSATION), _OF_INVITED * other_messages)
    return RecordChange(why, most, by_chance=True)
