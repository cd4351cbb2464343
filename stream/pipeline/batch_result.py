"""Batch results: what a processor hands back of one batch, to be written, remembered and counted by whoever runs it."""

from collections.abc import MutableMapping
from dataclasses import dataclass, field

from turnsignal.stream.pipeline.metric_deltas import MetricDeltas
from turnsignal.stream.records.wire import OutputRecord


@dataclass(slots=True)
class BatchResult:
    """What a list of records produced and changed.

    outputs: in order; changes: key → new snapshot, None is a tombstone; deltas: to count after the commit; consumed: of
    each topic, how many of its first records were worked through, None is all, and the caller passes the rest again;
    positions: to commit, None is behind those; set_aside: whether it only set a record aside that cannot be worked on.
    """

    outputs: list[OutputRecord] = field(default_factory=list)
    changes: dict[bytes, bytes | None] = field(default_factory=dict)
    deltas: MetricDeltas = field(default_factory=MetricDeltas)
    consumed: dict[str, int] | None = None
    set_aside: bool = False
    positions: dict[str, int] | None = None

    def apply_to(self, store: MutableMapping[bytes, bytes]) -> None:
        """Put what changed into the store; call once it is safe."""
        for key, value in self.changes.items():
            if value is None:
                store.pop(key, None)
            else:
                store[key] = value
