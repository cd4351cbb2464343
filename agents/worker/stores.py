"""Stores: where a partition's state lies while a worker owns it. The changelog topic is the truth; this is its image.

`memory` keeps snapshots as bytes in a dictionary. A directory keeps them in SQLite, for state larger than memory: the
file is made anew at every take-over and filled from the changelog, so it weakens no promise. It loses its name before
the first conversation is in it: the operating system frees it when the process ends, however it ends.
"""

import contextlib
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Literal

from turnsignal.stream.errors import ConfigError, TurnsignalError

#: What earlier versions left behind at a kill -9: a copy of a partition's state. Ours are named otherwise, so that
#: clearing up never meets a file that another worker is about to open.
_LEFT_BEHIND = re.compile(r"(?:score|watch)-\d+-[a-z0-9_]{8}\.sqlite")


class DiskStore(MutableMapping[bytes, bytes]):
    """A mapping of bytes to bytes in a file without a name, so that nothing of it survives the process.

    directory: made if it is not there, takes the space; name: begins the file's, for the moment that it has one.
    """

    def __init__(self, directory: Path, name: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._directory = directory
        handle, path = tempfile.mkstemp(dir=directory, prefix=f"{name}-", suffix=".state")
        os.close(handle)
        try:
            self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=OFF")
            self._db.execute("PRAGMA synchronous=OFF")
            self._db.execute("PRAGMA temp_store=MEMORY")  # no file of SQLite's own beside it, in no other directory
            self._db.execute("PRAGMA locking_mode=EXCLUSIVE")  # nor a look for a journal under the name that is gone
            self._db.execute("CREATE TABLE state (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        finally:
            os.unlink(path)
        self._size = 0

    def __getitem__(self, key: bytes) -> bytes:
        row = self._db.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        value: bytes = row[0]
        return value

    def __setitem__(self, key: bytes, value: bytes) -> None:
        is_new = key not in self
        try:
            self._db.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (key, value))
        except sqlite3.OperationalError as error:
            msg = f"TURNSIGNAL_STORE: expected room in {self._directory} for the state, got: {error}"
            raise TurnsignalError(msg) from None
        self._size += is_new

    def __delitem__(self, key: bytes) -> None:
        if not self._db.execute("DELETE FROM state WHERE key = ?", (key,)).rowcount:
            raise KeyError(key)
        self._size -= 1

    def __contains__(self, key: object) -> bool:
        return self._db.execute("SELECT 1 FROM state WHERE key = ?", (key,)).fetchone() is not None

    def __iter__(self) -> Iterator[bytes]:
        return (key for (key,) in self._db.execute("SELECT key FROM state"))

    def __len__(self) -> int:
        return self._size

    def close(self) -> None:
        """Give the space back."""
        self._db.close()

    def items(self) -> Iterator[tuple[bytes, bytes]]:  # type: ignore[override]
        """Return all entries in one pass."""
        return iter(self._db.execute("SELECT key, value FROM state"))


def check_directory(where: Literal["memory"] | Path) -> None:
    """Make the directory of the state, and refuse one that no file can be made in.

    Raises ConfigError that names the setting.
    """
    if where == "memory":
        return
    try:
        DiskStore(Path(where), "check").close()
    except (OSError, sqlite3.Error) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        msg = f"TURNSIGNAL_STORE: expected memory, or a directory that files can be written to, got {where}: {reason}"
        raise ConfigError(msg) from None


def make_store(where: Literal["memory"] | Path, app: str, partition: int) -> MutableMapping[bytes, bytes]:
    """Make the empty store of one partition; what an earlier version left in its directory goes."""
    if where == "memory":
        return {}
    remove_left_behind(Path(where))
    return DiskStore(Path(where), f"{app}-{partition}")


def remove_left_behind(directory: Path) -> None:
    """Remove the copies of state that earlier versions left in a directory; files of any other name stay."""
    if directory.is_dir():
        for path in directory.iterdir():
            if _LEFT_BEHIND.fullmatch(path.name) and path.is_file():
                with contextlib.suppress(FileNotFoundError):  # another worker that starts was faster
                    path.unlink()
