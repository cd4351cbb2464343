"""What a worker shows of its partitions: markers of transactions are no lag, and what is given away is not shown."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from confluent_kafka import TopicPartition
from faust.types import TP

from tests.kafka.faults.oracle import Kept
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.settings import Settings
from turnsignal.agents.watch import make_spec
from turnsignal.agents.worker.partition_task import Deferral, PartitionTask
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.agents.worker.transactions import TransactionWriter
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.suite import Suite

SERIES = TP("turnsignal.series", 0)


class Log(NamedTuple):
    """The log of one partition: where it ends, and up to where everything was handed on."""

    end: int
    read: int | None

    async def commit_positions(self, offsets: list[TopicPartition]) -> None: ...

    def end_of(self, tp: TP) -> int | None:
        return self.end

    def read_to(self, tp: TP) -> int | None:
        return self.read

    async def join_again(self) -> None: ...


def watching(position: int) -> tuple[TaskManager, Callable[[Log], float]]:
    """A worker that has committed up to a position, and a way to ask what lag it shows of a log."""
    settings = Settings(brokers="127.0.0.1:9")
    spec, metrics = make_spec(settings, Suite()), WorkerMetrics(app="watch")
    manager = TaskManager(settings, spec, metrics)
    writer = TransactionWriter({"bootstrap.servers": settings.brokers, "log_level": 0}, 0, {}, spec.changelog, 1.0)
    manager.tasks[0] = PartitionTask(0, spec.make(0, {}), writer, {SERIES.topic: position})
    manager.buffer.open({0})

    def lag(log: Log) -> float:
        manager.source = log
        manager.measure()
        page = metrics.render()[0].decode()
        return float(next(x for x in page.splitlines() if x.startswith("turnsignal_consumer_lag")).split()[-1])

    return manager, lag


def test_a_log_that_ends_in_markers_of_transactions_is_no_lag() -> None:
    _, lag = watching(position=10)
    assert lag(Log(end=12, read=12)) == 0
    assert lag(Log(end=12, read=None)) == 2, "what was not read yet may be records"
    assert lag(Log(end=15, read=12)) == 3


def test_what_was_handed_on_and_is_not_committed_yet_is_lag() -> None:
    manager, lag = watching(position=10)
    manager.buffer.put(SERIES, [Kept(0, 10, b"k", b"v", 0)])
    assert lag(Log(end=12, read=12)) == 2


def test_a_partition_that_is_given_away_is_shown_no_more() -> None:
    manager, lag = watching(position=10)
    assert lag(Log(end=12, read=12)) == 0
    manager._drop(0)
    page = manager.metrics.render()[0].decode()
    assert 'partition="0"' not in page
    assert 'table="watch-0"' not in page


async def test_what_was_taken_in_is_left_once_though_a_rebalance_and_the_end_of_the_worker_both_ask() -> None:
    left, answered = list[int](), asyncio.Event()

    async def finish(processors: Sequence[object], _: float) -> None:
        await answered.wait()

    deferral = Deferral(room=lambda _: 1, waits=lambda _: True, drain=finish, seal=left.append, hold=lambda _: None)
    manager, _ = watching(position=10)
    manager.spec = manager.work.spec = replace(manager.spec, deferral=deferral, work=lambda *_: BatchResult())
    manager.tasks[0].bisection.starts = 2
    both = asyncio.gather(manager.revoke(), manager.revoke())
    await asyncio.sleep(0)
    answered.set()
    await both
    assert left == [manager.tasks[0].processor]
    assert manager.tasks[0].bisection.starts == 0


def test_partitions_that_go_while_they_are_measured_stop_nothing() -> None:
    """Partitions are given away in another thread: whoever looks at them meets others from one to the next."""
    manager, _ = watching(position=10)

    class LogThatIsGivenAway(Log):
        def end_of(self, tp: TP) -> int | None:
            manager.tasks.pop(tp.partition, None)
            manager.tasks[tp.partition + 1] = task
            return self.end

    task = manager.tasks[0]
    manager.source = LogThatIsGivenAway(end=12, read=12)
    manager.measure()
    assert list(manager.tasks) == [1]
    manager.pass_time()
    assert list(manager.tasks) == [2]
