"""Unreadable state: entries that read as those of no version, found by name, and dropped where an operator says so.

They are damaged, or another program's. A worker goes no further beside one: dropped in silence, a conversation would be
scored as if it had just begun.
"""

from collections.abc import Mapping
from typing import NamedTuple

from confluent_kafka import KafkaError, Producer

from turnsignal.agents.app_table import find_app
from turnsignal.agents.kafka.topics import ADMIN_SECONDS
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.restore import restore_changelog
from turnsignal.stream.errors import SchemaError, TurnsignalError, UnreadableStateError
from turnsignal.stream.text.visible import one_line

_AT_ONCE = 10_000  #: tombstones on their way, of the 100,000 that a producer holds
_SHOWN = 80  #: characters of a key


class DroppedEntry(NamedTuple):
    """An entry that was dropped: the partition and key where it stood, and what was wrong with it."""

    partition: int
    key: bytes
    wrong: Exception


def find_unreadable(app: str, store: Mapping[bytes, bytes]) -> dict[bytes, Exception]:
    """Return the keys of an app's state whose entries no version reads, each with what is wrong.

    Raises SchemaError where a newer version wrote one: that one reads it.
    """
    check, unreadable = find_app(app).load_entry_check(), dict[bytes, Exception]()
    for key, value in store.items():
        try:
            check(key, value)
        except UnreadableStateError as error:
            unreadable[key] = error
        except SchemaError:
            raise
        except Exception as error:
            unreadable[key] = error
    return unreadable


def describe_unreadable_entries(app: str, changelog: str, partition: int, unreadable: Mapping[bytes, Exception]) -> str:
    """Say where the first of such entries stands, and what drops all of them."""
    key, error = next(iter(unreadable.items()))
    more = f" (and {len(unreadable) - 1:,} more)" if len(unreadable) > 1 else ""
    return (
        f"{changelog}-{partition}, key {show_key(key)}{more}: {error}; it is damaged, or another program's: stop all "
        f"{app} workers, then `turnsignal topics repair {app} --drop-unreadable` drops it, and what it knew with it"
    )


def show_key(key: bytes) -> str:
    """Write a key for a line."""
    return repr(one_line(key.decode("utf-8", "replace"), _SHOWN))


def drop_unreadable(settings: Settings, app: str, changelog: str, partitions: int) -> list[DroppedEntry]:
    """Write tombstones over such entries, while no worker runs; returns what was dropped.

    Raises SchemaError where a newer version wrote one, and TurnsignalError where the broker does not take a tombstone.
    """
    dropped: list[DroppedEntry] = []
    for number in range(partitions):
        store: dict[bytes, bytes] = {}
        restore_changelog(settings.confluent(), changelog, number, store)
        dropped += [DroppedEntry(number, key, error) for key, error in find_unreadable(app, store).items()]
    producer = Producer({**settings.confluent(), "acks": "all", "log_level": 0})
    refused: list[KafkaError] = []

    def collect_refusal(error: KafkaError | None, _: object) -> None:
        if error is not None:
            refused.append(error)

    for at, entry in enumerate(dropped, 1):
        producer.produce(changelog, None, entry.key, entry.partition, on_delivery=collect_refusal)
        if at % _AT_ONCE == 0:
            producer.flush(ADMIN_SECONDS)
    if producer.flush(ADMIN_SECONDS) or refused:
        msg = f"expected {changelog} to take tombstones, got: {refused[0].str() if refused else 'no answer'}"
        raise TurnsignalError(msg)
    return dropped
