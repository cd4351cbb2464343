"""Tables: where a partition's state lies while a worker owns it. The changelog topic is the truth; this is its image.

`memory` keeps snapshots as bytes in a dictionary. A directory keeps them in SQLite, for state larger than memory: the
file is made anew at every take-over and filled from the changelog, so it weakens no promise and nothing of it survives
the worker.
"""

import sqlite3
import tempfile
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Literal


class DiskStore(MutableMapping[bytes, bytes]):
    """A mapping of bytes to bytes in an SQLite file that goes when the process does.

    directory: made if it is not there; name: begins the file's name.
    """

    def __init__(self, directory: Path, name: str) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._file = tempfile.NamedTemporaryFile(dir=directory, prefix=f"{name}-", suffix=".sqlite")  # noqa: SIM115
        self._db = sqlite3.connect(self._file.name, check_same_thread=False, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=OFF")
        self._db.execute("PRAGMA synchronous=OFF")
        self._db.execute("CREATE TABLE state (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")
        self._size = 0

    def __getitem__(self, key: bytes) -> bytes:
        row = self._db.execute("SELECT value FROM state WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise KeyError(key)
        value: bytes = row[0]
        return value

    def __setitem__(self, key: bytes, value: bytes) -> None:
        if key not in self:
            self._size += 1
        self._db.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (key, value))

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

    def items(self) -> Iterator[tuple[bytes, bytes]]:  # type: ignore[override]
        """Return all entries in one pass."""
        return iter(self._db.execute("SELECT key, value FROM state"))


def make_store(where: Literal["memory"] | Path, app: str, partition: int) -> MutableMapping[bytes, bytes]:
    """Make the empty store of one partition."""
    return {} if where == "memory" else DiskStore(Path(where), f"{app}-{partition}")
