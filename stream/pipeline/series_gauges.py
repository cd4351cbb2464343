"""Series gauges: what the detectors of a partition show to Prometheus, beside what they write.

A gauge that is no longer true has to go, and one worker at a time may show it: so it is remembered which gauges each
series shows, and a series that is silent, forgotten or another worker's takes its own with it.
"""

from collections import Counter
from collections.abc import Callable, Iterator

from turnsignal.stream.detection.detector import HIGHER, LOWER, PAGE, TICKET, USUAL, Alarm, Detector, Paging
from turnsignal.stream.detection.policy import meaning_of
from turnsignal.stream.pipeline.metric_deltas import MetricDeltas
from turnsignal.stream.records.regressions import UNKNOWN
from turnsignal.stream.statistics.directions import WORSE

Gauge = tuple[str, tuple[str | None, ...]]  #: which family, and its labels


class SeriesGauges:
    """The gauges that each series of a partition shows. paging_of: what of a scorer's series pages."""

    def __init__(self, paging_of: Callable[[str], Paging]) -> None:
        self._paging_of = paging_of
        self._shown: dict[bytes, dict[Gauge, float]] = {}
        self._owners = Counter[Gauge]()  # lanes of an assistant have the same labels

    def restore(self, key: bytes, assistant: str, scorer: str, detector: Detector) -> None:
        """Take up what a series shows, as it was when it was stored."""
        self._shown[key] = dict(self._describe(assistant, scorer, detector))
        self._owners.update(self._shown[key])

    def show(self, key: bytes, assistant: str, scorer: str, detector: Detector, deltas: MetricDeltas) -> None:
        """Show how a series stands."""
        before, now = self._shown.get(key, {}), dict(self._describe(assistant, scorer, detector))
        self._shown[key] = now
        if before.keys() != now.keys():
            self._owners.update(now.keys() - before.keys())
            self._remove(before.keys() - now.keys(), deltas)
        _write(now, deltas)

    def hide(self, key: bytes, deltas: MetricDeltas) -> None:
        """Take away what a series shows."""
        self._remove(set(self._shown.pop(key, {})), deltas)

    def show_all(self) -> MetricDeltas:
        """Return what every series shows, for a worker that takes them over."""
        deltas = MetricDeltas()
        for gauges in self._shown.values():
            _write(gauges, deltas)
        return deltas

    def hide_all(self) -> MetricDeltas:
        """Return what takes all of it away."""
        deltas = MetricDeltas()
        _write(dict.fromkeys(self._owners), deltas)
        return deltas

    def _remove(self, gauges: set[Gauge], deltas: MetricDeltas) -> None:
        self._owners.subtract(gauges)
        gone = [gauge for gauge in gauges if self._owners[gauge] <= 0]
        for gauge in gone:
            del self._owners[gauge]
        _write(dict.fromkeys(gone), deltas)

    def _describe(self, assistant: str, scorer: str, detector: Detector) -> Iterator[tuple[Gauge, float]]:
        if levels := detector.levels(self._paging_of(scorer)):
            usual = assistant, None, scorer, USUAL
            yield ("baseline", (assistant, scorer)), detector.baseline.total / detector.baseline.weight
            ways = [way for way in (LOWER, HIGHER) if meaning_of(scorer, way) == WORSE] or [LOWER, HIGHER]
            yield ("evidence", usual), max(levels[way] for way in ways)
            for tier in (TICKET, PAGE):
                if tier in levels:
                    yield ("threshold", (*usual, tier)), levels[tier]
        for alarm in detector.alarms.values():
            yield from _describe_alarm(assistant, scorer, alarm)


def _describe_alarm(assistant: str, scorer: str, alarm: Alarm) -> Iterator[tuple[Gauge, float]]:
    what = assistant, alarm.version or None, scorer, alarm.scope
    sign = -1.0 if alarm.direction == LOWER else 1.0
    low, high = sorted((sign * alarm.low, sign * alarm.high))
    yield ("open", (*what, alarm.tier, alarm.direction)), 1.0
    if alarm.since != UNKNOWN:
        yield ("since", what), alarm.since
    yield ("values", what), alarm.n
    for bound, value in (("lower", low), ("mean", sign * alarm.change), ("upper", high)):
        yield ("change", (*what, bound)), value


def _write(gauges: "dict[Gauge, float] | dict[Gauge, float | None]", deltas: MetricDeltas) -> None:
    fields = {
        "open": deltas.regression_open,
        "change": deltas.regression_change,
        "since": deltas.regression_since,
        "values": deltas.regression_values,
        "evidence": deltas.regression_evidence,
        "threshold": deltas.regression_threshold,
        "baseline": deltas.baseline,
    }
    for (field, labels), value in gauges.items():
        fields[field][labels] = value
