"""A record change: what was asked or written down otherwise, which figures that may move, and how it is said."""

from collections.abc import Mapping
from typing import NamedTuple

from turnsignal.stream.statistics.directions import BETTER, NO_ANSWER, RISE, WORSE
from turnsignal.stream.statistics.intervals import Difference

#: p from which on a change of the record is said by itself; what it explains is claimed less from 0.05 on
SURE = 0.001


class RecordChange(NamedTuple):
    """One change of what was asked or written down.

    why: in words; most: figures that it may move → how far; note: a sentence of its own, "" for none; withdraws: words
    that do not hold then; by_chance: what goes beyond has to be shown, too; unranks: of the release with more of it,
    the order of documents says nothing of the search.
    """

    why: str
    most: Mapping[str, float]
    note: str = ""
    withdraws: tuple[str, ...] = (WORSE, BETTER)
    by_chance: bool = False
    unranks: bool = False

    def accounts_for(self, name: str, delta: Difference) -> bool:
        """Say whether a figure may have moved as far by that alone."""
        most = self.most.get("unanswered" if name == NO_ANSWER else name, -1.0)
        if self.by_chance:
            return most >= 0 and delta.low <= most and delta.high >= -most
        return abs(delta.value) <= most


def note_of(change: Difference, sentence: str) -> str:
    """Return a sentence of its own for a change that is sure, "" for others."""
    return sentence if change.p <= SURE else ""


def more(delta: Difference, way: int = RISE) -> str:
    """Say whether there is more or less of something; way: the figure's where there is more."""
    return "more" if way * delta.value > 0 else "fewer"
