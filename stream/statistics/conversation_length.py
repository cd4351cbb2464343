"""Conversation length: what a figure of whole conversations owes to how many questions they hold.

Whoever asks five questions meets a bad answer more often than whoever asks one, of the same assistant. So where
conversations became longer, and no more of what follows an answer is a clarification, fewer conversations without any
are no worse; and where they became shorter, more of them are no better. Users who word their question anew instead of
complaining ask more of a release that answers worse: fewer complaints are no gain there, unless more are resolved. And
where each answer holds only a part, users ask for the rest: they are heard more, and complaints are fewer among what
they say, of as many conversations. Who has less to ask thanks as often as before, for fewer answers; who leaves without
a word does not thank.
"""

from collections.abc import Mapping
from typing import NamedTuple

from turnsignal.stream.records.scores import CLARIFICATION_FREE
from turnsignal.stream.statistics.directions import FALL, FREE_CONVERSATIONS, LEAST, OF_FOLLOW_UPS, QUESTIONS, RISE
from turnsignal.stream.statistics.intervals import Difference
from turnsignal.stream.statistics.promise import moved

#: figures of whole conversations, and how they move by themselves where these are longer
_WHERE_LONGER = {FREE_CONVERSATIONS: FALL, "resolved": FALL, "abandoned": RISE}
_HEARD = ("silent", "resolved", "conversation")  #: figures that say whether users write anything good behind an answer
_THANKS = 0.03  #: share of answers that are thanked for, from which on it says whether users are content
_HELPED = {"resolved": RISE, "abandoned": FALL}  #: how figures move where more are helped
_CONTENT = {FREE_CONVERSATIONS: RISE, "abandoned": FALL}  #: and where fewer conversations hold a complaint


class ConversationLength(NamedTuple):
    """How the number of questions in a conversation changed: on its scale, and as how many times as many.

    thanked: how the share of answers that users thank for did, and that share before; None where it is not known;
    clarified: share of follow-ups that ask to clarify, of the side with more; follow_ups: how many times as many
    a conversation holds.
    """

    change: Difference
    ratio: float
    thanked: tuple[Difference, float] | None = None
    clarified: float = 0.0
    follow_ups: float = 1.0

    @property
    def why(self) -> str:
        """The change in words."""
        return f"conversations have {self.ratio:.1f} times as many questions"

    def not_better(self, deltas: Mapping[str, Difference]) -> dict[str, str]:
        """Return the figures that are not better since users ask more, and no more are helped, with the reason."""
        withheld: dict[str, str] = {}
        if moved(self.change, RISE, LEAST[QUESTIONS]) and _none_of(_CONTENT, deltas, RISE):
            why = f"{self.why}, and no fewer of them hold a complaint: users may have to ask for the rest"
            withheld |= dict.fromkeys((*OF_FOLLOW_UPS, *_HEARD), why)
        if moved(self.change, RISE, 0.0) and _none_of(_HELPED, deltas, RISE):
            why = f"{self.why}, and no more are resolved: users may ask anew instead of complaining"
            withheld |= dict.fromkeys((*OF_FOLLOW_UPS, FREE_CONVERSATIONS), why)
        return withheld

    def not_worse(self, deltas: Mapping[str, Difference]) -> dict[str, str]:
        """Return the figures that are not worse since users ask less, and no more complain, with the reason."""
        if not moved(self.change, FALL, 0.0) or not _none_of(_CONTENT, deltas, FALL):
            return {}
        why = f"{self.why}, and no more of them hold a complaint"
        withheld = {}
        if moved(self.change, FALL, LEAST[QUESTIONS]) and self._explains(deltas.get(CLARIFICATION_FREE)):
            withheld = dict.fromkeys(OF_FOLLOW_UPS, why)
        if self._thank_as_before:
            withheld |= dict.fromkeys(_HEARD, f"{why}, and as many are thanked for: users may have less to ask")
        return withheld

    def _explains(self, free: Difference | None) -> bool:
        """Say whether as many complaints among fewer follow-ups may make up for the fall of those without any.

        Where still more of them complain, users leave instead of asking, whatever they would have asked.
        """
        if free is None or free.value >= 0:
            return True
        before = self.clarified + free.value
        return before - free.high <= before / max(self.follow_ups, before)

    @property
    def _thank_as_before(self) -> bool:
        """Whether thanks are nearer to being as many in each conversation than to being as many of all answers."""
        if self.thanked is None:
            return False
        delta, before = self.thanked
        return before >= _THANKS and delta.value >= before * (1 / self.ratio - 1) / 2

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


def _none_of(ways: Mapping[str, int], deltas: Mapping[str, Difference], sign: int) -> bool:
    """Say that some of these figures are known, and none moved that way, or the other one for a sign of -1."""
    known = [moved(deltas[name], sign * way, 0.0) for name, way in ways.items() if name in deltas]
    return bool(known) and not any(known)
