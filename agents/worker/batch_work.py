"""Batch work: one batch of one partition, computed, written and committed, or tried again in smaller parts.

A batch that cannot be computed or written goes on in smaller parts, until the record that is to blame stands alone and
is set aside. Whatever else goes wrong ends the process: its supervisor starts it again, and the broker has kept nothing
half done.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from confluent_kafka import Consumer, TopicPartition

from turnsignal.agents.kafka.refusals import end_over, locate
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.metrics.families import STAGES
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.batches import PartitionBatch, RecordBuffer
from turnsignal.agents.worker.caution import Caution
from turnsignal.agents.worker.checkpoints import COMPUTED, Checkpoint
from turnsignal.agents.worker.limits import RecordLimits
from turnsignal.agents.worker.moments import read_moment
from turnsignal.agents.worker.partition_task import AppSpec, PartitionTask
from turnsignal.agents.worker.progress import Progress
from turnsignal.agents.worker.steps import Steps
from turnsignal.agents.worker.transactions import advise, refuses_records, was_forgotten
from turnsignal.stream.pipeline.processor import BatchResult

logger = logging.getLogger("turnsignal.work")

#: Seconds at least between a commit and the next transaction of the same id. The broker still writes the markers of the
#: former one then, and answers CONCURRENT_TRANSACTIONS, upon which librdkafka waits 20 ms before it asks again.
_REST = 0.005
_LONG = 0.02  #: seconds of computing after which whatever else waits for the loop has its turn before the next batch
_TURNS = 20  #: of the loop then: a request needs several, from connecting to its answer


class Committer(Protocol):
    """Who commits input positions where there are no transactions: the consumer."""

    async def commit_positions(self, offsets: list[TopicPartition]) -> None:
        """Commit input positions apart from the outputs."""
        ...


class BatchWork:
    """The batches of one app in this process, one at a time for each partition.

    group: gives a consumer that names the group; committer: set at the first assignment.
    """

    def __init__(
        self,
        settings: Settings,
        spec: AppSpec,
        metrics: WorkerMetrics,
        buffer: RecordBuffer,
        progress: Progress,
        group: Callable[[], Consumer],
    ) -> None:
        self.settings = settings
        self.spec = spec
        self.metrics = metrics
        self.buffer = buffer
        self.progress = progress
        self.committer: Committer | None = None
        self.on_committed: Callable[[BatchResult], None] = lambda _: None  #: told of every batch that is safe
        self.on_moved: Callable[[], None] = lambda: None  #: told once, when the first commit is safe
        self.inflight = 0
        self.limits = RecordLimits(settings.confluent(), (*spec.outputs.values(), spec.changelog))
        self._group = group
        self._idle = asyncio.Event()
        self._idle.set()
        self._steps = Steps(settings, progress, group, spec.inputs[0])
        self._rests: dict[int, asyncio.TimerHandle] = {}  # partition that is held → when it is free again
        self._alone = asyncio.Lock()  # held while a batch is worked through that may end the worker
        self._written = 0  # batches that are written and not committed yet
        self._all_committed = asyncio.Event()
        self._all_committed.set()
        self._moved = False  # whether anything was committed
        self._computed_for = 0.0  # seconds that the last batch took
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def exactly_once(self) -> bool:
        """Whether outputs, state and position commit together."""
        return self.settings.delivery == "exactly_once"

    async def wait_idle(self) -> None:
        """Wait until no batch is under way."""
        await self._idle.wait()

    def end_rests(self) -> None:
        """Free the partitions that rest: whoever owns them next is not to wait for it."""
        for number, handle in list(self._rests.items()):
            handle.cancel()
            self._wake(number)

    def close(self) -> None:
        """Give the threads back; the process ends."""
        self._steps.close()

    def limit_batches(self, partition_task: PartitionTask) -> None:
        """Have the next batch of a partition be as small as its caution says."""
        most, caution = self.buffer.limit, partition_task.caution
        self.buffer.limits[partition_task.number] = most if caution is None else min(caution.size, most)

    def start(self, partition_task: PartitionTask, partition_batch: PartitionBatch) -> None:
        """Have a batch worked through; under caution alone, after its beginning is committed."""
        self.inflight += 1
        self._idle.clear()
        if partition_task.caution is not None and partition_batch.size:
            work = self._work_alone(partition_task, partition_batch)
        elif self._alone.locked():
            work = self._work_later(partition_task, partition_batch)
        else:
            began = time.monotonic()
            batch = self._compute(partition_task, partition_batch)
            if batch is None:
                self._finish(partition_task)
                return
            work = self._commit(
                partition_task, partition_batch, batch, began, self._write(partition_task, partition_batch, batch)
            )
        task = asyncio.get_running_loop().create_task(self._end_over_errors(work, partition_task, partition_batch))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end_over_errors(self, work: Any, partition_task: PartitionTask, partition_batch: PartitionBatch) -> None:
        try:
            await work
        except Exception as error:
            end_over(error, f"committing {partition_batch.describe()}")
        self._finish(partition_task)

    async def _work_later(self, partition_task: PartitionTask, partition_batch: PartitionBatch) -> None:
        """Work a batch through once no partition needs to be alone."""
        began = time.monotonic()
        async with self._alone:
            batch = self._compute(partition_task, partition_batch)
            await self.let_others()
            refused = None if batch is None else self._write(partition_task, partition_batch, batch)
        if batch is not None:
            await self._commit(partition_task, partition_batch, batch, began, refused)

    async def _work_alone(self, partition_task: PartitionTask, partition_batch: PartitionBatch) -> None:
        """Commit that a batch begins, so that the next worker knows of it should this one end; then work it through.

        No other partition is computed before it is committed, or committed after it began: the end of the worker must
        be its own, and take nothing along. That it is computed is committed, too: what goes wrong from there on is no
        record's doing, yet a smaller batch may be written where a large one could not.
        """
        began = time.monotonic()
        async with self._alone:
            caution = partition_task.caution
            if caution is not None and caution.exhausted and partition_batch.inputs() == caution.inputs:
                batch: BatchResult | None = self._set_aside(partition_task, partition_batch)
            else:
                await self._all_committed.wait()
                if caution is not None:
                    partition_task.caution = caution.within(partition_batch.size)
                await self._commit_beginning(partition_task, partition_batch.inputs())
                batch = self._compute(partition_task, partition_batch)
                await self.let_others()
                # Where it failed, no worker has ended: should another batch end this one, it is not to be blamed.
                await self._commit_beginning(partition_task, "" if batch is None else COMPUTED)
            if batch is not None:
                await self._commit(
                    partition_task, partition_batch, batch, began, self._write(partition_task, partition_batch, batch)
                )

    async def _commit_beginning(self, partition_task: PartitionTask, begun: str) -> None:
        """Commit which inputs a batch that begins has records of, or that it is computed."""
        write = partial(partition_task.writer.write, [], {}, partition_task.checkpoint(begun=begun))
        write()
        await self._commit_written(partition_task, write, [])
        self._say_moved()

    def _note_written(self, more: int) -> None:
        self._written += more
        (self._all_committed.clear if self._written else self._all_committed.set)()

    def _say_moved(self) -> None:
        if not self._moved:
            self._moved = True
            self.on_moved()

    async def let_others(self) -> None:
        """Give the loop to whatever waits for it: probes and heartbeats have their turn after each long batch."""
        for _ in range(_TURNS if self._computed_for > _LONG else 1):
            await asyncio.sleep(0)

    def _compute(self, partition_task: PartitionTask, partition_batch: PartitionBatch) -> BatchResult | None:
        """Return what came of a batch; None when there is nothing to commit, or it is to be tried in smaller parts."""
        began = time.monotonic()
        try:
            batch = self.spec.work(partition_task.processor, partition_batch.records, began)
        except MemoryError:
            raise
        except Exception as error:
            self._try_smaller(partition_task, partition_batch, error)
            return None
        finally:
            self._computed_for = time.monotonic() - began
        return batch if batch.outputs or batch.changes or partition_batch.size or partition_batch.ahead else None

    def _write(
        self, partition_task: PartitionTask, partition_batch: PartitionBatch, batch: BatchResult
    ) -> Exception | None:
        """Hand a batch to its writer; return the error where a record of it is refused already."""
        if partition_batch.records.get(self.spec.inputs[0]):
            partition_task.fed = read_moment()
        self._note_written(1)
        partition_task.writer.careful = partition_task.caution is not None
        try:
            partition_task.writer.write(
                batch.outputs, batch.changes, _checkpoint(partition_task, partition_batch, batch)
            )
        except Exception as error:
            if not refuses_records(error) or self.spec.held is not None:
                raise
            return error
        return None

    async def _commit(
        self,
        partition_task: PartitionTask,
        partition_batch: PartitionBatch,
        batch: BatchResult,
        started: float,
        refused: Exception | None,
    ) -> None:
        """Commit a batch, and take its state over. refused: why it was not even written, None when it was."""
        positions = partition_batch.positions(batch.consumed, batch.positions)
        offsets = partition_task.offsets(positions)
        checkpoint = _checkpoint(partition_task, partition_batch, batch)
        try:
            if refused is None:
                write = partial(partition_task.writer.write, batch.outputs, batch.changes, checkpoint)
                await self._commit_written(partition_task, write, offsets)
        except Exception as error:
            if not refuses_records(error) or self.spec.held is not None:
                raise
            refused = error
        self._note_written(-1)
        if refused is not None:
            self._count_transaction("aborted", started)
            partition_task.refusal = time.monotonic(), locate(refused)
            await self.learn_limits()
            await self._steps.run_in_time(partition_task.writer.start_again)
            if partition_task.writer.revision != self.limits.revision:
                # What is too large now becomes a dead letter of its own.
                self._requeue(partition_task, partition_batch)
            else:
                self._split_or_hold(partition_task, partition_batch, batch, refused)
            return
        if not self.exactly_once and offsets and self.committer is not None:
            await self.committer.commit_positions(offsets)
        partition_task.processor.accept(batch)
        self.on_committed(batch)
        partition_task.aside, partition_task.refused = partition_task.aside + 1 if batch.set_aside else 0, 0
        partition_task.advance(positions, partition_batch.consumed(batch.consumed), set_aside=batch.set_aside)
        self.limit_batches(partition_task)
        if rest := partition_batch.after(batch.consumed):
            self.buffer.put_back(partition_task.number, rest)
        self._count(partition_task, partition_batch, batch, started)

    async def _commit_written(
        self, partition_task: PartitionTask, write: Callable[[], None], offsets: list[TopicPartition]
    ) -> None:
        """Commit what was written.

        write: writes it again where the broker has forgotten the transactional id, as it does after a quiet week.
        """
        group = self._group().consumer_group_metadata()
        # What is refused while it is committed may hang, and limits that have changed say so.
        still = partial(self.limits.expect_same, partition_task.writer.revision)
        try:
            await self._steps.run_in_time(partition_task.writer.commit, offsets, group, still=still)
        except Exception as error:
            if not was_forgotten(error):
                raise
            logger.warning(
                "the broker has forgotten the transactional id of partition %d; beginning anew", partition_task.number
            )
            await self._steps.run_in_time(partition_task.writer.start)
            write()
            await self._steps.run_in_time(partition_task.writer.commit, offsets, group)

    def _split_or_hold(
        self, partition_task: PartitionTask, partition_batch: PartitionBatch, batch: BatchResult, error: Exception
    ) -> None:
        """Go on after a batch that the broker refused: in smaller parts, until one record alone is set aside.

        Where that is refused, too, the partition is held: passing over the record would lose it without a word.
        """
        if not batch.set_aside:
            self._try_smaller(partition_task, partition_batch, error)
            return
        partition_task.refused += 1
        self._requeue(partition_task, partition_batch)
        self.progress.made()  # the broker has answered, and has to be asked again for as long as it takes
        logger.error(
            "partition %d is held: what sets %s aside is refused: %s; expected a topic that takes it: %s",
            partition_task.number,
            partition_batch.describe(),
            locate(error),
            advise(error),
        )

    def _try_smaller(self, partition_task: PartitionTask, partition_batch: PartitionBatch, error: Exception) -> None:
        """Put a batch that failed back, to be tried in smaller parts; a record alone is set aside in time."""
        logger.error("%s failed: %s", partition_batch.describe(), locate(error))
        if not partition_batch.size or self.spec.held is not None:
            raise error  # nothing but time has passed, or what came before cannot be put back
        caution = partition_task.caution or Caution(partition_batch.size, partition_batch.size)
        partition_task.caution = caution.failed(partition_batch.inputs(), locate(error, quoted=False))
        self._requeue(partition_task, partition_batch)

    def _requeue(self, partition_task: PartitionTask, partition_batch: PartitionBatch) -> None:
        """Have a batch that failed worked through again; what it changed in memory is dropped."""
        partition_task.processor = self.spec.make(partition_task.number, partition_task.processor.store)
        partition_task.processor.restored()
        partition_task.resume_silence()
        self.buffer.put_back(partition_task.number, partition_batch.records)
        self.limit_batches(partition_task)

    async def learn_limits(self) -> None:
        """Ask again how large a record may be."""
        await self._steps.run(self.limits.learn)

    def _set_aside(self, partition_task: PartitionTask, partition_batch: PartitionBatch) -> BatchResult:
        """Return the dead letter of a record that cannot be worked on, and what has to be remembered of it."""
        ((topic, (record,)),) = ((name, records) for name, records in partition_batch.records.items() if records)
        caution = partition_task.caution
        why = (caution.why if caution else "") or "it ended each worker that worked on it and on nothing else"
        logger.error("%s is set aside as a dead letter: %s", partition_batch.describe(), why)
        batch = self.spec.set_aside(partition_task.processor, topic, record, why)
        if partition_task.refused:  # rather one conversation forgotten than all of them held
            self.limits.drop_too_large(batch, self.spec.changelog)
        return batch

    def _finish(self, partition_task: PartitionTask) -> None:
        """Release a partition for its next batch; a small one waits, so that a commit is worth its cost."""
        number = partition_task.number
        self.inflight -= 1
        if not self.inflight:
            self._idle.set()
        if rest := self._hold(partition_task):
            self._rests[number] = asyncio.get_running_loop().call_later(rest, self._wake, number)
        else:
            self.buffer.done(number, max(self.settings.commit_interval, _REST if self.exactly_once else 0.0))

    def _hold(self, partition_task: PartitionTask) -> float:
        """Return for how many seconds a partition gets no batch at all, as something is wrong with its last ones."""
        # A worker whose batches do not end for the stall timeout counts as one that hangs.
        rest = min(partition_task.rest(), self.settings.stall_timeout / 2)
        if rest:
            trouble = partition_task.trouble(time.monotonic())
            logger.error("partition %d is %s: resting %.0f s", partition_task.number, trouble, rest)
        return rest

    def _wake(self, number: int) -> None:
        self._rests.pop(number, None)
        self.buffer.done(number)

    def _count(
        self, partition_task: PartitionTask, partition_batch: PartitionBatch, batch: BatchResult, started: float
    ) -> None:
        now = time.time()
        metrics, number = self.metrics, partition_batch.partition
        metrics.apply(batch.deltas, now)
        self._count_transaction("committed", started)
        for records in partition_batch.records.values():
            if records and self.spec.held is None:  # where records are held, what came of them comes later
                seconds = [now - records[0].timestamp / 1000, now - records[-1].timestamp / 1000]
                metrics.observe("end_to_end_latency_seconds", seconds, STAGES.get(self.spec.name, self.spec.name))
        metrics.set("table_entries", len(partition_task.processor.store), f"{self.spec.name}-{number}")
        self.progress.made()
        self._say_moved()

    def _count_transaction(self, result: str, started: float) -> None:
        """Count a transaction. result: committed or aborted; started: when its batch was (monotonic clock)."""
        self.metrics.count("transactions_total", result)
        self.metrics.observe("transaction_duration_seconds", [time.monotonic() - started])


def _checkpoint(partition_task: PartitionTask, partition_batch: PartitionBatch, batch: BatchResult) -> Checkpoint:
    """Return where the state stands with a batch."""
    taken, came = batch.consumed, partition_batch
    return partition_task.checkpoint_after(
        came.positions(taken, batch.positions), came.consumed(taken), set_aside=batch.set_aside
    )
