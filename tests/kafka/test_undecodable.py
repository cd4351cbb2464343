"""Batches that a broker takes and nobody can read: dead letters, and every neighbour is scored once."""

import gzip
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import cramjam
import pytest
from confluent_kafka import Producer

from tests.kafka.faults.oracle import committed, ends, read_topic
from tests.kafka.faults.play import wait
from tests.kafka.raw import batch, produce_batch, record
from tests.kafka.test_isolation import conversations, produce, rows, running, turn
from turnsignal.agents.kafka.forget_requests import ForgetRequests
from turnsignal.agents.kafka.logs import find_log, find_offsets, read_log
from turnsignal.agents.kafka.topics import partition_for, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import Reason

pytestmark = pytest.mark.kafka

KEY, VALUE = turn("hostile", 1)
BOMB = record(0, KEY, b" " * 60_000_000) + record(1, KEY, VALUE)
#: name → a batch of two records, and how many of them can be read after all
BATCHES = {
    "a bomb in zstd": (batch(bytes(cramjam.zstd.compress(BOMB)), 2, "zstd"), 0),
    "a bomb in gzip": (batch(gzip.compress(BOMB), 2, "gzip"), 0),
    "a length that is not the record's": (
        batch(bytes(cramjam.zstd.compress(record(0, KEY, b"x", length=30) + record(1, KEY, VALUE))), 2, "zstd"),
        1,
    ),
    "offsets far beyond the end": (batch(record(0, KEY, VALUE) + record(1_000_000, KEY, VALUE), 2), 1),
    "a header whose name is no text": (batch(record(0, KEY, VALUE, [(b"\xff", b"")]) + record(1, KEY, b"{"), 2), 2),
    "rubbish behind gzip": (
        batch(gzip.compress(record(0, KEY, VALUE) + record(1, KEY, b"{")) + b"rubbish", 2, "gzip"),
        2,
    ),
}


def letters_on(settings: Settings, topic: str) -> list[dict[str, Any]]:
    found = read_topic(settings, topic_names(settings.prefix)["dead_letters"])
    headers = [(dict(record.headers), record.value) for records in found.values() for record in records]
    assert not any(value for _, value in headers)
    return [head for head, _ in headers if head["topic"].decode() == topic]


def all_is_read(settings: Settings, topic: str, app: str) -> bool:
    return committed(settings, topic, app) == ends(settings, topic)


def test_batches_that_nobody_can_read_are_set_aside_once_and_their_neighbours_are_scored(
    fresh_topics: Settings, tmp_path: Path
) -> None:
    names = topic_names(fresh_topics.prefix)
    place = partition_for(KEY, 4)
    produce(fresh_topics, conversations("before", 20))
    for name, (data, _) in BATCHES.items():
        assert produce_batch(fresh_topics.brokers, names["turns"], place, data) == 0, name
        beside = next(one for each in count() if partition_for((one := f"{name} {each}").encode(), 4) == place)
        produce(fresh_topics, [turn(beside, number) for number in (1, 2, 3)])
    for name, partition in (("forget", place), ("series", 0)):
        assert produce_batch(fresh_topics.brokers, names[name], partition, BATCHES["a bomb in zstd"][0]) == 0, name
    with running(fresh_topics, tmp_path, "turnsignal.agents.cli", "worker", "all") as log:
        for topic, app in (("turns", "score"), ("forget", "score"), ("series", "watch")):
            wait(partial(all_is_read, fresh_topics, topic, app), 90, f"{topic} to be read")
        said = log.read_text()
    assert "to be started again" not in said
    assert "restarting" not in said
    assert rows(fresh_topics) == 2 * (20 + len(BATCHES))
    found = [
        (head["offset"], head.get("last_offset"))
        for head in letters_on(fresh_topics, names["turns"])
        if head["reason"] == b"undecodable"
    ]
    assert len(found) == len(set(found)) == 4
    assert sum(int(last or first) - int(first) + 1 for first, last in found) == sum(
        2 - good for _, good in BATCHES.values()
    )
    for other in ("forget", "series"):
        assert [head["reason"].decode() for head in letters_on(fresh_topics, names[other])] == [Reason.UNDECODABLE]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "snappy": lambda content: bytes(cramjam.snappy.compress_raw(content)),
    "zstd": lambda content: bytes(cramjam.zstd.compress(content)),
}
#: What librdkafka asks for again and again, and says nothing.
ENDLESS = [batch(pack(record(0, KEY, VALUE, length=-5)), 1, codec) for codec, pack in PACKERS.items()]


def keys_read(settings: Settings, topic: str) -> list[bytes]:
    read = list(read_log(settings, topic, find_log(settings, topic), committed=True))
    assert all(read), "no list is empty: who reads looks at its first record"
    return sorted(each.key for records in read for each in records)


def test_who_reads_a_topic_gets_past_what_nobody_can_unpack(
    fresh_topics: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    topic = topic_names(fresh_topics.prefix)["turns"]
    sent = [*conversations("before", 5), *conversations("after", 5)]
    produce(fresh_topics, sent[: len(sent) // 2])
    for data in ENDLESS:
        for place in range(4):
            assert produce_batch(fresh_topics.brokers, topic, place, data) == 0
    produce(fresh_topics, sent[len(sent) // 2 :])
    assert produce_batch(fresh_topics.brokers, topic, 0, ENDLESS[0]) == 0  # the last of its partition
    assert keys_read(fresh_topics, topic) == sorted(key for key, _ in sent)
    passed = [each.getMessage() for each in caplog.records if "nobody can read" in each.getMessage()]
    assert len(passed) == 4 * len(ENDLESS) + 1
    ranges = find_log(fresh_topics, topic)
    assert find_offsets(fresh_topics, topic, ranges, 0) == {number: first for number, (first, _) in ranges.items()}
    ends = {number: end for number, (_, end) in ranges.items()}
    assert find_offsets(fresh_topics, topic, ranges, time.time() + 3600, is_end=True) == ends, "nothing is left out"


def test_requests_to_forget_are_heeded_behind_what_nobody_can_unpack(fresh_topics: Settings) -> None:
    topic = topic_names(fresh_topics.prefix)["forget"]
    producer = Producer(fresh_topics.producer())

    def ask(name: str, partition: int = 0) -> None:
        producer.produce(topic, None, name.encode(), partition)
        producer.flush()

    def damage() -> None:
        assert produce_batch(fresh_topics.brokers, topic, 0, ENDLESS[0]) == 0

    ask("c-1")
    damage()
    ask("c-2")
    ask("c-1", 1)
    requests = ForgetRequests(fresh_topics)
    try:
        assert sorted(request.conversation_id for request in requests.read_all()) == ["c-1", "c-2"], "each once"
        damage()
        ask("c-3")
        heeded: list[str] = []

        def is_heeded() -> bool:
            heeded.extend(request.conversation_id for request in requests.read_new())
            return bool(heeded)

        wait(is_heeded, 60, "the request behind the damage")
        ask("c-4")
        wait(lambda: is_heeded() and len(heeded) > 1, 60, "the next one")
        assert heeded == ["c-3", "c-4"]
    finally:
        requests.close()
