"""Repeats: pieces of a prompt that say again what was said just before, which are read once.

Prompts are pasted together by programs, and may hold a rule, or all of their rules, a thousand times.
"""

from collections.abc import Hashable, Iterable
from typing import TypeVar

_Piece = TypeVar("_Piece", bound=Hashable)


def without_repeats(pieces: Iterable[_Piece]) -> list[_Piece]:
    """Leave out each run of pieces that is equal to the run right before it, however long; linear in the pieces.

    So what comes before a piece that is kept is the same as it was.

    >>> "".join(without_repeats("aaabcabcd")), "".join(without_repeats("abcbc")), "".join(without_repeats("abac"))
    ('abcd', 'abc', 'abac')
    """
    kept: list[_Piece] = []
    last: dict[_Piece, int] = {}
    period = run = 0  # how far back the pieces are that come again, and how many have
    for piece in pieces:
        at = len(kept)
        kept.append(piece)
        before = last.get(piece)
        is_same = bool(period) and at >= period and kept[at - period] == piece
        if not is_same:
            period, run = (at - before, 0) if before is not None else (0, 0)
        last[piece] = at
        run = run + 1 if period else 0
        if period and run == period:
            del kept[-period:]
            last.update(zip(kept[-period:], range(len(kept) - period, len(kept)), strict=True))
            period = run = 0
    return kept
