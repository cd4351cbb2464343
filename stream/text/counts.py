"""Counts: numbers, shares and names of things, as people read them."""

from collections.abc import Sequence


def count_of(n: int, noun: str) -> str:
    """Write a number of things.

    >>> count_of(1, "turn"), count_of(1200, "turn")
    ('1 turn', '1,200 turns')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def share_of(value: float) -> str:
    """Write a share in percent, with a digit behind the point where it is small.

    >>> share_of(0.204), share_of(0.0652)
    ('20%', '6.5%')
    """
    return f"{value:.0%}" if value >= 0.1 else f"{100 * value:.2g}%"


def listed(names: Sequence[str], of: int) -> str:
    """Write some names, and how many are left out.

    >>> listed(["a", "b"], 2), listed(["a", "b"], 5)
    ('a and b', 'a, b and 3 more')
    """
    if of > len(names):
        return f"{', '.join(names)} and {of - len(names)} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
