"""Tumbling windows `[start, start + size)` of one conversation's scores, by event time, expiring.

They live inside the conversation's own state, so that one changelog record carries both.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import orjson

from stream.stats import Means, empty


@dataclass(slots=True, frozen=True)
class WindowSpec:
    """Which windows are kept.

    size: seconds; keep: seconds after its end for which a window still takes late scores and can be read.
    """

    size: float
    keep: float

    def start(self, time: float) -> float:
        """Return the start of the window that holds `time`."""
        return time - time % self.size

    def expired(self, start: float, now: float) -> bool:
        """Say whether the window is past its keep; `now` is the conversation's own largest event time."""
        return start + self.size + self.keep <= now


class Window:
    """One window's means, in the suite's order of scorers.

    Of each size only the newest window is touched again and again; the others travel as text, read when they are asked
    for.
    """

    __slots__ = ("_means", "size", "start")

    def __init__(self, size: float, start: float, means: Means | str) -> None:
        self.size = size
        self.start = start
        self._means = means

    @property
    def means(self) -> Means:
        """The window's means, to be changed in place."""
        if isinstance(self._means, str):
            self._means = orjson.loads(self._means)
        return cast("Means", self._means)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Window) and repr(self) == repr(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Window({self.size}, {self.start}, {self.means})"

    def packed(self) -> str:
        """Return the means as text."""
        return self._means if isinstance(self._means, str) else orjson.dumps(self._means).decode()


def pack(windows: Sequence[Window]) -> list[list[Any]]:
    """Return windows for a snapshot: the newest of each size as numbers, the others as text."""
    newest: dict[float, float] = {}
    for window in windows:
        newest[window.size] = max(window.start, newest.get(window.size, window.start))
    return [[w.size, w.start, w.means if w.start == newest[w.size] else w.packed()] for w in windows]


def find(windows: Sequence[Window], spec: WindowSpec, time: float) -> Window | None:
    """Return the kept window of this size that holds `time`."""
    start, size = spec.start(time), spec.size
    for window in reversed(windows):
        if window.start == start and window.size == size:
            return window
    return None


def window_at(windows: list[Window], spec: WindowSpec, time: float, now: float, scorers: int) -> Window | None:
    """Return the window of this size that holds `time`, made if it is new; None when it has expired at `now`."""
    if spec.expired(spec.start(time), now):
        return None  # it may still be in the list: expired windows are cleared away now and then
    window = find(windows, spec, time)
    if window is None:
        window = Window(spec.size, spec.start(time), empty(scorers))
        windows.append(window)
    return window


def expire(windows: list[Window], specs: Sequence[WindowSpec], now: float) -> list[Window]:
    """Return the windows that are still kept at `now` and still configured."""
    by_size = {spec.size: spec for spec in specs}
    return [w for w in windows if w.size in by_size and not by_size[w.size].expired(w.start, now)]
