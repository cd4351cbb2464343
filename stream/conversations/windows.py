"""Tumbling windows `[start, start + size)` of one conversation's scores, by event time, expiring.

They live inside the conversation's own state, so that one changelog record carries both. Nearly every row falls into
the same windows as the row before it. So rows are first added up in `ScoreWindows.pending`. When a row comes that falls
into other windows, the pending sums are merged into the conversation's means and into each window. What is merged is
kept as bytes, which are read only then.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import add as plus
from typing import NamedTuple

import msgspec

from turnsignal.stream.conversations.means import Means, add, empty, merge, retract

_FOREVER = float("inf")


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

    def expired(self, start: float, stream_time: float) -> bool:
        """Say whether the window is past its keep; stream_time: largest event time of the conversation."""
        return start + self.size + self.keep <= stream_time


class WindowLayout(NamedTuple):
    """What scores are kept in: windows of these sizes, and means of so many scorers."""

    specs: Sequence[WindowSpec]
    scorers: int


class Window(msgspec.Struct, array_like=True, gc=False):
    """One window: its size and start in seconds, and its means in the suite's order of scorers."""

    size: float
    start: float
    means: Means


class MergedScores(msgspec.Struct, array_like=True, gc=False):
    """What is merged: the means over the conversation's life, and the kept windows."""

    means: Means
    windows: list[Window]


class _MergedMeans(msgspec.Struct, array_like=True, gc=False):
    """What merged scores begin with."""

    means: Means


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(MergedScores).decode
_decode_means = msgspec.msgpack.Decoder(_MergedMeans).decode


class ScoreWindows(msgspec.Struct, array_like=True, gc=False):
    """The scores of a conversation, over its life and in each kept window.

    since, until: the event times whose windows are those of `pending`; pending: means of the rows that are not merged
    yet; merged: the rest, encoded, b"" when there is none.
    """

    since: float = _FOREVER
    until: float = -_FOREVER
    pending: Means = []
    merged: bytes = b""

    def look_up(self, pick: Callable[[Means], tuple[int | float, ...]]) -> tuple[int | float, ...]:
        """Return what `pick` takes out of the means over the conversation's life, () before the first row.

        pick: takes out as many numbers of the means of merged rows as of those of pending ones.
        """
        if not self.merged:
            return pick(self.pending) if self.pending else ()
        merged = pick(_decode_means(self.merged).means)
        return tuple(map(plus, merged, pick(self.pending))) if self.pending else merged

    def means(self) -> Means:
        """Return the means over the conversation's life, [] before the first row."""
        if not self.merged:
            return list(self.pending)
        means = _decode_means(self.merged).means
        merge(means, self.pending)
        return means

    def add(
        self, layout: WindowLayout, time: float, stream_time: float, positions: Sequence[int], values: Sequence[float]
    ) -> int:
        """Add a row's values; return how many windows they came too late for.

        time: of the row; stream_time: largest event time of the conversation; positions: of each value's scorer, its
        position in the suite times two.
        """
        if time < stream_time:
            return self._add_late(layout, time, stream_time, positions, values)
        if not self.since <= time < self.until:
            if self.pending:
                self.merge_pending(layout, stream_time)
            self.pending = empty(layout.scorers)
            self.since = max([spec.start(time) for spec in layout.specs], default=-_FOREVER)
            self.until = min([spec.start(time) + spec.size for spec in layout.specs], default=_FOREVER)
        add(self.pending, positions, values)
        return 0

    def retract(
        self, layout: WindowLayout, time: float, stream_time: float, positions: Sequence[int], values: Sequence[float]
    ) -> None:
        """Retract a row's values, where they still are; arguments as in `add`."""
        merged = self._merge(layout, stream_time)
        retract(merged.means, positions, values)
        for spec in layout.specs:
            window = find(merged.windows, spec, time)
            if window is not None:
                retract(window.means, positions, values)
        self.merged = _encode(merged)

    def merge_pending(self, layout: WindowLayout, stream_time: float) -> MergedScores:
        """Merge what is pending, drop the windows that have expired, and return everything."""
        merged = self._merge(layout, stream_time)
        self.merged = _encode(merged)
        return merged

    def _merge(self, layout: WindowLayout, stream_time: float) -> MergedScores:
        """Merge what is pending and drop expired windows; the caller encodes the result."""
        specs, scorers = layout
        merged = _decode(self.merged) if self.merged else MergedScores(empty(scorers), [])
        if self.pending:
            merge(merged.means, self.pending)
            for spec in specs:
                merge(_window(merged.windows, spec, self.since, scorers).means, self.pending)
            self.pending, self.since, self.until = [], _FOREVER, -_FOREVER
        merged.windows = expire(merged.windows, specs, stream_time)
        return merged

    def _add_late(
        self, layout: WindowLayout, time: float, stream_time: float, positions: Sequence[int], values: Sequence[float]
    ) -> int:
        """Add a row that is older than the conversation's newest turn, whose windows may have expired."""
        merged = self._merge(layout, stream_time)
        add(merged.means, positions, values)
        expired = 0
        for spec in layout.specs:
            if spec.expired(spec.start(time), stream_time):
                expired += 1
            else:
                add(_window(merged.windows, spec, time, layout.scorers).means, positions, values)
        self.merged = _encode(merged)
        return expired


def find(windows: Sequence[Window], spec: WindowSpec, time: float) -> Window | None:
    """Return the kept window of this size that holds `time`."""
    start, size = spec.start(time), spec.size
    for window in reversed(windows):
        if window.start == start and window.size == size:
            return window
    return None


def expire(windows: Sequence[Window], specs: Sequence[WindowSpec], stream_time: float) -> list[Window]:
    """Return the windows that are still kept at a stream time; their sizes are those of the specs."""
    by_size = {spec.size: spec for spec in specs}
    return [window for window in windows if not by_size[window.size].expired(window.start, stream_time)]


def _window(windows: list[Window], spec: WindowSpec, time: float, scorers: int) -> Window:
    window = find(windows, spec, time)
    if window is None:
        window = Window(spec.size, spec.start(time), empty(scorers))
        windows.append(window)
    return window
