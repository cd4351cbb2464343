"""Unreadable state: entries that read as those of no version; `agents.worker.repair` drops them where somebody says so.

They are damaged, or another program's. A worker goes no further beside one: dropped in silence, a conversation would be
scored as if it had just begun.
"""

from collections.abc import Mapping

from turnsignal.agents.app_table import find_app
from turnsignal.stream.errors import SchemaError, UnreadableStateError
from turnsignal.stream.text.visible import one_line

_SHOWN = 80  #: characters of a key


def find_unreadable(app: str, store: Mapping[bytes, bytes]) -> dict[bytes, Exception]:
    """Return the keys of an app's state whose entries no version reads, each with what is wrong.

    Raises SchemaError where a newer version wrote one: that one reads it.
    """
    check, unreadable = find_app(app).load_entry_check(), dict[bytes, Exception]()
    for key, value in store.items():
        try:
            check(key, value)
        except Exception as error:
            if isinstance(error, SchemaError) and not isinstance(error, UnreadableStateError):
                raise
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
