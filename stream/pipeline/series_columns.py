"""Series columns: what the records of a batch say, by series, until it is enough to be worth taking in.

Records come by release and with few values of each scorer, and a series takes in many at once for far less than one by
one. Nothing depends on how many: each has its values in the order of the topic, and what is told of them is told in it.
"""

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import NamedTuple

from turnsignal.stream.detection.baseline import hour_of
from turnsignal.stream.detection.columns import Given, RowHead, take_in
from turnsignal.stream.detection.detector import AlarmChange, Detector
from turnsignal.stream.detection.incidents import Incidents, SeriesKey
from turnsignal.stream.pipeline.series_state import Rolling, Series
from turnsignal.stream.records.observations import Observations

MOST = 4_000  #: values that wait at most, but for those of one more record: what they take is not counted before

Release = tuple[str, str | None, int]  #: assistant, version and lane, as records name them


class SeriesPart:
    """What a scorer of a release moves: one version of a series.

    name: as incidents have it; detector: None where nobody watches; is_other: there was no room for it by its name;
    runs: of its series; add: takes in a value, once `begin` was called.
    """

    __slots__ = ("add", "detector", "is_other", "key", "name", "runs", "series", "version")

    def __init__(self, key: bytes, name: SeriesKey, series: Series, version: str, runs: "list[_VersionRun]") -> None:
        self.key = key
        self.name = name
        self.series = series
        self.version = version
        self.runs = runs
        self.detector: Detector | None = None
        self.is_other = False

    def begin(self) -> None:
        """Add to the last run of the series if that is of this version, and otherwise to a new one."""
        last = self.runs[-1].part if self.runs else None
        if last is None or last.version != self.version or last.detector is not self.detector:
            self.runs.append(_VersionRun(self, self.series.rolling_of(self.version), []))
        self.add = self.runs[-1].column.append


class _VersionRun(NamedTuple):
    """What a series was given of one version, until another one came."""

    part: SeriesPart
    rolling: Rolling
    column: list[Given]


class SeriesColumns:
    """The values that wait, and the series that they are for."""

    def __init__(self) -> None:
        self.waiting = 0
        self._parts: dict[Release, dict[str, SeriesPart]] = {}  # by scorer
        self._runs: dict[bytes, list[_VersionRun]] = {}  # by series
        self._rows = 0

    def clear(self) -> None:
        """Forget all of it."""
        self.waiting, self._parts, self._runs = 0, {}, {}

    def parts_of(self, observed: Observations) -> dict[str, SeriesPart]:
        """Return the parts of a record's release that are known since values wait, by scorer; to be added to."""
        return self._parts.setdefault((observed.assistant, observed.version, observed.lane), {})

    def runs_of(self, key: bytes) -> list[_VersionRun]:
        """Return the runs of a series, one version after the other."""
        return self._runs.setdefault(key, [])

    def add(self, observed: Observations, parts: Sequence[SeriesPart | None], latest: float) -> None:
        """Take in a record. parts: of each of its scorers, None where it is not fed; latest: as detectors have it.

        Rows come in their order, and of each the scorers in theirs, as a replay has them.
        """
        for part in parts:
            if part is not None and not (part.runs and part.runs[-1].part is part):
                part.begin()
        adders = [None if part is None else part.add for part in parts]
        by_set = [[adders[scorer] for scorer in chosen] for chosen in observed.sets]
        weights = observed.weights or repeat(1.0, len(observed.rows))
        sets, values_by_row, earlier_by_row = observed.rows, observed.values, observed.earlier
        rows = zip(observed.conversations, observed.times, sets, values_by_row, earlier_by_row, weights, strict=True)
        for number, (conversation_id, time, index, values, earlier, weight) in enumerate(rows, self._rows):
            scorers = observed.scorers, observed.sets[index]
            row = number, scorers, conversation_id, time, min(time, latest), hour_of(time), weight
            before = iter(earlier) if earlier else repeat(0.0)
            for add, value, n, total in zip(by_set[index], values, before, before, strict=False):  # two for each
                if add is not None:
                    add((row, value, n, total))
            self.waiting += len(values)
        self._rows += len(observed.rows)

    def feed(self, incidents: Incidents) -> Iterator[tuple[SeriesKey, AlarmChange]]:
        """Have every series take in what waits for it; return what becomes of alarms, in the order of the records."""
        changes: list[tuple[int, int, SeriesKey, AlarmChange]] = []
        for runs in self._runs.values():
            for part, rolling, column in runs:
                rolling.take_in(column)
                if part.detector is not None:
                    paging = incidents.paging_of(part.name[2])
                    for row, change in take_in(part.detector, part.version, column, paging):
                        changes.append((row[0], _rank(part, row), part.name, change))
        self.clear()
        return ((name, change) for _, _, name, change in sorted(changes, key=lambda known: known[:2]))


def _rank(part: SeriesPart, row: RowHead) -> int:
    """Return the rank of a series' scorer among those of a row."""
    scorers, chosen = row[1]
    return chosen.index(scorers.index(part.name[2]))
