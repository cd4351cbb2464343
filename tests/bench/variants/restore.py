"""Read the changelog of open conversations: raw, or as a take-over restores it.

BENCH_MODE=raw counts records of all partitions in one consumer; =ours fills a processor per partition, in turn
as a take-over does, and takes up when each conversation is due.
"""

import os
import time
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from place import Place
from stopwatch import write_row

from turnsignal.agents.kafka.logs import find_log
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.restore import restore_changelog
from turnsignal.agents.worker.stores import make_store
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.suite import Suite

place = Place.from_env()
settings = Settings.from_env({"TURNSIGNAL_BROKERS": place.brokers})
changelog, partitions = place.topics["conversations_changelog"], range(settings.partitions)


def read_raw() -> int:
    """Count the records, touching keys and values as any reader would."""
    options = {"group.id": place.name, "enable.partition.eof": True, "auto.offset.reset": "earliest"}
    # As a take-over sets them: a raw reader that waits half a second for the ends would be no floor.
    fetching = {"fetch.wait.max.ms": 10, "queued.min.messages": 500_000, "queued.max.messages.kbytes": 262_144}
    consumer = Consumer({"bootstrap.servers": place.brokers, **options, **fetching})
    consumer.assign([TopicPartition(changelog, number, 0) for number in partitions])
    open_ends, count, size = len(partitions), 0, 0
    while open_ends:
        for message in consumer.consume(10_000, 0.2):
            error = message.error()
            if error is None:
                count += 1
                size += len(message.key()) + len(message.value())
            elif error.code() == KafkaError._PARTITION_EOF:
                open_ends -= 1
            else:
                raise KafkaException(error)
    consumer.close()
    return count


def restore() -> int:
    """Restore every partition."""
    count, bounds = 0, find_log(settings, changelog)  # asked for at once, as a take-over does
    for number in partitions:
        store = make_store("memory", "score", number)
        restore_changelog(settings, changelog, number, store, bounds=bounds[number])
        PartitionProcessor(suite, store, partition=number).read_store()
        count += len(store)
    return count


suite = Suite()
PartitionProcessor(suite)  # rules are compiled once, at the start of a process, whatever it takes over
began, cpu = time.perf_counter(), time.process_time()
count = read_raw() if os.environ["BENCH_MODE"] == "raw" else restore()
seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu
write_row(Path(os.environ["BENCH_ROW"]), turns=count, seconds=seconds, cpu_seconds=cpu_seconds)
