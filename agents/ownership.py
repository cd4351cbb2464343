"""Ownership: who holds a partition, with its state and its writer, from take-over to the next revocation.

A take-over fences the former owner, reads the committed positions, restores the state, and only then lets records in. A
batch is computed on state that nobody else can change, written in one transaction, and remembered after its commit.
Whatever goes wrong on the way ends the process: its supervisor starts it again, and the broker has kept nothing half
done.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient
from faust.types import TP

from agents.batches import BatchStream, Gathered, Inbox
from agents.metrics import WorkerMetrics
from agents.positions import Position, check_positions, make_mark, read_positions
from agents.settings import Settings
from agents.tables import make_store
from agents.topics import topic_metadata
from agents.transactions import Writer, give_up, group_reader, record_limits, refuse, restore_changelog
from agents.views import Health
from stream.errors import ConfigError
from stream.pipeline import Batch

logger = logging.getLogger("turnsignal.ownership")

#: Seconds between a commit and the next transaction of the same id. The broker still writes the markers of the former
#: one then, and answers CONCURRENT_TRANSACTIONS, upon which librdkafka waits 20 ms before it asks again.
_REST = 0.005
_LONG = 100  #: turns that take about as long to compute


class Keeper(Protocol):
    """What is kept of one partition: state that records move, batch by batch."""

    store: MutableMapping[bytes, bytes]

    def restored(self) -> int:
        """Take up what the store holds, and return the last input offset that it has taken in, −1 if none."""
        ...

    def describe(self, key: bytes) -> dict[str, Any] | None:
        """Spell out what is kept under a key."""
        ...

    def accept(self, batch: Batch) -> None:
        """Remember what a batch changed."""
        ...


@dataclass(slots=True, frozen=True)
class Plan:
    """What an app reads, keeps and writes.

    name: of the app (`score`); inputs: topics that are read, co-partitioned; changelog: topic of the state; outputs:
    short name → topic; make: a keeper for a partition, over a store; work: (keeper, records by input topic, steady
    clock) → what came of it.
    """

    name: str
    inputs: tuple[str, ...]
    changelog: str
    outputs: Mapping[str, str]
    make: Callable[[int, MutableMapping[bytes, bytes]], Keeper]
    work: Callable[[Any, Mapping[str, list[Any]], float], Batch]


@dataclass(slots=True)
class Holding:
    """One partition number that is ours.

    positions: input topic → next offset, as committed; marks: input topic → what its commits carry.
    """

    keeper: Keeper
    writer: Writer
    positions: dict[str, int] = field(default_factory=dict)
    marks: dict[str, str] = field(default_factory=dict)

    def offsets(self, positions: Mapping[str, int]) -> list[TopicPartition]:
        """Spell positions as a commit carries them."""
        number = self.writer.partition
        return [TopicPartition(topic, number, at, self.marks[topic]) for topic, at in positions.items()]


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
        self._limits: dict[str, int] = {}  # topic → bytes that a record may have
        self._settled = False  # whether the last take-over is complete, and nothing was revoked since
        self._takeovers = ThreadPoolExecutor(1, "takeover")
        self._commits = ThreadPoolExecutor(32, "commit")
        self._tasks: set[asyncio.Task[None]] = set()
        self._commit_positions: Callable[[list[TopicPartition]], Any] | None = None
        self._highwater: Callable[[TP], int | None] | None = None
        self._reachable = True

    @property
    def exactly_once(self) -> bool:
        """Whether outputs, state and position commit together."""
        return self.settings.delivery == "exactly_once"

    # -- take over, let go -------------------------------------------------------------------------------------

    async def take_over(self, assigned: set[TP]) -> Mapping[TP, int]:
        """Become the owner of what is assigned; return the position to read each input from."""
        self._turn = turn = self._turn + 1
        numbers = self._numbers(assigned)
        self.last_progress = time.monotonic()
        self.metrics.set_recovering(True)
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._takeovers, self._take_over, numbers, turn)
        except ConfigError as error:
            refuse(error)
        except Exception as error:
            logger.exception("take-over of partitions %s failed", sorted(numbers))
            give_up(error)
        self.assigned = True
        self._settled = turn == self._turn
        self.remaining = 0  # what a restore counts down to is not 0: markers and compacted records never come
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
            inputs = ", ".join(by_topic)
            give_up(f"expected the same partitions of {inputs}, got none of {torn}: are partition counts equal?")
        return numbers

    def _take_over(self, numbers: set[int], turn: int) -> None:
        """Fence, then read positions, then restore; runs in a thread, one at a time."""
        if turn != self._turn:
            return  # it waited behind another, and is out of date
        if numbers and not self._limits:
            self._limits = record_limits(self.settings.confluent(), self.plan.outputs.values())
        for number in set(self.holdings) - numbers:
            self._drop(number)
        writers = {number: self._fence(number) for number in sorted(numbers) if number not in self.holdings}
        places: dict[int, list[Position]] = {number: [] for number in numbers}
        for place in self._places():
            if place.partition in numbers:
                places[place.partition].append(place)
        counts = self._counts()
        for number in sorted(numbers):
            held = self.holdings.get(number)
            if held is not None:
                if held.positions == {place.topic: place.committed for place in places[number]}:
                    continue  # nobody else has worked on it; were our writer fenced, the next commit would say so
                del self.holdings[number]
                writers[number] = self._fence(number)
                places[number] = [place for place in self._places() if place.partition == number]
            if turn != self._turn:
                return
            holding = self._restore(number, writers[number], places[number], counts, turn)
            if holding is not None:
                self.holdings[number] = holding

    def _places(self) -> list[Position]:
        return [place for place in read_positions(self.settings, self.plan.name) if place.topic in self.plan.inputs]

    def _fence(self, number: int) -> Writer:
        """Make this process the only one that can write for a partition."""
        settings, plan = self.settings, self.plan
        identity = f"{self._group}-{number}" if self.exactly_once else None
        deadline = settings.transaction_timeout * 2
        return Writer(settings.producer(identity), number, plan.outputs, plan.changelog, deadline, self._limits)

    def _restore(
        self, number: int, writer: Writer, places: list[Position], counts: Mapping[str, int], turn: int
    ) -> Holding | None:
        """Read a partition's state back, and refuse where it does not belong to the position."""
        plan, settings = self.plan, self.settings
        store = make_store(settings.store, plan.name, number)
        began = time.monotonic()
        restore_changelog(
            settings.confluent(),
            plan.changelog,
            number,
            store,
            wanted=lambda: turn == self._turn,
            progress=partial(self._restoring, f"{plan.name}-{number}", store),
        )
        if turn != self._turn:
            return None
        keeper = plan.make(number, store)
        applied = keeper.restored()
        first = plan.inputs[0]
        known = [p._replace(state=applied if p.topic == first and applied >= 0 else None) for p in places]
        check_positions(known, counts, plan.name, marked=True)
        holding = Holding(keeper, writer)
        for place in places:
            begin = place.low if settings.auto_offset_reset == "earliest" else place.high
            holding.positions[place.topic] = begin if place.committed is None else place.committed
            holding.marks[place.topic] = make_mark(place.topic_id, place.partitions)
        if self.exactly_once and any(place.committed is None for place in places):
            # From here on a restart begins where this start did, whatever `latest` may mean by then.
            writer.write([], {})
            writer.commit(holding.offsets(holding.positions), self._group_reader().consumer_group_metadata())
        seconds = time.monotonic() - began
        logger.info("restored %d entries of %s-%d in %.1f s", len(store), plan.changelog, number, seconds)
        self.metrics.set_table(f"{plan.name}-{number}", entries=len(store))
        return holding

    def _counts(self) -> dict[str, int]:
        """Return the partition counts that must be equal."""
        topics = topic_metadata(AdminClient({**self.settings.confluent(), "log_level": 0}), 30.0).topics
        return {
            name: len(topics[name].partitions) for name in (*self.plan.inputs, self.plan.changelog) if name in topics
        }

    def _group_reader(self) -> Consumer:
        if self._reader is None:
            self._reader = group_reader(self.settings.confluent(), self._group)
        return self._reader

    def _restoring(self, table: str, store: MutableMapping[bytes, bytes], remaining: int) -> None:
        self.remaining = remaining
        self.metrics.set_table(table, entries=len(store), remaining=remaining)
        self.last_progress = time.monotonic()

    def _drop(self, number: int) -> None:
        self.holdings.pop(number, None)
        self.metrics.forget_table(f"{self.plan.name}-{number}")
        for topic in self.plan.inputs:
            self.metrics.forget_partition(topic, number)

    async def let_go(self) -> None:
        """End a take-over that is under way, and wait until no batch is in flight."""
        self._turn += 1  # its fence would come after the next owner's
        self._settled = False
        self.last_progress = time.monotonic()
        await self._idle.wait()

    # -- work --------------------------------------------------------------------------------------------------

    async def run(self, stream: BatchStream) -> None:
        """Work through batches for as long as the worker runs."""
        consumer = stream.app.consumer
        self._commit_positions, self._highwater = consumer.commit_positions, consumer.end_of
        async for gathered in stream.batches():
            try:
                self._begin(gathered)
            except Exception as error:
                logger.exception("a batch of partition %d failed", gathered.partition)
                give_up(error)
            await asyncio.sleep(0)

    def _begin(self, gathered: Gathered) -> None:
        """Compute a batch, write it, and have it committed in a thread while other partitions compute."""
        number, now = gathered.partition, time.monotonic()
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
            offsets = holding.offsets(positions)
            await loop.run_in_executor(self._commits, holding.writer.commit, offsets, group)
            if not self.exactly_once and offsets and self._commit_positions is not None:
                await self._commit_positions(offsets)
            holding.keeper.accept(batch)
            holding.positions.update(positions)
            self._count(holding, gathered, batch, started)
        except Exception as error:
            logger.exception("the commit of partition %d failed", number)
            give_up(error)
        self._inflight -= 1
        if not self._inflight:
            self._idle.set()
        self._free(number)

    def _free(self, number: int) -> None:
        """Free a partition for its next batch; one that would be computed in no time comes after a rest."""
        if not self.exactly_once or self.inbox.waiting_for(number) >= _LONG:
            self.inbox.done(number)
        else:
            asyncio.get_running_loop().call_later(_REST, self.inbox.done, number)

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
        # A group that never assigns, a take-over that never ends: waiting for them is work that must go on, too.
        busy = self._inflight or self.inbox.waiting or self.remaining or not self._settled
        age = time.monotonic() - self.last_progress if busy else 0.0
        return Health(
            seconds_since_progress=age,
            assigned=self.assigned,
            partitions=len(self.holdings),
            recovery_remaining=self.remaining,
            broker_reachable=self._reachable,
            progress_limit=self.settings.stall_timeout,
        )

    def measure(self) -> None:
        """Show lag and queue; called every second, so that they move when nothing else does."""
        self.metrics.set_pending(self.inbox.waiting)
        for number, holding in self.holdings.items():
            for topic, position in holding.positions.items():
                end = self._highwater(TP(topic, number)) if self._highwater is not None else None
                if end is not None:
                    self.metrics.set_lag(topic, number, max(0, end - position))

    async def look_for_broker(self) -> None:
        """Ask the broker for anything at all, and remember whether it answered."""
        if self._reader is None:
            return
        ask = partial(self._reader.list_topics, self.plan.inputs[0], 3.0)
        try:
            await asyncio.get_running_loop().run_in_executor(self._commits, ask)
        except KafkaException:
            self._reachable = False
        else:
            self._reachable = True

    def close(self) -> None:
        """Give the threads back; the process ends."""
        self._takeovers.shutdown(wait=False, cancel_futures=True)
        self._commits.shutdown(wait=False, cancel_futures=True)


def refuse_absent(settings: Settings, plan: Plan) -> None:
    """Refuse to start without topics: Faust would wait for them for ever, without a word.

    Raises ConfigError that names what is missing and what makes it.
    """
    topics = topic_metadata(AdminClient({**settings.confluent(), "log_level": 0}), 30.0).topics
    needed = dict.fromkeys([*plan.inputs, plan.changelog, *plan.outputs.values()])
    missing = [name for name in needed if name not in topics]
    if missing:
        msg = f"expected the topics of {plan.name}, got no {', '.join(missing)}: run `turnsignal topics create`"
        raise ConfigError(msg)
