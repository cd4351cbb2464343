"""Pasted documents: what was found stands in what users are taken to have said, and nothing tells where it begins.

Where is my card?

Sources:
Cards are in the app. …
"""

import re

from turnsignal.stream.formats.protocol import TurnFields
from turnsignal.stream.formats.templates import FINDINGS
from turnsignal.stream.text.visible import one_line

_FEWEST = 5  #: questions,
_SHARE = 0.5  #: of which so many hold documents
_BEHIND = 100  #: characters behind the label, which are more than a user writes there
_SHOWN = 60
_LABEL = re.compile(
    rf"^[*#\[ ]{{0,4}}(?:[^\W\d_]{{1,20}} ){{0,2}}(?:{'|'.join(sorted(FINDINGS))})[*\]]{{0,2}}:",
    re.IGNORECASE | re.MULTILINE,
)


class PastedDocuments:
    """Questions of a log that hold documents, once what a program put around them is off."""

    def __init__(self) -> None:
        self._questions = self._holding = 0
        self._shown = ""

    def add(self, turn: TurnFields) -> None:
        """Take in a turn, as it is given."""
        if turn["role"] != "user":
            return
        self._questions += 1
        label = _LABEL.search(turn["text"])
        if label is not None and len(turn["text"]) - label.end() > _BEHIND:
            self._holding += 1
            self._shown = self._shown or one_line(turn["text"][label.start() :], _SHOWN)

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say that many hold documents. quoted: with the first of them."""
        if self._holding < max(_FEWEST, _SHARE * self._questions):
            return []
        shown = f", such as “{self._shown}”" if quoted else ""
        doubt = (
            f"{self._holding:,} of {self._questions:,} questions hold documents{shown}: where a program put these "
            "there, its words count as what users said; log what was typed, or map the field that holds it (--propose)"
        )
        return [doubt]
