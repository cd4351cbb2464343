"""Batch work: one batch of one partition, computed, written and committed, or come to nothing.

A batch that cannot be computed or written goes on in smaller parts, until the record that is to blame stands alone and
is set aside. Whatever else goes wrong ends the process: its supervisor starts it again, and the broker has kept nothing
half done.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

from confluent_kafka import Consumer, KafkaException, TopicPartition

from agents.batches import Gathered, Inbox
from agents.caution import Caution
from agents.checkpoints import Checkpoint
from agents.holdings import Holding, Plan
from agents.metrics import WorkerMetrics
from agents.moments import read_moment
from agents.progress import Progress
from agents.refusals import end_over, locate
from agents.settings import Settings
from agents.transactions import record_limits, refuses_records, was_forgotten
from stream.pipeline import Batch

logger = logging.getLogger("turnsignal.work")

#: Seconds between a commit and the next transaction of the same id. The broker still writes the markers of the former
#: one then, and answers CONCURRENT_TRANSACTIONS, upon which librdkafka waits 20 ms before it asks again.
_REST = 0.005
_LONG = 100  #: turns that take about as long to compute
#: Records of a partition that are set aside in a row before it slows down: it is more likely then that the code is to
#: blame than that they are, and whoever can mend it needs the time.
_IN_A_ROW = 10
_LONGEST_REST = 30.0  #: seconds between two of them, or two attempts to write what sets one aside
_LOOK = 1.0  #: seconds between looks at a step of a transaction that takes long
_AFTER_RETURN = 3.0  #: seconds that a step may take when the broker has just come back
_LATELY = 60.0  #: seconds for which it has just come back


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
        plan: Plan,
        metrics: WorkerMetrics,
        inbox: Inbox,
        progress: Progress,
        group: Callable[[], Consumer],
    ) -> None:
        self.settings = settings
        self.plan = plan
        self.metrics = metrics
        self.inbox = inbox
        self.progress = progress
        self.committer: Committer | None = None
        self.inflight = 0
        self.limits: dict[str, int] = {}  #: topic → bytes that a record may have
        self._group = group
        self._idle = asyncio.Event()
        self._idle.set()
        self._commits = ThreadPoolExecutor(32, "commit")
        self._rests: dict[int, asyncio.TimerHandle] = {}  # partition → when it is free for its next batch
        self._alone = asyncio.Lock()  # held while a batch is worked through that may end the worker
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
        self._commits.shutdown(wait=False, cancel_futures=True)

    def limit_batches(self, holding: Holding) -> None:
        """Have the next batch of a partition be as small as its caution says."""
        size = self.inbox.limit if holding.caution is None else min(holding.caution.size, self.inbox.limit)
        self.inbox.limits[holding.number] = size

    def start(self, holding: Holding, gathered: Gathered) -> None:
        """Have a batch worked through; under caution alone, after its beginning is committed."""
        self.inflight += 1
        self._idle.clear()
        if holding.caution is not None and gathered.size:
            work = self._work_alone(holding, gathered)
        elif self._alone.locked():
            work = self._work_later(holding, gathered)
        else:
            began = time.monotonic()
            batch = self._compute(holding, gathered)
            if batch is None:
                self._finish(holding)
                return
            work = self._commit(holding, gathered, batch, began, self._write(holding, gathered, batch))
        task = asyncio.get_running_loop().create_task(self._end_over_errors(work, holding, gathered))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _end_over_errors(self, work: Any, holding: Holding, gathered: Gathered) -> None:
        try:
            await work
        except Exception as error:
            end_over(error, f"committing {describe(gathered)}")
        self._finish(holding)

    async def _work_later(self, holding: Holding, gathered: Gathered) -> None:
        """Work a batch through once no partition needs to be alone."""
        began = time.monotonic()
        async with self._alone:
            batch = self._compute(holding, gathered)
            refused = None if batch is None else self._write(holding, gathered, batch)
        if batch is not None:
            await self._commit(holding, gathered, batch, began, refused)

    async def _work_alone(self, holding: Holding, gathered: Gathered) -> None:
        """Commit that a batch begins, so that the next worker knows of it should this one end; then work it through.

        No other partition is computed before it is committed: the end of the worker must be its own.
        """
        began = time.monotonic()
        async with self._alone:
            caution = holding.caution
            if caution is not None and caution.exhausted and _names(gathered) == caution.inputs:
                batch: Batch | None = self._set_aside(holding, gathered)
            else:
                await self._say_begun(holding, _names(gathered))
                batch = self._compute(holding, gathered)
                if batch is not None:  # what goes wrong from here on is Kafka's doing, and no record's
                    await self._say_begun(holding, "")
            if batch is not None:
                await self._commit(holding, gathered, batch, began, self._write(holding, gathered, batch))

    async def _say_begun(self, holding: Holding, begun: str) -> None:
        """Commit which inputs a batch that begins has records of, "" when it is computed."""
        write = partial(holding.writer.write, [], {}, holding.checkpoint(begun=begun))
        write()
        await self._make_safe(holding, write, [])

    def _compute(self, holding: Holding, gathered: Gathered) -> Batch | None:
        """Return what came of a batch; None when there is nothing to commit, or it is to be tried in smaller parts."""
        try:
            batch = self.plan.work(holding.keeper, gathered.records, time.monotonic())
        except MemoryError:
            raise
        except Exception as error:
            self._try_smaller(holding, gathered, error)
            return None
        return batch if batch.outputs or batch.changes or gathered.size or gathered.ahead else None

    def _write(self, holding: Holding, gathered: Gathered, batch: Batch) -> Exception | None:
        """Hand a batch to its writer; return the error where a record of it is refused already."""
        if gathered.records.get(self.plan.inputs[0]):
            holding.fed = read_moment()
        try:
            holding.writer.write(batch.outputs, batch.changes, _checkpoint(holding, gathered, batch))
        except Exception as error:
            if not refuses_records(error):
                raise
            return error
        return None

    async def _commit(
        self, holding: Holding, gathered: Gathered, batch: Batch, started: float, refused: Exception | None
    ) -> None:
        """Make a batch safe, and remember it. refused: why it was not even written, None when it was."""
        positions = gathered.positions(batch.taken)
        offsets = holding.offsets(positions)
        checkpoint = _checkpoint(holding, gathered, batch)
        try:
            if refused is None:
                write = partial(holding.writer.write, batch.outputs, batch.changes, checkpoint)
                await self._make_safe(holding, write, offsets)
        except Exception as error:
            if not refuses_records(error):
                raise
            refused = error
        if refused is not None:
            changed = await self.learn_limits()
            await self._in_time(holding.writer.start)
            if changed:
                self._take_back(holding, gathered)  # what is too large now becomes a dead letter of its own
            else:
                self._come_to_nothing(holding, gathered, batch, refused)
            return
        if not self.exactly_once and offsets and self.committer is not None:
            await self.committer.commit_positions(offsets)
        holding.keeper.accept(batch)
        holding.aside, holding.refused = holding.aside + 1 if batch.set_aside else 0, 0
        holding.advance(positions, gathered.taken(batch.taken))
        self.limit_batches(holding)
        if rest := gathered.after(batch.taken):
            self.inbox.put_back(holding.number, rest)
        self._count(holding, gathered, batch, started)

    async def _make_safe(self, holding: Holding, write: Callable[[], None], offsets: list[TopicPartition]) -> None:
        """Commit what was written.

        write: writes it again where the broker has forgotten the transactional id, as it does after a quiet week.
        """
        group = self._group().consumer_group_metadata()
        try:
            await self._in_time(holding.writer.commit, offsets, group)
        except Exception as error:
            if not was_forgotten(error):
                raise
            logger.warning(
                "the broker has forgotten the transactional id of partition %d; beginning anew", holding.number
            )
            await self._in_time(holding.writer.start)
            write()
            await self._in_time(holding.writer.commit, offsets, group)

    async def _in_time(self, step: Callable[..., None], *arguments: Any) -> None:
        """Do a step of a transaction in a thread; one that takes longer than a transaction may is given up.

        librdkafka's own timeouts are not kept everywhere: it may wait for ever for a coordinator whose broker left the
        metadata for a moment (5456, 5511). So a step has only moments where the broker has just come back, whether it
        was under way then or began after that.
        """
        began, loop = time.monotonic(), asyncio.get_running_loop()
        work = loop.run_in_executor(self._commits, step, *arguments)
        end = began + self.settings.transaction_timeout
        while not (await asyncio.wait([work], timeout=_LOOK))[0]:
            answers = await loop.run_in_executor(self._commits, self._broker_answers)
            self.progress.heard(answers=answers)
            returned = self.progress.returned
            if answers and time.monotonic() - returned < _LATELY:
                end = min(end, max(began, returned) + _AFTER_RETURN)
            if time.monotonic() > end:
                msg = f"expected the broker to end a step of a transaction within {end - began:.0f} s, got nothing"
                raise TimeoutError(msg)
        await work

    def _broker_answers(self) -> bool:
        try:
            self._group().list_topics(self.plan.inputs[0], timeout=_LOOK)
        except KafkaException:
            return False
        return True

    def _come_to_nothing(self, holding: Holding, gathered: Gathered, batch: Batch, error: Exception) -> None:
        """Go on after a batch that the broker refused: in smaller parts, until one record alone is set aside.

        Where that is refused, too, the partition is held: passing over the record would lose it without a word.
        """
        if not batch.set_aside:
            self._try_smaller(holding, gathered, error)
            return
        holding.refused += 1
        self._take_back(holding, gathered)
        self.progress.made()  # the broker has answered, and has to be asked again for as long as it takes
        logger.error(
            "partition %d is held: what sets %s aside is refused: %s; expected topics that take it: raise their"
            " max.message.bytes",
            holding.number,
            describe(gathered),
            locate(error),
        )

    def _try_smaller(self, holding: Holding, gathered: Gathered, error: Exception) -> None:
        """Put a batch that came to nothing back, to be tried in smaller parts; a record alone is set aside in time."""
        logger.error("%s came to nothing: %s", describe(gathered), locate(error))
        if not gathered.size:
            raise error  # nothing but time has passed; there is no record to set aside
        caution = holding.caution or Caution(gathered.size, gathered.size)
        holding.caution = caution.failed(_names(gathered), locate(error, quoted=False))
        self._take_back(holding, gathered)

    def _take_back(self, holding: Holding, gathered: Gathered) -> None:
        """Have a batch that came to nothing worked through again; what it left half done in memory goes with it."""
        holding.keeper = self.plan.make(holding.number, holding.keeper.store)
        holding.keeper.restored()
        holding.resume_silence()
        self.inbox.put_back(holding.number, gathered.records)
        self.limit_batches(holding)

    async def learn_limits(self) -> bool:
        """Ask again how large a record may be; return whether that has changed."""
        topics = list(self.plan.outputs.values())
        ask = partial(record_limits, self.settings.confluent(), topics)
        found = await asyncio.get_running_loop().run_in_executor(self._commits, ask)
        changed = {topic: limit for topic, limit in found.items() if self.limits.get(topic) != limit}
        self.limits |= changed
        return bool(changed)

    def _set_aside(self, holding: Holding, gathered: Gathered) -> Batch:
        """Return the dead letter of a record that cannot be worked on, and what has to be remembered of it."""
        ((topic, (record,)),) = ((name, records) for name, records in gathered.records.items() if records)
        caution = holding.caution
        why = (caution.why if caution else "") or "it ended each worker that worked on it and on nothing else"
        logger.error("%s is set aside as a dead letter: %s", describe(gathered), why)
        return self.plan.set_aside(holding.keeper, topic, record, why)

    def _finish(self, holding: Holding) -> None:
        """Free a partition for its next batch; one that would be computed in no time comes after a rest."""
        number = holding.number
        self.inflight -= 1
        if not self.inflight:
            self._idle.set()
        if rest := self._rest(holding):
            self._rests[number] = asyncio.get_running_loop().call_later(rest, self._wake, number)
        else:
            self.inbox.done(number)

    def _rest(self, holding: Holding) -> float:
        """Return the seconds until a partition's next batch."""
        number, many = holding.number, max(holding.aside - _IN_A_ROW, holding.refused)
        if many > 0:
            # A worker whose batches do not end for the stall timeout counts as one that hangs.
            rest = min(_LONGEST_REST, self.settings.stall_timeout / 2, 2.0 ** min(many, 10))
            why = "held" if holding.refused else f"slow, as {holding.aside} records in a row are set aside"
            logger.error("partition %d is %s: resting %.0f s", number, why, rest)
            return rest
        return 0.0 if not self.exactly_once or self.inbox.waiting_for(number) >= _LONG else _REST

    def _wake(self, number: int) -> None:
        self._rests.pop(number, None)
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
        self.progress.made()


def _checkpoint(holding: Holding, gathered: Gathered, batch: Batch) -> Checkpoint:
    """Return where the state stands with a batch."""
    return holding.checkpoint_after(gathered.positions(batch.taken), gathered.taken(batch.taken))


def _names(gathered: Gathered) -> str:
    """Name the inputs of a batch."""
    return ",".join(sorted(topic for topic, records in gathered.records.items() if records))


def describe(gathered: Gathered) -> str:
    """Name a batch: topic, partition, and its first and last offset."""
    shown = [
        f"{topic}-{gathered.partition} offsets {records[0].offset} to {records[-1].offset} ({len(records)} records)"
        for topic, records in gathered.records.items()
        if records
    ]
    return ", ".join(shown) or f"partition {gathered.partition} as time passes"
