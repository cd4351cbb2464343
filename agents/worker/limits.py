"""Limits: how many bytes a record of each topic may have, as the broker says it now, and what is made to fit.

They are an operator's, who may change them under a worker: what was written by the old ones may be refused. A topic
that takes less than any record of ours may need is a wrong setting, and no reason to set records aside.
"""

import logging
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import ConfigResource, ResourceType

from turnsignal.agents.kafka.refusals import ConfigChangedError
from turnsignal.agents.kafka.topics import admin_client
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError, Reason
from turnsignal.stream.judging.exchanges import fit
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.records.dead_letters import dead_letter, shorten
from turnsignal.stream.records.wire import DEAD_LETTERS, EXCHANGES, OutputRecord, Unplaced, size_of

logger = logging.getLogger("turnsignal.limits")

LEAST = 65_536  #: bytes that each topic has to take in a record: rows, letters and checkpoints may need so much
_OVERHEAD = 200  #: bytes that a record costs beside its key and value, its batch's own included
_ANY = 1_000_000_000  #: bytes of a record where nothing is known of its topic
_UNKNOWN = {EXCHANGES: 1_048_588}  #: bytes of what can be cut, where nothing is known of its topic: a broker's default
_UNKNOWN_STATE = 500_000  #: bytes of a state that is not sure to be taken where nothing is known of its topic, twice


class FittedOutputs(NamedTuple):
    """Outputs as their topics take them; large: whether one may be refused all the same; revision: of the limits."""

    outputs: list[OutputRecord]
    large: bool
    revision: int


class RecordLimits:
    """The limits of an app's topics, asked for again and again.

    settings: of the broker, None where nobody is asked; topics: those that are asked about; written: those of them that
    have to take `LEAST`; sizes: topic → bytes, a topic of which nothing is known is left out; revision: counts changes.
    """

    def __init__(self, settings: Settings | None, topics: Iterable[str], written: Collection[str] = ()) -> None:
        self.sizes: dict[str, int] = {}
        self.revision = 0
        self._settings = settings
        self._topics = list(dict.fromkeys(topics))
        self._written = written

    def learn(self) -> None:
        """Ask the broker; blocks.

        Raises ConfigChangedError where one that is written takes too little by now; what was learned before holds on.
        """
        sizes = {} if self._settings is None else record_limits(self._settings, self._topics)
        try:
            check_sizes({topic: size for topic, size in sizes.items() if topic in self._written})
        except ConfigError as error:
            raise ConfigChangedError(str(error)) from None
        if any(self.sizes.get(topic) != size for topic, size in sizes.items()):
            self.sizes |= sizes
            self.revision += 1

    def expect_same(self, revision: int) -> None:
        """Ask the broker, and give up what was written by other limits than now; blocks.

        Raises KafkaException, as the broker would, and as `learn` does.
        """
        self.learn()
        if revision != self.revision:
            msg = "the limits of its topics are others than those that it was written by"
            raise KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE, msg))

    def fit(self, outputs: list[OutputRecord], topics: Mapping[str, str], partition: int) -> FittedOutputs:
        """Return the outputs of a partition as their topics take them; a topic of which nothing is known takes any.

        An exchange is cut until it fits; anything else that is too large becomes a dead letter.

        topics: short name → topic.
        """
        sizes, revision = self.sizes, self.revision
        limits = {name: sizes.get(topic, _UNKNOWN.get(name, _ANY)) - _OVERHEAD for name, topic in topics.items()}
        fitting, large = outputs, False
        for at, output in enumerate(outputs):
            topic, key, value, headers = output
            # What has headers is a dead letter, of which there are few.
            size = size_of(output) if headers else len(value or b"") + len(key or b"")
            if size > limits[topic] // 2:
                large = True
                if size > limits[topic]:
                    fitting = outputs.copy() if fitting is outputs else fitting
                    fitting[at] = _shrink(output, limits, topics[topic], partition)
        return FittedOutputs(fitting, large, revision)

    def large_state(self, changelog: str) -> int:
        """Return the bytes from which a state may be refused: before it is compressed, half of what is allowed."""
        return self.sizes.get(changelog, _UNKNOWN_STATE) // 2

    def drop_too_large(self, batch: BatchResult, changelog: str) -> None:
        """Drop from a refused batch the conversations whose state its changelog does not take."""
        limit = self.sizes.get(changelog)
        for key, value in batch.changes.items():
            if limit is not None and value is not None and len(value) > limit:
                shown = key[:100].decode(errors="replace")
                logger.error(
                    "the state of %r is forgotten: expected at most %d bytes, got %d; raise max.message.bytes of %s",
                    shown,
                    limit,
                    len(value),
                    changelog,
                )
                batch.changes[key] = None


def _shrink(output: OutputRecord, limits: Mapping[str, int], topic: str, partition: int) -> OutputRecord:
    """Return what to write of an output that its topic does not take: cut, or as a dead letter without a place."""
    name, key, value, _ = output
    limit = limits[name]
    if name == EXCHANGES and value is not None:
        output = output._replace(value=fit(value, limit - len(key or b"")))
        if size_of(output) <= limit:
            return output
    if name == DEAD_LETTERS:
        return shorten(output, limit)
    detail = f"expected a record of at most {limit} bytes for {topic}, got {size_of(output)}"
    logger.error("%s; it goes to the dead letters", detail)
    letter = dead_letter(Unplaced(key, value), topic, partition, Reason.OUTPUT_TOO_LARGE, detail)
    limit = limits[DEAD_LETTERS]
    return letter if size_of(letter) <= limit else shorten(letter, limit)


def check_sizes(sizes: Mapping[str, int]) -> None:
    """Refuse topics that take too little; sizes: topic → bytes of a record. Raises ConfigError."""
    for topic, size in sizes.items():
        if size < LEAST:
            msg = (
                f"expected a max.message.bytes of {topic} of at least {LEAST}, got {size}: what is written there may be"
                " larger, and would be lost; raise it"
            )
            raise ConfigError(msg)


def record_limits(settings: Settings, topics: Iterable[str]) -> dict[str, int]:
    """Ask how many bytes a record of each topic may have; a topic of which nothing is known is left out.

    Not everybody who may write may ask, and the mock cluster has no answer.
    """
    limits: dict[str, int] = {}
    resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
    admin = admin_client(settings)  # by name: once it is gone, its answers fail
    for resource, answer in admin.describe_configs(resources, request_timeout=10).items():
        try:
            limits[resource.name] = int(answer.result(15)["max.message.bytes"].value)
        except (KafkaException, KeyError, ValueError, TimeoutError):
            continue
    return limits
