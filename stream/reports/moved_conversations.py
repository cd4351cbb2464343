"""Moved conversations: those that two sides of a comparison score most differently, so that they can be read."""

import heapq
from collections import defaultdict
from typing import Any, NamedTuple


class SideScore(NamedTuple):
    """What one side says of an exchange by one scorer."""

    value: float | None
    label: str | None
    explanation: str | None


class Moved(NamedTuple):
    """The conversation that moved by so much over all scorers, and where most.

    by: sum of absolute differences; scorer, turn_id, before, after: the greatest of them.
    """

    by: float
    conversation_id: str
    turn_id: str
    scorer: str
    before: SideScore
    after: SideScore

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        sides = {"before": self.before._asdict(), "after": self.after._asdict()}
        return {**self._asdict(), "by": round(self.by, 6), **sides}


class MovedConversations:
    """Conversations by how far they moved: `add` every difference of a score, then `furthest`."""

    def __init__(self) -> None:
        self._by: defaultdict[str, float] = defaultdict(float)
        self._most: dict[str, Moved] = {}

    def add(self, moved: Moved) -> None:
        """Take in how far one score of a conversation moved."""
        conversation = moved.conversation_id
        self._by[conversation] += moved.by
        most = self._most.get(conversation)
        if most is None or moved.by > most.by:
            self._most[conversation] = moved

    def furthest(self, count: int) -> list[Moved]:
        """Return so many of those that moved most, the furthest first, each by all of its scores."""
        names = heapq.nsmallest(count, self._by, key=lambda name: (-self._by[name], name))
        return [self._most[name]._replace(by=self._by[name]) for name in names]
