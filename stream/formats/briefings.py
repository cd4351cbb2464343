"""Briefings: what a program tells the model first in each conversation, as if the user had said it.

    conversation 1   sends: "My name is Ada." "Understood." "How?"     gets: So.
    conversation 2   sends: "My name is Bob." "Understood." "Why?"     gets: Because.

Nobody said that: nearly all conversations have the same answer first, no call of the log gave it, and what stands
before it begins alike. Where everybody is told the same, it is one of the `examples`.
"""

from collections import Counter
from collections.abc import Sequence

from turnsignal.stream.formats.asides import answer_of, begun_by
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.repeats import alike

_FEWEST = 5  #: conversations of several calls that begin so,
_NEARLY_ALL = 0.9  #: and how many of those with the same instructions
_BEGUN = 8  #: characters with which each begins


class Briefings:
    """What stands before the first answer of conversations. openings, conversations: of each call."""

    def __init__(self, openings: Sequence[bytes], conversations: Sequence[str]) -> None:
        of: dict[str, tuple[bytes, bytes]] = {}  # conversation → its instructions and its first answer
        calls = Counter(conversations)
        for conversation, opening in zip(conversations, openings, strict=True):
            if conversation:
                instructions, _, answer = begun_by(opening)
                before = of.setdefault(conversation, (instructions, answer))
                if before[1] != answer:
                    of[conversation] = before[0], b""
        instructed = Counter(instructions for instructions, _ in of.values())
        begun_alike = Counter(begun for begun in of.values() if begun[1])
        several = Counter(answer for conversation, (_, answer) in of.items() if calls[conversation] > 1)
        usual = {answer for (under, answer), times in begun_alike.items() if times >= _NEARLY_ALL * instructed[under]}
        usual = {answer for answer in usual if several[answer] >= _FEWEST}
        usual.difference_update(map(answer_of, openings if usual else ()))
        self._of = {conversation: answer for conversation, (_, answer) in of.items() if answer in usual}
        self._begun: dict[bytes, str] = {}  # such an answer → how what stands before it begins

    def __bool__(self) -> bool:
        return bool(self._of)

    def compare(self, conversation: str, call: Call) -> None:
        """Take what a call begins with; called for each call before the first `count_in`."""
        if (answer := self._of.get(conversation)) is not None:
            first = spoken_in(call.inputs)[0].text.strip()
            begun = self._begun.get(answer, first)
            self._begun[answer] = begun[: alike(begun, first)]

    def count_in(self, conversation: str, spoken: Sequence[Message]) -> int:
        """Return how many first messages of a call are a briefing and its answer."""
        answer = self._of.get(conversation)
        if answer is None or len(self._begun[answer]) < _BEGUN:
            return 0
        pair = spoken[:2]
        return len(pair) if [message.role for message in pair] == ["user", "assistant"] else 0
