"""Rewriting: records that repair writes to a changelog, and how a partition of one is freed of damage.

A batch that nobody can unpack cannot be written over: what is kept is written once more behind it, and the broker is
told to delete all that stands before, which it does for topics alone that may be deleted from.
"""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    ResourceType,
)

from turnsignal.agents.kafka.topics import ADMIN_SECONDS, Topic, admin_client, log_bounds, topic_config
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.checkpoints import Checkpoint, checkpoint_record
from turnsignal.stream.errors import TurnsignalError

_AT_ONCE = 10_000  #: records on their way, of the 100,000 that a producer holds

#: Of a changelog that is freed of damage. Nothing in it expires; what is written next begins a segment, or the broker's
#: compaction would come upon the damage again, and stop there.
_WHILE_DELETING = {
    "cleanup.policy": "compact,delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "segment.ms": "10000",
}

#: partition, key, value and headers of what is written
StateRecord = tuple[int, bytes, bytes | None, list[tuple[str, bytes]] | None]


def make_producer(settings: Settings) -> Producer:
    """Make a producer for a few records outside of transactions."""
    return Producer({**settings.confluent(), "acks": "all", "log_level": 0})


def write_records(producer: Producer, changelog: str, records: Iterable[StateRecord], what: str) -> None:
    """Write records, and wait until the broker has taken each. what: they are, in words.

    Raises TurnsignalError where it does not.
    """
    refused: list[KafkaError] = []

    def collect_refusal(error: KafkaError | None, _: object) -> None:
        if error is not None:
            refused.append(error)

    for at, (number, key, value, headers) in enumerate(records, 1):
        producer.produce(changelog, value, key, number, headers=headers, on_delivery=collect_refusal)
        if at % _AT_ONCE == 0:
            producer.flush(ADMIN_SECONDS)
    if producer.flush(ADMIN_SECONDS) or refused:
        msg = f"expected {changelog} to take {what}, got: {refused[0].str() if refused else 'no answer'}"
        raise TurnsignalError(msg)


def rewrite_partition(
    settings: Settings, changelog: str, partition: int, store: Mapping[bytes, bytes], checkpoint: Checkpoint | None
) -> None:
    """Write a partition's state once more, and have the broker delete all that stood before.

    To be called while that may be done (`deletable`). Ended half-way, it can be repeated. Raises TurnsignalError where
    the broker refuses.
    """
    admin = admin_client(settings)
    try:
        _, end = log_bounds(admin, {changelog: [partition]})[changelog][partition]
        _delete_before(admin, TopicPartition(changelog, partition, 0))  # until it may be: nothing is written before
        records: list[StateRecord] = [(partition, key, value, None) for key, value in store.items()]
        records.append((partition, *checkpoint_record(checkpoint or Checkpoint())))
        write_records(make_producer(settings), changelog, records, "its state once more")
        _delete_before(admin, TopicPartition(changelog, partition, end))
    except KafkaException as error:
        msg = f"expected the broker to delete {changelog}-{partition} up to its damage, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None


@contextmanager
def deletable(settings: Settings, topic: Topic) -> Iterator[None]:
    """Let records of a compacted topic be deleted meanwhile; its settings are as before afterwards.

    What somebody left who was killed meanwhile is not taken for its own. No worker may run. Raises TurnsignalError
    where the broker refuses.
    """
    admin, name = admin_client(settings), topic.pattern.format(settings.prefix)
    try:
        own = _settings_of(admin, name)
        after = {key: _before(topic, settings, key, own) for key in _WHILE_DELETING}
        _alter(admin, name, _WHILE_DELETING)
        try:
            yield
        finally:
            _alter(admin, name, after)
    except KafkaException as error:
        msg = f"expected the broker to change the settings of {name} for a while, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None


def is_left_deletable(settings: Settings, topic: Topic) -> bool:
    """Say whether somebody who was killed meanwhile has left a topic so that its records may be deleted."""
    own = _settings_of(admin_client(settings), topic.pattern.format(settings.prefix))
    return all(own.get(key) == value for key, value in _WHILE_DELETING.items())


def _before(topic: Topic, settings: Settings, key: str, own: Mapping[str, str]) -> str | None:
    """Return what a setting is to be afterwards, None for what the broker has for all topics."""
    value = own.get(key)
    return topic_config(topic, settings).get(key) if value == _WHILE_DELETING[key] else value


def _settings_of(admin: AdminClient, topic: str) -> dict[str, str]:
    """Return the settings that a topic has of its own."""
    resource = ConfigResource(ResourceType.TOPIC, topic)
    entries = admin.describe_configs([resource], request_timeout=ADMIN_SECONDS)[resource].result(ADMIN_SECONDS)
    return {
        key: str(entry.value)
        for key, entry in entries.items()
        if entry.source == ConfigSource.DYNAMIC_TOPIC_CONFIG.value
    }


def _alter(admin: AdminClient, topic: str, wanted: Mapping[str, str | None]) -> None:
    """Set a topic's settings; None: to what the broker has for all topics."""
    entries = [
        ConfigEntry(
            name,
            value or "",
            incremental_operation=AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET,
        )
        for name, value in wanted.items()
    ]
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries)
    admin.incremental_alter_configs([resource], request_timeout=ADMIN_SECONDS)[resource].result(ADMIN_SECONDS)


def _delete_before(admin: AdminClient, place: TopicPartition) -> None:
    """Have the broker delete what stands before an offset, as soon as it knows that it may."""
    deadline = time.monotonic() + ADMIN_SECONDS
    while True:
        answer: Any = admin.delete_records([place], request_timeout=ADMIN_SECONDS)[place]
        try:
            answer.result(ADMIN_SECONDS)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.POLICY_VIOLATION or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return
