"""Transactions: outputs, changelog and input position of one batch are written together or not at all.

One librdkafka producer per partition number, with the transactional id `{app id}-{partition}`: initialising it fences
whoever owned the partition before, and aborts what that one left open. Positions are read back with librdkafka only
after that, so that no half-committed one is seen.

A batch takes five steps: begin, produce the outputs, produce the state (`write`), add the input positions, commit
(`commit`). Where one of them fails it is aborted (`abort`), or the process ends and the next owner's fence does that.
"""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from turnsignal.agents.worker.checkpoints import Checkpoint, checkpoint_record
from turnsignal.agents.worker.limits import RecordLimits
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.wire import OutputRecord

_BATCH = 1_000_000  #: bytes of records in one request at most: librdkafka's default
_ANY = 1_000_000_000  #: the largest that librdkafka can be told

#: Seconds that one try at fencing may take: between tries it is looked whether the take-over is still wanted.
_FENCE_SECONDS = 5.0
_GLANCE = 0.2  #: seconds between two looks at records that may be refused


class TransactionWriter:
    """Write the batches of one partition number.

    options: librdkafka's, with or without a transactional id; without one it writes at least once, outputs before
    state; topics: short name → topic; changelog: its topic; deadline: seconds that any one step may take; limits: by
    which each batch is made to fit, as the broker would refuse the whole transaction, again at every start; wanted:
    asked before each try at fencing whether it is still ours to do: an outdated fence would end the rightful owner;
    flush_before_offsets: whether a record of this batch may be refused; revision: of the limits that it was written by.
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
        self._limits = RecordLimits(None, ()) if limits is None else limits
        self.transactional = "transactional.id" in options
        self._topics = topics
        self._changelog = changelog
        self._deadline = deadline
        self._failed: KafkaError | None = None
        self.wanted = wanted
        self.flush_before_offsets = False
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
        smallest = min(self._limits.sizes.get(topic, _BATCH) for topic in (*self._topics.values(), self._changelog))
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

    def abort(self) -> None:
        """Abort what was refused, and start anew; the broker lets the new producer in at once then, else after 0.5 s.

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

        checkpoint: where the state stands with this batch; the last record of its state has it.
        """
        # A record of megabytes takes its time to be cut, which is not the transaction's.
        fitted = self._limits.fit(outputs, self._topics, self.partition)
        self.revision = fitted.revision
        self.flush_before_offsets |= fitted.large
        # 1. Begin.
        if self.transactional:
            self._producer.begin_transaction()
        # 2. Produce the outputs.
        self._produce_outputs(fitted.outputs)
        if not self.transactional:
            self._flush()  # outputs are acknowledged before the state that says they exist
        # 3. Produce the state, and where it stands.
        if checkpoint is None:
            self._produce_state(changes)
            return
        last, value, headers = checkpoint_record(checkpoint, changes)
        self._produce_state({key: change for key, change in changes.items() if key != last})
        self._produce_state({last: value}, headers=headers)

    def commit(self, offsets: list[TopicPartition], group: Any) -> None:
        """Make the batch readable, with the input positions; blocks, so call it in a thread."""
        if not self.transactional:
            self._flush()
            return
        producer = self._producer  # should this step be given up, the next one has another
        # 4. Add the input positions.
        if self.flush_before_offsets:
            # A record that is refused while offsets are on their way may leave them hanging until the deadline.
            _flush_or_fail(producer, self._deadline)
            self.flush_before_offsets = False
        if offsets:
            try:
                producer.send_offsets_to_transaction(offsets, group, self._deadline)
            except KafkaException as error:
                if error.args[0].code() != KafkaError._STATE:
                    raise
                # A record was refused while this was under way; asked again, librdkafka names the reason.
                producer.send_offsets_to_transaction(offsets, group, self._deadline)
        # 5. Commit.
        producer.commit_transaction(self._deadline)

    def _produce_outputs(self, outputs: list[OutputRecord]) -> None:
        produce, topics = self._produce, self._topics
        for topic, key, value, headers in outputs:
            arguments = {"headers": headers} if headers else {}
            try:
                produce(topics[topic], value, key, **arguments)
            except BufferError:
                self._drain()
                produce(topics[topic], value, key, **arguments)

    def _produce_state(self, changes: Mapping[bytes, bytes | None], **more: Any) -> None:
        produce, changelog, partition = self._produce, self._changelog, self.partition
        large = self._limits.large_state(changelog)
        for key, value in changes.items():
            if value is not None and len(value) > large:
                self.flush_before_offsets = True
            try:
                produce(changelog, value, key, partition, **more)
            except BufferError:
                self._drain()
                produce(changelog, value, key, partition, **more)

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
