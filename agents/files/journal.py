"""The journal of a run that sends files: how many records are done, so that the next run of the same goes on there.

Notes come now and then, so that a run that is killed has sent more than it noted. Each record carries the run's tag and
its own number in a header, and the journal says from which offset on records that it does not count are to be looked
for on their topics: the next run reads them there (`tails`).
"""

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated

import msgspec
import orjson

from turnsignal.agents.files.reading import TurnFile
from turnsignal.agents.files.standard_input import DASH, is_read_once
from turnsignal.agents.files.writing import write_file
from turnsignal.stream.errors import ConfigError

if TYPE_CHECKING:  # a replay names its runs, too, and needs no Kafka
    from turnsignal.agents.kafka.sending import Arrival

EVERY = 5_000  #: records that are done between two notes,
SECONDS = 5.0  #: or seconds, for a run that sends little
HEADER = "turnsignal-produce"  #: of a record: tag of its run, a colon, and its number from 0 in the run's order

_TAG_BYTES = 6


class NotedLog(msgspec.Struct):
    """A topic of a run. id: tells it from others of its name; offsets: by partition, where what is not done may begin.

    A partition that is not there came later: all of it is to be read.
    """

    id: str
    offsets: dict[int, Annotated[int, msgspec.Meta(ge=0)]]


class _JournalNote(msgspec.Struct, omit_defaults=True):
    """What stands in the file; without topics it is of a release that noted only how many records were done."""

    run: str
    done: Annotated[int, msgspec.Meta(ge=0)]
    all: bool = False
    tag: str = ""
    topics: dict[str, NotedLog] = {}


class Journal:
    """Notes in a file which records of a run are done, counted in the order in which it takes them.

    how: what is sent where; read: how files are read, which notes of earlier releases do not tell; clock: monotonic
    seconds; skip: so many were done by runs before; is_done: all of them; topics: where what they sent beyond that is
    to be looked for, by its tag. What another run that is done has noted is replaced.
    Raises ConfigError when the file is of another run, or files cannot be taken up again, TurnsignalError when it
    cannot be written.
    """

    def __init__(
        self,
        path: Path,
        files: Sequence[TurnFile],
        *how: object,
        read: Sequence[object] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self._clock, self._noted_at = clock, clock()
        self._run = name_run(files, (*how, *read))
        self._open: dict[int, int] = {}  # line → its place in the order, of records on their way
        note = self._read(name_run(files, how))
        self.is_done, self.tag, self.topics = note.all, note.tag or token_hex(_TAG_BYTES), note.topics
        self.skip = self._begun = self._noted = note.done
        self._reached: dict[str, dict[int, int]] = {}  # offsets behind what the broker has acknowledged
        self._reached_from = 0
        self._snapshots: deque[tuple[int, dict[str, dict[int, int]]]] = deque()  # with the records begun by then

    def start(self, begins: Mapping[str, NotedLog], ends: Mapping[str, Mapping[int, int]], known: int) -> None:
        """Write the first note, before anything is sent.

        begins: by topic, from where on what is not done is to be looked for; ends: where each ends now; known: records
        from this number on are on none of them.
        """
        self.topics = dict(begins)
        self._reached = {topic: dict(offsets) for topic, offsets in ends.items()}
        self._reached_from = known
        self.note()

    def header_of(self, number: int) -> list[tuple[str, bytes]]:
        """Return by what a record is known on its topic."""
        return [(HEADER, f"{self.tag}:{number}".encode())]

    def begin(self, line: int) -> None:
        """Take a record that is on its way."""
        self._open[line] = self._begun
        self._begun += 1

    def finish(self, line: int, at: "Arrival | None" = None) -> None:
        """Take that a record arrived there, or, at None, was set aside or is known to have arrived before."""
        self._open.pop(line, None)
        if at is not None and at.offset >= 0:  # -1: acknowledged as one that it had already
            reached = self._reached.setdefault(at.topic, {})
            reached[at.partition] = max(reached.get(at.partition, 0), at.offset + 1)
        new = self.done - self._noted
        if new >= EVERY or (new and self._clock() - self._noted_at >= SECONDS):
            self.note()

    @property
    def done(self) -> int:
        """Records from the first on of which none is on its way any more."""
        return next(iter(self._open.values()), self._begun)

    def note(self) -> None:
        """Write down how many are done, and where all others lie that were sent."""
        self._noted, self._noted_at = self.done, self._clock()
        if self._begun >= self._reached_from:
            # What begins from now on comes to lie behind what has arrived; what is on its way may lie before it.
            self._snapshots.append((self._begun, {topic: dict(offsets) for topic, offsets in self._reached.items()}))
        while self._snapshots and self._snapshots[0][0] <= self._noted:
            for topic, offsets in self._snapshots.popleft()[1].items():
                self.topics[topic].offsets = offsets
        note = _JournalNote(self._run, self._noted, self.is_done, self.tag, self.topics)
        write_file(self.path, msgspec.json.encode(note) + b"\n")

    def finish_run(self) -> None:
        """Write down that everything is done: who repeats the command sends nothing twice."""
        self.is_done = True
        self.note()

    def _read(self, run_before: str) -> _JournalNote:
        """Read the note. run_before: what earlier releases called this run."""
        try:
            note = msgspec.json.decode(self.path.read_bytes(), type=_JournalNote)
        except FileNotFoundError:
            return _JournalNote(self._run, 0)
        except (OSError, msgspec.MsgspecError):
            msg = f"{self.path}: expected what an earlier run noted, got something else; name one that is not there yet"
            raise ConfigError(msg) from None
        if note.run == (self._run if note.topics else run_before):
            return note
        if note.all:
            return _JournalNote(self._run, 0)
        msg = (
            f"{self.path}: expected notes of the same files, topic and order, read in the same way (--format, "
            "--mapping, --strict, --hash-users, --feedback), got those of another run, or the files have changed "
            "since; delete it to begin anew"
        )
        raise ConfigError(msg)


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
