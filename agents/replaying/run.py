"""Replaying: recorded files through the partitions, one process per share of them, and the results put together.

Each process reads all files and keeps the lines of its own partitions: reading is cheap beside scoring, and nobody
waits for a process that deals lines out. Every partition writes files of its own, put together in their order, so
that the result does not depend on how many processes there were.
"""

import multiprocessing
import os
import pickle
import queue
import shutil
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from types import ModuleType
from typing import Any, NamedTuple

import orjson

from turnsignal.agents.files.dead_letters import count_reasons
from turnsignal.agents.files.reading import SORT_BYTES as MEMORY
from turnsignal.agents.files.reading import Recording, TurnFile
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.process.memory import kept_memory
from turnsignal.agents.python_checks.host import hosted
from turnsignal.agents.replaying.back_testing import SERIES_FILE, back_test_parts
from turnsignal.agents.replaying.checkpoints import (
    EVERY,
    ReplayCheckpoint,
    ReplayCheckpoints,
    kept_parts,
    locked,
)
from turnsignal.agents.replaying.files import (
    FILES,
    SUMMARY,
    WORST,
    ReplayFiles,
    join_parts,
    result_files,
    spare_others,
    spare_scored,
)
from turnsignal.agents.replaying.past_alarms import keep_series
from turnsignal.agents.replaying.rereading import mark_file
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.records.decisions import Decision
from turnsignal.stream.records.wire import DEAD_LETTERS
from turnsignal.stream.replay import PARTITIONS, Indexer, Line, Replay, Run
from turnsignal.stream.reports.worst import worse_releases
from turnsignal.stream.suite import Suite

READING = 8  #: the share of reading and sorting in a replay is one of so many
SMALL = 50_000_000  #: bytes of input below which starting more processes takes longer than they spare
_ASSUMED = "assumed.json"
_PARTS = ".parts-"


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


def replay_files(
    paths: Sequence[Path | TurnFile],
    out: Path,
    suite: Suite,
    now: float,
    *,
    feedback: Sequence[Path | TurnFile] = (),
    verdicts: Sequence[Path] = (),
    refused: Path | None = None,
    workers: int = 0,
    as_is: bool = False,
    environment: str | None = None,
    whole: bool = False,
    baseline: str | None = None,
    released: Sequence[float] = (),
    alerts: bool = False,
    decisions: Sequence[Decision] = (),
    read_as: HowToRead | None = None,
    resume: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Replay files into `out` and return the summary; its files are written when everything has gone well.

    feedback, verdicts: files of them, taken in among the turns by their times; refused: a file of dead letters that
    were found when the paths were made, to be put behind those of the replay; workers: processes, 0 for one per core;
    environment: which one moves the figures, None is production; whole: no conversation is cut, whatever the suite
    says; baseline: a version that all others are compared with; released: event times of releases, which tell answers
    without a version apart; alerts: say under "alerts" in the summary when would have been called; decisions: what
    operators said meanwhile, for that, by time; read_as: how the turns' files were read, kept in the summary so that
    texts are found again; resume: go on where an interrupted run of the same left off, and keep checkpoints in case
    that this one is interrupted; progress: told how many bytes of the files have been worked through, in steps. Raises
    TurnsignalError when a file or the directory cannot be used, or where a result would give way to one of no turn.
    """
    recording = Recording(paths, feedback=feedback, verdicts=verdicts)
    spare_others(out, (path for source in recording.sources for path in source.paths))
    size = recording.size
    if released and as_is:
        raise ConfigError("released and as_is exclude each other: which turn is a conversation's first, only times say")
    release_times = tuple(sorted(set(released)))
    if recording.is_whole or whole:
        suite = suite.model_copy(update={"aggregates": suite.aggregates.model_copy(update={"whole": True})})
    of = min(workers or (1 if size < SMALL else _cores()), PARTITIONS)
    what: tuple[object, ...] = (suite.model_dump_json(), suite.fingerprint, as_is, environment, alerts, of)
    what += (release_times,) if release_times else ()
    what += () if read_as is None else read_as.identity
    with (
        _made_directory(out),
        kept_parts(out, recording.sources, now, *what) if resume else _parts_in(out, now) as (directory, now),
    ):
        every = EVERY if resume else 0
        read = (tuple(paths), tuple(feedback), tuple(verdicts))
        shared = (of, *read, suite, now, as_is, Path(directory), environment, alerts, every, release_times)
        jobs = [Job(number, *shared) for number in range(of)]
        runs = _run_here(jobs[0], progress) if of == 1 else _run_apart(jobs, progress)
        run = Run(suite, environment)
        for number in sorted(runs):
            run.merge(runs[number])
        if refused is not None:
            shutil.copy(refused, Path(directory) / f"99-{FILES[DEAD_LETTERS]}")
            run.dead_letters.update(count_reasons(refused))
        names = recording.names()
        marks = {name: mark_file(Path(name)) for name in names if Path(name).is_file()}
        summary = {"files": names, "marks": marks, **run.summary(suite, baseline)}
        spare_scored(out, summary)
        if release_times:
            summary["released"] = [datetime.fromtimestamp(time, UTC).isoformat() for time in release_times]
        if read_as is not None and (how := read_as.as_json()):
            summary["read_as"] = {**how, "files": recording.names(turns_only=True)}
        if (Path(directory) / _ASSUMED).is_file():
            summary["assumed"] = orjson.loads((Path(directory) / _ASSUMED).read_bytes())
        if alerts:
            summary["alerts"] = back_test_parts(Path(directory), suite, decisions)
        for name in FILES.values():
            join_parts(Path(directory), name, keep=resume)
        rows = run.aggregates.worst.rows(worse_releases(summary["comparisons"]))
        worst = b"".join(orjson.dumps(row) + b"\n" for row in rows)
        (Path(directory) / WORST).write_bytes(worst)
        (Path(directory) / SUMMARY).write_bytes(orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n")
        keep_series(Path(directory).glob(f"[0-9][0-9]-{SERIES_FILE}"), out)
        for path in result_files(out):  # all is there: an interruption until now leaves what an earlier replay wrote
            (Path(directory) / path.name).replace(path)
    return summary


@contextmanager
def _made_directory(out: Path) -> Iterator[None]:
    """Make a directory; where that fails or nothing was put into it, it is gone again, and those around it, too."""
    made = [path for path in (out, *out.parents) if not path.exists()]
    try:
        try:
            out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritable(out, error) from None
        yield
    except BaseException:
        with suppress(OSError):  # from the inside out; the first that holds something ends it
            for path in made:
                path.rmdir()
        raise


@contextmanager
def _parts_in(out: Path, now: float) -> Iterator[tuple[str, float]]:
    for left in out.glob(f"{_PARTS}*"):  # by a run that was killed; one that works holds its lock
        with suppress(OSError), locked(left):
            shutil.rmtree(left)
    try:
        parts = TemporaryDirectory(dir=out, prefix=_PARTS)
    except OSError as error:
        raise _unwritable(out, error) from None
    with parts as directory, locked(Path(directory)):
        yield directory, now


def _unwritable(out: Path, error: OSError) -> TurnsignalError:
    return TurnsignalError(f"{out}: expected a directory that can be written to, got: {error.strerror}")


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
            (job.directory / _ASSUMED).write_bytes(orjson.dumps(recording.assumed, option=orjson.OPT_SORT_KEYS))
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


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _run_here(job: Job, progress: Callable[[int], None]) -> dict[int, Run]:
    return work_through(job, progress)


def _run_apart(jobs: Sequence[Job], progress: Callable[[int], None]) -> dict[int, Run]:
    """Run each job in a process of its own; one that fails ends the others."""
    context = multiprocessing.get_context("spawn")  # a fork would copy the threads of whoever draws the progress
    answers: Any = context.Queue()
    processes = [context.Process(target=_child, args=(job, answers), daemon=True) for job in jobs]
    runs: dict[int, Run] = {}
    try:
        with _main_left_out(), _interrupts_held():
            for process in processes:
                process.start()
        left = set(range(len(jobs)))
        while left:
            number, answer = _next_answer(answers, processes, left)
            if isinstance(answer, int):
                progress(answer // len(jobs))
            elif isinstance(answer, str):
                raise TurnsignalError(answer)
            else:
                runs.update(pickle.loads(answer))
                left.discard(number)
        for process in processes:
            process.join()
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()
                process.join()  # it writes where our files are, which go next
    return runs


@contextmanager
def _main_left_out() -> Iterator[None]:
    """Start processes that do not import the program's main module: a caller's script would run again in each."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started here: they inherit what is held back, and the parent ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _next_answer(answers: Any, processes: Sequence[Any], left: set[int]) -> tuple[int, Any]:
    while True:
        ended = [number for number in left if processes[number].exitcode is not None]
        try:
            answer: tuple[int, Any] = answers.get(timeout=1.0)
        except queue.Empty:
            if ended:
                code = processes[ended[0]].exitcode
                msg = f"a replay process ended with {code} before it was done (out of memory?); try --workers 1"
                raise TurnsignalError(msg) from None
        else:
            return answer


def _child(job: Job, answers: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        runs = work_through(job, lambda size: answers.put((job.number, size)))
    except TurnsignalError as error:
        answers.put((job.number, str(error)))
    else:
        answers.put((job.number, pickle.dumps(runs)))
    answers.close()
    answers.join_thread()
    sys.stdout.flush()


def _end_with_parent() -> None:
    """End this process when the parent is gone, which nobody else would do after a kill."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
