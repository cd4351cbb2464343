"""Reading a log to its end, whatever strangers wrote between what is wanted."""

import gzip
import threading
from collections.abc import Callable
from functools import partial

import pytest
from confluent_kafka import Producer

from tests.kafka.faults.play import wait
from tests.kafka.raw import Attempt, RawTransactions, batch, produce_batch, record
from turnsignal.agents.kafka.logs import find_held_back, find_log, read_log
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.settings import Settings

pytestmark = pytest.mark.kafka

#: What librdkafka asks for again and again, alone and behind a record that can be read.
ENDLESS = Attempt(gzip.compress(record(0, b"k", b"lost", length=-5)), 1, "gzip")


def half(value: bytes) -> Attempt:
    """Spell a batch of which only the first record can be read."""
    return Attempt(gzip.compress(record(0, b"k", value) + record(1, b"k", b"lost", length=900)), 2, "gzip")


def whole(value: bytes) -> Attempt:
    return Attempt(record(0, b"k", value), 1)


def values(settings: Settings, topic: str, *, committed: bool = True) -> list[bytes | None]:
    read = read_log(settings, topic, find_log(settings, topic), committed=committed)
    return [one.value for records in read for one in records]


Put = Callable[[Attempt], None]


@pytest.fixture
def topic(fresh_topics: Settings) -> str:
    return topic_names(fresh_topics.prefix)["turns"]


@pytest.fixture
def put(fresh_topics: Settings, topic: str) -> Put:
    """Write a batch to partition 0."""

    def put(attempt: Attempt) -> None:
        assert produce_batch(fresh_topics.brokers, topic, 0, batch(*attempt)) == 0

    return put


def test_damage_in_a_partition_is_passed_while_others_are_written_to(
    fresh_topics: Settings, topic: str, put: Put
) -> None:
    producer, stop = Producer(fresh_topics.producer()), threading.Event()

    def write_on() -> None:
        while not stop.is_set():
            producer.produce(topic, b"meanwhile", b"k", 1)
            producer.flush()

    writer = threading.Thread(target=write_on)
    for attempt in (whole(b"before"), ENDLESS, whole(b"after")):
        put(attempt)
    writer.start()
    try:
        wait(lambda: find_log(fresh_topics, topic)[1][1] > 0, 30, "the other partition to be written to")
        read = values(fresh_topics, topic)
    finally:
        stop.set()
        writer.join()
    assert [value for value in read if value != b"meanwhile"] == [b"before", b"after"]


def test_an_offset_far_beyond_the_end_cuts_nothing_off(fresh_topics: Settings, topic: str, put: Put) -> None:
    liar = Attempt(record(0, b"k", b"beside it") + record(1_000_000, b"k", b"lost"), 2)
    for attempt in (whole(b"before"), liar, whole(b"between"), liar, whole(b"after")):
        put(attempt)
    assert values(fresh_topics, topic) == [b"before", b"beside it", b"between", b"beside it", b"after"]


@pytest.mark.parametrize("name", [b"\xff", "größe".encode("latin-1")])
def test_a_header_whose_name_is_no_text_ends_nothing(fresh_topics: Settings, topic: str, put: Put, name: bytes) -> None:
    put(Attempt(record(0, b"k", b"value", [(b"before", b"1"), (name, b"2"), (b"after", b"3")]), 1))
    ((read,),) = read_log(fresh_topics, topic, {0: find_log(fresh_topics, topic)[0]}, committed=True)
    assert [(name.isascii(), value) for name, value in read.headers] == [(True, b"1"), (True, b"2"), (True, b"3")]
    assert dict(read.headers)["after"] == b"3"


def test_what_is_aborted_is_left_out_and_what_is_committed_is_not_whatever_damage_stands_there(
    fresh_topics: Settings, topic: str, put: Put
) -> None:
    name = f"{fresh_topics.prefix}-raw"
    producer = Producer(fresh_topics.producer() | {"transactional.id": name})
    producer.init_transactions(30)  # until then a new broker has no coordinator
    put(whole(b"before"))
    put(ENDLESS)
    raw = RawTransactions(fresh_topics.brokers, topic, 0, name)
    raw.run(ENDLESS, commit=False)
    raw.run(half(b"committed"), whole(b"too"), commit=True)
    raw.run(half(b"aborted"), commit=False)
    raw.run(whole(b"aborted"), whole(b"aborted"), ENDLESS, commit=False)
    put(whole(b"after"))
    wait(partial(_nothing_is_open, fresh_topics, topic), 30, "the last transaction to be over")
    assert values(fresh_topics, topic) == [b"before", b"committed", b"too", b"after"]
    assert values(fresh_topics, topic, committed=False).count(b"aborted") == 3


def _nothing_is_open(settings: Settings, topic: str) -> bool:
    return not find_held_back(settings, topic, find_log(settings, topic))


def test_a_range_ends_where_a_transaction_is_open(fresh_topics: Settings, topic: str, put: Put) -> None:
    producer = Producer(fresh_topics.producer() | {"transactional.id": f"{fresh_topics.prefix}-open"})
    producer.init_transactions(30)
    put(whole(b"before"))
    producer.begin_transaction()
    producer.produce(topic, b"open", b"k", 0)
    producer.flush(30)
    put(whole(b"behind it"))
    told: list[tuple[int, int]] = []
    ranges = find_log(fresh_topics, topic)
    read = read_log(fresh_topics, topic, ranges, committed=True, progress=lambda *of: told.append(of))
    assert [one.value for records in read for one in records] == [b"before"]
    assert told[-1] == (3, 3)
    assert values(fresh_topics, topic, committed=False) == [b"before", b"open", b"behind it"]
    producer.abort_transaction(30)


def test_a_batch_larger_than_what_is_asked_for_comes_as_a_whole(fresh_topics: Settings, topic: str, put: Put) -> None:
    large = whole(b"x" * 3_000_000)
    for attempt in (whole(b"before"), large, whole(b"after")):
        put(attempt)
    assert [len(value or b"") for value in values(fresh_topics, topic)] == [6, 3_000_000, 5]
