"""A partition that pauses after its batch is free at once for whoever owns it next; one that is blocked says why."""

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest
from confluent_kafka import KafkaError, KafkaException
from faust.types import TP

from tests.agents.worker.test_batches import LONG, batch_at_once
from tests.kafka.faults.oracle import Kept
from tests.kafka.test_isolation import turn
from turnsignal.agents.kafka.topics import partition_for
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.score import make_spec as make_score_spec
from turnsignal.agents.settings import Settings
from turnsignal.agents.watch import make_spec as make_watch_spec
from turnsignal.agents.worker.batch_attempt import BatchAttempt
from turnsignal.agents.worker.batch_work import BatchWork, left_to_gather
from turnsignal.agents.worker.batches import PartitionBatch, RecordBuffer
from turnsignal.agents.worker.bisection import Bisection
from turnsignal.agents.worker.partition_task import AppSpec, PartitionTask
from turnsignal.agents.worker.progress import Progress
from turnsignal.agents.worker.transactions import TransactionWriter
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.errors import SchemaError
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.wire import OutputRecord
from turnsignal.stream.suite import Suite

TURNS = TP("turnsignal.turns", 0)
TURN = Kept(0, 7, b"c-1", b"{}", 1_700_000_000_000)


def make_work(buffer: RecordBuffer, gathering: float = 0.0) -> tuple[BatchWork, PartitionTask]:
    settings = Settings(brokers="127.0.0.1:9", delivery="at_least_once", commit_interval=0.0)
    spec = AppSpec(
        "score",
        ("turnsignal.turns",),
        "turnsignal-score-conversations-changelog",
        {},
        lambda number, store: PartitionProcessor(Suite(), store, partition=number),
        lambda *_: BatchResult(set_aside=True),
        lambda *_: BatchResult([OutputRecord("dead_letters", b"c-1", None)], set_aside=True),
        gathering=gathering,
    )
    progress = Progress(settings, spec)
    work = BatchWork(settings, spec, WorkerMetrics(), buffer, progress, lambda: pytest.fail("no group is asked"))
    writer = TransactionWriter({"bootstrap.servers": settings.brokers, "log_level": 0}, 0, {}, spec.changelog, 1.0)
    return work, PartitionTask(0, spec.make(0, {}), writer)


async def test_a_partition_that_pauses_is_free_when_it_is_dealt_out_anew() -> None:
    buffer = RecordBuffer(10)
    buffer.open({0})
    work, task = make_work(buffer)
    task.bisection.aside = 20
    assert buffer.claim(0)
    work.start(task, PartitionBatch(0, {}))  # nothing comes of it, and the partition pauses for half a minute
    assert not buffer.claim(0)
    work.end_pauses()
    assert buffer.claim(0)
    work.close()


@pytest.mark.parametrize(("gathering", "begins"), [(0.0, True), (LONG, False)])
async def test_few_records_of_an_app_that_writes_much_for_each_batch_gather(gathering: float, begins: bool) -> None:
    buffer = RecordBuffer(1_000)
    buffer.open({0})
    work, task = make_work(buffer, gathering)
    assert buffer.claim(0)
    work.start(task, PartitionBatch(0, {}))
    buffer.put(TURNS, [TURN])
    assert (await batch_at_once(buffer) is not None) == begins
    buffer.put(TURNS, [TURN] * 99)
    assert begins or await batch_at_once(buffer) is not None  # a hundred are worth a commit
    work.close()


@pytest.mark.parametrize(
    ("make_spec", "told"),
    [
        (make_score_spec, "its turns are scored, but feedback on it and `turnsignal conversation` go there;"),
        (
            make_watch_spec,
            "it is read here, apart from what turnsignal's workers write under this key, which goes there;",
        ),
    ],
)
def test_a_key_that_stands_where_nobody_looks_for_it_is_told_of_as_its_topic_is(
    make_spec: Callable[[Settings, Suite], AppSpec], told: str
) -> None:
    spec = make_spec(Settings(brokers="127.0.0.1:9"), Suite())
    task = replace(make_work(RecordBuffer(10))[1], partitions=8)
    away = next(key for key in (f"c-{n}".encode() for n in range(60)) if partition_for(key, 8) != 0)
    misplaced = task.find_misplaced([TURN._replace(key=away)], spec.astray)
    assert f"expected the key '{away.decode()}' in partition {partition_for(away, 8)} of 8" in misplaced
    assert f"got 0: {told} have producers use it" in misplaced
    assert ("feedback" in misplaced) == (spec.name == "score")


@pytest.mark.parametrize(
    ("interval", "at_work", "since", "seconds"),
    [
        (0.02, 1, 0.0, 0.02),
        (0.02, 4, 0.0, 0.08),
        (0.02, 100, 0.0, 0.5),
        (0.02, 0, 0.0, 0.02),
        (2.0, 4, 0.0, 2.0),
        (0.0, 4, 0.0, 0.0),
        (0.02, 4, 0.05, 0.03),  # the commit took most of it
        (0.02, 4, 0.2, 0.0),
    ],
)
def test_partitions_at_work_share_the_commit_interval(
    interval: float, at_work: int, since: float, seconds: float
) -> None:
    assert left_to_gather(interval, at_work, since) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (KafkaError.MSG_SIZE_TOO_LARGE, "raise its max.message.bytes"),
        (KafkaError.INVALID_RECORD, "one whose cleanup.policy is delete takes records without a key"),
    ],
)
def test_a_record_whose_dead_letter_is_refused_blocks_its_partition_and_is_kept(
    caplog: pytest.LogCaptureFixture, code: int, advice: str
) -> None:
    caplog.set_level(logging.ERROR, logger="turnsignal.work")
    buffer = RecordBuffer(10)
    buffer.open({0})
    work, task = make_work(buffer)
    error = KafkaException(KafkaError(code))
    batch = PartitionBatch(0, {"turnsignal.turns": [TURN]})
    assert buffer.claim(0)
    attempt = BatchAttempt(task, batch)
    attempt.result = BatchResult(set_aside=True)
    work._split_or_block(attempt, error)
    assert (task.bisection.rejected_dead_letters, buffer.queued_for(0)) == (1, 1)
    assert work.progress.health(busy=True, owned={0: task}).conditions()["batches"] == {
        "ok": False,
        "detail": "partition 0 is blocked, as what sets a record aside is refused: ",
    }
    assert "partition 0 is blocked: what sets turnsignal.turns-0 offsets 7 to 7 (1 records) aside" in caplog.text
    assert f"expected a topic that takes it: {advice}" in caplog.text
    work.close()


async def test_state_that_cannot_be_read_is_no_fault_of_the_batch_that_needs_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    buffer = RecordBuffer(10)
    buffer.open({0})
    work, task = make_work(buffer)
    snapshot = Conversation(suite="a name").snapshot()
    task.processor.store[b"c-1"] = snapshot.replace(b"name", b"\xffame")
    work.spec = replace(work.spec, work=lambda processor, records, now: processor.process(records[TURNS.topic], now))
    assert buffer.claim(0)
    _, value = turn("c-1", 1)
    with pytest.raises(SchemaError, match="changelog-0, key 'c-1': expected a conversation's state, got "):
        work.start(task, PartitionBatch(0, {TURNS.topic: [TURN._replace(value=value)]}))
    assert task.bisection == Bisection()
    assert "failed" not in caplog.text
    work.close()
