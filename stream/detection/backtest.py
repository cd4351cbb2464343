"""Back-test: when would have been called, and why, had a recording been live."""

from collections import deque
from collections.abc import Iterable, Iterator
from heapq import merge
from typing import Any, NamedTuple

from turnsignal.stream.detection.detector import PAGE, TICKET, Detector
from turnsignal.stream.detection.incidents import CLOSES, Incidents, Series, newest
from turnsignal.stream.detection.policy import AlertPolicy
from turnsignal.stream.records.decisions import Decision
from turnsignal.stream.records.observations import Row, read_observations
from turnsignal.stream.records.regressions import Incident

MAX_SERIES = 10_000  #: watched; names come from strangers, and what is new beyond them is not watched


class _ObservedAnswer(NamedTuple):
    """What one row says; sorts by event time, then by where it stood."""

    time: float
    source: int
    number: int
    assistant: str
    lane: int
    version: str
    values: Row


class BackTest(NamedTuple):
    """What was called, as the newest record of each incident.

    unwatched: observations of series for which there was no room; rows: how many there were; first, last: event times.
    """

    incidents: list[Incident]
    rows: int
    unwatched: int
    first: float
    last: float

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it: incidents with all that they say, and in words."""
        return {
            "rows": self.rows,
            "days": round((self.last - self.first) / 86_400.0, 3) if self.rows else 0.0,
            "unwatched": self.unwatched,
            **{tier: sum(incident.tier == tier for incident in self.incidents) for tier in (PAGE, TICKET)},
            "incidents": [incident.as_json() for incident in self.incidents],
        }


def back_test(sources: Iterable[Iterable[bytes]], policy: AlertPolicy, decisions: Iterable[Decision] = ()) -> BackTest:
    """Run the detectors over records of series.

    sources: each in the order of its own times, or nearly so; decisions: what operators said meanwhile, in their order.
    """
    incidents, detectors, written = Incidents(policy), dict[Series, Detector](), list[Incident]()
    rows, unwatched, first, last = 0, 0, float("inf"), float("-inf")
    waiting = deque(decisions)
    for row in merge(*[_rows(records, number) for number, records in enumerate(sources)]):
        rows += 1
        while waiting and waiting[0].time < row.time:
            decision = waiting.popleft()
            scorers = incidents.scorers_of(decision)
            for series in sorted(detectors):
                if series[:2] == (decision.assistant, decision.lane) and (scorers is None or series[2] in scorers):
                    written += incidents.accept(series, detectors[series], CLOSES[decision.kind])
        first, last = min(first, row.time), max(last, row.time)
        for scorer, observation in row.values:
            series = row.assistant, row.lane, scorer
            detector = detectors.get(series)
            if detector is None:
                if scorer in policy.ignored:
                    continue
                if len(detectors) >= MAX_SERIES:
                    unwatched += 1
                    continue
                detector = detectors[series] = Detector()
            written += incidents.observe(series, detector, row.version, observation)
    return BackTest(list(newest(written).values()), rows, unwatched, first, last)


def _rows(records: Iterable[bytes], source: int) -> Iterator[_ObservedAnswer]:
    number = 0
    for record in records:
        observed = read_observations(record)
        who = (observed.assistant, observed.lane, observed.version or "")
        for row in observed.by_row():
            number += 1
            yield _ObservedAnswer(row[0][1].time if row else 0.0, source, number, *who, row)
