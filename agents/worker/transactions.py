"""Transactions: outputs, changelog and input position of one batch are written together or not at all.

One librdkafka producer per partition number, with the transactional id `{app id}-{partition}`: initialising it fences
whoever owned the partition before, and aborts what that one left open. Positions are read back with librdkafka only
after that, so that no half-committed one is seen.
"""

import logging
import time
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from turnsignal.agents.kafka.refusals import kafka_error
from turnsignal.agents.worker.checkpoints import KEY, Checkpoint, checkpoint_record, read_checkpoint
from turnsignal.agents.worker.limits import RecordLimits
from turnsignal.stream.errors import Reason, TurnsignalError
from turnsignal.stream.judging.exchanges import fit
from turnsignal.stream.records.dead_letters import dead_letter, shorten
from turnsignal.stream.records.wire import DEAD_LETTERS, EXCHANGES, OutputRecord, Unplaced, size_of

logger = logging.getLogger("turnsignal.transactions")

_OVERHEAD = 200  #: bytes that a record costs beside its key and value, its batch's own included
_BATCH = 1_000_000  #: bytes of records in one request at most: librdkafka's default
_ANY = 1_000_000_000  #: the largest that librdkafka can be told
_UNKNOWN_STATE = 500_000  #: bytes of a state that is not sure to be taken where nothing is known of its topic, twice
_UNKNOWN = {EXCHANGES: 1_048_588}  #: bytes of what can be cut, where nothing is known of its topic: a broker's default

#: Seconds that one try at fencing may take: between tries it is looked whether the take-over is still wanted.
_FENCE_SECONDS = 5.0
_GLANCE = 0.2  #: seconds between two looks at records that may be refused
#: What the broker says of a record that it will never take, however often it is sent.
_REFUSED_RECORDS = (
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.INVALID_RECORD,
    KafkaError.INVALID_MSG,
    KafkaError.INVALID_MSG_SIZE,
    KafkaError.POLICY_VIOLATION,
)
#: What it says when it has forgotten a producer that was quiet for days; a new one of the same id can go on.
_FORGOTTEN = (KafkaError.INVALID_PRODUCER_ID_MAPPING, KafkaError.UNKNOWN_PRODUCER_ID)


def refuses_records(error: BaseException) -> bool:
    """Say whether a batch failed over what it holds, so that no other worker could write it either."""
    inner = kafka_error(error)
    return inner is not None and inner.code() in _REFUSED_RECORDS


def advise(error: BaseException) -> str:
    """Say what would make a topic take a record that it has refused."""
    inner = kafka_error(error)
    if inner is not None and inner.code() in (KafkaError.INVALID_RECORD, KafkaError.POLICY_VIOLATION):
        return "one whose cleanup.policy is delete takes records without a key, compact takes none"
    return "raise its max.message.bytes"


def was_forgotten(error: BaseException) -> bool:
    """Say whether the broker has dropped the transactional id, as it does after a week without transactions."""
    inner = kafka_error(error)
    return inner is not None and inner.code() in _FORGOTTEN


class RestoredChangelog(NamedTuple):
    """What was read of a changelog partition: entries, its end, and the newest checkpoint."""

    records: int
    end: int
    checkpoint: Checkpoint | None = None


class TransactionWriter:
    """Write the batches of one partition number.

    options: librdkafka's, with or without a transactional id; without one it writes at least once, outputs before
    state; topics: short name → topic; changelog: its topic; deadline: seconds that any one step may take; limits:
    looked at with each batch, a topic that they do not name takes any: what is larger goes to the dead letters, cut,
    because the broker would refuse the whole transaction, again at every start; an exchange is cut until it fits;
    wanted: asked before each try at fencing whether it is still ours to do: an outdated fence would end the rightful
    owner; careful: whether a record of this batch may be refused; revision: of the limits that it was written by.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        partition: int,
        topics: Mapping[str, str],
        changelog: str,
        deadline: float,
        limits: RecordLimits | None = None,
        wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        self.partition = partition
        self._allowed = RecordLimits(options, ()) if limits is None else limits
        self._limits: dict[str, int] = {}  # short name → bytes, as allowed when the batch was begun
        self.transactional = "transactional.id" in options
        self._topics = topics
        self._changelog = changelog
        self._deadline = deadline
        self._failed: KafkaError | None = None
        self.wanted = wanted
        self.careful = False
        self.revision = 0
        self._options = {**options, "message.max.bytes": _ANY}  # the limit is the topics' to decide, not the client's
        self.start()

    def start(self) -> None:
        """Become the owner: fence whoever wrote under this id before, and abort what was left open.

        Called again where the broker has forgotten the id, and where it has refused a record: librdkafka would miss the
        record's number in the next transaction. Without transactions what was written stands, and is repeated. Raises
        KafkaException.
        """
        self._failed = None
        # What a broker measures are batches of records, and its limits may have changed.
        smallest = min(self._allowed.sizes.get(topic, _BATCH) for topic in (*self._topics.values(), self._changelog))
        self._producer = Producer({**self._options, "batch.size": min(_BATCH, smallest)})
        # A commit fails when any record of it was not acknowledged. Without one, each has to be asked after, for a
        # third more per record.
        self._produce = self._producer.produce
        if not self.transactional:
            self._produce = partial(self._producer.produce, on_delivery=self._delivered)
            return
        deadline = time.monotonic() + self._deadline
        while self.wanted():
            try:
                self._producer.init_transactions(_FENCE_SECONDS)
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > deadline:
                    raise
            else:
                return

    def start_again(self) -> None:
        """Abort what was refused, and start; the broker lets the new producer in at once then, else after 0.5 s.

        The abort has all the time that there is: what was left of it would fence the new producer.
        """
        if self.transactional:
            with suppress(KafkaException):  # what hangs cannot be aborted
                self._producer.abort_transaction(self._deadline)
        self.start()

    def write(
        self, outputs: list[OutputRecord], changes: Mapping[bytes, bytes | None], checkpoint: Checkpoint | None = None
    ) -> None:
        """Hand a batch to librdkafka; nothing of it can be read before `commit`.

        checkpoint: where the state stands with this batch; it follows the state.
        """
        fitting = self._fit_outputs(outputs)  # a record of megabytes takes its time, which is not the transaction's
        if self.transactional:
            self._producer.begin_transaction()
        self._produce_outputs(fitting)
        if not self.transactional:
            self._flush()  # outputs are acknowledged before the state that says they exist
        produce, changelog, partition = self._produce, self._changelog, self.partition
        large = self._allowed.sizes.get(changelog, _UNKNOWN_STATE) // 2
        for key, value in changes.items():
            if value is not None and len(value) > large:
                self.careful = True
            try:
                produce(changelog, value, key, partition)
            except BufferError:
                self._drain()
                produce(changelog, value, key, partition)
        if checkpoint is not None:
            key, value, headers = checkpoint_record(checkpoint)
            produce(changelog, value, key, partition, headers=headers)

    def commit(self, offsets: list[TopicPartition], group: Any) -> None:
        """Make the batch readable, with the input positions; blocks, so call it in a thread."""
        if not self.transactional:
            self._flush()
            return
        producer = self._producer  # should this step be given up, the next one has another
        if self.careful:
            # A record that is refused while offsets are on their way may leave them hanging until the deadline.
            _flush_or_fail(producer, self._deadline)
            self.careful = False
        if offsets:
            try:
                producer.send_offsets_to_transaction(offsets, group, self._deadline)
            except KafkaException as error:
                if error.args[0].code() != KafkaError._STATE:
                    raise
                # A record was refused while this was under way; asked again, librdkafka names the reason.
                producer.send_offsets_to_transaction(offsets, group, self._deadline)
        producer.commit_transaction(self._deadline)

    def _fit_outputs(self, outputs: list[OutputRecord]) -> list[OutputRecord]:
        """Return the outputs as their topics take them."""
        allowed, self.revision = self._allowed.sizes, self._allowed.revision
        limits = self._limits = {
            name: allowed.get(topic, _UNKNOWN.get(name, _ANY)) - _OVERHEAD for name, topic in self._topics.items()
        }
        fitting = outputs
        for at, output in enumerate(outputs):
            topic, key, value, headers = output
            # What has headers is a dead letter, of which there are few.
            size = size_of(output) if headers else len(value or b"") + len(key or b"")
            if size > limits[topic] // 2:
                self.careful = True
                if size > limits[topic]:
                    fitting = outputs.copy() if fitting is outputs else fitting
                    fitting[at] = self._too_large(output)
        return fitting

    def _produce_outputs(self, outputs: list[OutputRecord]) -> None:
        produce, topics = self._produce, self._topics
        for topic, key, value, headers in outputs:
            arguments = {"headers": headers} if headers else {}
            try:
                produce(topics[topic], value, key, **arguments)
            except BufferError:
                self._drain()
                produce(topics[topic], value, key, **arguments)

    def _too_large(self, output: OutputRecord) -> OutputRecord:
        """Return what to write of an output that its topic does not take: cut, or as a dead letter without a place."""
        topic, key, value, _ = output
        if topic == EXCHANGES and value is not None:
            output = output._replace(value=fit(value, self._limits[topic] - len(key or b"")))
            if size_of(output) <= self._limits[topic]:
                return output
        if topic == DEAD_LETTERS:
            return shorten(output, self._limits[topic])
        size, limit = size_of(output), self._limits[topic]
        detail = f"expected a record of at most {limit} bytes for {self._topics[topic]}, got {size}"
        logger.error("%s; it goes to the dead letters", detail)
        letter = dead_letter(Unplaced(key, value), self._topics[topic], self.partition, Reason.OUTPUT_TOO_LARGE, detail)
        limit = self._limits[DEAD_LETTERS]
        return letter if size_of(letter) <= limit else shorten(letter, limit)

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


def _flush_or_fail(producer: Producer, deadline: float) -> None:
    """Wait until all records of a transaction are acknowledged, one is refused, or the deadline in seconds is over.

    What stands behind a refused record may be neither sent nor given up before it is too old. So librdkafka is asked in
    between to begin a transaction: it refuses, and says why where the present one has failed.
    """
    end = time.monotonic() + deadline
    while producer.flush(_GLANCE) and time.monotonic() < end:
        try:
            producer.begin_transaction()
        except KafkaException as error:
            if error.args[0].code() != KafkaError._STATE:
                raise


def group_reader(connection: Mapping[str, Any], group: str) -> Consumer:
    """Return a librdkafka consumer that names the group and never joins it: for positions and transaction metadata."""
    return Consumer({**connection, "group.id": group, "enable.auto.commit": False, "auto.offset.reset": "error"})


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
    checkpoint: Checkpoint | None = None
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
                        if message.key() == KEY:
                            checkpoint = read_checkpoint(message.headers())
                    else:
                        store[message.key()] = value
                    count += 1
                elif error.code() != KafkaError._PARTITION_EOF:
                    raise KafkaException(error)
                elif message.offset() >= end:
                    return RestoredChangelog(count, end, checkpoint)
                reached, moved = message.offset(), time.monotonic()
            # The last stable offset is behind the end while somebody's transaction is open; the broker ends it in time.
            if time.monotonic() - moved > deadline:
                msg = (
                    f"expected to read {topic}-{partition} to its end {end}, got stuck at {reached}: a transaction of "
                    "another transactional id is open there; end whoever writes it, or wait for its timeout"
                )
                raise TurnsignalError(msg)
            progress(max(0, end - count))
        return RestoredChangelog(count, end, checkpoint)
    finally:
        consumer.close()
