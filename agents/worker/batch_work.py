"""Batch work: one batch of one partition, computed, written and committed, or tried again in smaller parts.

A batch that cannot be computed or written goes on in smaller parts, until the record that is to blame stands alone and
is set aside. Whatever else goes wrong ends the process: its supervisor starts it again, and the broker has kept nothing
half done. An entry of the state that cannot be read is no record's fault: somebody has to say what becomes of it.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Protocol

from confluent_kafka import Consumer, TopicPartition

from turnsignal.agents.kafka.refusals import advise, end_over, locate, refuses_records, was_forgotten
from turnsignal.agents.kafka.topics import written_by
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.metrics.families import LATENCY_STAGES
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.batch_attempt import BatchAttempt
from turnsignal.agents.worker.batches import PartitionBatch, RecordBuffer
from turnsignal.agents.worker.dead_letters import DeadLetterWarnings
from turnsignal.agents.worker.limits import RecordLimits
from turnsignal.agents.worker.moments import read_moment
from turnsignal.agents.worker.partition_task import AppSpec, PartitionTask
from turnsignal.agents.worker.progress import Progress
from turnsignal.agents.worker.steps import Steps
from turnsignal.agents.worker.unreadable_state import locate_unreadable
from turnsignal.stream.errors import SchemaError
from turnsignal.stream.pipeline.batch_result import BatchResult

logger = logging.getLogger("turnsignal.work")

#: Seconds at least between a commit and the next transaction of the same id. The broker still writes the markers of the
#: former one then, and answers CONCURRENT_TRANSACTIONS, upon which librdkafka waits 20 ms before it asks again.
_PAUSE = 0.005
_LONGEST = 0.5  #: seconds for which records of a partition gather at most, however many others are at work
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
        topics, written = (*spec.outputs.values(), spec.changelog), written_by(spec.name, settings.prefix)
        self.limits = RecordLimits(settings, topics, written)
        self._letters = DeadLetterWarnings(quotes=settings.dead_letters == "full")
        self._group = group
        self._idle = asyncio.Event()
        self._idle.set()
        self._steps = Steps(settings, progress, group, spec.inputs[0])
        self._pauses: dict[int, asyncio.TimerHandle] = {}  # partition that gets no batch for now → when it does again
        self._alone = asyncio.Lock()  # locked while a batch is worked through that may end the worker
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
        """Wait until no batch is under way; another may begin before whoever waits has its turn."""
        while self.inflight:
            await self._idle.wait()

    def end_pauses(self) -> None:
        """Free the partitions that pause: whoever owns them next is not to wait for it."""
        for number, handle in list(self._pauses.items()):
            handle.cancel()
            self._end_pause(number)

    def close(self) -> None:
        """Give the threads back; the process ends."""
        self._steps.close()

    def warn_of_letters(self, now: float) -> None:
        """Say in the log what became dead letters, where it is time to. now: seconds on the monotonic clock."""
        if (warning := self._letters.next_warning(now)) is not None:
            logger.warning("%s", warning)

    def start(self, task: PartitionTask, batch: PartitionBatch) -> None:
        """Have a batch worked through; under caution alone, after its beginning is committed."""
        self.inflight += 1
        self._idle.clear()
        first = self.spec.inputs[0]
        if task.partitions and (misplaced := task.find_misplaced(batch.records.get(first, ()), self.spec.astray)):
            logger.warning("%s-%d: %s", first, task.number, misplaced)
        attempt = BatchAttempt(task, batch)
        if task.bisection.caution is not None and batch.size:
            work = self._work_alone(attempt)
        elif self._alone.locked():
            work = self._work_later(attempt)
        elif self._compute(attempt):
            self._write(attempt)
            work = self._commit(attempt)
        else:
            self._finish(attempt)
            return
        under_way = asyncio.get_running_loop().create_task(self._end_over_errors(work, attempt))
        self._tasks.add(under_way)
        under_way.add_done_callback(self._tasks.discard)

    async def _end_over_errors(self, work: Coroutine[Any, Any, None], attempt: BatchAttempt) -> None:
        try:
            await work
        except Exception as error:
            end_over(error, f"committing {attempt.batch.describe()}")
        self._finish(attempt)

    async def _work_later(self, attempt: BatchAttempt) -> None:
        """Work a batch through once no partition needs to be alone."""
        async with self._alone:
            computed = self._compute(attempt)
            await self.let_others()
            if computed:
                self._write(attempt)
        if computed:
            await self._commit(attempt)

    async def _work_alone(self, attempt: BatchAttempt) -> None:
        """Commit that a batch begins, so that the next worker knows of it should this one end; then work it through.

        No other partition is computed before it is committed, or committed after it began: the end of the worker must
        be its own, and take nothing along. That it is computed is committed, too: what goes wrong from there on is no
        record's doing, yet a smaller batch may be written where a large one could not.
        """
        async with self._alone:
            task, inputs = attempt.task, attempt.batch.inputs()
            first = -1 if self.spec.deferral is None else attempt.batch.first
            if task.bisection.exhausted(inputs, first):
                self._set_aside(attempt)
                computed = True
            else:
                await self._all_committed.wait()
                task.bisection.begin(inputs, attempt.batch.size, first)
                await self._commit_bisection(task)
                try:
                    computed = self._compute(attempt)
                except SchemaError:
                    task.bisection.end(computed=False)  # else the record would be blamed, started again often enough
                    await self._commit_bisection(task)
                    raise
                await self.let_others()
                # Where it failed, no worker has ended: should another batch end this one, it is not to be blamed.
                task.bisection.end(computed=computed)
                await self._commit_bisection(task)
            if computed:
                self._write(attempt)
                await self._commit(attempt)

    def _hold_calls(self, attempt: BatchAttempt) -> None:
        """Hold calls to others while a suspect record is in the batch: if it ends the worker, answers are lost."""
        task, deferral = attempt.task, self.spec.deferral
        if deferral is None or task.bisection.caution is None:
            return
        if attempt.batch.size or (self.buffer.queued_for(task.number) and deferral.room(task.processor) > 0):
            deferral.hold(task.processor)

    async def _commit_bisection(self, task: PartitionTask) -> None:
        """Commit what the next worker has to know of a batch, should it end this one."""
        write = partial(task.writer.write, [], {}, task.checkpoint())
        write()
        await self._commit_written(task, write, [])
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

    def _compute(self, attempt: BatchAttempt) -> bool:
        """Compute what comes of a batch; False where nothing is to be committed, or smaller parts are to be tried.

        Raises SchemaError that names the entry of the state which cannot be read.
        """
        task, batch = attempt.task, attempt.batch
        self._hold_calls(attempt)
        began = time.monotonic()
        try:
            result = attempt.result = self.spec.work(task.processor, batch.records, began)
        except MemoryError:
            raise
        except SchemaError as error:
            raise self._locate_unreadable(task, error) from None
        except Exception as error:
            self._try_smaller(attempt, error)
            return False
        finally:
            self._computed_for = time.monotonic() - began
        return bool(result.outputs or result.changes or batch.size or batch.ahead)

    def _write(self, attempt: BatchAttempt) -> None:
        """Hand the outcome of a batch to its writer, which may refuse a record of it at once."""
        task = attempt.task
        if attempt.batch.records.get(self.spec.inputs[0]):
            task.fed = read_moment()
        self._note_written(1)
        task.writer.flush_before_offsets = task.bisection.caution is not None
        try:
            attempt.write()
        except Exception as error:
            if not refuses_records(error) or self.spec.deferral is not None:
                raise
            attempt.rejection = error

    async def _commit(self, attempt: BatchAttempt) -> None:
        """Commit a batch that is written, and take its state over; where it was rejected, go on in smaller parts."""
        task = attempt.task
        offsets = task.offsets(attempt.positions())
        try:
            if attempt.rejection is None:
                await self._commit_written(task, attempt.write, offsets)
        except Exception as error:
            if not refuses_records(error) or self.spec.deferral is not None:
                raise
            attempt.rejection = error
        self._note_written(-1)
        if attempt.rejection is not None:
            await self._go_on_rejected(attempt, attempt.rejection)
            return
        if not self.exactly_once and offsets and self.committer is not None:
            await self.committer.commit_positions(offsets)
        attempt.accept()
        self.on_committed(attempt.result)
        if left := attempt.batch.after(attempt.result.consumed):
            self.buffer.put_back(task.number, left)
        self._count(attempt)

    async def _go_on_rejected(self, attempt: BatchAttempt, error: Exception) -> None:
        """Abort a batch that the broker rejected, and have its records tried again."""
        task = attempt.task
        self._count_transaction("aborted", attempt.began)
        task.bisection.last_rejection = time.monotonic(), locate(error)
        await self.learn_limits()
        await self._steps.run_in_time(task.writer.abort)
        if task.writer.revision != self.limits.revision:
            self._requeue(attempt)  # what is too large now becomes a dead letter of its own
        else:
            self._split_or_block(attempt, error)

    async def _commit_written(
        self, task: PartitionTask, write: Callable[[], None], offsets: list[TopicPartition]
    ) -> None:
        """Commit what was written.

        write: writes it again where the broker has forgotten the transactional id, as it does after a quiet week.
        """
        group = self._group().consumer_group_metadata()
        # What is refused while it is committed may hang, and limits that have changed say so.
        still = partial(self.limits.expect_same, task.writer.revision)
        try:
            await self._steps.run_in_time(task.writer.commit, offsets, group, still=still)
        except Exception as error:
            if not was_forgotten(error):
                raise
            logger.warning("the broker has forgotten the transactional id of partition %d; beginning anew", task.number)
            await self._steps.run_in_time(task.writer.start)
            write()
            await self._steps.run_in_time(task.writer.commit, offsets, group)

    def _split_or_block(self, attempt: BatchAttempt, error: Exception) -> None:
        """Go on after a batch that the broker rejected: in smaller parts, until one record alone is set aside.

        Where that is refused, too, the partition is blocked: passing over the record would lose it without a word.
        """
        if not attempt.result.set_aside:
            self._try_smaller(attempt, error)
            return
        attempt.task.bisection.rejected_dead_letters += 1
        self._requeue(attempt)
        self.progress.made()  # the broker has answered, and has to be asked again for as long as it takes
        logger.error(
            "partition %d is blocked: what sets %s aside is refused: %s; expected a topic that takes it: %s",
            attempt.task.number,
            attempt.batch.describe(),
            locate(error),
            advise(error),
        )

    def _try_smaller(self, attempt: BatchAttempt, error: Exception) -> None:
        """Put a batch that failed back, to be tried in smaller parts; a record alone is set aside in time."""
        task, batch = attempt.task, attempt.batch
        logger.error("%s failed: %s", batch.describe(), locate(error))
        if not batch.size or self.spec.deferral is not None:
            raise error  # nothing but time has passed, or what came before cannot be put back
        task.bisection.failed(batch.inputs(), batch.size, locate(error, quoted=False))
        self._requeue(attempt)

    def _requeue(self, attempt: BatchAttempt) -> None:
        """Have a batch that failed worked through again; what it changed in memory is dropped."""
        task = attempt.task
        task.processor = self.spec.make(task.number, task.processor.store)
        task.processor.read_store()
        task.resume_silence()
        self.buffer.put_back(task.number, attempt.batch.records)

    async def learn_limits(self) -> None:
        """Ask again how large a record may be; raises ConfigChangedError where a topic takes too little by now."""
        await self._steps.run(self.limits.learn)

    def _set_aside(self, attempt: BatchAttempt) -> None:
        """Make the dead letter of a record that cannot be worked on, and what has to be remembered of it."""
        task, batch = attempt.task, attempt.batch
        ((topic, (record,)),) = ((name, records) for name, records in batch.records.items() if records)
        why = task.bisection.why
        logger.error("%s is set aside as a dead letter: %s", batch.describe(), why)
        try:
            attempt.result = self.spec.set_aside(task.processor, topic, record, why)
        except SchemaError as error:
            raise self._locate_unreadable(task, error) from None
        if task.bisection.rejected_dead_letters:  # rather one conversation forgotten than all of them blocked
            self.limits.drop_too_large(attempt.result, self.spec.changelog)

    def _locate_unreadable(self, task: PartitionTask, error: SchemaError) -> Exception:
        return locate_unreadable(self.spec.name, self.spec.changelog, task.number, task.processor.store, error)

    def _finish(self, attempt: BatchAttempt) -> None:
        """Release a partition for its next batch; a small one waits, so that a commit is worth its cost."""
        task = attempt.task
        self.inflight -= 1
        if not self.inflight:
            self._idle.set()
        if seconds := self._pause_for(task):
            self._pauses[task.number] = asyncio.get_running_loop().call_later(seconds, self._end_pause, task.number)
        else:
            least = max(self.spec.gathering, _PAUSE if self.exactly_once else 0.0)
            # Calls wait for the commit that names them, and others for the calls: nobody shares then.
            at_work = self.buffer.at_work if self.spec.deferral is None else 1
            left = left_to_gather(self.settings.commit_interval, at_work, time.monotonic() - attempt.began)
            self.buffer.done(task.number, max(left, least))

    def _pause_for(self, task: PartitionTask) -> float:
        """Return for how many seconds a partition gets no batch at all, as something is wrong with its last ones."""
        # A worker whose batches do not end for the stall timeout counts as one that hangs.
        seconds = min(task.bisection.pause_seconds(), self.settings.stall_timeout / 2)
        if seconds:
            trouble = task.bisection.trouble(time.monotonic())
            logger.error("partition %d is %s: pausing %.0f s", task.number, trouble, seconds)
        return seconds

    def _end_pause(self, number: int) -> None:
        self._pauses.pop(number, None)
        self.buffer.done(number)

    def _count(self, attempt: BatchAttempt) -> None:
        now = time.time()
        metrics, name = self.metrics, self.spec.name
        metrics.apply(attempt.result.deltas, now)
        if attempt.result.deltas.dead_letters:
            self._letters.add(attempt.result.outputs, time.monotonic())
        self._count_transaction("committed", attempt.began)
        for records in attempt.batch.records.values():
            if records and self.spec.deferral is None:  # else what comes of the records comes later
                seconds = [now - records[0].timestamp / 1000, now - records[-1].timestamp / 1000]
                metrics.observe("end_to_end_latency_seconds", seconds, LATENCY_STAGES.get(name, name))
        metrics.set("table_entries", len(attempt.task.processor.store), f"{name}-{attempt.task.number}")
        self.progress.made()
        self._say_moved()

    def _count_transaction(self, result: str, started: float) -> None:
        """Count a transaction. result: committed or aborted; started: when its batch was (monotonic clock)."""
        self.metrics.count("transactions_total", result)
        self.metrics.observe("transaction_duration_seconds", [time.monotonic() - started])


def left_to_gather(interval: float, at_work: int, since: float) -> float:
    """Return for how many seconds more records of a partition gather before its next batch begins.

    interval: that of a worker with one partition; at_work: how many partitions have something to do. Each commits by
    itself, and a commit costs the same however small it is, so they share the interval. since: seconds since its
    last batch began: what a broker takes for a commit belongs to the interval, so that a slow one makes nobody wait
    twice, and commits are as many on every machine.
    """
    return max(0.0, max(interval, min(interval * at_work, _LONGEST)) - since)
