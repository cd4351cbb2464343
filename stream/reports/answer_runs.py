"""Answer runs: which of several assistant turns in a row is the answer, where no user spoke in between.

Assistants say "one moment", call tools, write in parts and put people through to others before they answer, and close
the chat when nobody writes any more. None of that is an answer of its own: figures that counted it would tell releases
apart by their manners, and a release that stops to say "one moment" would look mended.
"""

from collections.abc import Mapping
from typing import NamedTuple

from turnsignal.stream.statistics.directions import ANSWER_SECONDS, HANDED_ON, IN_PARTS, WITH_DOCUMENTS


class RunTurn(NamedTuple):
    """What decides whether a turn is the answer of its run.

    failed: it is none; documents: it was given some; handed: the user is put through to somebody, be it before, in
    this run or an earlier one.
    """

    failed: bool
    documents: bool
    handed: bool = False

    def replaces(self, earlier: "RunTurn") -> bool:
        """Say whether this turn is the answer in the place of an earlier one of its run.

        The last one is, and where it fails, so did the assistant. But a line that is given no documents takes nothing
        back of an answer out of documents ("I'll close this chat now").

        >>> RunTurn(failed=False, documents=True).replaces(RunTurn(failed=True, documents=False))
        True
        >>> RunTurn(failed=False, documents=False).replaces(RunTurn(failed=False, documents=True))
        False
        """
        return self.failed or self.documents or earlier.failed or not earlier.documents

    def is_another_part(self, earlier: "RunTurn") -> bool:
        """Say whether nothing but their length tells which of two turns of a run is the answer."""
        return not (self.failed or self.documents or earlier.failed or earlier.documents or earlier.handed)

    def behind_hand_off(self, figures: Mapping[str, float]) -> tuple["RunTurn", dict[str, float]]:
        """Return what this turn is, and its figures that no scorer gives, where a hand-off came runs before.

        Turns do not say who wrote them. So what has no documents is likely to be the person's, who is as fast as people
        are, and is counted as such; where documents come, the assistant is back.
        """
        if self.documents:
            return self, dict(figures)
        kept = {name: value for name, value in figures.items() if name != ANSWER_SECONDS}
        if HANDED_ON in kept:
            kept[HANDED_ON] = 1.0
        return self._replace(handed=True), kept

    def in_place_of(
        self, figures: Mapping[str, float], earlier: "RunTurn", before: Mapping[str, float]
    ) -> tuple["RunTurn", dict[str, float]]:
        """Return what this turn is, and the figures that no scorer gives, in the place of an earlier one of its run.

        figures, before: those of this turn and of the earlier one. How long it took is known by the first turn that did
        not fail: a part of it, or an answer behind which a line closes the conversation when nobody has written for
        long. A person to whom the user was put through is as fast as people are, and looks nothing up.
        """
        if earlier.handed and not self.documents:
            kept = {name: value for name, value in figures.items() if name not in (ANSWER_SECONDS, WITH_DOCUMENTS)}
            return self._replace(handed=True), kept
        if earlier.failed or self.failed:
            return self, dict(figures)
        kept = {name: value for name, value in figures.items() if name != ANSWER_SECONDS}
        if ANSWER_SECONDS in before:
            kept[ANSWER_SECONDS] = before[ANSWER_SECONDS]
        if self.documents == earlier.documents:
            kept[IN_PARTS] = 1.0
        return self, kept
