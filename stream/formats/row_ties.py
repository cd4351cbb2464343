"""Row ties: rows of a conversation that have one time, and stand as a database happened to give them.

id   role       created_at               Where ids rise with the times of a log, they tell which was said first. Where
7b   assistant  2026-05-04 09:00:03      they do not, as here, roles do: a question stands before the answer that has
1c   user       2026-05-04 09:00:03      its time, unless more of the roles around both alternate as the rows stand.
3d   user       2026-05-04 09:01:07
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from turnsignal.stream.formats.protocol import Assumed, Row, TurnFields
from turnsignal.stream.formats.values import seconds, timestamp

BY_IDS = "rows of one time in another order than that of their ids, put in that"
BY_ROLES = "answers that stood before the question of the same time, put behind it"
UNSETTLED = "conversations in which rows of one time stand so that answers may come before their questions"
_STEP = 0.001  #: seconds by which a row of one time is put before the one behind it
_KEPT = 10_000  #: conversations whose last row is remembered; of more, those that came longest ago are forgotten
_SELDOM = 20  #: of so many times that ids rise with times, once they may not
_SHOWN = 10  #: times that ids which are no numbers have to, so that it is no chance
_KNOWN = 5  #: questions before the answer of the same time, from which on rows may stand as they were said,
_SWAPPED = 10  #: where so many times fewer stand behind it
_AGAIN, _ODD = 2, 1  #: what speaks against an order: one role twice in a row; an answer first, or a question last


class _Placed(NamedTuple):
    """A row, with its time and its role; "" where it is a step on the way to an answer."""

    row: Row
    time: float
    role: str


class _Last(NamedTuple):
    """What is remembered of a row: its time, its own id and its role."""

    time: float
    named: str
    role: str


class RowTies:
    """What the rows of a log say of the order of those that have one time."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[_Last, _Last | None]] = {}  # conversation → its last row, and that before
        self._with = self._against = 0  # rows whose id rises, or falls, where the time of the conversation does
        self._asked_first = self._answered_first = 0  # behind an answer, questions and answers of one time

    def add(self, row: Row) -> None:
        """Take in the next row."""
        if (time := seconds(row.turn.get("timestamp"))) is None:
            return
        conversation = str(row.turn.get("conversation_id"))
        before, earlier = self._last.pop(conversation, (None, None))
        last = _Last(time, _id_of(row.turn), _role_of(row))
        self._last[conversation] = last, before
        if len(self._last) > _KEPT:
            del self._last[next(iter(self._last))]
        if before is None:
            return
        if before.time != time and _are_alike([before.named, last.named]):
            is_with = (before.time < time) == (_rank(before.named) < _rank(last.named))
            self._with += is_with
            self._against += not is_with
        if before.time == time and earlier is not None and earlier.time != time and earlier.role == "assistant":
            self._asked_first += (before.role, last.role) == ("user", "assistant")
            self._answered_first += (before.role, last.role) == ("assistant", "user")

    def settle(self, rows: Sequence[Row], assumed: Assumed) -> None:
        """Give those rows of one conversation that have one time another each, where they stand in no right order."""
        times = [seconds(row.turn.get("timestamp")) for row in rows]
        known = [time for time in times if time is not None]
        if len(known) < len(rows) or len(set(known)) == len(known):
            return
        placed = [_Placed(row, time, _role_of(row)) for row, time in zip(rows, known, strict=True)]
        placed = sorted((each for each in placed if each.role != "system"), key=lambda each: each.time)
        groups = [list(group) for _, group in groupby(placed, lambda each: each.time)]
        tied: set[int] = set()  # lines of rows of which no id tells the order
        for at, group in enumerate(groups):
            if len(group) > 1 and self._do_ids_tell([_id_of(each.row.turn) for each in group]):
                groups[at] = sorted(group, key=lambda each: _rank(_id_of(each.row.turn)))
                assumed[BY_IDS] += _space(group, groups[at])
            elif len(group) > 1:
                tied.update(each.row.line for each in group)
        if not tied or self._asked_first >= max(_KNOWN, self._answered_first * _SWAPPED):
            return
        for group, is_turned in zip(groups, _turned(groups, tied), strict=True):
            if is_turned:
                _space(group, group[::-1])
                assumed[BY_ROLES] += 1
                group.reverse()
        assumed[UNSETTLED] += _look_reversed([each for group in groups for each in group], tied)

    def _do_ids_tell(self, ids: Sequence[str]) -> bool:
        is_shown = all(map(str.isdecimal, ids)) or self._with >= _SHOWN
        return is_shown and self._against * _SELDOM <= self._with and len(set(ids)) == len(ids) and _are_alike(ids)


def _id_of(turn: TurnFields) -> str:
    """Return the id that a row has of its own, "" for one that was made of its file and line."""
    named = str(turn.get("turn_id") or "")
    return "" if ":" in named else named


def _are_alike(ids: Sequence[str]) -> bool:
    """Say whether ids can be compared: all are numbers, or as long as one another."""
    return all(ids) and (all(map(str.isdecimal, ids)) or len(set(map(len, ids))) == 1)


def _rank(named: str) -> tuple[int, str]:
    return (int(named), "") if named.isdecimal() else (0, named)


def _role_of(row: Row) -> str:
    return "" if row.step else str(row.turn.get("role"))


def _space(before: Sequence[_Placed], after: Sequence[_Placed]) -> int:
    """Put rows of one time a thousandth of a second before each other in their new order; return how many moved."""
    moved = sum(old is not new for old, new in zip(before, after, strict=True))
    for behind, placed in enumerate(reversed(after)):
        if moved and behind:
            placed.row.turn["timestamp"] = timestamp(placed.time - behind * _STEP)
    return moved


def _turned(groups: Sequence[Sequence[_Placed]], tied: set[int]) -> list[bool]:
    """Say which groups are an answer and its question, in this order, that have to change places."""
    best: dict[str, tuple[int, list[bool]]] = {"": (0, [])}  # role of the last row → the best way to it
    for group in groups:
        roles = [each.role for each in group]
        ways = [(False, roles)]
        if roles == ["assistant", "user"] and group[0].row.line in tied:
            ways.append((True, roles[::-1]))
        reached: dict[str, tuple[int, list[bool]]] = {}
        for last, (costs, turned) in best.items():
            for is_turned, order in ways:
                is_first = not turned and order[0] == "assistant"
                sums = costs + _ODD * is_first + _AGAIN * sum(_is_again(*pair) for pair in pairwise([last, *order]))
                if order[-1] not in reached or sums < reached[order[-1]][0]:
                    reached[order[-1]] = sums, [*turned, is_turned]
        best = reached
    return min((costs + _ODD * (last == "user"), turned) for last, (costs, turned) in best.items())[1]


def _is_again(role: str, following: str) -> bool:
    return role == following != ""


def _look_reversed(placed: Sequence[_Placed], tied: set[int]) -> bool:
    """Say whether rows of one time stand where an answer answers nothing, and a question has no answer."""
    odd = set(_odd_at(placed, tied))
    return {"user", "assistant"} <= odd


def _odd_at(placed: Sequence[_Placed], tied: set[int]) -> Iterator[str]:
    """Give the role of each row of one time that comes twice in a row, of an answer first, or a question last."""
    for before, behind in pairwise(placed):
        if _is_again(before.role, behind.role) and tied & {before.row.line, behind.row.line}:
            yield before.role
    ends = ((placed[0], "assistant"), (placed[-1], "user"))
    yield from (role for each, role in ends if each.role == role and each.row.line in tied)
