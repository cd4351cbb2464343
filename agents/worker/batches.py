"""Batches: records wait here by partition, and go on as one batch when their partition is free.

While a partition's transaction commits, and for a pause after that, its next records gather; so batches grow under load
and shrink with it, and no partition waits for another's commit.
"""

import asyncio
import math
import time
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, NamedTuple

import faust
from faust.types import TP

#: Records that wait, beyond which a partition does not pause between two batches: they take about as long to compute as
#: the broker takes to be ready for the next transaction, and together they are worth one.
_MANY = 100
#: Seconds after a take-over for which partitions that ended a worker wait in any case, so that what the others have to
#: do is read, and for which at most, while the others do it. Then they may end this one, too.
_SETTLING, _LETTING = 1.0, 6.0


class PartitionBatch(NamedTuple):
    """The next batch of one partition number: records by topic, in their order. Empty when only time has passed.

    ahead: topic → a position without records before it that is to be committed.
    """

    partition: int
    records: dict[str, list[Any]]
    ahead: Mapping[str, int] = {}

    @property
    def size(self) -> int:
        """Number of records."""
        return sum(map(len, self.records.values()))

    def consumed(self, taken: Mapping[str, int] | None) -> int:
        """Return how many records were taken in, of all topics; None is all of them."""
        return self.size if taken is None else sum(taken.values())

    def positions(self, taken: Mapping[str, int] | None, instead: Mapping[str, int] | None = None) -> dict[str, int]:
        """Return the next offsets to be read once so many records of each topic are taken in.

        taken: None is all of them, and a topic that is not named has none; instead: topic → the position to commit all
        the same, as records from there on are taken in and not done with.
        """
        if instead is not None:
            return dict(instead)
        reached = dict(self.ahead)
        for topic, records in self.records.items():
            count = len(records) if taken is None else taken.get(topic, 0)
            if count:
                reached[topic] = records[count - 1].offset + 1
            elif records:
                reached.pop(topic, None)  # it is ahead of records that are still to be read
        return reached

    def after(self, taken: Mapping[str, int] | None) -> dict[str, list[Any]]:
        """Return the records that were not taken in; `taken` as in `positions`."""
        if taken is None:
            return {}
        left = {topic: records[taken.get(topic, 0) :] for topic, records in self.records.items()}
        return {topic: records for topic, records in left.items() if records}

    def inputs(self) -> str:
        """Name the topics that it has records of, in order."""
        return ",".join(sorted(topic for topic, records in self.records.items() if records))

    @property
    def first(self) -> int:
        """Offset of its first record, −1 without one; of what has one input."""
        return next((records[0].offset for records in self.records.values() if records), -1)

    def describe(self) -> str:
        """Name topic, partition, and the first and last offset, for an error message."""
        ranges = [
            f"{topic}-{self.partition} offsets {records[0].offset} to {records[-1].offset} ({len(records)} records)"
            for topic, records in self.records.items()
            if records
        ]
        return ", ".join(ranges) or f"partition {self.partition} as time passes"


class RecordBuffer:
    """Records that wait for their partition.

    limit: records in one batch at most; twice as many may wait; most: bytes of all that waits, beyond which nothing
    more is fetched; clock: monotonic seconds; suspects: partitions that ended a worker, and let the others go first
    after a take-over. A partition is busy from `take` to `done`, and may pause for a while after that.
    """

    def __init__(self, limit: int, most: int = 1 << 30, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self.suspects: set[int] = set()
        self.capacity_of: Callable[[int], int] = lambda _: limit  #: partition → records that it takes now
        self.batch_limit_of: Callable[[int], int] = lambda _: limit  #: partition → records in its next batch at most
        self._clock = clock
        self._opened = -math.inf
        self._many = min(_MANY, limit)
        self._most = most
        self._bytes = 0
        self._owned: set[int] = set()
        self._busy: set[int] = set()
        self._punctuated: set[int] = set()
        self._called: set[int] = set()
        self._pauses: dict[int, asyncio.TimerHandle] = {}
        self._waiting: dict[int, dict[str, list[Any]]] = {}
        self._sizes: dict[int, int] = {}
        self._work = asyncio.Event()
        self._space_freed = asyncio.Event()

    def open(self, partitions: set[int]) -> None:
        """Take in records of these partitions from now on."""
        self._owned = set(partitions)
        self._opened = self._clock()
        self._end_pauses()
        self._work.set()
        self._space_freed.set()

    def close(self) -> None:
        """Throw away what waits: it was not begun, and whoever owns the partition next reads it again."""
        self._owned = set()
        self._bytes = 0
        self._waiting.clear()
        self._sizes.clear()
        self._punctuated.clear()
        self._called.clear()
        self._end_pauses()

    def has_space(self, partition: int) -> bool:
        """Say whether a partition may be fetched from."""
        few = self._sizes.get(partition, 0) < 2 * self.limit
        return partition in self._owned and few and self._bytes < self._most and self.capacity_of(partition) > 0

    async def wait_for_space(self, timeout: float) -> None:
        """Wait until some partition may be fetched from, at most `timeout` seconds."""
        self._space_freed.clear()
        try:
            await asyncio.wait_for(self._space_freed.wait(), timeout)
        except TimeoutError:
            return

    def put(self, tp: TP, records: list[Any]) -> None:
        """Add what was fetched."""
        partition = tp.partition
        if partition not in self._owned:
            return
        by_topic = self._waiting.setdefault(partition, {})
        waiting = by_topic.get(tp.topic)
        if waiting is None:
            by_topic[tp.topic] = records
        else:
            waiting.extend(records)
        self._sizes[partition] = self._sizes.get(partition, 0) + len(records)
        self._bytes += _weigh(records)
        self._work.set()

    def put_back(self, partition: int, records: Mapping[str, list[Any]]) -> None:
        """Put records of a batch back in front of what waits: they come first in the next one."""
        if partition not in self._owned:
            return
        by_topic = self._waiting.setdefault(partition, {})
        for topic, first in records.items():
            if first:
                by_topic[topic] = first + by_topic.get(topic, [])
                self._bytes += _weigh(first)
        self._sizes[partition] = sum(map(len, by_topic.values()))
        self._work.set()

    def claim(self, partition: int) -> bool:
        """Make a partition busy that has nothing waiting; says whether it was free."""
        if partition not in self._owned or partition in self._busy or self._sizes.get(partition):
            return False
        self._busy.add(partition)
        return True

    def is_busy(self, partition: int) -> bool:
        """Say whether a batch of a partition is under way."""
        return partition in self._busy

    def punctuate(self, partitions: set[int]) -> None:
        """Queue an empty batch for each idle partition so that timeouts fire."""
        self._punctuated = {p for p in partitions & self._owned if not self._sizes.get(p) and p not in self._busy}
        self._work.set()

    def queue_batch(self, partition: int) -> None:
        """Queue a batch for a partition, an empty one where no records wait or none is taken now."""
        if partition in self._owned:
            self._called.add(partition)
            self._work.set()

    @property
    def queued(self) -> int:
        """Number of records that wait."""
        return sum(self._sizes.values())

    @property
    def has_ready(self) -> bool:
        """Whether any record waits that could be worked on: one that its partition has no room for waits for others."""
        return any(size and self.capacity_of(partition) > 0 for partition, size in self._sizes.items())

    @property
    def at_work(self) -> int:
        """Number of partitions that have records waiting, are busy, or pause."""
        return len(self._waiting.keys() | self._busy | self._pauses.keys())

    def queued_for(self, partition: int) -> int:
        """Return the number of records that wait for a partition."""
        return self._sizes.get(partition, 0)

    def queued_before(self, partition: int, offset: int) -> int:
        """Return the number of records before an offset that wait for a partition of one input; offsets have gaps."""
        if offset < 0:
            return 0
        by_topic = self._waiting.get(partition, {})
        return sum(bisect_left(records, offset, key=lambda record: record.offset) for records in by_topic.values())

    def done(self, partition: int, pause: float = 0.0) -> None:
        """Free a partition: its batch is safe, or given up.

        pause: seconds for which more may gather before its next batch; many records end it.
        """
        self._busy.discard(partition)
        self._end_pause(partition)
        if pause and self._sizes.get(partition, 0) < self._many:
            self._pauses[partition] = asyncio.get_running_loop().call_later(pause, self._end_pause, partition)
        self._work.set()

    async def take(self) -> PartitionBatch:
        """Wait for the next partition that is free and has something to do."""
        while True:
            # Those that are tried in smaller parts come last: what ends a worker must not keep the others waiting.
            for partition in sorted(self._waiting, key=self._rank):
                if self._is_due(partition):
                    self._busy.add(partition)
                    self._called.discard(partition)
                    return PartitionBatch(partition, self._cut(partition))
            ready = (self._punctuated | self._called) - self._busy - self._pauses.keys()
            if ready:
                partition = min(ready)
                self._punctuated.discard(partition)
                self._called.discard(partition)
                self._busy.add(partition)
                return PartitionBatch(partition, {})
            self._work.clear()
            await self._work.wait()

    def _is_due(self, partition: int) -> bool:
        size = self._sizes.get(partition, 0)
        pauses = partition in self._pauses and size < self._many
        free = partition not in self._busy and not pauses and not self._lets_others(partition)
        return size > 0 and free and self.capacity_of(partition) > 0

    def _lets_others(self, partition: int) -> bool:
        """Say whether a partition that has ended a worker still waits: the next one may end before the others' turn."""
        if partition not in self.suspects:
            return False
        since = self._clock() - self._opened
        return since < _SETTLING or (since < _LETTING and bool((self._waiting.keys() | self._busy) - self.suspects))

    def _end_pause(self, partition: int) -> None:
        if handle := self._pauses.pop(partition, None):
            handle.cancel()
            self._work.set()

    def _end_pauses(self) -> None:
        for partition in list(self._pauses):
            self._end_pause(partition)

    def _rank(self, partition: int) -> tuple[bool, int]:
        return self.batch_limit_of(partition) < self.limit, -self._sizes.get(partition, 0)

    def _cut(self, partition: int) -> dict[str, list[Any]]:
        """Take out at most as many records of a partition as its limit says, topic by topic."""
        left = min(self.batch_limit_of(partition), self.capacity_of(partition))
        batch: dict[str, list[Any]] = {}
        by_topic = self._waiting[partition]
        for topic in list(by_topic):
            records = by_topic[topic]
            if len(records) <= left:
                batch[topic] = by_topic.pop(topic)
            elif left:
                batch[topic], by_topic[topic] = records[:left], records[left:]
            left -= len(batch.get(topic, ()))
        if not by_topic:
            del self._waiting[partition]
        self._sizes[partition] = sum(map(len, by_topic.values()))
        self._bytes -= sum(map(_weigh, batch.values()))
        self._space_freed.set()
        return batch


def _weigh(records: list[Any]) -> int:
    return sum([len(record.key or b"") + len(record.value or b"") for record in records])


class BatchStream(faust.Stream):
    """A Faust stream whose agent takes whole batches from the app's record buffer instead of events."""

    async def batches(self) -> AsyncIterator[PartitionBatch]:
        """Yield batches for as long as the worker runs."""
        await self.maybe_start()
        buffer: RecordBuffer = self.app.task_manager.buffer
        while not self.should_stop:
            yield await buffer.take()
