"""Recovery: how long a take-over reads the state of open conversations, beside reading their changelog raw."""

import time

from confluent_kafka import Producer
from load import Turn
from session import Row, Session
from tables import Rounds, Target, number, table

from turnsignal.agents.kafka.topics import topic_names
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.simulation import steady
from turnsignal.stream.suite import Suite

SECTION = "recovery"
RAW, OURS = "changelog read raw", "restored"
_MODELS, _TURNS_EACH = 256, 8


def measure(session: Session) -> None:
    """Write a changelog of open conversations, then read it both ways in turn."""
    prefix = session.new_prefix("recovery")
    session.make_topics(prefix)
    _fill(session, topic_names(prefix)["conversations_changelog"])
    for round_ in range(max(2, session.sizes.rounds)):
        for name, mode in ((RAW, "raw"), (OURS, "ours")):
            session.run(SECTION, "restore.py", prefix, name, round_, BENCH_MODE=mode)
    session.drop_topics(prefix)


def _fill(session: Session, topic: str) -> None:
    """Play a few conversations and write their states under many names."""
    start = float(int(time.time()) - 3600)
    processor = PartitionProcessor(Suite())
    played = steady(_MODELS * _TURNS_EACH, _MODELS, seed=1, start=start)
    processor.accept(
        processor.process([Turn(i, key, value, int(start * 1000)) for i, (key, value) in enumerate(played)], start)
    )
    states = list(processor.store.values())
    options = {"partitioner": "murmur2_random", "linger.ms": 20, "queue.buffering.max.messages": 1_000_000}
    producer = Producer({"bootstrap.servers": session.brokers, **options})
    for conversation in range(session.sizes.recovered):
        producer.produce(topic, states[conversation % len(states)], b"open-%07d" % conversation)
        if conversation % 1000 == 0:
            producer.poll(0)
    producer.flush(60)


def report(rows: list[Row]) -> tuple[str, list[Target]]:
    """Return the table, and the target of recovery."""
    rounds = Rounds(rows, SECTION)
    lines = [
        [
            name,
            number(rounds.median(name, "turns"), 0),
            number(rounds.median(name, "seconds"), 2),
            number(rounds.median(name, "us")),
            number(rounds.median(name, "rss_mb"), 0),
        ]
        for name in rounds.variants
    ]
    head = ["recovery", "open conversations", "seconds", "µs per conversation", "RSS MB"]
    return table(head, lines), [Target("recovery beside reading the changelog raw", rounds.ratio(OURS, RAW, "us"), 2.0)]
