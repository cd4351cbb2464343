"""Counts: numbers of things, as people read them."""


def count_of(n: int, noun: str) -> str:
    """Write a number of things.

    >>> count_of(1, "turn"), count_of(1200, "turn")
    ('1 turn', '1,200 turns')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
