"""Misspelt names: what may be meant by a name that there is not."""

from collections.abc import Iterable
from difflib import get_close_matches

_LIKE = 0.6  #: how alike two names must be, 0 to 1
_SHOWN = 80  #: characters of a name in a message


def nearest(name: str, known: Iterable[str], at_most: int = 1, like: float = _LIKE) -> list[str]:
    """Return the known names that are most like one, the nearest first. like: how alike, 0 to 1."""
    return get_close_matches(name, list(known), n=at_most, cutoff=like)


def hint(name: str, known: Iterable[str], otherwise: str | None = None) -> str:
    """Say which known name may be meant; where none is near, `otherwise`, and without that all there are.

    >>> hint("grounded", ["follow_up", "groundedness"]), hint("tone", ["follow_up", "groundedness"])
    ('did you mean groundedness?', 'known are follow_up, groundedness')
    """
    names = list(known)
    if near := nearest(name, names):
        return f"did you mean {near[0]}?"
    return f"known are {', '.join(names)}" if otherwise is None else otherwise


def got(name: str, known: Iterable[str]) -> str:
    """Say which name came, cut short, and which known one may be meant.

    >>> got("grounded", ["follow_up", "groundedness"]), got("tone", ["follow_up", "groundedness"])
    ("got 'grounded'; did you mean groundedness?", "got 'tone'")
    """
    near = nearest(name, known)
    return f"got {name[:_SHOWN]!r}" + (f"; did you mean {near[0]}?" if near else "")
