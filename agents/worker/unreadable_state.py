"""Unreadable state: entries that this version does not read; `agents.worker.repair` drops them where somebody says so.

Some read as those of no version: they are damaged, or another program's. Others say that a newer version wrote them,
which it did, or the byte that says so is damaged. Batches that nobody can unpack hold nobody knows what. A worker goes
no further beside any: dropped in silence, a conversation would be scored as if it had just begun.
"""

from collections.abc import Mapping
from typing import NamedTuple

from turnsignal.agents.app_table import find_app
from turnsignal.stream.errors import SchemaError, UnreadableStateError
from turnsignal.stream.text.counts import count_of
from turnsignal.stream.text.visible import one_line

_SHOWN = 80  #: characters of a key


class UnreadableEntries(NamedTuple):
    """Keys of an app's state whose entries are not read, each with what is wrong.

    damaged: no version reads them; newer: a newer version wrote them.
    """

    damaged: Mapping[bytes, Exception]
    newer: Mapping[bytes, Exception]

    def __bool__(self) -> bool:
        return bool(self.damaged or self.newer)


def find_unreadable(app: str, store: Mapping[bytes, bytes]) -> UnreadableEntries:
    """Read every entry of an app's state, and return those that cannot be read."""
    check, damaged, newer = find_app(app).load_entry_check(), dict[bytes, Exception](), dict[bytes, Exception]()
    for key, value in store.items():
        try:
            check(key, value)
        except Exception as error:
            is_newer = isinstance(error, SchemaError) and not isinstance(error, UnreadableStateError)
            (newer if is_newer else damaged)[key] = error
    return UnreadableEntries(damaged, newer)


def locate_unreadable(
    app: str, changelog: str, partition: int, store: Mapping[bytes, bytes], error: Exception
) -> Exception:
    """Return the error to raise where a state could not be taken up, or one entry of it not be read.

    It names the entry, and what may be done about it; it is the same one where every entry reads as one.
    """
    key = error.key if isinstance(error, SchemaError) else None
    unreadable = find_unreadable(app, store if key is None or key not in store else {key: store[key]})
    return SchemaError(describe_unreadable_entries(app, changelog, partition, unreadable)) if unreadable else error


def describe_unreadable_entries(app: str, changelog: str, partition: int, unreadable: UnreadableEntries) -> str:
    """Say where the first of such entries stands, and what drops all of its kind; damaged ones come first."""
    entries = unreadable.damaged or unreadable.newer
    key, error = next(iter(entries.items()))
    more = f" (and {len(entries) - 1:,} more)" if len(entries) > 1 else ""
    entry = f"{changelog}-{partition}, key {show_key(key)}{more}: {error}"
    stop = f"stop all {app} workers, then `turnsignal topics repair {app}"
    if not unreadable.damaged:
        return (
            f"{entry}; where none of a newer release has ever run, it is damaged: {stop} --drop-newer` drops it, and"
            " what it knew with it"
        )
    beside = f"; {count_of(len(unreadable.newer), 'key')} of a newer version beside it" if unreadable.newer else ""
    return (
        f"{entry}; it is damaged, or another program's: {stop} --drop-unreadable` drops it, and what it knew with"
        f" it{beside}"
    )


def describe_damage(app: str, damage: Exception) -> str:
    """Say what may be done about a batch of the state that nobody can unpack. damage: where it stands, and how."""
    return (
        f"{damage}; nobody can unpack it: stop all {app} workers, then `turnsignal topics repair {app}"
        " --drop-unreadable` drops it, and what it knew with it"
    )


def show_key(key: bytes) -> str:
    """Write a key for a line."""
    return repr(one_line(key.decode("utf-8", "replace"), _SHOWN))
