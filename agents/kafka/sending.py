"""Sending: records to a topic, each counted when the broker has acknowledged it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import ConfigResource, ResourceType

from turnsignal.agents.kafka.topics import MOCK_CLUSTER, absent_topic, admin_client, topic_metadata
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import Reason, TurnsignalError
from turnsignal.stream.replay import Recorded

FLUSH_SECONDS = 60.0
BROKER_SECONDS = 15.0  #: for the broker to answer at all
UNKNOWN_LIMIT = 1_048_588  #: bytes of a record that a broker takes where it does not say (Kafka's own default)

BY_KEY = -1  #: librdkafka's name for a partition that its partitioner chooses

_OVERHEAD = 512  #: bytes that a record takes beside its key and value
_ABSENT = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)


class Arrival(NamedTuple):
    """Where a record lies by the broker's word; offset: -1 where it did not say."""

    topic: str
    partition: int
    offset: int


class Sender:
    """A producer that keeps account of what was acknowledged, and of what the broker refused.

    on_refused: takes a record that is too large for the topic, the reason and a sentence; on_sent: takes the offset of
    a record that is through, and where it arrived, None of one that was refused.
    """

    def __init__(
        self,
        settings: Settings,
        topic: str,
        on_refused: Callable[[Recorded, str, str], None] | None = None,
        on_sent: Callable[[int, Arrival | None], None] = lambda *_: None,
    ) -> None:
        self.sent = 0
        self.topic = topic
        self.limit = record_limit(settings, topic)
        options = {**settings.producer(), "delivery.report.only.error": False, "linger.ms": 20, "log_level": 0}
        # The limit is the topic's to decide, not the client's default.
        self._producer = Producer({**options, "message.max.bytes": min(max(self.limit, 1000), 1_000_000_000)})
        self._on_refused = on_refused
        self._on_sent = on_sent
        self._failed: str | None = None

    def send(
        self,
        record: Recorded,
        key: bytes | None,
        value: bytes | None,
        partition: int = BY_KEY,
        headers: Sequence[tuple[str, bytes]] = (),
    ) -> None:
        """Hand a record to the producer; waits while its queue is full.

        partition: where it goes, by its key's hash when nothing is said. Raises TurnsignalError when the broker has
        refused an earlier record for another reason than its size.
        """
        if self._failed is not None:
            raise TurnsignalError(self._failed)
        if len(key or b"") + len(value or b"") + _OVERHEAD > self.limit:
            self._refuse(record, _too_large(len(value or b""), self.limit))
            return
        while True:
            try:
                self._producer.produce(
                    *(self.topic, value, key, partition),
                    on_delivery=lambda error, message: self._delivered(record, error, message),
                    headers=[*headers],
                )
                break
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                self._delivered(record, error.args[0], None)
                return
        self._producer.poll(0)

    def flush(self) -> None:
        """Wait until everything is acknowledged; raises TurnsignalError when the broker does not do so in time."""
        left = self._producer.flush(FLUSH_SECONDS)
        if self._failed is not None or left:
            msg = (
                self._failed or f"{left} records were not acknowledged within {FLUSH_SECONDS:.0f} s; is the broker up?"
            )
            raise TurnsignalError(msg)

    def _delivered(self, record: Recorded, error: KafkaError | None, message: Any) -> None:
        if error is None:
            self.sent += 1
            self._on_sent(record.offset, Arrival(self.topic, message.partition(), message.offset()))
        elif error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
            self._refuse(record, _too_large(len(record.value), self.limit))
        elif self._failed is None:
            hint = "; try `turnsignal topics create`" if error.code() in _ABSENT else ""
            self._failed = f"expected the broker to take a record for {self.topic}, got: {error.str()}{hint}"

    def _refuse(self, record: Recorded, detail: str) -> None:
        self._on_sent(record.offset, None)
        if self._on_refused is not None:
            self._on_refused(record, Reason.TOO_LARGE, detail)

    def wait(self, seconds: float) -> None:
        """Take what is acknowledged within so many seconds, whatever comes of the rest."""
        self._producer.flush(seconds)


def record_limit(settings: Settings, topic: str) -> int:
    """Ask how many bytes a record of the topic may have; where the broker does not say, Kafka's default.

    Raises TurnsignalError when the broker does not answer, or has no such topic.
    """
    admin = admin_client(settings)
    metadata = topic_metadata(admin, BROKER_SECONDS)
    if metadata.cluster_id.startswith(MOCK_CLUSTER):
        return UNKNOWN_LIMIT
    if topic not in metadata.topics:
        raise absent_topic(settings, topic)
    resource = ConfigResource(ResourceType.TOPIC, topic)
    try:
        config: dict[str, Any] = admin.describe_configs([resource], request_timeout=10)[resource].result(15)
        return int(config["max.message.bytes"].value)
    except (KafkaException, KeyError, ValueError):
        return UNKNOWN_LIMIT  # not everybody who may write may ask


def _too_large(size: int, limit: int) -> str:
    return f"expected a record of at most {limit} bytes, which the topic takes; got {size}"
