"""A partition that rests after its batch is free at once for whoever owns it next; one that is held says why."""

import logging

import pytest
from confluent_kafka import KafkaError, KafkaException

from agents.batch_work import BatchWork
from agents.batches import Gathered, Inbox
from agents.holdings import Holding, Plan
from agents.metrics import WorkerMetrics
from agents.progress import Progress
from agents.settings import Settings
from agents.transactions import Writer
from stream.pipeline import Batch, Shard
from stream.suite import Suite
from stream.wire import Output
from tests.kafka.faults.oracle import Kept

TURN = Kept(0, 7, b"c-1", b"{}", 1_700_000_000_000)


def make_work(inbox: Inbox) -> tuple[BatchWork, Holding]:
    settings = Settings(brokers="127.0.0.1:9", delivery="at_least_once")
    plan = Plan(
        "score",
        ("turnsignal.turns",),
        "turnsignal-score-conversations-changelog",
        {},
        lambda number, store: Shard(Suite(), store, partition=number),
        lambda *_: Batch(set_aside=True),
        lambda *_: Batch([Output("dead_letters", b"c-1", None)], set_aside=True),
    )
    progress = Progress(settings, plan)
    work = BatchWork(settings, plan, WorkerMetrics(), inbox, progress, lambda: pytest.fail("no group is asked"))
    writer = Writer({"bootstrap.servers": settings.brokers, "log_level": 0}, 0, {}, plan.changelog, 1.0)
    return work, Holding(0, plan.make(0, {}), writer)


async def test_a_partition_that_rests_is_free_when_it_is_dealt_out_anew() -> None:
    inbox = Inbox(10)
    inbox.open({0})
    work, holding = make_work(inbox)
    holding.aside = 20
    assert inbox.claim(0)
    work.start(holding, Gathered(0, {}))  # nothing comes of it, and the partition rests for half a minute
    assert not inbox.claim(0)
    work.end_rests()
    assert inbox.claim(0)
    work.close()


def test_a_record_whose_dead_letter_is_refused_holds_its_partition_and_is_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.ERROR, logger="turnsignal.work")
    inbox = Inbox(10)
    inbox.open({0})
    work, holding = make_work(inbox)
    error = KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE))
    gathered = Gathered(0, {"turnsignal.turns": [TURN]})
    assert inbox.claim(0)
    work._come_to_nothing(holding, gathered, Batch(set_aside=True), error)
    assert (holding.refused, inbox.waiting_for(0)) == (1, 1)
    assert "partition 0 is held: what sets turnsignal.turns-0 offsets 7 to 7 (1 records) aside" in caplog.text
    assert "MSG_SIZE_TOO_LARGE" in caplog.text
    work.close()
