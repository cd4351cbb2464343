"""Restore: read the state of a partition back from its changelog, committed records only, to the very end.

A consumer of committed records is told an end that lies before whatever transaction is open, so the true end is asked
for apart.
"""

import time
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from turnsignal.agents.worker.checkpoints import Checkpoint, find_checkpoint, read_checkpoint
from turnsignal.stream.errors import SchemaError, TurnsignalError


class RestoredChangelog(NamedTuple):
    """What was read of a changelog partition: entries, its end, and the newest checkpoint."""

    records: int
    end: int
    checkpoint: Checkpoint | None = None


def log_end(connection: Mapping[str, Any], partition: TopicPartition, timeout: float) -> int:
    """Ask for the true end of a partition; a consumer that reads committed records only is told an earlier one."""
    asker = Consumer({**connection, "group.id": "turnsignal-restore", "isolation.level": "read_uncommitted"})
    try:
        end: int = asker.get_watermark_offsets(partition, timeout=timeout)[1]
        return end
    finally:
        asker.close()


def restore_changelog(
    connection: Mapping[str, Any],
    topic: str,
    partition: int,
    store: MutableMapping[bytes, bytes],
    *,
    end: int | None = None,
    wanted: Callable[[], bool] = lambda: True,
    progress: Callable[[int], None] = lambda _: None,
    deadline: float = 60.0,
) -> RestoredChangelog:
    """Read one changelog partition, committed records only, into `store`, to its very end.

    end: of its log, where it is known; wanted: asked now and then whether to go on; progress: told how many records may
    still come. Raises TurnsignalError when the end is not reached: a transaction left open under another id would
    otherwise cut the state short in silence.
    """
    options = {
        **connection,
        "group.id": "turnsignal-restore",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": 10,
        "queued.min.messages": 500_000,
        "queued.max.messages.kbytes": 262_144,
    }
    consumer = Consumer(options)
    source = TopicPartition(topic, partition)
    count, reached, moved = 0, 0, time.monotonic()
    newest: tuple[int, bytes] | None = None  # its offset, and what stands there; none before it counts
    try:
        end = log_end(connection, source, deadline) if end is None else end
        consumer.assign([TopicPartition(topic, partition, 0)])
        while wanted():
            for message in consumer.consume(10_000, 0.02):
                error = message.error()
                if error is None:
                    value = message.value()
                    if value is None:
                        store.pop(message.key(), None)
                    else:
                        store[message.key()] = value
                    headers = message.headers()
                    if headers is not None and (content := find_checkpoint(headers)) is not None:
                        newest = message.offset(), content
                    count += 1
                elif error.code() != KafkaError._PARTITION_EOF:
                    raise KafkaException(error)
                elif message.offset() >= end:
                    return RestoredChangelog(count, end, _read_newest(topic, partition, newest))
                reached, moved = message.offset(), time.monotonic()
            # The last stable offset is behind the end while somebody's transaction is open; the broker ends it in time.
            if time.monotonic() - moved > deadline:
                msg = (
                    f"expected to read {topic}-{partition} to its end {end}, got stuck at {reached}: a transaction of "
                    "another transactional id is open there, and whoever writes it has to end, or its timeout has to "
                    "come; or nobody can unpack what stands there (Kafka's kafka-dump-log.sh shows it)"
                )
                raise TurnsignalError(msg)
            progress(max(0, end - count))
        return RestoredChangelog(count, end, _read_newest(topic, partition, newest))
    finally:
        consumer.close()


def _read_newest(topic: str, partition: int, newest: tuple[int, bytes] | None) -> Checkpoint | None:
    if newest is None:
        return None
    offset, content = newest
    try:
        return read_checkpoint(content)
    except SchemaError as error:
        msg = f"{topic}-{partition}, offset {offset}: {error}"
        raise SchemaError(msg) from None
