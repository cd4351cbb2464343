"""Unread: follow-ups of which nobody can tell whether they complain, in languages that are not read, or hidden."""

from collections.abc import Iterable, Mapping
from typing import Any

from turnsignal.stream.records.scores import CLARIFICATION_FREE, FOLLOW_UP, Unscored
from turnsignal.stream.statistics.directions import BY_USERS, OF_FOLLOW_UPS

_MOSTLY = 0.5  #: share of follow-ups, beyond which those that are read say little of the others
_FEWEST, _ANY = 10, 0.05  #: follow-ups, and the share of them that rules recognise at least where they can be read
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
    """Say that most follow-ups are in languages that are not read, or that none is recognised; "" elsewhere.

    Texts that are hidden in a log ("[REDACTED]") are in no language, and nothing is recognised in them.
    """
    rows = list(scores)
    unread, n = count_unread(rows)
    if unread > _MOSTLY * n:
        return f"{unread:,} of {n:,} follow-ups are in languages that the rules do not read"
    of = [row for row in rows if row["scorer"] == FOLLOW_UP]
    known, unknown = sum(row["n"] for row in of), sum(row.get("unscored", {}).get(Unscored.NO_SIGNAL, 0) for row in of)
    if known + unknown < _FEWEST or known >= _ANY * (known + unknown):
        return ""
    return f"no rule recognises what {unknown:,} of {known + unknown:,} follow-ups say"
