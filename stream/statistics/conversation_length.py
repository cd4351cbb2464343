"""Conversation length: what a figure of whole conversations owes to how many questions they hold.

Whoever asks five questions meets a bad answer more often than whoever asks one, of the same assistant. So where
conversations became longer, and no more of what follows an answer is a clarification, fewer conversations without any
are no worse; and where they became shorter, more of them are no better. Users who word their question anew instead of
complaining ask more of a release that answers worse: fewer complaints are no gain there, unless more are resolved.
"""

from collections.abc import Mapping
from typing import NamedTuple

from turnsignal.stream.records.scores import CLARIFICATION_FREE, FOLLOW_UP, FOLLOW_UP_PRECISION
from turnsignal.stream.statistics.directions import FALL, FREE_CONVERSATIONS, LEAST, QUESTIONS, RISE
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.promise import moved

#: figures of whole conversations, and how they move by themselves where these are longer
_WHERE_LONGER = {FREE_CONVERSATIONS: FALL, "resolved": FALL, "abandoned": RISE}
#: figures that rise where questions are worded anew in the place of complaints
OF_COMPLAINTS = (CLARIFICATION_FREE, FREE_CONVERSATIONS, FOLLOW_UP, FOLLOW_UP_PRECISION)
_HELPED = {"resolved": RISE, "abandoned": FALL}


class ConversationLength(NamedTuple):
    """How the number of questions in a conversation changed: on its scale, and as how many times as many."""

    change: Difference
    ratio: float

    @property
    def why(self) -> str:
        """The change in words."""
        return f"conversations have {self.ratio:.1f} times as many questions"

    def asked_anew(self, deltas: Mapping[str, Difference]) -> str:
        """Say that users ask more, and neither more are helped nor fewer give up; "" otherwise."""
        helped = [moved(deltas[name], way, 0.0) for name, way in _HELPED.items() if name in deltas]
        if not helped or any(helped) or not moved(self.change, RISE, 0.0):
            return ""
        return f"{self.why}, and no more are resolved: users may ask anew instead of complaining"

    def accounts_for(self, deltas: Mapping[str, Difference], least_change: float) -> set[str]:
        """Return the figures of conversations that moved as their length alone would move them.

        deltas: of all figures; least_change: the smallest difference that is worth naming. None where clarifications of
        answers say the same, or are not known.
        """
        way, by_answer = RISE if self.change.value > 0 else FALL, deltas.get(CLARIFICATION_FREE)
        if by_answer is None or moved(by_answer, -way, least_change) or not moved(self.change, way, LEAST[QUESTIONS]):
            return set()
        alone = ((name, by * way) for name, by in _WHERE_LONGER.items() if name in deltas)
        return {name for name, by in alone if by * deltas[name].value > 0}
