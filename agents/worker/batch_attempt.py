"""Batch attempt: one batch of a partition on its way to a commit, with what came of it so far."""

import time
from dataclasses import dataclass, field

from turnsignal.agents.worker.batches import PartitionBatch
from turnsignal.agents.worker.checkpoints import Checkpoint
from turnsignal.agents.worker.partition_task import PartitionTask
from turnsignal.stream.pipeline.batch_result import BatchResult


@dataclass(slots=True)
class BatchAttempt:
    """One attempt to work a batch through.

    task: its partition; batch: its records; began: monotonic clock; rejection: why the broker, or the client before it,
    does not take the result, None as long as it does; result: what came of the records, from when they are computed.
    """

    task: PartitionTask
    batch: PartitionBatch
    began: float = field(default_factory=time.monotonic)
    rejection: Exception | None = None
    result: BatchResult = field(init=False)

    def positions(self) -> dict[str, int]:
        """Return the next offset of each input topic, once the result is committed."""
        return self.batch.positions(self.result.consumed, self.result.positions)

    def checkpoint(self) -> Checkpoint:
        """Return where the state stands, once the result is committed."""
        records = self.batch.consumed(self.result.consumed)
        return self.task.checkpoint_after(self.positions(), records, set_aside=self.result.set_aside)

    def write(self) -> None:
        """Hand outputs, changed state and checkpoint to the partition's writer; they count after its commit."""
        self.task.writer.write(self.result.outputs, self.result.changes, self.checkpoint())

    def accept(self) -> None:
        """Take state and positions over; call when they are committed, never before."""
        task, result = self.task, self.result
        task.processor.accept(result)
        task.advance(self.positions(), self.batch.consumed(result.consumed), set_aside=result.set_aside)
