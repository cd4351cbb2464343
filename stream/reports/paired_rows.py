"""Paired rows: the rows of two replays of the same turns, brought together by exchange and stage."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.scores import Stage

Row = Mapping[str, Any]
_Place = tuple[str, str, str, str | None, str | None]  # conversation, turn, stage, follow-up, feedback or judge
_MOST_WAITING = 100_000  # rows of one side that the other has not yet: more are not of the same turns


def replaced_rows(rows: Iterable[Row]) -> set[str]:
    """Return the ids of the rows that later ones correct."""
    return {replaced for row in rows if (replaced := row.get("replaces")) is not None}


def pair_rows(before: Iterable[Row], after: Iterable[Row]) -> Iterator[tuple[Row, Row]]:
    """Give the rows of the same exchange and stage of two replays, those left out that later ones correct.

    Both come in the order in which they were written, which is the same but for what a suite changes. Verdicts that
    only one side has are left out: it was replayed with others, or without. Raises TurnsignalError with the first other
    row that only one side has.
    """
    waiting: tuple[dict[_Place, Row], dict[_Place, Row]] = ({}, {})
    for rows in zip_longest(before, after):
        for side, row in enumerate(rows):
            if row is None:
                continue
            place = _place(row)
            other = waiting[1 - side].pop(place, None)
            if other is None:
                waiting[side][place] = row
            else:
                yield (row, other) if side == 0 else (other, row)
        if len(waiting[0]) + len(waiting[1]) > _MOST_WAITING:
            break
    for side, name in ((0, "first"), (1, "second")):
        ruled = (place for place in waiting[side] if place[2] != Stage.VERDICT)
        if (first := next(ruled, None)) is not None:
            conversation, turn, stage, *_ = first
            msg = (
                f"expected two replays of the same turns, got turn {turn!r} of {conversation!r} (stage {stage}) in the"
                f" {name} alone; two systems that were asked the same questions are compared with --systems, one week"
                " with another by `turnsignal replay` of both at once, with their versions or --released TIME"
            )
            raise TurnsignalError(msg)


def _place(row: Row) -> _Place:
    about = row.get("verdict")
    beside = (row.get("feedback") or {}).get("id") if about is None else f"{about['rubric']} {about['judge']}"
    return row["conversation_id"], row["turn_id"], row["stage"], row.get("follow_up"), beside
