"""Other questions: what a release owes to being asked otherwise than the one before, by the words of first questions.

Where other questions are asked, more or fewer of them need documents, and more or fewer are answered badly by whatever
release. As far as that accounts for it, a release is neither better nor worse.
"""

from collections.abc import Collection, Mapping

from turnsignal.stream.records.scores import CLARIFICATION_FREE, FOLLOW_UP, FOLLOW_UP_PRECISION
from turnsignal.stream.statistics.directions import (
    BY_CONVERSATION,
    BY_USERS,
    FALL,
    FREE_CONVERSATIONS,
    RANKS,
    RISE,
    UNANSWERED_OF_ALL,
    WITH_DOCUMENTS,
)
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.promise import PROMISE
from turnsignal.stream.statistics.record_change import RecordChange, more, note_of

_AROUND = 0.9  #: share of first questions that a word came to stand in, or ceased to: more than any campaign has
_NEED = 0.1  #: share of first questions, from which on it is no chance that others get documents
_OF_NEEDS = 3.0  #: answers for each question that is known by its words: most are rare, and tell less than they know
_OF_RANKS = (
    1.5  #: of where what is cited stands, of which words tell more: most answers have it, and it is no yes or no
)
_OF_THANKS = 2.0  #: conversations that end so for each answer that is thanked for: most have two answers
_OF_WORDS = 3.0  #: questions for each with one word: what tells a topic stands in a third of its questions
#: figures by which users say that questions are harder to answer, and the one that tells how far each moves
HARDER = {name: name for name in (CLARIFICATION_FREE, FREE_CONVERSATIONS, "resolved", "abandoned")} | {
    FOLLOW_UP: CLARIFICATION_FREE,
    FOLLOW_UP_PRECISION: CLARIFICATION_FREE,
    "conversation": "resolved",
}
#: which way each of those that tell moves where there is more of what is said, and that; the surest of them speaks
_TOLD_BY = {
    CLARIFICATION_FREE: (FALL, "follow-ups ask again"),
    FREE_CONVERSATIONS: (FALL, "conversations hold a complaint"),
    "resolved": (RISE, "conversations are resolved"),
    "abandoned": (RISE, "conversations are given up"),
}


def other_questions(
    deltas: Mapping[str, Difference],
    words: float,
    expected: Mapping[str, Difference],
    ranked: Collection[str],
    thanks: Difference | None = None,
    *,
    is_hidden: bool,
) -> list[RecordChange]:
    """Return what moved for the sake of what is asked.

    deltas: after − before of every figure; words, expected, ranked: as `Circumstances` has them; thanks: after − before
    of the share of answers that are thanked for; is_hidden: users' messages cannot be read on one side.
    """
    changes = (
        _others_asked(words, thanks, is_hidden=is_hidden) or _need_others(deltas, expected),
        _ask_harder(deltas, expected),
        _search_harder(deltas, expected, ranked),
    )
    return [change for change in changes if change is not None]


def _others_asked(words: float, thanks: Difference | None, *, is_hidden: bool) -> RecordChange | None:
    if words >= _AROUND and not is_hidden:
        why = f"one word came into {words:.0%} of the first questions, or went out of as many"
        most = dict.fromkeys((*BY_USERS, *BY_CONVERSATION, WITH_DOCUMENTS), 1.0)
        # A thanks that is not read as one looks like a question that nobody answers, and nothing else does.
        most |= dict.fromkeys(("unanswered", UNANSWERED_OF_ALL), _OF_THANKS * abs(thanks.value) if thanks else 0.0)
        return RecordChange(why, most, f"{why}: is something else written around users' messages in the log?")
    why = f"other questions are asked: one word came into {words:.0%} of the first ones, or went out of as many"
    return RecordChange(why, {WITH_DOCUMENTS: _OF_WORDS * words}) if words else None


def _need_others(deltas: Mapping[str, Difference], expected: Mapping[str, Difference]) -> RecordChange | None:
    given = deltas.get(WITH_DOCUMENTS)
    needs = expected[WITH_DOCUMENTS].value if WITH_DOCUMENTS in expected else 0.0
    if given is None or abs(needs) < _NEED or needs * given.value < 0:
        return None
    why = (
        f"other questions are asked: by their words, {abs(needs):.0%} {'more' if needs > 0 else 'fewer'} get documents"
    )
    return RecordChange(why, {WITH_DOCUMENTS: _OF_NEEDS * abs(needs)})


def _ask_harder(deltas: Mapping[str, Difference], expected: Mapping[str, Difference]) -> RecordChange | None:
    """Tell a release that answers worse from one that is asked more of what is answered worse in both."""
    moves = {name: expected[like] for name, like in HARDER.items() if like in expected}
    surest = min(moves.values(), key=lambda move: move.p, default=None)
    if surest is None or surest.p * len(_TOLD_BY) > PROMISE:  # each of them may have moved by chance
        return None
    if (silent := expected.get("silent")) is not None and silent.p <= PROMISE:
        moves["silent"] = silent
    most = {
        name: _OF_NEEDS * abs(move.value)
        for name, move in moves.items()
        if name in deltas and deltas[name].value * move.value > 0 and move.p <= PROMISE
    }
    name = next(name for name, move in moves.items() if move is surest)
    way, what = _TOLD_BY[name]
    why = f"other questions are asked: by their words, {abs(surest.value):.1%} {more(surest, way)} {what}"
    return RecordChange(why, most, note_of(surest, why), by_chance=True)


def _search_harder(
    deltas: Mapping[str, Difference], expected: Mapping[str, Difference], ranked: Collection[str]
) -> RecordChange | None:
    """Tell a search that ranks worse from one that is asked more of what it ranks worse on both sides."""
    move = expected.get(RANKS)
    if move is None or move.p > PROMISE:
        return None
    alike = [name for name in ranked if name in deltas and deltas[name].value * move.value > 0]
    way = "higher" if move.value > 0 else "lower"
    why = f"other questions are asked: by their words, what is cited stands {abs(move.value):.2f} {way}"
    return RecordChange(why, dict.fromkeys(alike, _OF_RANKS * abs(move.value)), note_of(move, why), by_chance=True)
