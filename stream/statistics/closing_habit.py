"""Closing habit: what a release may owe to asking, at the end of answers, what the other release does not ask.

Whoever replies "yes" to "did that help?", or "no" to "anything else?", might have left without a word. So a release
that begins to ask is heard more, and one that stops less, whatever the answers are worth: figures that moved no further
than such replies can move them are neither better nor worse for that.
"""

from typing import NamedTuple

from turnsignal.stream.records.scores import CLARIFICATION_FREE, FOLLOW_UP, FOLLOW_UP_PRECISION
from turnsignal.stream.statistics.directions import FREE_CONVERSATIONS, NO_ANSWER
from turnsignal.stream.statistics.intervals import Difference

#: Of answers that ask last whether they helped, and of those that ask what a reply takes leave to (for more, with an
#: offer, to end, for a rating): the share that gets a bare reply to that.
REPLIES = ("replies(to=helped)", "replies(to=more)")
#: what such answers do
ASKING = dict(zip(REPLIES, ("ask whether they helped", "ask for more or offer something"), strict=True))
NOTED = 0.3  #: change of the share of answers that ask so, from which on it is said by itself
#: figures of follow-ups; the others are of conversations
_OF_FOLLOW_UPS = (CLARIFICATION_FREE, FOLLOW_UP, FOLLOW_UP_PRECISION)


class ClosingHabit(NamedTuple):
    """How many replies one of two releases may owe to asking in closing what the other does not ask.

    of_follow_ups, of_conversations: of so many of these; why: how many answers of each ask; more: whether it is the
    later one that asks more; unanswered: share of conversations that end so, of the release with more of them; note:
    what is said of it wherever it changed much, "" elsewhere; helped: replies to whether it helped, per conversation,
    of the release that asks it more.
    """

    of_follow_ups: float = 0.0
    of_conversations: float = 0.0
    why: str = ""
    more: bool = True
    unanswered: float = 0.0
    note: str = ""
    helped: float = 0.0

    def accounts_for(self, name: str, delta: Difference) -> bool:
        """Say whether a figure may have moved as far as that by replies that came, or that no longer come.

        Who replies has no other wish, so more replies do not explain that more follow-ups ask to clarify; and in the
        place of replies no more messages are unanswered than elsewhere. A conversation without a reply is free of
        complaints, as one with a "yes" is: of those that ask whether they helped, only a "no" moves that. Of those that
        ask for a rating, a low one may stand for a complaint.
        """
        if name == CLARIFICATION_FREE and (delta.value > 0) is not self.more:
            return False
        if name == FREE_CONVERSATIONS and self.helped and (delta.value < 0) is not self.more:
            return False
        bound = self.of_follow_ups if name in _OF_FOLLOW_UPS else self.of_conversations
        bound *= self.unanswered if name in ("unanswered", NO_ANSWER) else 1.0
        return bound > 0 and delta.low <= bound and delta.high >= -bound
