"""Verdicts on complete exchanges, packed: a string of marks, which costs nothing while nobody asks for them.

A conversation is read and written again with every turn and every verdict. What is complete seldom changes any more,
and would be most of that work. Each mark carries its exchange; those of one exchange stand together, the oldest first.
"""

from collections.abc import Callable
from struct import Struct

_MARK = Struct(">d6s6sBIhI6s")
BYTES = _MARK.size  #: of one mark
_HEAD = Struct(">d6s")  # the exchange of a mark
_ROW, _SCORER = 8, 20  # where they begin in a mark

#: The mark of one verdict: event time and digest of the row of its exchange, then the fields of a `VerdictMark`.
pack_mark = _MARK.pack
unpack_marks = _MARK.iter_unpack


def find(packed: bytes, row: bytes, time: float | None = None) -> tuple[int, int] | None:
    """Return where the marks of an exchange begin and end, by the digest of its row; None where there are none.

    time: its event time; None where the row alone says which.
    """
    wanted, at = (row, _ROW) if time is None else (_HEAD.pack(time, row), 0)
    begin = packed.find(wanted)
    while begin >= 0 and begin % BYTES != at:
        begin = packed.find(wanted, begin + 1)
    if begin < 0:
        return None
    begin -= at
    return begin, begin + end_of_first(packed[begin:])


def insert(packed: bytes, new: bytes, time: float) -> bytes:
    """Add the marks of an exchange where its event time puts it."""
    at = len(packed)
    if first(packed, at - BYTES)[0] < time:  # as nearly always
        return packed + new
    when = first(new)
    while at and first(packed, at - BYTES) > when:
        at -= BYTES
    return packed[:at] + new + packed[at:]


#: Return the event time and the row of the first exchange, or of that whose mark begins at a place.
first: Callable[..., tuple[float, bytes]] = _HEAD.unpack_from


def end_of_first(packed: bytes) -> int:
    """Return where the marks of the oldest exchange end."""
    end, head = BYTES, packed[: _HEAD.size]
    while packed.startswith(head, end):
        end += BYTES
    return end


def renumber(packed: bytes, first: int) -> bytes:
    """Count the numbers of scorers on by one, from a number on."""
    changed = bytearray(packed)
    for at in range(_SCORER, len(changed), BYTES):
        changed[at] += changed[at] >= first
    return bytes(changed)
