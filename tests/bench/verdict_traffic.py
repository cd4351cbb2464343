"""Verdicts on a broker: CPU per turn of a score worker at a steady rate, with a verdict for each turn and without.

A verdict comes two seconds after its turn and two before the next one of its conversation, as in the processor's
comparison; `verdict_costs.py --worker` makes the load and prints the ratio.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from live import cpu_seconds
from load import Turn
from session import PARTITIONS, Session

from turnsignal.agents.kafka.topics import topic_names

WARM = 8  #: batches that are sent at once, so that every later answer has something before it
UNCOUNTED = 2  #: batches after them, while the worker is still catching up
PATIENCE = 60.0  #: seconds until the worker has answered

Batch = tuple[Sequence[Turn], Sequence[Turn]]  #: turns, and verdicts that come with them; a batch is a second


def measure_worker(session: Session, name: str, suite: Path, batches: Sequence[Batch]) -> float:
    """Return CPU µs per turn of a worker with a suite."""
    prefix = session.new_prefix("verdicts")
    session.make_topics(prefix)
    env = {"BENCH_TURNS": "1000000000", "BENCH_SUITE": str(suite)}
    worker = session.start("score_worker.py", prefix, f"{prefix}-{name}", env)
    topics = topic_names(prefix)
    try:
        send = _Sender(session.brokers, topics["turns"], topics["verdicts"])
        for batch in batches[:WARM]:
            send.at_once(batch)
        _await_rows(session.brokers, topics["scores"])
        for batch in batches[WARM : WARM + UNCOUNTED]:
            send.within_a_second(batch)
        before, counted = cpu_seconds(worker.process.pid), batches[WARM + UNCOUNTED :]
        for batch in counted:
            send.within_a_second(batch)
        spent = cpu_seconds(worker.process.pid) - before
    finally:
        worker.end()
        session.drop_topics(prefix)
    return spent / sum(len(turns) for turns, _ in counted) * 1e6


class _Sender:
    """Send turns and verdicts."""

    def __init__(self, brokers: str, turns: str, verdicts: str) -> None:
        options = {"bootstrap.servers": brokers, "partitioner": "murmur2_random", "linger.ms": 0, "acks": 1}
        self._producer = Producer({**options, "queue.buffering.max.messages": 1_000_000, "log_level": 0})
        self._turns, self._verdicts = turns, verdicts

    def at_once(self, batch: Batch) -> None:
        """Send all of a batch."""
        for topic, record in self._in_order(batch):
            self._producer.produce(topic, record.value, record.key)
        self._producer.flush(PATIENCE)

    def within_a_second(self, batch: Batch) -> None:
        """Send a batch evenly over a second."""
        began, records = time.monotonic(), list(self._in_order(batch))
        for index, (topic, record) in enumerate(records):
            pause = began + index / len(records) - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            self._producer.produce(topic, record.value, record.key)
            self._producer.poll(0)
        self._producer.flush(PATIENCE)
        time.sleep(max(0.0, began + 1.0 - time.monotonic()))

    def _in_order(self, batch: Batch) -> Iterator[tuple[str, Turn]]:
        for turn, verdict in zip_longest(*batch):
            if turn is not None:
                yield self._turns, turn
            if verdict is not None:
                yield self._verdicts, verdict


def _await_rows(brokers: str, scores: str) -> None:
    """Wait until there are rows, and no more come."""
    options = {"bootstrap.servers": brokers, "group.id": f"{scores}-marks", "log_level": 0}
    consumer, known, deadline = Consumer(options), -1, time.monotonic() + PATIENCE
    while True:
        parts = [TopicPartition(scores, number) for number in range(PARTITIONS)]
        rows = sum(consumer.get_watermark_offsets(part, 10)[1] for part in parts)
        if rows and rows == known:
            break
        if time.monotonic() > deadline:
            raise RuntimeError("the worker did not answer")
        known = rows
        time.sleep(2)
    consumer.close()
