"""Reading recorded turns: files of JSON lines, plain or gzip, in bulk, and sorted by event time in bounded memory.

Sorting needs every line before it can give the first one. What does not fit in memory is written out as sorted runs and
merged; the lines themselves are never decoded here.
"""

import heapq
import marshal
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from stream.errors import TurnsignalError
from stream.replay import Indexer, Recorded

BLOCK = 1 << 20  #: bytes that are read at a time
MAX_LINE = 32 << 20  #: bytes of a line that are kept; a turn that is taken in is far smaller
SORT_BYTES = 512 << 20  #: of lines that are sorted in memory

_RUN_LINES = 2_000  #: lines that one read of a run gives
_LINE_COST = 250  #: bytes that a line costs in memory beside its own

Progress = Callable[[int], None]


class Recording:
    """Files of recorded turns, read in the order in which they are given.

    progress: told after each block how many bytes of the files it took. Raises TurnsignalError, before anything is
    read, when a file is not there.
    """

    def __init__(self, paths: Iterable[Path], progress: Progress = lambda _: None) -> None:
        self.paths = list(paths)
        self._progress = progress
        self._starts: list[int] = []
        for path in self.paths:
            if not path.is_file():
                msg = (
                    f"{path}: expected a file of turns, one JSON object a line (.jsonl or .jsonl.gz), got no such file"
                )
                raise TurnsignalError(msg)

    @property
    def size(self) -> int:
        """Bytes of all files as they lie on disk."""
        return sum(path.stat().st_size for path in self.paths)

    def index(self, indexer: Indexer) -> Iterator[Recorded]:
        """Give the lines that the indexer wants, in the order of the files."""
        self._starts = []
        for path in self.paths:
            self._starts.append(indexer.lines)
            for lines in read_lines(path, self._progress):
                yield from indexer.index(lines)

    def where(self, offset: int) -> tuple[str, int]:
        """Say which file, and which line of it from 1, an offset stands for; once the file has been read."""
        number = bisect_right(self._starts, offset) - 1
        return str(self.paths[number]), offset - self._starts[number] + 1


def read_lines(path: Path, progress: Progress = lambda _: None) -> Iterator[list[bytes]]:
    """Give a file's lines in blocks, without their ends; a longer line than MAX_LINE is cut.

    Raises TurnsignalError when compressed data is damaged or ends early.
    """
    rest, cut = b"", False
    first = True
    for block in _blocks(path, progress):
        if first:
            block, first = block.removeprefix(b"\xef\xbb\xbf"), False
        head, end, tail = block.rpartition(b"\n")
        if not end:
            if not cut:
                rest += block
            if len(rest) > MAX_LINE:
                rest, cut = rest[:MAX_LINE], True
            continue
        if cut:  # the rest of a line that was too long already
            head = head.partition(b"\n")[2] if b"\n" in head else b""
            lines = [rest, *(head.split(b"\n") if head else [])]
        else:
            lines = (rest + head).split(b"\n")
        rest, cut = tail, False
        yield [line.rstrip(b"\r") for line in lines] if b"\r" in block else lines
    if rest:
        yield [rest]


def _blocks(path: Path, progress: Progress) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            zipped = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            yield from _unzip(path, file, progress) if zipped else _plain(file, progress)
    except OSError as error:
        msg = f"{path}: expected a file that can be read, got {error.strerror}"
        raise TurnsignalError(msg) from None


def _plain(file: IO[bytes], progress: Progress) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        progress(len(block))
        yield block


def _unzip(path: Path, file: IO[bytes], progress: Progress) -> Iterator[bytes]:
    """Give the contents of all gzip members, a bounded piece at a time."""
    unzip = zlib.decompressobj(wbits=31)
    try:
        while block := file.read(BLOCK // 4):
            progress(len(block))
            while block:
                if unzip.eof:
                    if not block.strip(b"\0"):
                        break  # padding
                    unzip = zlib.decompressobj(wbits=31)
                piece = unzip.decompress(block, BLOCK)
                if piece:
                    yield piece
                block = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
    except zlib.error as error:
        msg = f"{path}: expected gzip, got data that is damaged: {error}"
        raise TurnsignalError(msg) from None
    if not unzip.eof:
        msg = f"{path}: expected a whole gzip file, got one that ends early; fetch or write it again"
        raise TurnsignalError(msg)


class Sorted:
    """Recorded turns in the order of their event times, equal ones in the order of the files.

    Reads everything when made. count: lines; memory: bytes of lines that are held, beyond which sorted runs go to
    temporary files.
    """

    def __init__(self, records: Iterable[Recorded], memory: int = SORT_BYTES) -> None:
        self.count = 0
        self._runs: list[IO[bytes]] = []
        self._held: list[Recorded] = []
        size = 0
        for record in records:
            self._held.append(record)
            size += len(record.value) + _LINE_COST
            if size > memory:
                self._spill()
                size = 0
        self._held.sort(key=_place)
        self.count += len(self._held)

    def __iter__(self) -> Iterator[Recorded]:
        if not self._runs:
            held, self._held = self._held, []
            return iter(held)
        return heapq.merge(*(_read_run(run) for run in self._runs), self._held, key=_place)

    def _spill(self) -> None:
        self._held.sort(key=_place)
        self.count += len(self._held)
        run = TemporaryFile(prefix="turnsignal-sort-")  # noqa: SIM115
        for at in range(0, len(self._held), _RUN_LINES):
            marshal.dump([tuple(record) for record in self._held[at : at + _RUN_LINES]], run)
        self._runs.append(run)
        self._held = []


_place: Callable[[Recorded], Any] = itemgetter(0, 1)


def _read_run(run: IO[bytes]) -> Iterator[Recorded]:
    run.seek(0)
    with run:
        while True:
            try:
                lines = marshal.load(run)
            except EOFError:
                return
            yield from map(Recorded._make, lines)
