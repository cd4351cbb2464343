"""Batch results: what a processor hands back of one batch, to be written, remembered and counted by whoever runs it."""

from dataclasses import dataclass, field

from turnsignal.stream.pipeline.metric_deltas import MetricDeltas
from turnsignal.stream.records.wire import OutputRecord


@dataclass(slots=True)
class BatchResult:
    """What a list of records produced and changed.

    outputs: in order; changes: conversation key → new snapshot, None is a tombstone; deltas: what to count after the
    commit; consumed: input topic → how many of its records were worked through, from the first on: the position to
    commit is behind them, and the caller passes the rest again; an empty mapping means all of them; set_aside: whether
    it only set a record aside that could not be worked on; positions: what to commit instead of the places behind
    what was consumed.
    """

    outputs: list[OutputRecord] = field(default_factory=list)
    changes: dict[bytes, bytes | None] = field(default_factory=dict)
    deltas: MetricDeltas = field(default_factory=MetricDeltas)
    consumed: dict[str, int] = field(default_factory=dict)
    set_aside: bool = False
    positions: dict[str, int] | None = None
