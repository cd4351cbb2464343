"""Reading: all that a topic holds by now, once, from outside of every group."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from turnsignal.agents.kafka.topics import log_bounds, topic_metadata
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError

SILENCE_SECONDS = 30.0  #: after which a broker that sends nothing has no more to say


def read_to_end(
    settings: Settings,
    topic: str,
    progress: Callable[[int, int], None] = lambda *_: None,
    *,
    committed: bool = True,
) -> Iterator[Any]:
    """Give every record of a topic up to its ends as they are now.

    progress: told how many of how many records are read; committed: whether records of transactions that are not
    committed stay out. Raises TurnsignalError when there is no such topic, or the broker does not answer.
    """
    admin = AdminClient({**settings.confluent(), "log_level": 0})
    present = topic_metadata(admin).topics
    if topic not in present:
        msg = f"expected a topic {topic} on {settings.brokers}, got none; try `turnsignal topics create`"
        raise TurnsignalError(msg)
    try:
        bounds = log_bounds(admin, {topic: list(present[topic].partitions)})[topic]
    except KafkaException as error:
        msg = f"expected the broker to say what {topic} holds, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None
    left = {number: high for number, (low, high) in bounds.items() if high > low}
    total = sum(high - low for low, high in bounds.values())
    isolation = "read_committed" if committed else "read_uncommitted"
    options = {"group.id": f"{settings.prefix}-read", "enable.auto.commit": False, "log_level": 0}
    options |= {"enable.partition.eof": True, "isolation.level": isolation, "auto.offset.reset": "earliest"}
    consumer = Consumer({**settings.confluent(), **options})
    try:
        consumer.assign([TopicPartition(topic, number, bounds[number][0]) for number in left])
        heard, read = time.monotonic(), 0
        while left:
            messages = consumer.consume(5_000, 0.2)
            if messages:
                heard = time.monotonic()
            elif time.monotonic() - heard > SILENCE_SECONDS:
                msg = f"expected all of {topic}, got no answer for {SILENCE_SECONDS:.0f} s after {read:,} records"
                raise TurnsignalError(msg)
            for message in messages:
                problem = message.error()
                if problem is not None and problem.code() != KafkaError._PARTITION_EOF:
                    msg = f"expected all of {topic}, got: {problem.str()}"
                    raise TurnsignalError(msg)
                if problem is None:
                    read += 1
                    yield message
                if problem is not None or message.offset() + 1 >= left.get(message.partition(), 0):
                    left.pop(message.partition(), None)
            progress(min(read, total), total)
    finally:
        consumer.close()
