"""Drills: two days in the life of an assistant that is not there, whose v2 gets worse at the end.

Long enough that what is usual is known (a day and 1,000 values), as short as it can be: it goes through somebody's own
stack. Its turns lie in the past of that stack, up to a moment that it has reached already, so that no clock moves on.
"""

from collections.abc import Callable, Iterator
from itertools import groupby, takewhile
from typing import NamedTuple

from turnsignal.stream.simulation.arrival import SimulatedRecord, simulate
from turnsignal.stream.simulation.traffic import Kind, Regression, Traffic

HEALTHY_HOURS, WORSE_HOURS = 30.0, 5.0
KINDS: tuple[Kind, ...] = ("retrieves_worse", "answers_worse", "breaks_format")  #: each a quality of the diagnosis
VERSION = "v2"  #: gets worse; what it replaces is v1
SLICE = 3 * 3_600.0  #: seconds of event time that go through a stack at once, in whatever order its partitions do

_HOUR = 3_600.0
_RATE = 0.045  # turns a second: 80 values of a scorer an hour
_ALIKE = 0.2  # luck that the answers of a conversation share


class DrillTraffic(NamedTuple):
    """The turns of a drill. healthy: up to the change; worse: from it on; starts: event time of the change."""

    assistant: str
    kind: Kind
    healthy: list[SimulatedRecord]
    worse: list[SimulatedRecord]
    starts: float

    @property
    def conversations(self) -> list[str]:
        """Its conversations, in the order of their first turns."""
        return list(dict.fromkeys(record.truth["conversation_id"] for record in (*self.healthy, *self.worse)))


def plant(
    assistant: str,
    end: float,
    kind: Kind = "retrieves_worse",
    seed: int = 0,
    *,
    worse: bool = True,
    share: float = 1.0,
    keep: Callable[[str], bool] = lambda _: True,
) -> DrillTraffic:
    """Simulate the turns of a drill.

    end: event time after which there is no turn, seconds since 1970; worse: without, nothing is planted, and the same
    is asked and answered; share: of the conversations that `keep` keeps.
    """
    start = end - (HEALTHY_HOURS + WORSE_HOURS) * _HOUR
    starts = start + HEALTHY_HOURS * _HOUR
    regression = Regression(HEALTHY_HOURS * 60.0, VERSION, kind) if worse else None
    traffic = Traffic(
        seed=seed,
        start=start,
        rate=_RATE / share,
        day_night=False,
        assistants=(assistant,),
        correlation=_ALIKE,
        regression=regression,
    )
    spoken = takewhile(lambda record: record.truth["time"] <= end, simulate(traffic))
    records = [record for record in spoken if keep(record.truth["conversation_id"])]
    healthy = [record for record in records if record.truth["time"] < starts]
    return DrillTraffic(assistant, kind, healthy, records[len(healthy) :], starts)


def slices(records: list[SimulatedRecord]) -> Iterator[list[SimulatedRecord]]:
    """Cut records where event time passes a multiple of `SLICE`."""
    for _, part in groupby(records, key=lambda record: record.truth["time"] // SLICE):
        yield list(part)
