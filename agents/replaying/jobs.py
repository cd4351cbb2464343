"""Jobs: one process's share of a replay, from the lines of its partitions to files of each."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import orjson

from turnsignal.agents.files.reading import SORT_BYTES as MEMORY
from turnsignal.agents.files.reading import Recording, TurnFile
from turnsignal.agents.process.memory import kept_memory
from turnsignal.agents.python_checks.host import hosted
from turnsignal.agents.replaying.checkpoints import ReplayCheckpoint, ReplayCheckpoints
from turnsignal.agents.replaying.files import ReplayFiles
from turnsignal.stream.replay import Indexer, Line, Replay, Run
from turnsignal.stream.suite import Suite

READING = 8  #: the share of reading and sorting in a replay is one of so many
ASSUMED = "assumed.json"  #: what was assumed about what the files do not say, beside the parts


class Job(NamedTuple):
    """What one process is to do: its number among `of`, and everything that it needs to know.

    now: the present, seconds since 1970, the same for all; as_is: lines are taken in the order of the files; directory:
    where parts go; environment: which one moves the figures, None is production; alerts: keep the series as well;
    every: lines between two checkpoints, 0 for none; released: event times of releases, for answers without a version.
    """

    number: int
    of: int
    paths: tuple[Path | TurnFile, ...]
    feedback: tuple[Path | TurnFile, ...]
    verdicts: tuple[Path, ...]
    suite: Suite
    now: float
    as_is: bool
    directory: Path
    environment: str | None
    alerts: bool = False
    every: int = 0
    released: tuple[float, ...] = ()


def work_through(job: Job, progress: Callable[[int], None]) -> dict[int, Run]:
    """Replay one share of the partitions; return partition → run.

    progress: told how many bytes of the files were worked through. Those that are sorted first count as they are
    scored, but for the share that reading takes; others as they are read, which is when they are scored.
    """
    share = 1 if job.as_is else READING
    recording = Recording(job.paths, lambda size: progress(size // share), job.feedback, job.verdicts)
    scored = _ScoredBytes(0 if job.as_is else recording.size - recording.size // share, progress)
    checkpoints = ReplayCheckpoints(job.directory, job.every) if job.every else None
    begun = checkpoints.read(job.number) if checkpoints is not None else None
    if begun is not None and begun.done:
        progress(recording.size)
        return begun.packed.runs
    indexer = Indexer(job.now, lambda partition: partition % job.of == job.number, recording.mend)
    with kept_memory(), hosted(job.suite) as suite, ReplayFiles(job.directory, recording, job.alerts) as parts:
        lines: Iterable[Line] = recording.index(indexer)
        if not job.as_is:
            in_order = parts.enter_context(recording.in_order(indexer, MEMORY // job.of))
            lines, scored.lines = in_order.placed(), in_order.count
        replay = Replay(suite, job.environment, indexer, job.released)
        if begun is not None:
            replay.unpack(begun.packed)
            parts.cut(begun.files)
        taken = _Taken(lines, begun.taken if begun is not None else 0)
        noted = taken.count
        for partition, outputs in replay.feed(taken):
            parts.write(partition, outputs)
            scored.on_lines(taken.count - replay.waiting)
            if checkpoints is not None and taken.count - noted >= checkpoints.every:
                checkpoints.write(job.number, ReplayCheckpoint(taken.count, replay.pack(), parts.flush()))
                noted = taken.count
        for partition, outputs in replay.finish(indexer.end):
            parts.write(partition, outputs)
            scored.on_lines(taken.count - replay.waiting)
        if recording.assumed and job.number == 0:  # every process reads all lines
            (job.directory / ASSUMED).write_bytes(orjson.dumps(recording.assumed, option=orjson.OPT_SORT_KEYS))
        if checkpoints is not None:
            checkpoints.finish(job.number, replay.runs, parts.flush())
    scored.finish()
    return replay.runs


class _ScoredBytes:
    """Tells how many of `size` bytes are scored, by how many of the lines are."""

    def __init__(self, size: int, progress: Callable[[int], None]) -> None:
        self.lines = 0
        self._size = size
        self._progress = progress
        self._told = 0

    def on_lines(self, done: int) -> None:
        """Tell what is done, about every hundredth of it."""
        reached = self._size * done // self.lines if self.lines else 0
        if reached - self._told > self._size // 100:
            self._progress(reached - self._told)
            self._told = reached

    def finish(self) -> None:
        """Tell the rest."""
        self._progress(self._size - self._told)
        self._told = self._size


class _Taken:
    """Lines, counted as they are taken. skipped: so many from the first on are passed over."""

    def __init__(self, lines: Iterable[Line], skipped: int) -> None:
        self._lines = islice(lines, skipped, None)
        self.count = skipped

    def __iter__(self) -> Iterator[Line]:
        for line in self._lines:
            self.count += 1
            yield line
