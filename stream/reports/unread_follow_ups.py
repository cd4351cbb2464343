"""Unread: follow-ups in languages that the rules do not read, of which nobody can tell whether they complain."""

from collections.abc import Iterable, Mapping
from typing import Any

from turnsignal.stream.records.scores import CLARIFICATION_FREE, Unscored
from turnsignal.stream.statistics.directions import BY_USERS, OF_FOLLOW_UPS

_MOSTLY = 0.5  #: share of follow-ups, beyond which those that are read say little of the others
OF_USERS = {*BY_USERS, *OF_FOLLOW_UPS, "conversation", "clarified"}  #: figures that rest on what is read of users


def count_unread(scores: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """Return how many follow-ups are in languages that are not read, and how many came; scores: of a summary."""
    unread = n = 0
    for row in scores:
        if row["scorer"] == CLARIFICATION_FREE:
            other = row.get("unscored", {}).get(Unscored.LANGUAGE, 0)
            unread, n = unread + other, n + row["n"] + other
    return unread, n


def mostly_unread(scores: Iterable[Mapping[str, Any]]) -> str:
    """Say that most follow-ups are in languages that are not read; "" where they are not."""
    unread, n = count_unread(scores)
    if unread <= _MOSTLY * n:
        return ""
    return f"{unread:,} of {n:,} follow-ups are in languages that the rules do not read"
