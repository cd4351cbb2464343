"""Restore: read the state of a partition back from its changelog, committed records only, to the very end.

A consumer of committed records is told an end that lies before whatever transaction is open, so the true end is asked
for apart. librdkafka reads states, in half the time of our own reader; it stands still at a batch that it cannot
unpack and ends the process over a header whose name is no text, so what is wrong where it stands, and the newest
checkpoint, are read by `agents.kafka.logs`.
"""

import time
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from turnsignal.agents.kafka.log_records import describe_lost
from turnsignal.agents.kafka.logs import find_damage, find_held_back, find_log, read_log
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.checkpoints import Checkpoint, find_checkpoint, read_checkpoint
from turnsignal.stream.errors import SchemaError, TurnsignalError
from turnsignal.stream.records.wire import Undecodable

_LOOK_AFTER = 3.0  #: seconds that nothing came, after which it is looked at what stands there
_TAIL = 64  #: offsets before the end among which a checkpoint is looked for: mostly the last record has it
_FURTHER = 32  #: times as many are looked at next, where none was there


class RestoredChangelog(NamedTuple):
    """What was read of a changelog partition: entries, its end, and the newest checkpoint."""

    records: int
    end: int
    checkpoint: Checkpoint | None = None


class DamageError(TurnsignalError):
    """Say where nobody can unpack a changelog."""


def log_ends(connection: Mapping[str, Any], partition: TopicPartition, timeout: float) -> tuple[int, int]:
    """Ask for both true ends of a partition; a consumer of committed records only is told an earlier last one."""
    asker = Consumer({**connection, "group.id": "turnsignal-restore", "isolation.level": "read_uncommitted"})
    try:
        first, end = asker.get_watermark_offsets(partition, timeout=timeout)
        return first, end
    finally:
        asker.close()


def restore_changelog(
    settings: Settings,
    topic: str,
    partition: int,
    store: MutableMapping[bytes, bytes],
    *,
    bounds: tuple[int, int] | None = None,
    wanted: Callable[[], bool] = lambda: True,
    progress: Callable[[int], None] = lambda _: None,
    deadline: float = 60.0,
) -> RestoredChangelog:
    """Read one changelog partition, committed records only, into `store`, to its very end.

    bounds: its first offset and its end, where these are known; wanted: asked now and then whether to go on; progress:
    told how many records may still come. Raises DamageError at a batch that nobody can unpack, and TurnsignalError when
    the end is not reached: a transaction left open under another id would otherwise cut the state short in silence.
    """
    options = {
        **settings.confluent(),
        "group.id": "turnsignal-restore",
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "check.crcs": True,  # what rotted on a disk would be read as state
        "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": 10,
        "queued.min.messages": 500_000,
        "queued.max.messages.kbytes": 262_144,
    }
    consumer = Consumer(options)
    if bounds is None:
        bounds = log_ends(settings.confluent(), TopicPartition(topic, partition), deadline)
    reached, end = bounds
    count, moved, looked = 0, time.monotonic(), False
    try:
        # By its number: the logical beginning would be asked for, which takes half a second.
        consumer.assign([TopicPartition(topic, partition, reached)])
        while wanted():
            for message in consumer.consume(10_000, 0.02):
                error = message.error()
                if error is None:
                    value = message.value()
                    if value is None:
                        store.pop(message.key(), None)
                    else:
                        store[message.key()] = value
                    count += 1
                    reached = message.offset() + 1
                elif error.code() != KafkaError._PARTITION_EOF:
                    _expect_readable(settings, topic, partition, reached, end)
                    raise KafkaException(error)
                elif message.offset() >= end:
                    return RestoredChangelog(count, end, find_newest_checkpoint(settings, topic, partition, end))
                moved, looked = time.monotonic(), False
            silent = time.monotonic() - moved
            if silent > min(_LOOK_AFTER, deadline) and not looked:
                _expect_readable(settings, topic, partition, reached, end)
                looked = True
            # The last stable offset is behind the end while somebody's transaction is open; the broker ends it in time.
            if silent > deadline:
                msg = (
                    f"expected to read {topic}-{partition} to its end {end}, got stuck at {reached}: a transaction of "
                    "another transactional id is open there, and whoever writes it has to end, or its timeout has to "
                    "come"
                )
                raise TurnsignalError(msg)
            progress(max(0, end - count))
        return RestoredChangelog(count, end)
    finally:
        consumer.close()


def _expect_readable(settings: Settings, topic: str, partition: int, offset: int, end: int) -> None:
    """Raise DamageError where nobody can unpack what stands at an offset."""
    lost = find_damage(settings, topic, partition, offset, end)
    if lost is not None:
        place, wrong = describe_lost(lost)
        msg = f"{topic}-{partition}, {place}: {wrong}"
        raise DamageError(msg)


def restore_past_damage(
    settings: Settings, topic: str, partition: int, store: MutableMapping[bytes, bytes]
) -> tuple[RestoredChangelog, list[Undecodable]]:
    """Read what can be read of a changelog partition into `store`; return that, and what nobody can unpack.

    Raises TurnsignalError where a transaction is open.
    """
    ranges = {partition: find_log(settings, topic)[partition]}
    if find_held_back(settings, topic, ranges):
        msg = (
            f"expected no open transaction on {topic}-{partition}, got one; nothing was written: try again when"
            " whoever writes it has ended, or its timeout has come"
        )
        raise TurnsignalError(msg)
    lost: list[Undecodable] = []
    count, end = 0, ranges[partition][1]
    for records in read_log(settings, topic, ranges, committed=True, passed_over=lambda _, each: lost.append(each)):
        for record in records:
            count += 1
            if record.key is None or record.value is None:
                store.pop(record.key or b"", None)
            else:
                store[record.key] = record.value
    return RestoredChangelog(count, end, find_newest_checkpoint(settings, topic, partition, end)), lost


def find_newest_checkpoint(settings: Settings, topic: str, partition: int, end: int) -> Checkpoint | None:
    """Look for the newest checkpoint before an offset, from there backwards.

    Raises SchemaError where it cannot be read: none before it counts.
    """
    newest: tuple[int, bytes] | None = None
    behind, count = end, _TAIL
    while newest is None and behind > 0:
        before = max(0, behind - count)
        for records in read_log(settings, topic, {partition: (before, behind)}, committed=True):
            for record in records:
                if record.encoded_headers and (content := find_checkpoint(record.headers)) is not None:
                    newest = record.offset, content
        behind, count = before, count * _FURTHER
    if newest is None:
        return None
    offset, content = newest
    try:
        return read_checkpoint(content)
    except SchemaError as error:
        msg = f"{topic}-{partition}, offset {offset}: {error}"
        raise SchemaError(msg) from None
