"""Watched series: in which series of a recording an alarm could open at all, from when on, and why in others not.

Where nothing was watched, no alert says nothing: neither that all was well, nor that a change would have been missed.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from turnsignal.stream.detection.baseline import SECONDS_OF_DAY
from turnsignal.stream.detection.detector import Detector
from turnsignal.stream.detection.incidents import SeriesKey


class ShortSeries(NamedTuple):
    """A series that was never watched. values, days: what was learned of it at most, of too few values or days."""

    assistant: str
    lane: int
    scorer: str
    values: int
    days: float


class WatchedSeries(NamedTuple):
    """The series of a back-test. began: stream time from which on each was watched; short: those that never were."""

    began: Mapping[SeriesKey, float] = {}
    short: tuple[ShortSeries, ...] = ()

    def covers(self, assistant: str | None, time: float) -> bool:
        """Say whether any series of an assistant was watched by that stream time; None: of any assistant."""
        return any(began <= time and assistant in (None, name) for (name, _, _), began in self.began.items())

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it; from: when the first of them was watched, seconds since 1970."""
        return {
            "watched": len(self.began),
            "from": min(self.began.values(), default=None),
            "not_watched": [{**short._asdict(), "days": round(short.days, 3)} for short in self.short],
        }


class SeriesFollowed:
    """Follows which series are watched, while a back-test goes on."""

    def __init__(self) -> None:
        self._began: dict[SeriesKey, float] = {}
        self._short: dict[SeriesKey, ShortSeries] = {}

    def update(self, series: SeriesKey, detector: Detector) -> None:
        """Note a series after an observation of it."""
        if detector.is_watching and series not in self._began:
            self._began[series] = detector.clock

    def end(self, series: SeriesKey, detector: Detector) -> None:
        """Note a series whose detector sees no more of it."""
        if series in self._began:
            self._short.pop(series, None)
            return
        values, since = detector.baseline.known, detector.baseline.since
        known = self._short.get(series)
        if known is None or values > known.values:
            days = (
                (detector.clock - since) / SECONDS_OF_DAY if values else 0.0
            )  # none, where all was to be learned anew
            self._short[series] = ShortSeries(*series, values, days)

    def result(self, detectors: Iterable[tuple[SeriesKey, Detector]], paging: Collection[str]) -> WatchedSeries:
        """Return what became of all series. detectors: that are left; paging: scorers that page, which stand first."""
        for series, detector in detectors:
            self.end(series, detector)

        def order(short: ShortSeries) -> tuple[bool, int, tuple[str, int, str]]:
            return short.scorer not in paging, -short.values, short[:3]

        return WatchedSeries(self._began, tuple(sorted(self._short.values(), key=order)))
