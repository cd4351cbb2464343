"""TaskManager: the partitions of one app in this process, from take-over to the next revocation.

A take-over makes this process the only one that can write for its partitions; from then on a batch is computed on state
that nobody else can change, written in one transaction, and remembered after its commit.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

from confluent_kafka import Consumer, TopicPartition
from faust.types import TP

from turnsignal.agents.kafka.refusals import end_over, exit_for_operator, explain_refusal
from turnsignal.agents.kafka.topics import admin_client, log_bounds
from turnsignal.agents.kafka.unpacking import AT_ONCE
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.pages.views import Health
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.assignment import Assignment, OutdatedError
from turnsignal.agents.worker.batch_work import BatchWork
from turnsignal.agents.worker.batches import BatchStream, PartitionBatch, RecordBuffer
from turnsignal.agents.worker.partition_task import AppSpec, Deferral, PartitionTask
from turnsignal.agents.worker.progress import Progress
from turnsignal.agents.worker.transactions import group_reader
from turnsignal.stream.errors import ConfigError

logger = logging.getLogger("turnsignal.tasks")

#: Seconds after a partition's last commit until its position is moved past what carries no records: the markers of
#: other producers' transactions. Otherwise retention deletes the markers and the position falls below the log's start.
_CATCH_UP = 5.0
#: Take-overs within so many seconds are suspicious of two workers under one name: each ends the other's membership.
_OFTEN, _WITHIN = 5, 30.0
_LIMITS_EVERY = 5  #: looks at the broker, two seconds apart, between two questions how large a record may be


class RecordSource(Protocol):
    """Where records come from: what the task manager asks of the consumer."""

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


class TaskManager:
    """The partitions of one app in this process."""

    def __init__(self, settings: Settings, spec: AppSpec, metrics: WorkerMetrics) -> None:
        self.settings = settings
        self.spec = spec
        self.metrics = metrics
        self.buffer = RecordBuffer(settings.max_poll_records, AT_ONCE * settings.max_batch_bytes)
        self.buffer.batch_limit_of = self._batch_limit_of
        if spec.deferral is not None:
            self.buffer.capacity_of = self._capacity_of
        self.tasks: dict[int, PartitionTask] = {}
        self.progress = Progress(settings, spec)
        self.work = BatchWork(settings, spec, metrics, self.buffer, self.progress, self._group_reader)
        self._source: RecordSource | None = None
        self._generation = 0  # counts assignments: a newer one makes those before it outdated
        self._broker_checks = 0  # how often the broker was asked
        self._assigned_at: deque[float] = deque(maxlen=_OFTEN)  # when the last take-overs did
        self._group: Consumer | None = None
        self._assigning: asyncio.Future[Any] | None = None
        self._draining: asyncio.Future[None] | None = (
            None  # what was taken in is being left; asked for twice, done once
        )
        self._assignment_pool = ThreadPoolExecutor(1, "assignments")

    @property
    def source(self) -> RecordSource | None:
        """The consumer, from the first assignment on."""
        return self._source

    @source.setter
    def source(self, source: RecordSource) -> None:
        self._source = self.work.committer = source

    # -- assign, revoke ------------------------------------------------------------------------------------------------

    async def assign(self, assigned: set[TP]) -> Mapping[TP, int]:
        """Become the owner of what is assigned; return the position to read each input from.

        The partitions of the first input decide: during a rolling upgrade, workers that know another set of inputs may
        be dealt the other ones apart. Those are not read until the group agrees again.
        """
        self._generation = generation = self._generation + 1
        numbers = {tp.partition for tp in assigned if tp.topic == self.spec.inputs[0]}
        apart = sorted(tp for tp in assigned if tp.partition not in numbers)
        if apart:
            shown = ", ".join(f"{tp.topic}-{tp.partition}" for tp in apart)
            logger.warning("not read here without %s of the same number: %s", self.spec.inputs[0], shown)
        self._suspect_twin()
        self.progress.begin_assignment()
        self.metrics.set("worker_recovering", 1)
        loop = asyncio.get_running_loop()
        self._assigning = loop.run_in_executor(self._assignment_pool, self._assign, numbers, generation)
        try:
            begun = await self._assigning
            ends = await loop.run_in_executor(self._assignment_pool, self._ends, apart)
            if not self.work.exactly_once and self.source is not None:
                await self._commit_beginnings(begun, assigned)
        except OutdatedError:
            return {}
        except Exception as error:
            if generation != self._generation and explain_refusal(error) is None:
                return {}  # the partitions are somebody else's by now, and so is what went wrong
            end_over(error, f"taking over partitions {sorted(numbers)}")
        self.progress.end_assignment(settled=generation == self._generation)
        self.metrics.set("worker_recovering", 0)
        positions = {TP(topic, n): at for n, task in dict(self.tasks).items() for topic, at in task.positions.items()}
        return {tp: at for tp, at in positions.items() if tp in assigned} | ends

    def _suspect_twin(self) -> None:
        """Say so where another worker seems to have the same name."""
        self._assigned_at.append(time.monotonic())
        if (
            self.settings.instance
            and len(self._assigned_at) == _OFTEN
            and self._assigned_at[-1] - self._assigned_at[0] < _WITHIN
        ):
            self._assigned_at.clear()
            logger.error(
                "%d take-overs within %.0f s: expected TURNSIGNAL_INSTANCE=%s of one worker only, is there another?",
                _OFTEN,
                _WITHIN,
                self.settings.instance,
            )

    def _assign(self, numbers: set[int], generation: int) -> list[PartitionTask]:
        """Take over in a thread, one at a time; return the partition tasks that are new."""
        if generation != self._generation:
            raise OutdatedError  # it waited behind another
        for number in set(self.tasks) - numbers:
            self._drop(number)
        if not numbers:
            return []
        self.work.limits.learn()
        assignment = Assignment(
            self.settings,
            self.spec,
            self.metrics,
            wanted=lambda: generation == self._generation,
            limits=self.work.limits,
            group=self._group_reader(),
            progress=self._restoring,
        )
        before = dict(self.tasks)
        taken = assignment.run(numbers, before)
        if generation != self._generation:
            raise OutdatedError
        self.tasks = taken
        self.buffer.suspects = {number for number, task in taken.items() if task.bisection.ended_workers}
        fresh = [task for number, task in taken.items() if before.get(number) is not task]
        for task in fresh:
            self._hide(before.get(task.number))
            if self.spec.show is not None:
                self.metrics.apply(self.spec.show(task.processor), time.time())
        return fresh

    def _ends(self, places: list[TP]) -> dict[TP, int]:
        """Return the ends of some partitions: an input that is not read here is committed there."""
        if not places:
            return {}
        asked = {tp.topic: [other.partition for other in places if other.topic == tp.topic] for tp in places}
        bounds = log_bounds(admin_client(self.settings), asked)
        return {tp: bounds[tp.topic][tp.partition][1] for tp in places}

    async def _commit_beginnings(self, tasks: list[PartitionTask], assigned: set[TP]) -> None:
        """Commit start positions of newly assigned partitions; without transactions nothing else does."""
        assert self.source is not None
        offsets = [at for task in tasks for at in task.offsets(task.positions)]
        mine = [at for at in offsets if TP(at.topic, at.partition) in assigned]
        if mine:
            await self.source.commit_positions(mine)

    def _group_reader(self) -> Consumer:
        if self._group is None:
            self._group = group_reader(self.settings.confluent(), self.settings.app_id(self.spec.name))
        return self._group

    def _restoring(self, table: str, entries: int, remaining: int) -> None:
        self.progress.restoring(table, remaining)
        self.metrics.set("table_entries", entries, table)
        self.metrics.set("table_recovery_remaining_messages", remaining, table)

    def _drop(self, number: int) -> None:
        self._hide(self.tasks.pop(number, None))
        self.metrics.remove_series("table", f"{self.spec.name}-{number}")
        self.metrics.remove_series("partition", str(number))
        for topic in self.spec.inputs:
            self.progress.stop_following(TP(topic, number))

    def _hide(self, task: PartitionTask | None) -> None:
        """Stop showing the gauges of a partition's state, or two workers would show them."""
        if task is not None and self.spec.hide is not None:
            self.metrics.apply(self.spec.hide(task.processor), time.time())

    async def revoke(self) -> None:
        """End a take-over that is under way, and wait until no batch is in flight."""
        self._generation += 1
        self.progress.revoke()
        await self.work.wait_idle()
        if self.spec.deferral is not None:
            if self._draining is None or self._draining.done():
                self._draining = asyncio.ensure_future(self._drain(self.spec.deferral))
            await asyncio.shield(self._draining)  # a rebalance and the end of the worker may both ask for it
        self.work.end_pauses()
        if self._assigning is not None and not self._assigning.done():
            # Its next fence would come after the new owner's; it stops before it, within one step.
            await asyncio.wait([self._assigning], timeout=self.settings.rebalance_timeout / 2)

    async def _drain(self, deferral: Deferral) -> None:
        """Drain deferred work, then commit what is done."""
        tasks = list(self.tasks.values())
        await deferral.drain([task.processor for task in tasks], self.settings.drain_timeout)
        await self.work.wait_idle()  # for answers that came meanwhile: a partition has one transaction at a time
        for task in tasks:
            deferral.seal(task.processor)
            task.bisection.leave()
            self._start(task, PartitionBatch(task.number, {}))
        await self.work.wait_idle()

    def _batch_limit_of(self, number: int) -> int:
        """Return how many records the next batch of a partition may have."""
        task, limit = self.tasks.get(number), self.buffer.limit
        if task is None:
            return limit
        return task.bisection.batch_limit(limit, self.buffer.queued_before(number, task.bisection.suspected_from))

    def _capacity_of(self, number: int) -> int:
        """Return how many more records the processor of a partition takes now."""
        task, deferral = self.tasks.get(number), self.spec.deferral
        return self.buffer.limit if task is None or deferral is None else deferral.room(task.processor)

    def _defers(self, task: PartitionTask) -> bool:
        """Say whether the partition has read records that are not finished."""
        return self.spec.deferral is not None and self.spec.deferral.waits(task.processor)

    def owned(self) -> set[int]:
        """Return the partition numbers that are worked on."""
        return set(self.tasks)

    # -- work --------------------------------------------------------------------------------------------------

    async def run(self, stream: BatchStream) -> None:
        """Work through batches for as long as the worker runs."""
        async for batch in stream.batches():
            number = batch.partition
            task = self.tasks.get(number)
            if task is None:
                self.buffer.done(number)
                continue
            self._start(task, batch)
            await self.work.let_others()

    def _start(self, task: PartitionTask, batch: PartitionBatch) -> None:
        try:
            self.work.start(task, batch)
        except Exception as error:
            end_over(error, f"working on {batch.describe()}")

    # -- health ------------------------------------------------------------------------------------------------

    def health(self) -> Health:
        """Say how this worker is."""
        busy = bool(self.work.inflight or self.buffer.has_ready)
        return self.progress.health(busy=busy, owned=dict(self.tasks))

    def pass_time(self) -> None:
        """Have time pass for each partition that has been read to its end; called every second.

        Where more is to be read, silence would be ours, not the users'; only what is deferred goes by the wall clock.
        """
        if self.spec.deferral is not None:
            for number in list(self.tasks):
                self.buffer.queue_batch(number)
            return
        if self.source is not None:
            tasks = dict(self.tasks)  # partitions come and go in other threads
            ends = {number: self.source.end_of(TP(self.spec.inputs[0], number)) for number in tasks}
            at_end = {number for number, end in ends.items() if end is not None and self._stands_at(tasks[number], end)}
            self.buffer.punctuate(at_end)

    def _stands_at(self, task: PartitionTask, end: int) -> bool:
        return task.positions[self.spec.inputs[0]] >= end

    def measure(self) -> None:
        """Show lag, queue and dead letters, and move positions past what carries no records; called every second."""
        self.work.warn_of_letters(time.monotonic())
        self.metrics.set("pending_turns", self.buffer.queued)
        if self.source is None:
            return
        now = time.monotonic()
        for number, task in dict(self.tasks).items():
            self.metrics.set("position_starts", task.bisection.starts, str(number))
            for topic, position in task.positions.items():
                tp = TP(topic, number)
                end = self.source.end_of(tp)
                if end is not None:
                    comes = self.buffer.queued_for(number) > 0 or self.buffer.is_busy(number) or self._defers(task)
                    # A partition that is blocked stands, whatever waits there.
                    waiting = comes and not task.bisection.rejected_dead_letters
                    stalled = self.progress.watch(tp, position, end, now, waiting=waiting)
                    self.metrics.set("position_stalled_seconds", stalled, topic, str(number))
                    # What was handed on and is done with may end in markers of transactions, which are no records.
                    done = position if comes else max(position, self.source.read_to(tp) or 0)
                    self.metrics.set("consumer_lag_messages", max(0, end - done), topic, str(number))
            self._catch_up(task, now)

    def _catch_up(self, task: PartitionTask, now: float) -> None:
        """Commit a position that stands before nothing but markers of transactions."""
        assert self.source is not None
        number = task.number
        if now - task.committed_at < _CATCH_UP or self.buffer.queued_for(number) or self.buffer.is_busy(number):
            return
        if self._defers(task):
            return
        read = {topic: self.source.read_to(TP(topic, number)) for topic in task.positions}
        ahead = {topic: at for topic, at in read.items() if at is not None and at > task.positions[topic]}
        if now - task.committed_at > self.settings.compaction_lag:
            ahead = dict(task.positions)  # what was erased leaves the broker's disk only behind newer records
        if ahead and self.buffer.claim(number):
            self._start(task, PartitionBatch(number, {}, ahead))

    async def check_broker(self) -> None:
        """Ask the broker how things stand: does it answer, are partition counts as they were, has anybody partitions?

        Called every few seconds.
        """
        if self._group is None:
            return
        look = partial(self.progress.check_broker, self._group, list(self.tasks.values()))
        try:
            nobody = await asyncio.get_running_loop().run_in_executor(None, look)
        except Exception as error:
            refusal = explain_refusal(error)
            if refusal is not None:
                exit_for_operator(refusal)
            raise
        self._broker_checks += 1
        if self._broker_checks % _LIMITS_EVERY == 0:
            try:
                await self.work.learn_limits()
            except ConfigError as error:
                end_over(error, "asking how large records may be")
        if nobody and self.source is not None:
            logger.warning("the group has partitions to deal out and nobody has any: joining it again")
            await self.source.join_again()

    def close(self) -> None:
        """Give the threads back; the process ends."""
        self._assignment_pool.shutdown(wait=False, cancel_futures=True)
        self.work.close()
