"""Checkpoints of a replay: how far each process has come, so that the next run of the same goes on there.

They lie beside what the partitions wrote, in a directory of their own in the output's. Each is signed with a key of
this user's, because unpickling runs what is in it: a directory of results that somebody sent is never unpickled.
"""

import fcntl
import hmac
import os
import pickle
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import orjson

from turnsignal.agents.files.journal import name_run
from turnsignal.agents.files.reading import TurnFile
from turnsignal.agents.files.writing import write_file
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.replay import PackedReplay, Run

DIRECTORY = ".unfinished"  #: in the directory of the results
RUN = "run.json"  #: there: which replay the parts are of
LOCK = ".lock"  #: there: which process works with them
EVERY = 50_000  #: lines of one process between two checkpoints

_CODE = Path(__file__).parents[2]  # the package
_SIGNATURE = sha256().digest_size


class ReplayCheckpoint(NamedTuple):
    """How far one process has come.

    taken: lines of its partitions; files: (partition, name) → bytes; done: nothing is left.
    """

    taken: int
    packed: PackedReplay
    files: dict[tuple[int, str], int]
    done: bool = False


class ReplayCheckpoints:
    """The checkpoints of one replay, in a directory. every: lines of one process between two of them."""

    def __init__(self, directory: Path, every: int = EVERY) -> None:
        self.directory = directory
        self.every = every

    def read(self, number: int) -> ReplayCheckpoint | None:
        """Return how far a process has come, None where it has not begun.

        Raises ConfigError for a stranger's file.
        """
        try:
            content = self._path(number).read_bytes()
        except FileNotFoundError:
            return None
        packed = content[_SIGNATURE:]
        if not hmac.compare_digest(content[:_SIGNATURE], _sign(packed)):
            msg = f"{self._path(number)}: expected a checkpoint of this user's; delete {self.directory} to begin anew"
            raise ConfigError(msg)
        checkpoint = pickle.loads(packed)
        assert isinstance(checkpoint, ReplayCheckpoint), "we wrote it"
        return checkpoint

    def write(self, number: int, checkpoint: ReplayCheckpoint) -> None:
        """Write how far a process has come; the files it names must be flushed."""
        packed = pickle.dumps(checkpoint, pickle.HIGHEST_PROTOCOL)
        write_file(self._path(number), _sign(packed) + packed)

    def finish(self, number: int, runs: dict[int, Run], files: dict[tuple[int, str], int]) -> None:
        """Write that nothing is left to do for a process."""
        self.write(number, ReplayCheckpoint(0, PackedReplay(runs, {}, [], []), files, done=True))

    def _path(self, number: int) -> Path:
        return self.directory / f"{number:02d}.checkpoint"


@contextmanager
def kept_parts(out: Path, files: Sequence[TurnFile], now: float, *how: object) -> Iterator[tuple[str, float]]:
    """Give the directory in which parts of a replay outlive an interruption, and the present of its first run.

    how: what else makes it the same replay, beside the code that it runs through. The directory is gone once all went
    well. Raises ConfigError when it holds the parts of another replay.
    """
    directory = out / DIRECTORY
    run = name_run(files, (*how, _digest_code()))
    directory.mkdir(exist_ok=True)
    with ExitStack() as alone:
        try:
            alone.enter_context(locked(directory))
        except BlockingIOError:
            msg = f"{directory}: expected that nobody works there, got another replay that does; wait for its end"
            raise ConfigError(msg) from None
        noted = directory / RUN
        if not noted.is_file():
            write_file(noted, orjson.dumps({"run": run, "now": now}))
        yield str(directory), _first_now(noted.read_bytes(), run, directory)
        shutil.rmtree(directory)


def _digest_code() -> str:
    """Name the code: what other code counted has other fields, and other figures that do not add up.

    The version of the package would not do: whoever works from a clone changes the code more often.
    """
    files = sorted(path for path in _CODE.rglob("*") if path.suffix in {".py", ".toml"} and path.is_file())
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _first_now(content: bytes, run: str, directory: Path) -> float:
    """Return the present of the first run of a replay."""
    try:
        noted: Any = orjson.loads(content)
        if noted["run"] == run:
            return float(noted["now"])
    except (orjson.JSONDecodeError, LookupError, TypeError, ValueError):
        pass
    msg = (
        f"{directory}: expected the parts of the same replay (files and how they are read, suite, options, processes, "
        "this very code), got those of another, or the files have changed since; delete it to begin anew"
    )
    raise ConfigError(msg)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Keep other processes from taking a directory for one that was left behind; raises OSError where one has it.

    A file in it is locked: a directory cannot be on NFS, where a lock needs what can be written to.
    """
    number = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(number)


def _sign(packed: bytes) -> bytes:
    return hmac.digest(_own_key(), packed, sha256)


def _own_key() -> bytes:
    """Return this user's key, which is made when it is needed first."""
    state = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "turnsignal"
    path = state / "checkpoint.key"
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.is_file():
        with NamedTemporaryFile(dir=state) as made:  # only its owner may read it
            made.write(os.urandom(32))
            made.flush()
            with suppress(FileExistsError):  # another process was faster
                os.link(made.name, path)
    return path.read_bytes()
