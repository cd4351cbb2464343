"""Running means, small and fast enough to be carried in every conversation's state.

A flat list of numbers, `[count, sum, count, sum, …]`, in the order of the suite's scorers: it is encoded and decoded
with every batch, and names would cost more than the numbers.
"""

from collections.abc import Iterable, Sequence
from operator import add as plus

from turnsignal.stream.records.summaries import ScoreMean

#: [count, sum] of every scorer in the suite's order; counts are whole numbers
Means = list[int | float]
#: where the counts and sums of some scorers stand among the means: few slices, as scorers stand together
Offsets = Sequence[slice]


def empty(scorers: int) -> Means:
    """Return the means of so many scorers before the first observation."""
    return [0] * (2 * scorers)


def offsets(positions: Iterable[int]) -> Offsets:
    """Join positions of scorers among the means: each scorer's position in the suite times two, ascending.

    >>> offsets([0, 2, 6])
    [slice(0, 4, None), slice(6, 8, None)]
    """
    joined: list[slice] = []
    for position in positions:
        start = joined.pop().start if joined and joined[-1].stop == position else position
        joined.append(slice(start, position + 2))
    return joined


def add(means: Means, at: Offsets, values: Sequence[float]) -> None:
    """Add values to the means of the scorers that stand at these offsets.

    >>> means = empty(2)
    >>> add(means, offsets([2]), (0.5,))
    >>> means
    [0, 0, 1, 0.5]
    """
    if at and at[-1].stop > len(means):
        widen(means, at[-1].stop)
    more: Means = [1] * (2 * len(values))  # sliced and mapped, because a loop over the values costs twice as much
    more[1::2] = values
    for span in at:
        size = span.stop - span.start
        means[span] = map(plus, means[span], more)
        more = more[size:]


def pick(means: Means, at: Offsets) -> Means:
    """Return the counts and sums of the scorers that stand at these offsets."""
    if at[-1].stop > len(means):
        means = widen(list(means), at[-1].stop)
    picked = means[at[0]]
    for span in at[1:]:
        picked += means[span]
    return picked


def merge(means: Means, other: Means) -> None:
    """Add everything that `other` has, in place; the shorter of the two has nothing of the scorers that it lacks."""
    if len(means) < len(other):
        widen(means, len(other))
    means[: len(other)] = map(plus, means, other)


def widen(means: Means, size: int) -> Means:
    """Return the same means, with nothing observed up to `size` numbers."""
    means.extend([0] * (size - len(means)))
    return means


def retract(means: Means, at: Offsets, values: Iterable[float]) -> None:
    """Retract values; a scorer without observations is exactly empty."""
    positions = [position for span in at for position in range(span.start, span.stop, 2)]
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
