"""Tumbling windows `[start, start + size)` of one conversation's scores, by event time, expiring.

They live inside the conversation's own state, so that one changelog record carries both.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from stream.stats import Means, add


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


class Window(NamedTuple):
    """One window's means: scorer → [count, sum]."""

    size: float
    start: float
    means: Means


def observe(
    windows: list[Window],
    specs: Sequence[WindowSpec],
    time: float,
    now: float,
    values: Iterable[tuple[str, float]],
    sign: int = 1,
) -> int:
    """Put scores of event time `time` into every kept window that holds it; return how many windows had expired.

    sign −1 takes the scores out again (a row that is replaced).
    """
    missed = 0
    for spec in specs:
        start = spec.start(time)
        if spec.expired(start, now):
            missed += 1
            continue
        for window in reversed(windows):
            if window.start == start and window.size == spec.size:
                break
        else:
            window = Window(spec.size, start, {})
            windows.append(window)
        add(window.means, values, sign)
    return missed


def expire(windows: list[Window], specs: Sequence[WindowSpec], now: float) -> list[Window]:
    """Return the windows that are still kept at `now` and still configured."""
    by_size = {spec.size: spec for spec in specs}
    return [w for w in windows if w.size in by_size and not by_size[w.size].expired(w.start, now)]
