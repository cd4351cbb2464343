"""Partition tasks: one partition number in this process, with its state, its writer and its positions."""

import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from confluent_kafka import TopicPartition

from turnsignal.agents.kafka.topics import partition_for
from turnsignal.agents.worker.bisection import Bisection
from turnsignal.agents.worker.checkpoints import Checkpoint
from turnsignal.agents.worker.moments import read_moment
from turnsignal.agents.worker.transactions import TransactionWriter
from turnsignal.stream.conversations.clock import Moment
from turnsignal.stream.conversations.windows import WindowSpec
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.metric_deltas import MetricDeltas

_LOOKED_AT = 50  #: records: of two partitions every second one stands in the right one by chance


class Processor(Protocol):
    """What is kept of one partition: state that records move, batch by batch."""

    store: MutableMapping[bytes, bytes]

    def read_store(self) -> int:
        """Take up what the store holds, and return the last input offset that it has taken in, −1 if none.

        Called once, after the store was filled and before the first batch.
        """
        ...

    def resume(self, last: Moment, now: Moment) -> None:
        """Go on with a silence that began when records last came; called after `read_store`."""
        ...

    def describe(self, key: bytes) -> dict[str, Any] | None:
        """Spell out what is kept under a key."""
        ...

    def accept(self, result: BatchResult) -> None:
        """Remember what a batch changed; called when it is committed, never before."""
        ...


class Deferral(NamedTuple):
    """What is asked of a processor that reads records and finishes them later, in any order.

    What such a processor has read cannot be put back: a batch that fails ends the worker, and the next one reads it
    again.
    """

    room: Callable[[Any], int]
    """Returns how many more records it takes now."""
    waits: Callable[[Any], bool]
    """Whether it has read records that are not finished."""
    drain: Callable[[Sequence[Any], float], Awaitable[None]]
    """Waits until no answer is outstanding for these processors, at most so many seconds."""
    seal: Callable[[Any], None]
    """Makes its next batch the last one before another worker may have the partition."""
    hold: Callable[[Any], None]
    """Keeps its next batch from calling anybody outside, as a suspect record may end the worker."""


@dataclass(slots=True, frozen=True)
class AppSpec:
    """What an app reads, keeps and writes.

    name: of the app (`score`); inputs: topics that are read, co-partitioned, the one that decides who owns a partition
    first; changelog: topic of the state; outputs: short name → topic; make: a processor for a partition, over a store;
    work: (processor, records by input topic, steady clock) → the batch; set_aside: (processor, input topic, record,
    reason in words) → its dead letter, and what has to be remembered of its absence; table: name of the Faust table
    that shows the state; windows: sizes of the windowed ones beside it; astray: what becomes of a key of the first
    input that Kafka's own hash has in another partition, in words; show, hide: the gauges of a partition's state
    as it is taken over, and what takes them away when it is another worker's; deferral: where batches do not end
    with what they took in; gathering: seconds for which records gather between two commits, at the least, where few
    come.
    """

    name: str
    inputs: tuple[str, ...]
    changelog: str
    outputs: Mapping[str, str]
    make: Callable[[int, MutableMapping[bytes, bytes]], Processor]
    work: Callable[[Any, Mapping[str, list[Any]], float], BatchResult]
    set_aside: Callable[[Any, str, Any, str], BatchResult]
    table: str = "state"
    windows: Sequence[WindowSpec] = ()
    astray: str = "it is read here, apart from what turnsignal's workers write under this key, which goes there"
    show: Callable[[Any], MetricDeltas] | None = None
    hide: Callable[[Any], MetricDeltas] | None = None
    deferral: Deferral | None = None
    gathering: float = 0.0


@dataclass(slots=True)
class PartitionTask:
    """One partition number that is ours.

    positions: input topic → next offset, as committed; commit_metadata: input topic → what its commits carry; ids:
    topic → the broker's id of it; fed: when records of the first input last came; bisection: what is known of batches
    that failed; committed_at: monotonic clock of the last commit; partitions: how many the first input has, 0 once the
    place of its keys has been looked at.
    """

    number: int
    processor: Processor
    writer: TransactionWriter
    positions: dict[str, int] = field(default_factory=dict)
    commit_metadata: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    fed: Moment | None = None
    bisection: Bisection = field(default_factory=Bisection)
    committed_at: float = field(default_factory=time.monotonic)
    partitions: int = 0

    def find_misplaced(self, records: Sequence[Any], astray: str) -> str:
        """Say of the first records of the partition, once, that Kafka's own hash has a key elsewhere; "" if it has not.

        astray: what becomes of such records, as `AppSpec` has it.
        """
        partitions, self.partitions = self.partitions, 0 if records else self.partitions
        if not partitions:
            return ""
        for key in dict.fromkeys(record.key for record in records[:_LOOKED_AT] if record.key):
            if (place := partition_for(key, partitions)) != self.number:
                shown = key[:80].decode("utf-8", "replace")
                return (
                    f"expected the key {shown!r} in partition {place} of {partitions}, by Kafka's own hash (murmur2),"
                    f" got {self.number}: {astray}; have producers use it (librdkafka: partitioner=murmur2_random)"
                )
        return ""

    def offsets(self, positions: Mapping[str, int]) -> list[TopicPartition]:
        """Spell positions as a commit carries them."""
        return [TopicPartition(topic, self.number, at, self.commit_metadata[topic]) for topic, at in positions.items()]

    def resume_silence(self) -> None:
        """Tell the processor for how long its partition has been silent already."""
        if self.fed is not None:
            self.processor.resume(self.fed, read_moment())

    def checkpoint(self) -> Checkpoint:
        """Return where the state stands, for the changelog."""
        return Checkpoint.make(self.positions, self.ids, self.fed, self.bisection)

    def checkpoint_after(self, positions: Mapping[str, int], records: int, *, set_aside: bool) -> Checkpoint:
        """Return where the state stands once a batch of so many records is committed, or one record set aside."""
        return Checkpoint.make(
            {**self.positions, **positions}, self.ids, self.fed, self._bisection_after(positions, records, set_aside)
        )

    def advance(self, positions: Mapping[str, int], records: int, *, set_aside: bool) -> None:
        """Take in that a batch is committed."""
        self.bisection = self._bisection_after(positions, records, set_aside)
        self.positions.update(positions)
        self.committed_at = time.monotonic()

    def _bisection_after(self, positions: Mapping[str, int], records: int, set_aside: bool) -> Bisection:
        moved = any(self.positions.get(topic) != at for topic, at in positions.items())
        return self.bisection.after(records, set_aside=set_aside, moved=moved)
