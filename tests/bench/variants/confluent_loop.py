"""The same work in a confluent-kafka loop that writes outputs, then one changelog record per touched conversation.

At least once, with the order of writes that this needs; BENCH_TRANSACTIONS=on puts all of it and the positions into one
transaction. State lives in a dictionary. BENCH_INTERVAL: seconds for which records are collected, as a commit interval.
"""

import os
import time
from collections.abc import Sequence

from confluent_kafka import Consumer, Message, Producer
from one_turn import OneTurn
from place import Place
from stopwatch import Stopwatch

TRANSACTIONS = os.environ.get("BENCH_TRANSACTIONS") == "on"
INTERVAL = float(os.environ.get("BENCH_INTERVAL", "0.2"))

place, watch = Place.from_env(), Stopwatch.from_env()
consumer = Consumer(
    {
        "bootstrap.servers": place.brokers,
        "group.id": place.name,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "fetch.wait.max.ms": 50,
    }
)
producer = Producer(
    {
        "bootstrap.servers": place.brokers,
        "partitioner": "murmur2_random",
        "linger.ms": 2,
        "enable.idempotence": True,
        "queue.buffering.max.messages": 1_000_000,
        "queue.buffering.max.kbytes": 1_048_576,
        **({"transactional.id": place.name} if TRANSACTIONS else {}),
    }
)
work, states = OneTurn(), dict[bytes, bytes]()
scores = place.topics["scores"]


def score(messages: Sequence[Message]) -> dict[bytes, int]:
    """Work through messages and produce their rows; return which conversations they touched, with the partition."""
    touched: dict[bytes, int] = {}
    for message in messages:
        key = message.key()
        state, outputs = work(states.get(key), key, message.value(), message.offset(), message.timestamp()[1])
        states[key] = state
        touched[key] = message.partition()
        for output in outputs:
            producer.produce(scores, output.value, output.key)
    return touched


def write_states(touched: dict[bytes, int]) -> None:
    """Produce the changelog records of conversations."""
    for key, partition in touched.items():
        producer.produce(place.changelog, states[key], key, partition)


if TRANSACTIONS:
    producer.init_transactions(30)
consumer.subscribe([place.topics["turns"]])
committed = time.monotonic()
while True:
    messages = consumer.consume(500, INTERVAL)
    if not messages:
        continue
    if TRANSACTIONS:
        producer.begin_transaction()
        write_states(score(messages))
        positions = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata())
        producer.commit_transaction()
    else:
        touched = score(messages)
        producer.flush()
        write_states(touched)
        producer.flush()
        if time.monotonic() - committed > 1:
            consumer.commit(asynchronous=True)
            committed = time.monotonic()
    watch.tick(len(messages))
