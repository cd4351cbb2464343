"""The journal of a run that sends files: how many records are done, so that the next run of the same goes on there.

Records are sent at least once: what was on its way when a run ended is sent again, and workers know it by its turn_id.
"""

import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from turnsignal.agents.files.reading import TurnFile
from turnsignal.agents.files.standard_input import DASH, is_read_once
from turnsignal.agents.files.writing import write_file
from turnsignal.stream.errors import ConfigError

EVERY = 5_000  #: records that are done between two notes,
SECONDS = 5.0  #: or seconds, for a run that sends little


class Journal:
    """Notes in a file which records of a run are done, counted in the order in which it takes them.

    clock: monotonic seconds; skip: so many were done by runs before; is_done: all of them. What another run that is
    done has noted is replaced.
    Raises ConfigError when the file is of another run, or files cannot be taken up again, TurnsignalError when it
    cannot be written.
    """

    def __init__(
        self, path: Path, files: Sequence[TurnFile], *how: object, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.path = path
        self._clock, self._noted_at = clock, clock()
        self._run = name_run(files, how)
        self._open: dict[int, int] = {}  # line → its place in the order, of records on their way
        self.is_done = False
        self.skip = self._begun = self._noted = self._read()

    def begin(self, line: int) -> None:
        """Take a record that is on its way."""
        self._open[line] = self._begun
        self._begun += 1

    def finish(self, line: int) -> None:
        """Take that a record arrived, or was set aside."""
        self._open.pop(line, None)
        new = self.done - self._noted
        if new >= EVERY or (new and self._clock() - self._noted_at >= SECONDS):
            self.note()

    @property
    def done(self) -> int:
        """Records from the first on of which none is on its way any more."""
        return next(iter(self._open.values()), self._begun)

    def note(self) -> None:
        """Write down how many are done."""
        self._noted, self._noted_at = self.done, self._clock()
        noted = {"run": self._run, "done": self._noted} | ({"all": True} if self.is_done else {})
        write_file(self.path, orjson.dumps(noted) + b"\n")

    def finish_run(self) -> None:
        """Write down that everything is done: who repeats the command sends nothing twice."""
        self.is_done = True
        self.note()

    def _read(self) -> int:
        try:
            noted: Any = orjson.loads(self.path.read_bytes())
        except FileNotFoundError:
            return 0
        except (OSError, orjson.JSONDecodeError):
            noted = None
        if not isinstance(noted, dict) or type(noted.get("done")) is not int:
            msg = f"{self.path}: expected what an earlier run noted, got something else; name one that is not there yet"
            raise ConfigError(msg)
        is_done = noted.get("all") is True
        if noted.get("run") != self._run and is_done:
            return 0
        if noted.get("run") != self._run:
            msg = (
                f"{self.path}: expected notes of the same files, topic and order, got those of another run, or the "
                "files have changed since; delete it to begin anew"
            )
            raise ConfigError(msg)
        self.is_done = is_done
        return max(0, int(noted["done"]))


def name_run(files: Sequence[TurnFile], how: Sequence[object]) -> str:
    """Name what is sent, and how: the same for the same files as long as nobody writes to them."""
    parts: list[object] = list(map(str, how))
    for path in (path for file in files for path in file.paths):
        if path == DASH or is_read_once(path):
            what = "standard input" if path == DASH else f"{path}, a pipe"
            msg = f"--resume: expected files, got {what}, which cannot be read again"
            raise ConfigError(msg)
        stat = path.stat()
        parts += [str(path.resolve()), stat.st_size, stat.st_mtime_ns]
    return blake2b(orjson.dumps(parts), digest_size=16).hexdigest()
