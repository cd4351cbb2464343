"""Reading recorded turns: files of JSON lines, packed or not, in bulk, and sorted by event time in bounded memory.

Sorting needs every line before it can give the first one. What is held meanwhile is where a line lies, not the line: it
is read again when its turn comes, from its file, or from a copy on disk where it was compressed or changed.
"""

import heapq
import marshal
import os
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import accumulate
from operator import attrgetter, itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from turnsignal.agents.files.blocks import BLOCK, Progress, is_packed, open_file, read_blocks
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.formats.times import ZONELESS
from turnsignal.stream.formats.turnsignal import mend_line
from turnsignal.stream.replay import Indexer, Mend, Recorded

MAX_LINE = 32 << 20  #: bytes of a line that are kept; a turn that is taken in is far smaller
SORT_BYTES = 512 << 20  #: memory for the places of lines that are sorted

_RUN_PLACES = 20_000  #: places that one read of a run gives
_PLACE_COST = 300  #: bytes of a place in memory
_OPEN_FILES = 64  #: files that are kept open to be read again
_COPY = -1  #: number of the file that copies go to
_BOM = b"\xef\xbb\xbf"  # byte order mark of UTF-8, from editors that write one


class Block(NamedTuple):
    """Lines in their order, without their ends. starts: the byte of the unzipped file at which each begins."""

    starts: Sequence[int]
    lines: list[bytes]


class Origin(NamedTuple):
    """A file that turns were read from. before: lines of those that were read before it, as if all were one file."""

    path: Path
    before: int = 0


class TurnFile(NamedTuple):
    """A file of turns, one JSON object a line, and what it was made of.

    origins: the files that its turns were read from, none when they stand in it as they are; lines: file of the line of
    each turn there, counted through all of them; lenient: small deviations are read; whole: it has no times of its own,
    so that every conversation in it has ended.
    """

    path: Path
    origins: tuple[Origin, ...] = ()
    lines: Path | None = None
    lenient: bool = False
    whole: bool = False

    @property
    def paths(self) -> list[Path]:
        """The files that a person knows."""
        return [origin.path for origin in self.origins] or [self.path]


class Recording:
    """Files of recorded turns, then of feedback, then of verdicts, read in the order in which they are given.

    progress: told after each block how many bytes of the files it took. assumed: what was read of lines that deviate,
    by file. Raises TurnsignalError, before anything is read, when a file is not there.
    """

    def __init__(
        self,
        paths: Iterable[Path | TurnFile],
        progress: Progress = lambda _: None,
        feedback: Iterable[Path | TurnFile] = (),
        verdicts: Iterable[Path] = (),
    ) -> None:
        turns = [path if isinstance(path, TurnFile) else TurnFile(path) for path in paths]
        feedback_files = [path if isinstance(path, TurnFile) else TurnFile(path) for path in feedback]
        self.sources = [*turns, *feedback_files, *map(TurnFile, verdicts)]
        self.paths = [source.path for source in self.sources]
        self.assumed: dict[str, Counter[str]] = {}
        self.is_whole = bool(turns) and all(source.whole for source in turns)
        self._turn_files, self._before_verdicts = len(turns), len(turns) + len(feedback_files)
        self._progress = progress
        self._starts: list[int] = []
        for path in self.paths:
            if not path.is_file():
                msg = f"{path}: expected a file, one JSON object a line (.jsonl or .jsonl.gz), got none"
                raise TurnsignalError(msg)

    @property
    def size(self) -> int:
        """Bytes of all files as they lie on disk."""
        return sum(path.stat().st_size for path in self.paths)

    def index(self, indexer: Indexer) -> Iterator[Recorded]:
        """Give the lines that the indexer wants, in the order of the files."""
        for path in self._begun(indexer):
            for block in read_lines(path, self._progress):
                yield from indexer.index(block.lines)

    def in_order(self, indexer: Indexer, memory: int = SORT_BYTES) -> "Sorted":
        """Read everything, and give the lines that the indexer wants in the order of their event times."""
        with ExitStack() as on_error:
            places = on_error.enter_context(Sorted(memory))
            for path in self._begun(indexer):
                blocks = read_lines(path, self._progress)
                if is_packed(path):
                    places.add_copies((block.lines for block in blocks), indexer)
                else:
                    places.add_file(path, blocks, indexer)
            on_error.pop_all()
        return places

    def lines(self) -> Iterator[tuple[bytes, int]]:
        """Give every line as a topic takes it where it can be read so, with its number over all files."""
        indexer, mend = Indexer(0.0), self.mend
        for path in self._begun(indexer):
            for block in read_lines(path, self._progress):
                for offset, line in enumerate(block.lines, indexer.lines):
                    if line:
                        yield (mend(line, offset) or line if mend is not None else line), offset
                indexer.lines += len(block.lines)

    def _begun(self, indexer: Indexer) -> Iterator[Path]:
        """Give the files in their order, and remember with which line each begins."""
        self._starts = []
        for number, path in enumerate(self.paths):
            if number == self._turn_files:
                indexer.feedback_from = indexer.lines
            if number == self._before_verdicts:
                indexer.verdicts_from = indexer.lines
            self._starts.append(indexer.lines)
            yield path

    def where(self, offset: int) -> tuple[str, int]:
        """Say which file, and which line of it from 1, an offset stands for; once the file has been read."""
        number = bisect_right(self._starts, offset) - 1
        source, line = self.sources[number], offset - self._starts[number]
        if source.lines is None:
            return str(source.paths[0]), line + 1
        lines = array("Q")
        with source.lines.open("rb") as file:
            file.seek(line * lines.itemsize)
            lines.fromfile(file, 1)
        return origin_of(source.origins, lines[0])

    def names(self, *, turns_only: bool = False) -> list[str]:
        """Name the files that a person knows; turns_only: without those of feedback."""
        sources = self.sources[: self._turn_files] if turns_only else self.sources
        return list(dict.fromkeys(str(path) for source in sources for path in source.paths))

    @property
    def mend(self) -> Mend | None:
        """What an indexer asks for lines that deviate; None where no file is to be read leniently."""
        return self._mend if any(source.lenient for source in self.sources) else None

    def _mend(self, line: bytes, offset: int, *, zoneless: bool = False) -> bytes | None:
        number = bisect_right(self._starts, offset) - 1
        source = self.sources[number]
        if not source.lenient:
            return None
        assumed = self.assumed.setdefault(str(source.paths[0]), Counter())
        if zoneless:
            assumed[ZONELESS] += 1
            return None
        return mend_line(line, f"{source.path.name.partition('.')[0]}:{offset - self._starts[number] + 1}", assumed)


def origin_of(origins: Sequence[Origin], line: int) -> tuple[str, int]:
    """Return the file and the line in it, from 1, of a line that was counted through all files.

    >>> origin_of([Origin(Path("a")), Origin(Path("b"), 10)], 12)
    ('b', 2)
    """
    origin = origins[max(bisect_left(origins, line, key=attrgetter("before")) - 1, 0)]
    return str(origin.path), line - origin.before


def read_lines(path: Path, progress: Progress = lambda _: None) -> Iterator[Block]:
    """Give a file's lines in blocks; a longer line than MAX_LINE is cut.

    Raises TurnsignalError when compressed data is damaged or ends early.
    """
    rest, cut = b"", False  # the beginning of a line whose end was not read yet, and whether it is too long already
    start = end = 0  # where `rest` begins, and where what was read ends
    for block in read_blocks(path, progress):
        if not end and block.startswith(_BOM):
            start = end = len(_BOM)
            block = block[end:]
        begin, end = end, end + len(block)
        head, newline, tail = block.rpartition(b"\n")
        if not newline:
            if not cut:
                rest += block
            if len(rest) > MAX_LINE:
                rest, cut = rest[:MAX_LINE], True
            continue
        if cut:
            yield Block([start], [rest])
            start, rest = begin + block.index(b"\n") + 1, b""
            head = head[start - begin :]
        if start < end - len(tail):  # not when the end of that long line was the last one
            lines = (rest + head).split(b"\n")
            starts: Sequence[int] = range(start, start + len(lines))  # of lines without anything in them
            if any(lines):
                starts = list(accumulate(lines[:-1], _next_start, initial=start))
            yield Block(starts, [line.rstrip(b"\r") for line in lines] if b"\r" in block else lines)
        start, rest, cut = end - len(tail), tail, False
    if rest:
        yield Block([start], [rest.rstrip(b"\r")])


def _next_start(start: int, line: bytes) -> int:
    return start + len(line) + 1


#: Time, offset, key and timestamp of a `Recorded`; number of its file, byte at which it begins there, bytes.
_Place = tuple[float, int, bytes, int, int, int, int]
_order: Callable[[_Place], Any] = itemgetter(0, 1)


class Placed:
    """A line that stays in its file until its value is asked for, a `stream.replay.Line`."""

    __slots__ = ("_length", "_number", "_read", "_start", "key", "offset", "time", "timestamp")
    size = 0

    def __init__(self, read: Callable[[int, int, int], bytes], stored: _Place) -> None:
        self._read = read
        self.time, self.offset, self.key, self.timestamp, self._number, self._start, self._length = stored

    @property
    def value(self) -> bytes:
        """The line, read now; raises TurnsignalError when its file is no longer as it was."""
        return self._read(self._number, self._start, self._length)


class Sorted:
    """Recorded turns in the order of their event times, equal ones in the order in which they were added.

    Iterate once, after everything was added: over turns with their values, or over `placed` ones, which are good until
    the end of this context. memory: bytes of places that are held, beyond which sorted runs of them go to temporary
    files; count: lines.
    """

    def __init__(self, memory: int = SORT_BYTES) -> None:
        self.count = 0
        self._limit = memory // _PLACE_COST
        self._paths: list[Path] = []
        self._copies: IO[bytes] | None = None
        self._copied = 0
        self._runs: list[IO[bytes]] = []
        self._held: list[_Place] = []
        self._open: dict[int, IO[bytes]] = {}
        self._scratch = ExitStack()

    def __enter__(self) -> "Sorted":
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.close()
        for file in self._open.values():
            file.close()
        self._open.clear()

    def add_file(self, path: Path, blocks: Iterable[Block], indexer: Indexer) -> None:
        """Add the lines of a file that can be read again at any place."""
        number = len(self._paths)
        self._paths.append(path)
        for starts, lines in blocks:
            first = indexer.lines
            self._hold(
                (time, offset, key, timestamp, number, starts[offset - first], len(value))
                if value is lines[offset - first]
                else (time, offset, key, timestamp, _COPY, self._copy(value), len(value))  # it was mended
                for time, offset, key, value, timestamp in indexer.index(lines)
            )

    def add_copies(self, blocks: Iterable[list[bytes]], indexer: Indexer) -> None:
        """Add lines that lie nowhere as they are; those that the indexer wants are copied to disk."""
        for lines in blocks:
            self._hold(
                (time, offset, key, timestamp, _COPY, self._copy(value), len(value))
                for time, offset, key, value, timestamp in indexer.index(lines)
            )

    def __iter__(self) -> Iterator[Recorded]:
        for line in self.placed():
            yield Recorded(line.time, line.offset, line.key, line.value, line.timestamp)

    def placed(self) -> Iterator[Placed]:
        """Give the lines without reading them, for who works on them later than he takes them."""
        held, self._held = sorted(self._held, key=_order), []
        if self._copies is not None:
            self._copies.flush()
        places = heapq.merge(*map(_read_run, self._runs), held, key=_order) if self._runs else held
        return map(partial(Placed, self._read), places)

    def _hold(self, places: Iterable[_Place]) -> None:
        before = len(self._held)
        self._held.extend(places)
        self.count += len(self._held) - before
        if len(self._held) > self._limit:
            self._held.sort(key=_order)
            run = self._scratch.enter_context(_temporary())
            for at in range(0, len(self._held), _RUN_PLACES):
                marshal.dump(self._held[at : at + _RUN_PLACES], run)
            self._runs.append(run)
            self._held = []

    def _copy(self, line: bytes) -> int:
        """Copy a line, and return where the copy begins."""
        if self._copies is None:
            self._copies = self._scratch.enter_context(_temporary())
        start = self._copied
        self._copied += self._copies.write(line)
        return start

    def _read(self, number: int, start: int, length: int) -> bytes:
        """Read a line again."""
        file = self._open.get(number) or self._reopen(number)
        data = os.pread(file.fileno(), length, start)
        if len(data) != length:
            name = "the temporary copy" if number == _COPY else self._paths[number]
            msg = f"{name}: expected {length} bytes at {start} as before, got {len(data)}: did it change meanwhile?"
            raise TurnsignalError(msg)
        return data

    def _reopen(self, number: int) -> IO[bytes]:
        """Open a file; only so many are open at a time."""
        if number == _COPY and self._copies is not None:
            return self._copies
        if len(self._open) >= _OPEN_FILES:
            self._open.pop(next(iter(self._open))).close()
        file = self._open[number] = open_file(self._paths[number])
        return file


def _temporary() -> IO[bytes]:
    return TemporaryFile(prefix="turnsignal-sort-", buffering=BLOCK)


def _read_run(run: IO[bytes]) -> Iterator[_Place]:
    run.seek(0)
    while True:
        try:
            places = marshal.load(run)
        except EOFError:
            return
        yield from places
