"""The same work in a confluent-kafka loop that writes outputs, then one changelog record per touched conversation.

At least once, with the order of writes that this needs; state lives in a dictionary.
"""

import time

from confluent_kafka import Consumer, Producer
from one_turn import OneTurn
from place import Place
from stopwatch import Stopwatch

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
    }
)
work, states, committed = OneTurn(), dict[bytes, bytes](), time.monotonic()
scores = place.topics["scores"]
consumer.subscribe([place.topics["turns"]])
while True:
    messages = consumer.consume(500, 0.2)
    touched: dict[bytes, int] = {}
    for message in messages:
        key = message.key()
        state, outputs = work(states.get(key), key, message.value(), message.offset(), message.timestamp()[1])
        states[key] = state
        touched[key] = message.partition()
        for output in outputs:
            producer.produce(scores, output.value, output.key)
    if not messages:
        continue
    producer.flush()
    for key, partition in touched.items():
        producer.produce(place.changelog, states[key], key, partition)
    producer.flush()
    if time.monotonic() - committed > 1:
        consumer.commit(asynchronous=True)
        committed = time.monotonic()
    watch.tick(len(messages))
