"""Closing habits: how often two releases ask at the end of their answers, and how many bare replies they get."""

from collections.abc import Sequence
from typing import NamedTuple

from turnsignal.stream.follow_ups.closings import asks_to_leave, asks_whether_it_helped
from turnsignal.stream.follow_ups.contexts import TAIL
from turnsignal.stream.records.scores import CLARIFICATION_FREE
from turnsignal.stream.reports.release_totals import UNANSWERED, ReleaseTotals
from turnsignal.stream.statistics.closing_habit import ASKING, NOTED, REPLIES, ClosingHabit
from turnsignal.stream.statistics.directions import THANKED


class _QuestionsAsked(NamedTuple):
    """One kind of closing question: share of answers that ask it, replies ÷ answers, ÷ follow-ups, ÷ conversations."""

    asking: float
    of_answers: float
    of_follow_ups: float
    of_conversations: float


def closing_habit(names: Sequence[str], before: ReleaseTotals, after: ReleaseTotals) -> ClosingHabit:
    """Return what one of two releases may owe to asking in closing what the other does not ask.

    names: of figures, in the order of the totals. Where both ask as often, users who reply less say something. Who
    thanks without being asked would have replied, too: only what comes beyond that is owed to asking.
    """
    of_follow_ups = of_conversations = most_replies = helped = 0.0
    asked, then = _questions_asked(names, before), _questions_asked(names, after)
    more_thanks = _unasked_thanks(names, after) - _unasked_thanks(names, before)
    owed = _owed(_replied(asked), _replied(then), more_thanks)
    why, more, notes = "", True, []
    for kind, was, became in zip(REPLIES, asked, then, strict=True):
        if (most := max(was.asking, became.asking)) > 0:
            change = became.asking - was.asking
            new = abs(change) / most  # share of the replies that the habit may have brought
            asking = f"{became.asking:.0%} of answers {ASKING[kind]}, {was.asking:.0%} before"
            if abs(change) >= NOTED:
                notes.append(asking)
            of_follow_ups += owed * new * max(was.of_follow_ups, became.of_follow_ups)
            replies = new * max(was.of_conversations, became.of_conversations)
            of_conversations += owed * replies
            helped += replies if kind == REPLIES[0] else 0.0
            if replies > most_replies:
                most_replies, more = replies, change > 0
                why = asking
    unanswered = max(totals.outcomes[UNANSWERED] / max(1, totals.outcomes.total()) for totals in (before, after))
    note = "; ".join(notes)
    return ClosingHabit(
        of_follow_ups, of_conversations, why, more=more, unanswered=unanswered, note=note, helped=helped
    )


def thanked(names: Sequence[str], totals: ReleaseTotals) -> float:
    """Return the share of answers behind which users thank, or reply in a word to whether it helped, or to the like."""
    return _replied(_questions_asked(names, totals)) + _unasked_thanks(names, totals)


def _replied(asked: Sequence[_QuestionsAsked]) -> float:
    """Return the share of answers that get a bare reply to what they ask in closing."""
    return sum(kind.of_answers for kind in asked)


def _owed(before: float, after: float, more_thanks: float) -> float:
    """Return the share of replies that no thanks take the place of in the release that asks less.

    before, after: shares of answers that are replied to; more_thanks: by how much unasked thanks grew.
    """
    gone = before - after
    return 1.0 - min(1.0, max(0.0, more_thanks / gone)) if gone else 1.0


def _unasked_thanks(names: Sequence[str], totals: ReleaseTotals) -> float:
    """Return the share of answers behind which users thank, where nothing that the answer asks accounts for it."""
    thanks = totals.sums(names.index(THANKED)).total if THANKED in names else 0.0
    return thanks / max(1.0, float(totals.answered[1]))


def _questions_asked(names: Sequence[str], totals: ReleaseTotals) -> list[_QuestionsAsked]:
    read = totals.sums(names.index(CLARIFICATION_FREE)).turns if CLARIFICATION_FREE in names else 0.0
    answers, conversations = float(totals.answered[1]), totals.outcomes.total()
    replies = [totals.sums(names.index(kind)) for kind in REPLIES]
    return [
        _QuestionsAsked(
            sums.turns / max(1.0, answers),
            sums.total / max(1.0, answers),
            sums.total / max(1.0, read),
            sums.total / max(1, conversations),
        )
        for sums in replies
    ]


def closing_question(answer: str) -> str | None:
    """Return the figure of bare replies to what an answer asks last; None where it asks nothing of the kind."""
    helped, leaving = REPLIES
    end = answer[-TAIL:]
    if asks_whether_it_helped(end):
        return helped
    return leaving if asks_to_leave(end) else None
