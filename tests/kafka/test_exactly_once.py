"""The mechanism under the promise: fencing, what readers and a restore may see, and what holds without transactions."""

import asyncio
import signal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import orjson
import pytest
from aiokafka.admin import AIOKafkaAdminClient
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from faust.types import TP

from tests.kafka.faults.oracle import Kept, committed, foretell, reached_ends, read_outcome, read_topic
from tests.kafka.faults.play import make_settings, play, wait
from tests.kafka.faults.scenarios import Moment, Scene
from tests.kafka.faults.traffic import last_words, make_suite, make_traffic
from tests.kafka.faults.workers import FaultyWorker
from turnsignal.agents.kafka.brokers import Broker
from turnsignal.agents.kafka.topics import create_topics, log_bounds, partition_for, topic_names
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.score import make_spec
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.checkpoints import HEADER, Checkpoint
from turnsignal.agents.worker.limits import RecordLimits
from turnsignal.agents.worker.restore import restore_changelog
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.agents.worker.transactions import TransactionWriter, group_reader
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.errors import Reason, SchemaError, TurnsignalError
from turnsignal.stream.records.wire import OutputRecord
from turnsignal.stream.suite import Suite

pytestmark = pytest.mark.kafka


def changelog(settings: Settings) -> str:
    return topic_names(settings.prefix)["conversations_changelog"]


def make_writer(settings: Settings, identity: str = "", limits: RecordLimits | None = None) -> TransactionWriter:
    names = topic_names(settings.prefix)
    identity = identity or f"{settings.app_id('score')}-0"
    return TransactionWriter(settings.producer(identity), 0, names, changelog(settings), 20.0, limits)


def group(settings: Settings) -> Any:
    return group_reader(settings.confluent(), settings.app_id("score")).consumer_group_metadata()


def positions(settings: Settings, offset: int) -> list[TopicPartition]:
    return [TopicPartition(topic_names(settings.prefix)["turns"], 0, offset)]


def rows(settings: Settings) -> list[bytes | None]:
    found = read_topic(settings, topic_names(settings.prefix)["scores"])
    return [record.value for records in found.values() for record in records]


def test_outputs_state_and_position_are_readable_together_and_only_after_the_commit(fresh_topics: Settings) -> None:
    writer = make_writer(fresh_topics)
    writer.write([OutputRecord("scores", b"c-1", b"row")], {b"c-1": b"state"})
    writer.commit(positions(fresh_topics, 7), group(fresh_topics))
    assert rows(fresh_topics) == [b"row"]
    assert committed(fresh_topics)[0] == 7
    store: dict[bytes, bytes] = {}
    restore_changelog(fresh_topics, changelog(fresh_topics), 0, store)
    assert store == {b"c-1": b"state"}


def test_the_next_owner_ends_what_the_one_before_left_open(fresh_topics: Settings) -> None:
    make_writer(fresh_topics).write([OutputRecord("scores", b"c-1", b"half")], {b"c-1": b"half"})
    writer = make_writer(fresh_topics)
    store: dict[bytes, bytes] = {}
    restore_changelog(fresh_topics, changelog(fresh_topics), 0, store)
    assert store == {}
    writer.write([OutputRecord("scores", b"c-1", b"whole")], {b"c-1": b"whole"})
    writer.commit(positions(fresh_topics, 1), group(fresh_topics))
    assert rows(fresh_topics) == [b"whole"]


def test_an_owner_that_was_replaced_can_commit_nothing(fresh_topics: Settings) -> None:
    late = make_writer(fresh_topics)
    late.write([OutputRecord("scores", b"c-1", b"late")], {b"c-1": b"late"})
    owner = make_writer(fresh_topics)
    owner.write([OutputRecord("scores", b"c-1", b"ours")], {b"c-1": b"ours"})
    owner.commit(positions(fresh_topics, 1), group(fresh_topics))
    with pytest.raises(KafkaException):
        late.commit(positions(fresh_topics, 9), group(fresh_topics))
    assert rows(fresh_topics) == [b"ours"]
    assert committed(fresh_topics)[0] == 1


def test_a_restore_does_not_take_the_last_stable_offset_for_the_end(fresh_topics: Settings) -> None:
    stranger = make_writer(fresh_topics, "stranger")
    stranger.write([], {b"c-1": b"state"})
    stranger._producer.poll(0)
    stranger._producer.flush(10)  # it is on the topic, and its transaction is open
    with pytest.raises(TurnsignalError, match="another transactional id"):
        restore_changelog(fresh_topics, changelog(fresh_topics), 0, {}, deadline=1.0)


def test_the_ends_that_a_take_over_asks_for_at_once_are_behind_open_transactions_too(fresh_topics: Settings) -> None:
    stranger = make_writer(fresh_topics, "stranger")
    stranger.write([], {b"c-1": b"state"})
    stranger._producer.flush(10)
    topic = changelog(fresh_topics)
    bounds = log_bounds(AdminClient(fresh_topics.confluent()), {topic: [0, 1]})[topic]
    assert bounds == {0: (0, 1), 1: (0, 0)}


def test_tombstones_are_restored_as_nothing(fresh_topics: Settings) -> None:
    writer = make_writer(fresh_topics)
    for changes in ({b"c-1": b"one", b"c-2": b"two"}, {b"c-1": None}):
        writer.write([], changes)
        writer.commit(positions(fresh_topics, 1), group(fresh_topics))
    store: dict[bytes, bytes] = {}
    restore_changelog(fresh_topics, changelog(fresh_topics), 0, store)
    assert store == {b"c-2": b"two"}


def put_checkpoint(settings: Settings, content: bytes) -> None:
    producer = Producer({**settings.producer(), "enable.idempotence": True})
    producer.produce(changelog(settings), b"state", b"c-1", 0, headers=[(HEADER, content)])
    assert producer.flush(30) == 0


@pytest.mark.parametrize("bad", [b"junk", b'{"begun": "\xff\xfe"}', b'{"schema": 7}'])
def test_a_checkpoint_that_cannot_be_read_is_named_with_its_place_until_another_one_follows(
    fresh_topics: Settings, bad: bytes
) -> None:
    put_checkpoint(fresh_topics, b'{"positions": {"turns": 1}}')
    put_checkpoint(fresh_topics, bad)
    with pytest.raises(SchemaError, match=rf"{changelog(fresh_topics)}-0, offset 1: expected "):
        restore_changelog(fresh_topics, changelog(fresh_topics), 0, {})
    put_checkpoint(fresh_topics, b'{"positions": {"turns": 3}}')
    restored = restore_changelog(fresh_topics, changelog(fresh_topics), 0, {})
    assert restored.checkpoint == Checkpoint(positions={"turns": 3})


async def test_turns_that_stand_where_nobody_looks_for_them_are_told_of_once(fresh_topics: Settings) -> None:
    names = topic_names(fresh_topics.prefix)
    owner = TaskManager(fresh_topics, make_spec(fresh_topics, Suite()), WorkerMetrics())
    await owner.assign({TP(names["turns"], 0), TP(names["forget"], 0)})
    task = owner.tasks[0]
    count = task.partitions
    keys = [f"c-{n}".encode() for n in range(60)]
    here = [SimpleNamespace(key=key) for key in keys if partition_for(key, count) == 0]
    assert task.find_misplaced([], "lost") == ""
    assert count > 1
    away = next(key for key in keys if partition_for(key, count) != 0)
    said = task.find_misplaced([*here[:3], SimpleNamespace(key=away)], "lost")
    assert f"expected the key '{away.decode()}' in partition {partition_for(away, count)} of {count}" in said
    assert "partitioner=murmur2_random" in said
    assert task.find_misplaced([SimpleNamespace(key=away)], "lost") == "", "once is enough"
    owner.close()


async def test_a_worker_that_is_idle_after_a_restore_is_alive_and_ready(fresh_topics: Settings) -> None:
    writer = make_writer(fresh_topics)
    for name in (b"c-1", b"c-2"):  # each transaction leaves a marker, which no restore ever counts
        writer.write([], {name: Conversation().snapshot()})
        writer.commit([], group(fresh_topics))
    owner = TaskManager(fresh_topics, make_spec(fresh_topics, Suite()), WorkerMetrics())
    names = topic_names(fresh_topics.prefix)
    await owner.assign({TP(names["turns"], 0), TP(names["forget"], 0)})
    health = owner.health()
    assert (len(owner.tasks[0].processor.store), health.recovery_remaining) == (2, 0)
    assert health.seconds_since_progress == 0.0  # nothing to do is progress, however long it lasts
    assert all(condition["ok"] for condition in health.conditions().values())
    owner.close()


def test_an_output_that_its_topic_does_not_take_is_a_dead_letter(fresh_topics: Settings) -> None:
    limits = RecordLimits(fresh_topics, topic_names(fresh_topics.prefix).values())
    limits.learn()
    scores = topic_names(fresh_topics.prefix)["scores"]
    large = b"x" * limits.sizes[scores]
    writer = make_writer(fresh_topics, limits=limits)
    writer.write([OutputRecord("scores", b"c-1", large), OutputRecord("scores", b"c-1", large[1000:])], {})
    writer.commit(positions(fresh_topics, 1), group(fresh_topics))
    assert rows(fresh_topics) == [large[1000:]]
    (((_, _, _, reason), key, kept),) = read_outcome_letters(fresh_topics)
    assert (reason, key) == (Reason.OUTPUT_TOO_LARGE, b"c-1")
    assert large.startswith(kept)


def read_outcome_letters(settings: Settings) -> list[Any]:
    found = read_topic(settings, topic_names(settings.prefix)["dead_letters"])
    said = [(dict(record.headers), record) for records in found.values() for record in records]
    place = ("topic", "partition", "offset", "reason")
    return [(tuple(headers[name].decode() for name in place), one.key, one.value) for headers, one in said]


def test_the_oracle_says_the_same_whatever_the_batches() -> None:
    turns: dict[int, list[Kept]] = {0: [], 1: []}
    records = [*((r.key, r.value) for r in make_traffic(2_500, 5)), *last_words(2)]
    for key, value in records:
        partition = partition_for(key or b"", 2)
        turns[partition].append(Kept(partition, len(turns[partition]), key, value, 4_000_000_000_000))
    expected = foretell(turns, make_suite(), "turns", batch=25)
    assert expected.count > 1_500
    for size in (1, 7, 400):
        assert foretell(turns, make_suite(), "turns", batch=size) == expected, size


def test_without_transactions_nothing_is_lost_and_the_states_are_right(
    broker: Broker, fresh_prefix: str, tmp_path: Path
) -> None:
    def script(scene: Scene) -> list[Moment]:
        kills = [partial(worker.send, signal.SIGKILL) for worker in scene.workers]
        return [Moment(scene.seconds * (0.3 + 0.3 * number), kill) for number, kill in enumerate(kills)]

    result = play(script, broker, fresh_prefix, tmp_path, turns=3_000, seconds=8.0, delivery="at_least_once")
    found = result.comparison
    assert (found.missing, found.unexpected, found.states, found.positions) == (0, 0, 0, 0), result.why
    marks = asyncio.run(committed_marks(make_settings(broker, fresh_prefix, tmp_path)))
    assert marks, "expected the positions to carry marks"
    assert all(mark.endswith("\0") for mark in marks)  # else librdkafka reads on behind them


async def committed_marks(settings: Settings) -> list[str]:
    admin = AIOKafkaAdminClient(bootstrap_servers=settings.brokers)
    await admin.start()
    try:
        found = await admin.list_consumer_group_offsets(settings.app_id("score"))
        return [place.metadata for place in found.values()]
    finally:
        await admin.close()


def test_a_forgotten_conversation_leaves_no_state_and_no_summary(
    broker: Broker, fresh_prefix: str, tmp_path: Path
) -> None:
    settings = make_settings(broker, fresh_prefix, tmp_path)
    create_topics(settings)
    names = topic_names(fresh_prefix)
    producer = Producer(settings.producer() | {"enable.idempotence": True})
    for name in ("c-1", "c-2"):
        turn = {
            "conversation_id": name,
            "turn_id": "t1",
            "role": "user",
            "text": "hi",
            "timestamp": "2024-05-01T09:00Z",
        }
        producer.produce(names["turns"], orjson.dumps(turn), name.encode())
    producer.flush(30)
    worker = FaultyWorker("worker", settings, tmp_path)
    try:
        worker.start()
        wait(lambda: reached_ends(settings), 90, "the turns to be committed", [worker])
        producer.produce(names["forget"], b"{}", b"c-1")
        producer.flush(30)
        wait(lambda: forgotten(settings) == 1, 60, "the forgetting to be committed", [worker])
        worker.terminate()
        assert worker.join() == 0
    finally:
        worker.kill()
    outcome = read_outcome(settings)
    assert [key for states in outcome.states.values() for key in states] == [b"c-2"]
    assert outcome.summaries == {b"c-1": [b""]}


def forgotten(settings: Settings) -> int:
    consumer = Consumer({**settings.confluent(), "group.id": settings.app_id("score")})
    try:
        topic = topic_names(settings.prefix)["forget"]
        places = [TopicPartition(topic, number) for number in range(settings.partitions)]
        return sum(max(0, place.offset) for place in consumer.committed(places, timeout=30))
    finally:
        consumer.close()
