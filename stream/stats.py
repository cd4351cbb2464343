"""Running means by scorer, small enough to be carried in every conversation's state."""

from collections.abc import Iterable

#: scorer → [count, sum]; plain lists, because they go to JSON and back with every batch
Means = dict[str, list[float]]


def add(means: Means, values: Iterable[tuple[str, float]], sign: int = 1) -> None:
    """Add scores, or take them out with sign −1; a scorer without observations leaves.

    >>> means: Means = {}
    >>> add(means, [("nDCG@5", 0.5), ("nDCG@5", 1.0)])
    >>> means
    {'nDCG@5': [2, 1.5]}
    """
    for scorer, value in values:
        mean = means.get(scorer)
        if mean is None:
            means[scorer] = [sign, sign * value]
        else:
            mean[0] += sign
            mean[1] += sign * value
            if mean[0] == 0:
                del means[scorer]


def mean(means: Means, scorer: str) -> float | None:
    """Return the mean of a scorer, None without observations."""
    found = means.get(scorer)
    return found[1] / found[0] if found else None
