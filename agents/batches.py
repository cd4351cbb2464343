"""Batches: records wait here by partition, and go on as one batch when their partition is free.

While a partition's transaction commits, its next records gather; so batches grow under load and shrink with it, and no
partition waits for another's commit.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import faust
from faust.types import TP


class Gathered(NamedTuple):
    """The next batch of one partition number: records by topic, in their order. Empty when it was only poked."""

    partition: int
    records: dict[str, list[Any]]


class Inbox:
    """Records that wait for their partition.

    limit: records in one batch at most; twice as many may wait. A partition is busy from `take` to `done`.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._owned: set[int] = set()
        self._busy: set[int] = set()
        self._poked: set[int] = set()
        self._waiting: dict[int, dict[str, list[Any]]] = {}
        self._sizes: dict[int, int] = {}
        self._work = asyncio.Event()
        self._room = asyncio.Event()

    def open(self, partitions: set[int]) -> None:
        """Take in records of these partitions from now on."""
        self._owned = set(partitions)
        self._work.set()
        self._room.set()

    def close(self) -> None:
        """Throw away what waits: it was not begun, and whoever owns the partition next reads it again."""
        self._owned = set()
        self._waiting.clear()
        self._sizes.clear()
        self._poked.clear()

    def has_room(self, partition: int) -> bool:
        """Say whether a partition may be fetched from."""
        return partition in self._owned and self._sizes.get(partition, 0) < 2 * self.limit

    async def wait_for_room(self, timeout: float) -> None:
        """Wait until some partition may be fetched from, at most `timeout` seconds."""
        self._room.clear()
        try:
            await asyncio.wait_for(self._room.wait(), timeout)
        except TimeoutError:
            return

    def put(self, tp: TP, records: list[Any]) -> None:
        """Add what was fetched."""
        partition = tp.partition
        if partition not in self._owned:
            return
        by_topic = self._waiting.setdefault(partition, {})
        held = by_topic.get(tp.topic)
        if held is None:
            by_topic[tp.topic] = records
        else:
            held.extend(records)
        self._sizes[partition] = self._sizes.get(partition, 0) + len(records)
        self._work.set()

    def poke(self) -> None:
        """Have an empty batch made of every partition that has nothing waiting: time has passed for it too."""
        self._poked = {p for p in self._owned if not self._sizes.get(p) and p not in self._busy}
        self._work.set()

    @property
    def waiting(self) -> int:
        """Number of records that wait."""
        return sum(self._sizes.values())

    def waiting_for(self, partition: int) -> int:
        """Return the number of records that wait for a partition."""
        return self._sizes.get(partition, 0)

    def done(self, partition: int) -> None:
        """Free a partition: its batch is safe, or given up."""
        self._busy.discard(partition)
        self._work.set()

    async def take(self) -> Gathered:
        """Wait for the next partition that is free and has something to do."""
        while True:
            for partition in sorted(self._waiting, key=lambda p: -self._sizes.get(p, 0)):
                if partition not in self._busy and self._sizes.get(partition):
                    self._busy.add(partition)
                    return Gathered(partition, self._cut(partition))
            ready = self._poked - self._busy
            if ready:
                partition = min(ready)
                self._poked.discard(partition)
                self._busy.add(partition)
                return Gathered(partition, {})
            self._work.clear()
            await self._work.wait()

    def _cut(self, partition: int) -> dict[str, list[Any]]:
        """Take out at most `limit` records of a partition, topic by topic."""
        left = self.limit
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
        self._room.set()
        return batch


class BatchStream(faust.Stream):
    """A Faust stream whose agent takes whole batches from the app's inbox instead of events."""

    async def batches(self) -> AsyncIterator[Gathered]:
        """Yield batches for as long as the worker runs."""
        await self.maybe_start()
        inbox: Inbox = self.app.owner.inbox
        while not self.should_stop:
            yield await inbox.take()
