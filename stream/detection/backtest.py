"""Back-test: when alerts would have fired, and why, had a recording been live."""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from typing import Any, NamedTuple

from turnsignal.stream.detection.detector import PAGE, RETENTION, TICKET, Detector
from turnsignal.stream.detection.incidents import CLOSES, Incidents, SeriesKey, newest
from turnsignal.stream.detection.policy import AlertPolicy
from turnsignal.stream.detection.watched_series import SeriesFollowed, WatchedSeries
from turnsignal.stream.records.decisions import Decision
from turnsignal.stream.records.observations import Row, read_observations
from turnsignal.stream.records.regressions import FORGOTTEN, Incident

MAX_SERIES = 10_000  #: watched; names come from strangers, and what is new beyond them is not watched
MAX_REFUSED = 20  #: records that are none of which line and reason are kept


class _ObservedAnswer(NamedTuple):
    """What one row says; sorts by event time, then by where it stood. clock: stream time when it is taken in."""

    time: float
    source: int
    number: int
    assistant: str
    lane: int
    version: str
    values: Row
    clock: float


class RefusedRecord(NamedTuple):
    """A record that is none. source: its number; line: counted from 1, with the empty ones behind batches."""

    source: int
    line: int
    reason: str


class BackTest(NamedTuple):
    """What would have opened, as the newest record of each incident.

    unwatched: observations of series for which there was no room; rows: how many there were; first, last: event times;
    decided: decisions of operators, and those of them that were about nothing here; refused: how many records were
    none, and the first of them by source; series: which of those that there was room for were watched, from when on.
    """

    incidents: list[Incident]
    rows: int
    unwatched: int
    first: float
    last: float
    decided: tuple[int, int] = (0, 0)
    refused: tuple[int, tuple[RefusedRecord, ...]] = (0, ())
    series: WatchedSeries = WatchedSeries()

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it: incidents with all that they say, and in words."""
        total, idle = self.decided
        return {
            "rows": self.rows,
            "days": round((self.last - self.first) / 86_400.0, 3) if self.rows else 0.0,
            "unwatched": self.unwatched,
            "series": self.series.as_json(),
            **({"decisions": {"heard": total, "about_nothing": idle}} if total else {}),
            **{tier: sum(incident.tier == tier for incident in self.incidents) for tier in (PAGE, TICKET)},
            "incidents": [incident.as_json() for incident in self.incidents],
        }


def back_test(
    sources: Iterable[Iterable[bytes | Sequence[bytes]]], policy: AlertPolicy, decisions: Iterable[Decision] = ()
) -> BackTest:
    """Run the detectors over records of series.

    sources: of each the records in the order of their times, or nearly so, as live; or batches of records, whose rows
    are put into the order of their times; decisions: what operators said meanwhile, in their order.
    A record that is none is set aside, as live. Raises ValueError where no record is one.
    """
    watched, refusals = _Detectors(policy), _Refusals()
    rows, first, last, idle = 0, float("inf"), float("-inf"), 0
    waiting = deque(decisions)
    total = len(waiting)
    for row in merge(*[_rows(batches, number, refusals) for number, batches in enumerate(sources)]):
        rows += 1
        while waiting and waiting[0].time < row.time:
            idle += not watched.decide(waiting.popleft())
        first, last = min(first, row.time), max(last, row.time)
        watched.update(row)
    if refusals.count and not rows:
        raise ValueError(refusals.first[0].reason)
    idle += sum(not watched.decide(decision) for decision in waiting)
    refused = refusals.count, tuple(sorted(refusals.first))
    incidents = list(newest(watched.written).values())
    series = watched.end()
    return BackTest(incidents, rows, watched.unwatched, first, last, (total, idle), refused, series)


class _Detectors:
    """The detectors of a back-test, as a partition of the watch app keeps them, and the incidents that they made."""

    def __init__(self, policy: AlertPolicy) -> None:
        self.written: list[Incident] = []
        self.unwatched = 0
        self._now = float("-inf")
        self._policy = policy
        self._incidents = Incidents(policy)
        self._followed = SeriesFollowed()
        self._detectors: OrderedDict[SeriesKey, tuple[Detector, float]] = OrderedDict()  # with when it was fed last

    def decide(self, decision: Decision) -> bool:
        """Have detectors take the present level for the usual one; False where the decision is about nothing here."""
        scorers, who = self._incidents.scorers_of(decision), (decision.assistant, decision.lane)
        about = [
            series for series in self._detectors if series[:2] == who and (scorers is None or series[2] in scorers)
        ]
        for series in sorted(about):
            self.written += self._incidents.relearn(series, self._detectors[series][0], CLOSES[decision.kind])
        return bool(about)

    def update(self, row: _ObservedAnswer) -> None:
        """Take in a row."""
        now = self._now = max(self._now, row.clock)
        self._expire_unfed(now)
        for scorer, observation in row.values:
            series = row.assistant, row.lane, scorer
            known = self._detectors.pop(series, None)
            if known is None:
                if scorer in self._policy.ignored:
                    continue
                if len(self._detectors) >= MAX_SERIES:
                    self.unwatched += 1
                    continue
            detector = Detector() if known is None else known[0]
            self._detectors[series] = detector, now
            self.written += self._incidents.observe(series, detector, row.version, observation)
            self._followed.update(series, detector)

    def end(self) -> WatchedSeries:
        """Return which series were watched."""
        left = ((series, detector) for series, (detector, _) in self._detectors.items())
        return self._followed.result(left, self._policy.paging)

    def _expire_unfed(self, now: float) -> None:
        """Forget the series that nobody has fed for long, as live."""
        while self._detectors:
            series, (detector, fed) = next(iter(self._detectors.items()))
            if now - fed <= RETENTION:
                return
            del self._detectors[series]
            self._followed.end(series, detector)
            self.written += self._incidents.close(series, detector.alarms.values(), now, FORGOTTEN)


class _Refusals:
    """The records that are none: how many, and the first of them."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[RefusedRecord] = []

    def add(self, source: int, line: int, error: ValueError) -> None:
        """Set a record aside."""
        self.count += 1
        if len(self.first) < MAX_REFUSED:
            self.first.append(RefusedRecord(source, line, str(error)))


def _rows(records: Iterable[bytes | Sequence[bytes]], source: int, refusals: _Refusals) -> Iterator[_ObservedAnswer]:
    number = line = 0
    for batch in records:
        rows: list[_ObservedAnswer] = []
        for record in [batch] if isinstance(batch, bytes) else batch:
            line += 1
            try:
                rows += _rows_of(record, source, number + len(rows))
            except ValueError as error:
                refusals.add(source, line, error)
        number += len(rows)
        if isinstance(batch, bytes):
            yield from rows
        else:
            # By event time; each is taken in at its own, not at that of the newest beside it.
            yield from sorted(row._replace(clock=row.time) for row in rows)
            line += 1


def _rows_of(record: bytes, source: int, before: int) -> Iterator[_ObservedAnswer]:
    observed = read_observations(record)
    who = (observed.assistant, observed.lane, observed.version or "")
    clock = max(observed.times, default=0.0)
    for number, row in enumerate(observed.by_row(), before + 1):
        yield _ObservedAnswer(row[0][1].time if row else 0.0, source, number, *who, row, clock)
