"""Ownership: the partitions of one app in this process, from take-over to the next revocation.

A batch is computed on state that nobody else can change, written in one transaction, and remembered after its commit.
One that cannot be computed or written comes to nothing, and goes on in smaller parts, until the record that is to blame
stands alone and is set aside. Whatever else goes wrong ends the process: its supervisor starts it again, and the broker
has kept nothing half done.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from faust.types import TP

from agents.batches import BatchStream, Gathered, Inbox
from agents.caution import Caution
from agents.holdings import Holding, Plan
from agents.metrics import WorkerMetrics
from agents.progress import Progress
from agents.refusals import end_over, explain_refusal, locate, refuse
from agents.settings import Settings
from agents.takeover import OutdatedError, TakeOver
from agents.topics import log_bounds
from agents.transactions import group_reader, record_limits, refuses_records, was_forgotten
from agents.views import Health
from stream.pipeline import Batch

logger = logging.getLogger("turnsignal.ownership")

#: Seconds between a commit and the next transaction of the same id. The broker still writes the markers of the former
#: one then, and answers CONCURRENT_TRANSACTIONS, upon which librdkafka waits 20 ms before it asks again.
_REST = 0.005
_LONG = 100  #: turns that take about as long to compute
#: Seconds after a partition's last commit until its position is moved past what carries no records: the markers of
#: other producers' transactions. Retention would remove them, and the position would stand before the log.
_CATCH_UP = 5.0


class Source(Protocol):
    """Where records come from: what the owner asks of the consumer."""

    async def commit_positions(self, offsets: list[TopicPartition]) -> None:
        """Commit input positions apart from the outputs."""
        ...

    def end_of(self, tp: TP) -> int | None:
        """Return the end of an input's log as last seen, None when it is not known yet."""
        ...

    def read_to(self, tp: TP) -> int | None:
        """Return the offset up to which everything was handed on, None when nothing was read yet."""
        ...

    async def join_again(self) -> None:
        """Have the group deal out its partitions once more."""
        ...


class Ownership:
    """The partitions of one app in this process."""

    def __init__(self, settings: Settings, plan: Plan, metrics: WorkerMetrics) -> None:
        self.settings = settings
        self.plan = plan
        self.metrics = metrics
        self.inbox = Inbox(settings.max_poll_records)
        self.holdings: dict[int, Holding] = {}
        self.progress = Progress(settings, plan)
        self.source: Source | None = None
        self._inflight = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._turn = 0  # which take-over is the current one
        self._limits: dict[str, int] = {}  # topic → bytes that a record may have
        self._group: Consumer | None = None
        self._taking: asyncio.Future[Any] | None = None
        self._takeovers = ThreadPoolExecutor(1, "takeovers")
        self._commits = ThreadPoolExecutor(32, "commit")
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def exactly_once(self) -> bool:
        """Whether outputs, state and position commit together."""
        return self.settings.delivery == "exactly_once"

    # -- take over, let go -------------------------------------------------------------------------------------

    async def take_over(self, assigned: set[TP]) -> Mapping[TP, int]:
        """Become the owner of what is assigned; return the position to read each input from.

        The partitions of the first input decide: during a rolling upgrade, workers that know another set of inputs may
        be dealt the other ones apart. Those are not read until the group agrees again.
        """
        self._turn = turn = self._turn + 1
        numbers = {tp.partition for tp in assigned if tp.topic == self.plan.inputs[0]}
        apart = sorted(tp for tp in assigned if tp.partition not in numbers)
        if apart:
            shown = ", ".join(f"{tp.topic}-{tp.partition}" for tp in apart)
            logger.warning("not read here, as %s of the same number is elsewhere: %s", self.plan.inputs[0], shown)
        self.progress.begin_take_over()
        self.metrics.set_recovering(True)
        loop = asyncio.get_running_loop()
        self._taking = loop.run_in_executor(self._takeovers, self._take_over, numbers, turn)
        try:
            begun = await self._taking
            ends = await loop.run_in_executor(self._takeovers, self._ends, apart)
            if not self.exactly_once and self.source is not None:
                await self._commit_beginnings(begun, assigned)
        except OutdatedError:
            return {}
        except Exception as error:
            if turn != self._turn and explain_refusal(error) is None:
                return {}  # the partitions are somebody else's by now, and so is what went wrong
            end_over(error, f"taking over partitions {sorted(numbers)}")
        self.progress.end_take_over(settled=turn == self._turn)
        self.metrics.set_recovering(False)
        found = {TP(topic, n): at for n, holding in self.holdings.items() for topic, at in holding.positions.items()}
        return {tp: at for tp, at in found.items() if tp in assigned} | ends

    def _take_over(self, numbers: set[int], turn: int) -> list[Holding]:
        """Take over in a thread, one at a time; return the holdings that are new."""
        if turn != self._turn:
            raise OutdatedError  # it waited behind another
        for number in set(self.holdings) - numbers:
            self._drop(number)
        if not numbers:
            return []
        if not self._limits:
            self._limits = record_limits(self.settings.confluent(), self.plan.outputs.values())
        takeover = TakeOver(
            self.settings,
            self.plan,
            self.metrics,
            wanted=lambda: turn == self._turn,
            limits=self._limits,
            group=self._group_reader(),
            progress=self._restoring,
        )
        before = dict(self.holdings)
        taken = takeover.run(numbers, before)
        if turn != self._turn:
            raise OutdatedError
        self.holdings = taken
        for number, holding in taken.items():
            self._limit_batches(number, holding.caution)
        return [holding for number, holding in taken.items() if before.get(number) is not holding]

    def _ends(self, places: list[TP]) -> dict[TP, int]:
        """Return the ends of some partitions: what is to be read of one that is not read."""
        if not places:
            return {}
        asked = {tp.topic: [other.partition for other in places if other.topic == tp.topic] for tp in places}
        bounds = log_bounds(AdminClient({**self.settings.confluent(), "log_level": 0}), asked)
        return {tp: bounds[tp.topic][tp.partition][1] for tp in places}

    async def _commit_beginnings(self, holdings: list[Holding], assigned: set[TP]) -> None:
        """Commit where new holdings begin; without transactions nothing else has."""
        assert self.source is not None
        offsets = [at for holding in holdings for at in holding.offsets(holding.positions)]
        mine = [at for at in offsets if TP(at.topic, at.partition) in assigned]
        if mine:
            await self.source.commit_positions(mine)

    def _group_reader(self) -> Consumer:
        if self._group is None:
            self._group = group_reader(self.settings.confluent(), self.settings.app_id(self.plan.name))
        return self._group

    def _restoring(self, table: str, entries: int, remaining: int) -> None:
        self.progress.restoring(table, remaining)
        self.metrics.set_table(table, entries=entries, remaining=remaining)

    def _drop(self, number: int) -> None:
        self.holdings.pop(number, None)
        self.metrics.forget_table(f"{self.plan.name}-{number}")
        for topic in self.plan.inputs:
            self.metrics.forget_partition(topic, number)
            self.progress.forget(TP(topic, number))

    async def let_go(self) -> None:
        """End a take-over that is under way, and wait until no batch is in flight."""
        self._turn += 1
        self.progress.let_go()
        await self._idle.wait()
        if self._taking is not None and not self._taking.done():
            # Its next fence would come after the new owner's; it stops before it, within one step.
            await asyncio.wait([self._taking], timeout=self.settings.rebalance_timeout / 2)

    def owned(self) -> set[int]:
        """Return the partition numbers that are worked on."""
        return set(self.holdings)

    # -- work --------------------------------------------------------------------------------------------------

    async def run(self, stream: BatchStream) -> None:
        """Work through batches for as long as the worker runs."""
        async for gathered in stream.batches():
            number = gathered.partition
            holding = self.holdings.get(number)
            if holding is None:
                self.inbox.done(number)
                continue
            try:
                self._start(holding, gathered)
            except Exception as error:
                end_over(error, f"working on {_describe(gathered)}")
            await asyncio.sleep(0)

    def _start(self, holding: Holding, gathered: Gathered) -> None:
        """Have a batch worked through; under caution its beginning is committed first."""
        self._inflight += 1
        self._idle.clear()
        if holding.caution is not None and gathered.size:
            work = self._work_carefully(holding, gathered)
        else:
            batch = self._compute(holding, gathered)
            if batch is None or not self._write(holding, gathered, batch):
                self._finish(gathered.partition)
                return
            work = self._commit(holding, gathered, batch, time.monotonic())
        task = asyncio.get_running_loop().create_task(self._end_over_errors(work, gathered))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end_over_errors(self, work: Any, gathered: Gathered) -> None:
        try:
            await work
        except Exception as error:
            end_over(error, f"committing {_describe(gathered)}")
        self._finish(gathered.partition)

    async def _work_carefully(self, holding: Holding, gathered: Gathered) -> None:
        """Commit that a batch begins, so that the next worker knows of it should this one end; then work it through."""
        assert holding.caution is not None
        began = time.monotonic()
        if holding.caution.exhausted and _names(gathered) == holding.caution.inputs:
            tries = f"it ended {holding.caution.failures} workers, or attempts, that worked on nothing else"
            batch: Batch | None = self._set_aside(holding, gathered, tries)
        else:
            holding.writer.write([], {}, holding.checkpoint(begun=_names(gathered)))
            await self._in_time(holding.writer.commit, [], self._group_reader().consumer_group_metadata())
            batch = self._compute(holding, gathered)
        if batch is not None and self._write(holding, gathered, batch):
            await self._commit(holding, gathered, batch, began)

    def _compute(self, holding: Holding, gathered: Gathered) -> Batch | None:
        """Return what came of a batch; None when there is nothing to commit, or it is to be tried in smaller parts."""
        try:
            batch = self.plan.work(holding.keeper, gathered.records, time.time())
        except MemoryError:
            raise
        except Exception as error:
            return self._try_smaller(holding, gathered, error)
        return batch if batch.outputs or batch.changes or gathered.size else None

    def _write(self, holding: Holding, gathered: Gathered, batch: Batch) -> bool:
        """Hand a batch to its writer; say whether it took it."""
        positions = gathered.positions(batch.taken)
        taken = sum(batch.taken.values()) if batch.taken else gathered.size
        try:
            holding.writer.write(batch.outputs, batch.changes, holding.checkpoint_after(positions, taken))
        except Exception as error:
            if not refuses_records(error):
                raise
            holding.writer.abort()
            self._try_smaller(holding, gathered, error)
            return False
        return True

    async def _commit(self, holding: Holding, gathered: Gathered, batch: Batch, started: float) -> None:
        positions = gathered.positions(batch.taken)
        group = self._group_reader().consumer_group_metadata()
        offsets = holding.offsets(positions)
        try:
            await self._in_time(holding.writer.commit, offsets, group)
        except Exception as error:
            if refuses_records(error):
                holding.writer.abort()
                self._try_smaller(holding, gathered, error)
                return
            if not was_forgotten(error):
                raise
            await self._renew(holding, gathered, batch)
        if not self.exactly_once and offsets and self.source is not None:
            await self.source.commit_positions(offsets)
        holding.keeper.accept(batch)
        taken = sum(batch.taken.values()) if batch.taken else gathered.size
        holding.advance(positions, taken)
        self._limit_batches(holding.number, holding.caution)
        if rest := gathered.after(batch.taken):
            self.inbox.put_back(holding.number, rest)
        self._count(holding, gathered, batch, started)

    async def _renew(self, holding: Holding, gathered: Gathered, batch: Batch) -> None:
        """Write a batch again under a transactional id that the broker had forgotten, as it does after a quiet week."""
        logger.warning("the broker has forgotten the transactional id of partition %d; beginning anew", holding.number)
        await self._in_time(holding.writer.start)
        positions = gathered.positions(batch.taken)
        holding.writer.write(batch.outputs, batch.changes, holding.checkpoint_after(positions, gathered.size))
        group = self._group_reader().consumer_group_metadata()
        await self._in_time(holding.writer.commit, holding.offsets(positions), group)

    async def _in_time(self, step: Callable[..., None], *arguments: Any) -> None:
        """Do a step of a transaction in a thread; one that takes longer than a transaction may is given up.

        librdkafka's own timeouts are not kept everywhere: after an outage it may wait minutes for the coordinator.
        """
        work = asyncio.get_running_loop().run_in_executor(self._commits, step, *arguments)
        done, _ = await asyncio.wait([work], timeout=self.settings.transaction_timeout)
        if not done:
            msg = f"expected the broker to answer within {self.settings.transaction_timeout:g} s, got nothing"
            raise TimeoutError(msg)
        await work

    def _try_smaller(self, holding: Holding, gathered: Gathered, error: Exception) -> Batch | None:
        """Put a batch that came to nothing back, to be tried in smaller parts; a record alone is set aside in time."""
        caution = holding.caution or Caution(max(1, gathered.size), max(1, gathered.size))
        holding.caution = caution = caution.failed(_names(gathered))
        logger.error("%s came to nothing: %s", _describe(gathered), locate(error))
        # What it left half done in memory goes with it.
        holding.keeper = self.plan.make(holding.number, holding.keeper.store)
        holding.keeper.restored()
        if not gathered.size:
            raise error  # nothing but time has passed; there is no record to set aside
        if gathered.size == 1 and caution.exhausted:
            return self._set_aside(holding, gathered, locate(error))
        self.inbox.put_back(holding.number, gathered.records)
        self._limit_batches(holding.number, caution)
        return None

    def _set_aside(self, holding: Holding, gathered: Gathered, why: str) -> Batch:
        """Return the dead letter of a record that cannot be worked on, and what has to be remembered of it."""
        ((topic, (record,)),) = ((name, records) for name, records in gathered.records.items() if records)
        logger.error("%s is set aside as a dead letter: %s", _describe(gathered), why)
        return self.plan.set_aside(holding.keeper, topic, record, why)

    def _limit_batches(self, number: int, caution: Caution | None) -> None:
        self.inbox.limits[number] = self.inbox.limit if caution is None else min(caution.size, self.inbox.limit)

    def _finish(self, number: int) -> None:
        """Free a partition for its next batch; one that would be computed in no time comes after a rest."""
        self._inflight -= 1
        if not self._inflight:
            self._idle.set()
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
        self.progress.made()

    # -- health ------------------------------------------------------------------------------------------------

    def health(self) -> Health:
        """Say how this worker is."""
        busy = bool(self._inflight or self.inbox.waiting)
        return self.progress.health(busy=busy, partitions=len(self.holdings))

    def measure(self) -> None:
        """Show lag and queue, and move positions past what carries no records; called every second."""
        self.metrics.set_pending(self.inbox.waiting)
        if self.source is None:
            return
        now = time.monotonic()
        for number, holding in self.holdings.items():
            self.metrics.set_starts(number, holding.starts)
            for topic, position in holding.positions.items():
                tp = TP(topic, number)
                end = self.source.end_of(tp)
                if end is not None:
                    self.metrics.set_lag(topic, number, max(0, end - position))
                    waiting = self.inbox.waiting_for(number) > 0 or self.inbox.is_busy(number)
                    stalled = self.progress.watch(tp, position, end, now, waiting=waiting)
                    self.metrics.set_stalled(topic, number, stalled)
            self._catch_up(holding, now)

    def _catch_up(self, holding: Holding, now: float) -> None:
        """Commit a position that stands before nothing but markers of transactions."""
        assert self.source is not None
        number = holding.number
        if now - holding.committed_at < _CATCH_UP or self.inbox.waiting_for(number) or self.inbox.is_busy(number):
            return
        read = {topic: self.source.read_to(TP(topic, number)) for topic in holding.positions}
        ahead = {topic: at for topic, at in read.items() if at is not None and at > holding.positions[topic]}
        if ahead and self.inbox.claim(number):
            self._start(holding, Gathered(number, {}, ahead))

    async def look_around(self) -> None:
        """Ask the broker how things stand: does it answer, are partition counts as they were, has anybody partitions?

        Called every few seconds.
        """
        if self._group is None:
            return
        look = partial(self.progress.look_around, self._group, working=bool(self.holdings))
        try:
            nobody = await asyncio.get_running_loop().run_in_executor(self._commits, look)
        except Exception as error:
            refusal = explain_refusal(error)
            if refusal is not None:
                refuse(refusal)
            raise
        if nobody and self.source is not None:
            logger.warning("the group has partitions to deal out and nobody has any: joining it again")
            await self.source.join_again()

    def close(self) -> None:
        """Give the threads back; the process ends."""
        self._takeovers.shutdown(wait=False, cancel_futures=True)
        self._commits.shutdown(wait=False, cancel_futures=True)


def _names(gathered: Gathered) -> str:
    """Name the inputs of a batch."""
    return ",".join(sorted(topic for topic, records in gathered.records.items() if records))


def _describe(gathered: Gathered) -> str:
    """Name a batch: topic, partition, and its first and last offset."""
    shown = [
        f"{topic}-{gathered.partition} offsets {records[0].offset} to {records[-1].offset} ({len(records)} records)"
        for topic, records in gathered.records.items()
        if records
    ]
    return ", ".join(shown) or f"partition {gathered.partition} as time passes"
