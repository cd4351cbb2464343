"""Exact: chances of counts that are too small for anything that is nearly normal."""

import math


def fisher(both: int, first: int, second: int, n: int) -> float:
    """Return twice the chance of at least such an overlap, or of at most such a one, whichever is less (Fisher 1934).

    Of n things, how many have the first property, the second, and both; at most 1.

    >>> round(fisher(3, 4, 4, 8), 6)
    0.485714
    """
    neither = n - first - second
    chance = total = math.exp(_choose(second, both) + _choose(n - second, first - both) - _choose(n, first))
    if both * n >= first * second:
        while both < min(first, second) and chance > total * 1e-16:
            chance *= (second - both) * (first - both) / ((both + 1) * (neither + both + 1))
            total += chance
            both += 1
    else:
        while both > max(0, -neither) and chance > total * 1e-16:
            chance *= both * (neither + both) / ((second - both + 1) * (first - both + 1))
            total += chance
            both -= 1
    return min(1.0, 2 * total)


def sign_test(first: int, second: int) -> float:
    """Return how often so many of one kind and of another are as unlike, where both are as likely; two-sided.

    >>> round(sign_test(6, 0), 6), sign_test(3, 3)
    (0.03125, 1.0)
    """
    n, most = first + second, max(first, second)
    tail = math.fsum(math.exp(_choose(n, k) - n * math.log(2)) for k in range(most, n + 1))
    return min(1.0, 2 * tail)


def _choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
