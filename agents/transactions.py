"""Transactions: outputs, changelog and input position of one batch are written together or not at all.

One librdkafka producer per partition number, with the transactional id `{app id}-{partition}`: initialising it fences
whoever owned the partition before, and aborts what that one left open. Positions are read back with librdkafka only
after that, so that no half-committed one is seen.
"""

import logging
import os
import sys
import time
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any, NamedTuple, NoReturn

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from stream.errors import TurnsignalError
from stream.outbox import Output

logger = logging.getLogger("turnsignal.transactions")

EXIT_REFUSED = 2  #: the exit code for a wrong setting, suite or topic
EXIT_RESTART = 70  #: the exit code of a worker that wants to be started again (EX_SOFTWARE)


def give_up(reason: object) -> NoReturn:
    """End the process at once: the supervisor starts it again, and the broker has kept nothing half done.

    A worker that went on after a failed commit, fence or restore would either stand still alive or write what another
    worker writes too.
    """
    logger.critical("giving up, to be started again: %s", reason)
    logging.shutdown()
    sys.stderr.flush()
    os._exit(EXIT_RESTART)


def refuse(reason: object) -> NoReturn:
    """End the process for good: starting again would meet the same, an operator has to decide."""
    logger.critical("%s", reason)
    logging.shutdown()
    sys.stderr.flush()
    os._exit(EXIT_REFUSED)


class Restored(NamedTuple):
    """What a changelog partition held: entries read, and its end."""

    records: int
    end: int


class Writer:
    """Write the batches of one partition number.

    options: librdkafka's, with or without a transactional id; without one it writes at least once, outputs before state;
    topics: short name → topic; changelog: its topic; deadline: seconds that any one step may take.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        partition: int,
        topics: Mapping[str, str],
        changelog: str,
        deadline: float,
    ) -> None:
        self.partition = partition
        self.transactional = "transactional.id" in options
        self._topics = topics
        self._changelog = changelog
        self._deadline = deadline
        self._failed: KafkaError | None = None
        self._producer = Producer(dict(options))
        if self.transactional:
            self._producer.init_transactions(deadline)

    def write(self, outputs: list[Output], changes: Mapping[bytes, bytes | None]) -> None:
        """Hand a batch to librdkafka; nothing of it can be read before `commit`."""
        if self.transactional:
            self._producer.begin_transaction()
        self._produce_outputs(outputs)
        if not self.transactional:
            self._flush()  # outputs are acknowledged before the state that says they exist
        produce, changelog, partition = self._producer.produce, self._changelog, self.partition
        for key, value in changes.items():
            try:
                produce(changelog, value, key, partition)
            except BufferError:
                self._drain()
                produce(changelog, value, key, partition)

    def commit(self, offsets: list[TopicPartition], group: Any) -> None:
        """Make the batch readable, with the input positions; blocks, so call it in a thread."""
        if not self.transactional:
            self._flush()
            return
        if offsets:
            self._producer.send_offsets_to_transaction(offsets, group, self._deadline)
        self._producer.commit_transaction(self._deadline)

    def _produce_outputs(self, outputs: list[Output]) -> None:
        produce, topics, delivered = self._producer.produce, self._topics, self._delivered
        for topic, key, value, headers in outputs:
            arguments = {"headers": headers} if headers else {}
            try:
                produce(topics[topic], value, key, on_delivery=delivered, **arguments)
            except BufferError:
                self._drain()
                produce(topics[topic], value, key, on_delivery=delivered, **arguments)

    def _delivered(self, error: KafkaError | None, _message: object) -> None:
        if error is not None and self._failed is None:
            self._failed = error

    def _drain(self) -> None:
        self._producer.poll(0.1)

    def _flush(self) -> None:
        left = self._producer.flush(self._deadline)
        if self._failed is not None:
            raise KafkaException(self._failed)
        if left:
            msg = f"{left} records were not acknowledged within {self._deadline:.0f} s"
            raise TurnsignalError(msg)


def group_reader(connection: Mapping[str, Any], group: str) -> Consumer:
    """Return a librdkafka consumer that names the group and never joins it: for positions and transaction metadata."""
    return Consumer({**connection, "group.id": group, "enable.auto.commit": False, "auto.offset.reset": "error"})


def restore_changelog(
    connection: Mapping[str, Any],
    topic: str,
    partition: int,
    store: MutableMapping[bytes, bytes],
    *,
    wanted: Callable[[], bool] = lambda: True,
    progress: Callable[[int], None] = lambda remaining: None,
    deadline: float = 60.0,
) -> Restored:
    """Read one changelog partition, committed records only, into `store`, to its very end.

    wanted: asked now and then whether to go on; progress: told how many records may still come. Raises TurnsignalError when the end is not
    reached: a transaction left open under another id would otherwise cut the state short in silence.
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
    count, stuck_since = 0, None
    try:
        _, end = consumer.get_watermark_offsets(source, timeout=deadline)
        consumer.assign([TopicPartition(topic, partition, 0)])
        while wanted():
            for message in consumer.consume(10_000, 0.2):
                error = message.error()
                if error is None:
                    value = message.value()
                    if value is None:
                        store.pop(message.key(), None)
                    else:
                        store[message.key()] = value
                    count += 1
                    continue
                if error.code() != KafkaError._PARTITION_EOF:
                    raise KafkaException(error)
                reached = message.offset()
                if reached >= end:
                    return Restored(count, end)
                # The last stable offset is behind the end: somebody's transaction is still open.
                now = time.monotonic()
                stuck_since = stuck_since or now
                if now - stuck_since > deadline:
                    msg = (
                        f"expected to read {topic}-{partition} to its end {end}, got stuck at {reached}: a transaction of "
                        "another transactional id is open there; end whoever writes it, or wait for its timeout"
                    )
                    raise TurnsignalError(msg)
            progress(max(0, end - count))
        return Restored(count, end)
    finally:
        consumer.close()
