"""Trends: how a figure went over event time, in cells of equal length that get longer as time goes on.

All series share the cells, so that one release can be seen to begin where another ends.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

CELLS = 64  #: at most; when more time has passed, two become one
_LEAST_HEIGHT = 0.2  # of what is drawn, or noise fills it

SHORTEST = 10.0  #: seconds of event time that a cell has at first


@dataclass(slots=True)
class RunningMean:
    """A running mean."""

    n: int = 0
    total: float = 0.0

    def add(self, value: float, sign: int = 1) -> None:
        """Take a value in; sign −1 takes it out again."""
        self.n += sign
        self.total += sign * value

    def merge(self, other: "RunningMean") -> None:
        """Add another's values."""
        self.n += other.n
        self.total += other.total

    def get(self) -> float | None:
        """Return the mean, None without values."""
        return self.total / self.n if self.n > 0 else None


class Trends:
    """Means of any number of series over time; times before the first one count for the first cell."""

    def __init__(self) -> None:
        self._width = SHORTEST
        self._start: float | None = None
        self._cells: dict[Hashable, dict[int, RunningMean]] = {}

    def add(self, series: Hashable, time: float, value: float, sign: int = 1) -> None:
        """Take a value in, or out again. time: seconds since 1970."""
        if self._start is None:
            self._start = time
        while time >= self._start + CELLS * self._width:
            self._double()
        cell = int(max(0.0, time - self._start) // self._width)
        self._cells.setdefault(series, {}).setdefault(cell, RunningMean()).add(value, sign)

    def points(self, series: Hashable, n: int) -> list[float | None]:
        """Return the means of at most `n` cells from the first time of all series to the last; None where empty."""
        cells = 1 + max((max(known) for known in self._cells.values()), default=-1)
        points = [RunningMean() for _ in range(min(n, cells))]
        for cell, mean in self._cells.get(series, {}).items():
            points[cell * len(points) // cells].merge(mean)
        return [point.get() for point in points]

    def _double(self) -> None:
        self._width *= 2
        for series, narrow in self._cells.items():
            wide: dict[int, RunningMean] = {}
            for cell, mean in narrow.items():
                wide.setdefault(cell // 2, RunningMean()).merge(mean)
            self._cells[series] = wide


def scale(trends: Sequence[Sequence[float | None]]) -> tuple[float, float]:
    """Return the lowest and the highest point of trends that are drawn alike, at least 0.2 apart."""
    points = [point for trend in trends for point in trend if point is not None]
    low, high = min(points, default=0.0), max(points, default=1.0)
    spare = max(0.0, _LEAST_HEIGHT - (high - low)) / 2
    return low - spare, high + spare
