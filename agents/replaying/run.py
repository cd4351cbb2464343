"""Replaying: recorded files through the partitions, one process per share of them, and the results put together.

Each process reads all files and keeps the lines of its own partitions: reading is cheap beside scoring, and nobody
waits for a process that deals lines out. Every partition writes files of its own, put together in their order, so
that the result does not depend on how many processes there were.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from turnsignal.agents.files.dead_letters import count_reasons
from turnsignal.agents.files.reading import Recording, TurnFile
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.replaying.back_testing import SERIES_FILE, back_test_parts
from turnsignal.agents.replaying.checkpoints import EVERY, kept_parts, locked
from turnsignal.agents.replaying.files import (
    FILES,
    SUMMARY,
    WORST,
    join_parts,
    result_files,
    spare_others,
    spare_scored,
)
from turnsignal.agents.replaying.jobs import ASSUMED, Job, work_through
from turnsignal.agents.replaying.past_alarms import keep_series
from turnsignal.agents.replaying.processes import run_apart
from turnsignal.agents.replaying.rereading import mark_file
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.records.decisions import Decision
from turnsignal.stream.records.wire import DEAD_LETTERS
from turnsignal.stream.replay import PARTITIONS, Run
from turnsignal.stream.reports.worst import worse_releases
from turnsignal.stream.suite import Suite

SMALL = 50_000_000  #: bytes of input below which starting more processes takes longer than they spare
_PARTS = ".parts-"


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
        runs = work_through(jobs[0], progress) if of == 1 else run_apart(jobs, progress)
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
        if (Path(directory) / ASSUMED).is_file():
            summary["assumed"] = orjson.loads((Path(directory) / ASSUMED).read_bytes())
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


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
