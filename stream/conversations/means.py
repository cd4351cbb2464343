"""Running means, small and fast enough to be carried in every conversation's state.

A flat list of numbers, `[count, sum, count, sum, …]`, in the order of the suite's scorers: it is encoded and decoded
with every batch, and names would cost more than the numbers.
"""

from collections.abc import Iterable, Sequence
from operator import add as plus

from turnsignal.stream.records.summaries import ScoreMean

#: [count, sum] of every scorer in the suite's order; counts are whole numbers
Means = list[int | float]


def empty(scorers: int) -> Means:
    """Return the means of so many scorers before the first observation."""
    return [0] * (2 * scorers)


def add(means: Means, positions: Sequence[int], values: Sequence[float]) -> None:
    """Add values to the means; positions: each scorer's position in the suite, times two, the greatest last.

    >>> means = empty(2)
    >>> add(means, (2,), (0.5,))
    >>> means
    [0, 0, 1, 0.5]
    """
    if positions and positions[-1] >= len(means):
        widen(means, positions[-1] + 2)
    for number, position in enumerate(positions):  # to zip them takes longer than to add them up
        means[position] += 1
        means[position + 1] += values[number]


def merge(means: Means, other: Means) -> None:
    """Add everything that `other` has, in place; the shorter of the two has nothing of the scorers that it lacks."""
    if len(means) < len(other):
        widen(means, len(other))
    means[: len(other)] = map(plus, means, other)


def widen(means: Means, size: int) -> Means:
    """Return the same means, with nothing observed up to `size` numbers."""
    means.extend([0] * (size - len(means)))
    return means


def retract(means: Means, positions: Iterable[int], values: Iterable[float]) -> None:
    """Retract values; a scorer without observations is exactly empty."""
    for position, value in zip(positions, values, strict=True):
        means[position] -= 1
        means[position + 1] = means[position + 1] - value if means[position] else 0


def mean(means: Means, position: int) -> float | None:
    """Return the mean of the scorer at `position`, None without observations."""
    return means[position + 1] / means[position] if means[position] else None


def named(means: Means, scorers: Sequence[str]) -> dict[str, ScoreMean]:
    """Return the number of values and their mean by scorer, of observed scorers only."""
    return {
        scorer: {"n": int(means[2 * i]), "mean": means[2 * i + 1] / means[2 * i]}
        for i, scorer in enumerate(scorers[: len(means) // 2])
        if means[2 * i]
    }
