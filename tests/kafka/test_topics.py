import asyncio

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

from turnsignal.agents.kafka.topics import TOPICS, create_topics, describe_topics, partition_for, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.positions import (
    Trouble,
    check_positions,
    encode_commit_metadata,
    find_troubles,
    read_positions,
)
from turnsignal.agents.worker.repair import align_partitions, aligned_counts, repair
from turnsignal.stream.errors import ConfigError, TurnsignalError

pytestmark = pytest.mark.kafka


def turns(settings: Settings) -> str:
    return topic_names(settings.prefix)["turns"]


def commit_five(settings: Settings, *, metadata: bool = True) -> None:
    """Write ten turns to partition 0 and, in one transaction with a score, commit a position of five."""
    producer = Producer(settings.producer(f"{settings.app_id('score')}-0"))
    producer.init_transactions(30)
    producer.begin_transaction()
    for number in range(10):
        producer.produce(turns(settings), b"turn %d" % number, b"c-1", partition=0)
    producer.produce(topic_names(settings.prefix)["scores"], b"score", b"c-1")
    carried = (
        encode_commit_metadata(read_positions(settings, "score")[0].topic_id, settings.partitions) if metadata else ""
    )
    consumer = Consumer({**settings.confluent(), "group.id": settings.app_id("score")})
    place = TopicPartition(turns(settings), 0, 5, carried)
    producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata(), 30)
    producer.commit_transaction(30)
    consumer.close()
    options = {"group.id": settings.app_id("reader"), "isolation.level": "read_committed", "enable.auto.commit": False}
    reader = Consumer({**settings.confluent(), **options})
    reader.assign([TopicPartition(turns(settings), 0, 0)])
    assert len(reader.consume(10, 60)) == 10  # so that the end of the transaction stands there, too
    reader.close()


def troubles(settings: Settings, state: dict[tuple[str, int], int] | None = None) -> list[Trouble]:
    known = state or {}
    read = [p._replace(state=known.get((p.topic, p.partition))) for p in read_positions(settings, "score")]
    found = find_troubles(read, aligned_counts(settings), "score")
    return [finding.trouble for finding in found]


def test_topics_are_made_once_and_found_again(settings: Settings) -> None:
    assert [made.state for made in create_topics(settings)] == ["created"] * len(TOPICS)
    assert [made.state for made in create_topics(settings)] == ["exists"] * len(TOPICS)


def test_a_topic_that_is_there_is_left_as_it_is_and_what_differs_is_said(fresh_topics: Settings) -> None:
    wanted = fresh_topics.model_copy(update={"partitions": 2, "retention_turns": 3600.0})
    report = {made.name: made for made in create_topics(wanted)}
    assert report[turns(wanted)].state == "differs"
    assert "partitions: wanted 2, found 4" in report[turns(wanted)].detail
    assert "retention.ms: wanted 3600000, found 604800000" in report[turns(wanted)].detail


def test_topics_are_described_with_their_bounds(fresh_topics: Settings) -> None:
    commit_five(fresh_topics)
    described = {found.name: found for found in describe_topics(fresh_topics)}[turns(fresh_topics)]
    assert (described.partitions, described.replication, described.differs) == (4, 1, {})
    assert described.offsets[0] == (0, 11)  # ten turns and the end of the transaction
    assert described.offsets[1] == (0, 0)


def test_topics_that_are_absent_are_described_as_absent(settings: Settings) -> None:
    assert {found.partitions for found in describe_topics(settings)} == {0}
    with pytest.raises(TurnsignalError, match="turnsignal topics create"):
        read_positions(settings, "score")


def test_more_replicas_than_brokers_are_the_brokers_refusal(settings: Settings) -> None:
    with pytest.raises(TurnsignalError, match=r"expected the broker to make the topic .* got: .*replication"):
        create_topics(settings.model_copy(update={"replication": 99}))


async def test_both_clients_send_a_key_to_the_same_partition(fresh_topics: Settings) -> None:
    keys = [b"c-%d" % number for number in range(50)]
    producer = Producer(fresh_topics.producer())
    for key in keys:
        producer.produce(turns(fresh_topics), b"librdkafka", key)
    assert await asyncio.to_thread(producer.flush, 30) == 0
    async with AIOKafkaProducer(**fresh_topics.aiokafka()) as other:
        for key in keys:
            await other.send_and_wait(turns(fresh_topics), b"aiokafka", key)
    reader = AIOKafkaConsumer(
        turns(fresh_topics), **fresh_topics.aiokafka(), group_id=None, auto_offset_reset="earliest"
    )
    places: dict[bytes, set[int]] = {}
    async with reader:
        for _ in range(2 * len(keys)):
            record = await asyncio.wait_for(reader.getone(), 30)
            places.setdefault(record.key, set()).add(record.partition)
    assert places == {key: {partition_for(key, 4)} for key in keys}


def test_a_commit_in_a_transaction_carries_its_mark_and_may_go_on(fresh_topics: Settings) -> None:
    assert troubles(fresh_topics) == []
    commit_five(fresh_topics)
    position = read_positions(fresh_topics, "score")[0]
    assert (position.low, position.high, position.committed) == (0, 11, 5)
    assert position.commit_metadata == encode_commit_metadata(position.topic_id, 4)
    assert troubles(fresh_topics) == []


def test_a_position_set_by_another_tool_is_refused_until_it_is_accepted(fresh_topics: Settings) -> None:
    commit_five(fresh_topics, metadata=False)
    with pytest.raises(ConfigError, match="set by another tool"):
        check_positions(read_positions(fresh_topics, "score"), aligned_counts(fresh_topics), "score")
    repaired = repair(fresh_topics, "score", "accept")
    assert (repaired[0].before, repaired[0].after) == (5, 5)
    assert troubles(fresh_topics) == []


def test_a_recreated_topic_is_refused_until_it_is_repaired(fresh_topics: Settings) -> None:
    commit_five(fresh_topics)
    admin = AdminClient(fresh_topics.confluent())
    admin.delete_topics([turns(fresh_topics)])[turns(fresh_topics)].result(30)
    create_topics(fresh_topics)
    # The broker forgets the positions of a deleted topic after a while; until then their metadata tells, then the
    # state.
    (trouble,) = troubles(fresh_topics, {(turns(fresh_topics), 0): 4})
    assert trouble in (Trouble.RECREATED, Trouble.OFFSETS_EXPIRED)
    repair(fresh_topics, "score", "earliest")
    assert {position.committed for position in read_positions(fresh_topics, "score")} == {0}
    assert troubles(fresh_topics) == []


def test_records_that_were_deleted_unread_are_refused_until_the_loss_is_accepted(fresh_topics: Settings) -> None:
    commit_five(fresh_topics)
    admin = AdminClient(fresh_topics.confluent())
    for future in admin.delete_records([TopicPartition(turns(fresh_topics), 0, 8)]).values():
        future.result(30)
    assert troubles(fresh_topics) == [Trouble.RECORDS_EXPIRED]
    assert repair(fresh_topics, "score", "earliest")[0].after == 8
    assert troubles(fresh_topics) == []


def test_partitions_that_were_added_are_refused_until_all_topics_have_them(fresh_topics: Settings) -> None:
    commit_five(fresh_topics)
    more = fresh_topics.model_copy(update={"partitions": 8})
    admin = AdminClient(more.confluent())
    admin.create_partitions([NewPartitions(turns(more), 8)])[turns(more)].result(30)
    assert Trouble.PARTITIONS_ADDED in troubles(more)
    align_partitions(more)
    assert set(aligned_counts(more).values()) == {8}
    assert troubles(more) == [Trouble.PARTITIONS_ADDED]  # the commit's metadata still says 4
    repair(more, "score", "accept")
    assert troubles(more) == []


def test_a_position_may_be_set_where_the_log_is_and_nowhere_else(fresh_topics: Settings) -> None:
    commit_five(fresh_topics)
    assert repair(fresh_topics, "score", {(turns(fresh_topics), 0): 9})[0].after == 9
    assert repair(fresh_topics, "score", "latest")[0].after == 11
    with pytest.raises(ConfigError, match="expected an offset from 0 to 11, got 12"):
        repair(fresh_topics, "score", {(turns(fresh_topics), 0): 12})


def test_positions_of_a_group_with_a_worker_in_it_are_not_touched(fresh_topics: Settings) -> None:
    consumer = Consumer({**fresh_topics.confluent(), "group.id": fresh_topics.app_id("score")})
    consumer.subscribe([turns(fresh_topics)])
    try:
        while not consumer.assignment():
            consumer.poll(0.1)
        with pytest.raises(ConfigError, match="expected no worker in the group"):
            repair(fresh_topics, "score", "latest")
    finally:
        consumer.close()
