"""Ownership: who holds a partition, with its state and its writer, from take-over to the next revocation.

A take-over fences the former owner, reads the committed positions, restores the state, and only then lets records in. A
batch is computed on state that nobody else can change, written in one transaction, and remembered after its commit.
Whatever goes wrong on the way ends the process: its supervisor starts it again, and the broker has kept nothing half done.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

from confluent_kafka import Consumer, TopicPartition
from faust.types import TP

from agents.batches import BatchStream, Gathered, Inbox
from agents.metrics import WorkerMetrics
from agents.settings import Settings
from agents.tables import make_store
from agents.topics import check_positions
from agents.transactions import Writer, give_up, group_reader, refuse, restore_changelog
from agents.views import Health
from stream.errors import ConfigError
from stream.pipeline import Batch

logger = logging.getLogger("turnsignal.ownership")


class Keeper(Protocol):
    """What is kept of one partition: state that records move, batch by batch."""

    store: MutableMapping[bytes, bytes]

    def restored(self) -> None:
        """Take up what the store holds."""
        ...

    def accept(self, batch: Batch) -> None:
        """Remember what a batch changed."""
        ...


@dataclass(slots=True, frozen=True)
class Plan:
    """What an app reads, keeps and writes.

    name: of the app (`score`); inputs: topics that are read, co-partitioned; changelog: topic of the state; outputs: short
    name → topic; make: a keeper for a partition, over a store; work: (keeper, records by input topic, wall clock) → what came of it.
    """

    name: str
    inputs: tuple[str, ...]
    changelog: str
    outputs: Mapping[str, str]
    make: Callable[[int, MutableMapping[bytes, bytes]], Any]
    work: Callable[[Any, Mapping[str, list[Any]], float], Batch]


@dataclass(slots=True)
class Holding:
    """One partition number that is ours. positions: input topic → next offset, as committed."""

    keeper: Any
    writer: Writer
    positions: dict[str, int] = field(default_factory=dict)


class Ownership:
    """The partitions of one app in this process."""

    def __init__(self, settings: Settings, plan: Plan, metrics: WorkerMetrics) -> None:
        self.settings = settings
        self.plan = plan
        self.metrics = metrics
        self.inbox = Inbox(settings.max_poll_records)
        self.holdings: dict[int, Holding] = {}
        self.assigned = False
        self.remaining = 0
        self.last_progress = time.monotonic()
        self._group = settings.app_id(plan.name)
        self._reader: Consumer | None = None
        self._inflight = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._turn = 0  # which take-over is the current one
        self._takeovers = ThreadPoolExecutor(1, "takeover")
        self._commits = ThreadPoolExecutor(32, "commit")
        self._tasks: set[asyncio.Task[None]] = set()
        self._commit_positions: Callable[[Mapping[TP, int]], Any] | None = None

    @property
    def exactly_once(self) -> bool:
        """Whether outputs, state and position commit together."""
        return self.settings.delivery == "exactly_once"

    # -- take over, let go -------------------------------------------------------------------------------------

    async def take_over(self, assigned: set[TP]) -> Mapping[TP, int]:
        """Become the owner of what is assigned; return the position to read each input from."""
        self._turn += 1
        numbers = self._numbers(assigned)
        self.last_progress = time.monotonic()
        self.metrics.set_recovering(True)
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._takeovers, self._take_over, numbers, self._turn)
        except ConfigError as error:
            refuse(error)
        except Exception as error:
            logger.exception("take-over of partitions %s failed", sorted(numbers))
            give_up(error)
        self.assigned = True
        self.last_progress = time.monotonic()
        self.metrics.set_recovering(False)
        return {
            TP(topic, number): offset
            for number, holding in self.holdings.items()
            for topic, offset in holding.positions.items()
        }

    def _numbers(self, assigned: set[TP]) -> set[int]:
        """Return the partition numbers, making sure that co-partitioned inputs came together."""
        by_topic = {topic: {tp.partition for tp in assigned if tp.topic == topic} for topic in self.plan.inputs}
        numbers = set.union(*by_topic.values())
        torn = {topic: sorted(numbers - held) for topic, held in by_topic.items() if held != numbers}
        if torn:
            give_up(
                f"expected the same partitions of {', '.join(by_topic)}, got none of {torn}: are partition counts equal?"
            )
        return numbers

    def _take_over(self, numbers: set[int], turn: int) -> None:
        """Fence, then read positions, then restore; runs in a thread, one at a time."""
        for number in set(self.holdings) - numbers:
            self._drop(number)
        reader = self._group_reader()
        for number in sorted(numbers):
            if turn != self._turn:
                return
            held = self.holdings.get(number)
            if held is not None and self._committed(reader, number) == held.positions:
                continue  # nobody else has worked on it; were our writer fenced, the next commit would say so
            self.holdings.pop(number, None)
            holding = self._restore(reader, number, turn)
            if holding is not None:
                self.holdings[number] = holding

    def _restore(self, reader: Consumer, number: int, turn: int) -> Holding | None:
        plan, settings = self.plan, self.settings
        identity = f"{self._group}-{number}" if self.exactly_once else None
        deadline = settings.transaction_timeout * 2
        writer = Writer(settings.producer(identity), number, plan.outputs, plan.changelog, deadline)
        store = make_store(settings.store, plan.name, number)
        began = time.monotonic()
        restored = restore_changelog(
            settings.confluent(),
            plan.changelog,
            number,
            store,
            wanted=lambda: turn == self._turn,
            progress=self._restoring,
        )
        if turn != self._turn:
            return None
        keeper = plan.make(number, store)
        keeper.restored()
        committed = self._committed(reader, number)
        positions = self._starts(reader, number, committed, bool(restored.records))
        if positions != committed and self.exactly_once:
            writer.write([], {})
            writer.commit(positions, reader.consumer_group_metadata())
        seconds = time.monotonic() - began
        logger.info("restored %d entries of %s-%d in %.1f s", len(store), plan.changelog, number, seconds)
        self.metrics.set_table(f"{plan.name}-{number}", entries=len(store))
        return Holding(keeper, writer, positions)

    def _starts(self, reader: Consumer, number: int, committed: Mapping[str, int], has_state: bool) -> dict[str, int]:
        """Return where to begin on each input; refuse when position, state and log do not belong together."""
        positions = {}
        for topic in self.plan.inputs:
            low, high = reader.get_watermark_offsets(TopicPartition(topic, number), timeout=30)
            position = committed.get(topic)
            check_positions(
                topic,
                number,
                committed=position,
                low=low,
                high=high,
                has_state=has_state and topic == self.plan.inputs[0],
                group=self._group,
            )
            first = low if self.settings.auto_offset_reset == "earliest" else high
            positions[topic] = first if position is None else position
        return positions

    def _committed(self, reader: Consumer, number: int) -> dict[str, int]:
        wanted = [TopicPartition(topic, number) for topic in self.plan.inputs]
        return {tp.topic: tp.offset for tp in reader.committed(wanted, timeout=30) if tp.offset >= 0}

    def _group_reader(self) -> Consumer:
        if self._reader is None:
            self._reader = group_reader(self.settings.confluent(), self._group)
        return self._reader

    def _restoring(self, remaining: int) -> None:
        self.remaining = remaining
        self.last_progress = time.monotonic()

    def _drop(self, number: int) -> None:
        self.holdings.pop(number, None)
        for topic in self.plan.inputs:
            self.metrics.forget_partition(topic, number)

    async def let_go(self) -> None:
        """Wait until no batch is in flight."""
        await self._idle.wait()

    # -- work --------------------------------------------------------------------------------------------------

    async def run(self, stream: BatchStream) -> None:
        """Work through batches for as long as the worker runs."""
        self._commit_positions = stream.app.consumer.commit_positions
        async for gathered in stream.batches():
            try:
                self._begin(gathered)
            except Exception as error:
                logger.exception("a batch of partition %d failed", gathered.partition)
                give_up(error)
            await asyncio.sleep(0)

    def _begin(self, gathered: Gathered) -> None:
        """Compute a batch, write it, and have it committed in a thread while other partitions compute."""
        number, now = gathered.partition, time.time()
        holding = self.holdings[number]
        batch: Batch = self.plan.work(holding.keeper, gathered.records, now)
        positions = {topic: records[-1].offset + 1 for topic, records in gathered.records.items() if records}
        if not (batch.outputs or batch.changes or positions):
            self.inbox.done(number)
            return
        started = time.monotonic()
        holding.writer.write(batch.outputs, batch.changes)
        self._inflight += 1
        self._idle.clear()
        task = asyncio.get_running_loop().create_task(self._commit(holding, gathered, batch, positions, started))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _commit(
        self, holding: Holding, gathered: Gathered, batch: Batch, positions: Mapping[str, int], started: float
    ) -> None:
        number = gathered.partition
        try:
            group = self._group_reader().consumer_group_metadata()
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._commits, holding.writer.commit, positions, group)
            if not self.exactly_once and positions and self._commit_positions is not None:
                await self._commit_positions({TP(topic, number): offset for topic, offset in positions.items()})
            holding.keeper.accept(batch)
            holding.positions.update(positions)
            self._count(holding, gathered, batch, started)
        except Exception as error:
            logger.exception("the commit of partition %d failed", number)
            give_up(error)
        self._inflight -= 1
        if not self._inflight:
            self._idle.set()
        self.inbox.done(number)

    def _count(self, holding: Holding, gathered: Gathered, batch: Batch, started: float) -> None:
        now = time.time()
        metrics, number = self.metrics, gathered.partition
        metrics.apply(batch.tally, now)
        metrics.record_transaction("committed", time.monotonic() - started)
        for records in gathered.records.values():
            if records:
                metrics.record_latency(
                    "inline", [now - records[0].timestamp / 1000, now - records[-1].timestamp / 1000]
                )
        metrics.set_table(f"{self.plan.name}-{number}", entries=len(holding.keeper.store))
        self.last_progress = time.monotonic()

    # -- health ------------------------------------------------------------------------------------------------

    def health(self) -> Health:
        """Say how this worker is."""
        busy = self._inflight or self.inbox.waiting or self.remaining
        age = time.monotonic() - self.last_progress if busy else 0.0
        return Health(
            seconds_since_progress=age,
            assigned=self.assigned,
            partitions=len(self.holdings),
            recovery_remaining=self.remaining if not self.assigned else 0,
            broker_reachable=True,
            progress_limit=self.settings.stall_timeout,
        )

    def close(self) -> None:
        """Give the threads back; the process ends."""
        self._takeovers.shutdown(wait=False, cancel_futures=True)
        self._commits.shutdown(wait=False, cancel_futures=True)


def refuse_mismatch(counts: Mapping[str, int]) -> None:
    """Refuse to start when topics that must be co-partitioned are not.

    Raises ConfigError that names every count.
    """
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{topic}={count}" for topic, count in sorted(counts.items()))
        msg = f"expected equal partition counts, got {listed}: see `turnsignal topics show` and `turnsignal topics repair`"
        raise ConfigError(msg)
