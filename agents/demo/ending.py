"""The demo's ending: what was sent, replayed, so that a demo ends with what a replay ends with.

Recorded traffic gives the scores of live traffic, so the figures are those of the rows that the workers wrote.
"""

import gzip
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from turnsignal.agents.demo.judged import VERDICTS_FILE
from turnsignal.agents.files.reading import TurnFile
from turnsignal.agents.files.writing import spare_inputs
from turnsignal.agents.replaying.files import SUMMARY, WORST, result_files, spare_strangers
from turnsignal.agents.replaying.result import ReplayResult, read_result
from turnsignal.agents.replaying.run import replay_files
from turnsignal.agents.settings import Settings
from turnsignal.agents.suite_files import suite_in_force

SENT = "turns.jsonl.gz"
REJECTS = "rejects.jsonl"
WORKER_LOG = "worker.log"
MOST = 50_000  #: turns that are replayed at the end; of more, there is the live summary alone


def spare_files(out: Path, given: Sequence[Path | TurnFile]) -> None:
    """Raise ConfigError where the rows would replace files that are sent, or that no demo or replay wrote."""
    files = [*result_files(out), *(out / name for name in (SENT, VERDICTS_FILE, REJECTS))]
    spare_inputs(files, (path for file in given for path in (file.paths if isinstance(file, TurnFile) else [file])))
    if not (out / WORKER_LOG).is_file():
        spare_strangers(files, [out / SUMMARY])


class SentTurns:
    """A file of the turns that a demo has sent, in the order in which it sent them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self._file: gzip.GzipFile | None = None

    def keep(self, value: bytes) -> None:
        """Write a turn down, as long as there are not too many."""
        self.count += 1
        if self.count > MOST:
            return
        if self._file is None:
            self._file = gzip.GzipFile(self.path, "wb", 1)
        self._file.write(value.replace(b"\n", b" ") + b"\n")

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.close()


def conclude(
    sent: SentTurns,
    out: Path,
    settings: Settings,
    names: Sequence[str],
    read_as: Mapping[str, str],
    dead_letters: Mapping[str, int],
) -> ReplayResult | None:
    """Replay what was sent and put the summary and the worst exchanges beside the rows; None where it was too much.

    names: the files that were sent, none for simulated turns, whose own file stands beside the rows; read_as: how they
    were read; dead_letters: of the workers, by reason: a file of turns has no records without a value. Raises
    TurnsignalError when the directory cannot be written to.
    """
    if not 0 < sent.count <= MOST:
        return None
    suite = suite_in_force(settings.suite, settings.redaction)
    with TemporaryDirectory(prefix="turnsignal-") as directory:
        summary = replay_files([sent.path], Path(directory), suite, time.time(), as_is=True)
        summary["dead_letters"] = dict(dead_letters)
        if names:
            summary |= {"files": list(names)} | ({"read_as": {**read_as, "files": list(names)}} if read_as else {})
        shutil.copy(Path(directory) / WORST, out / WORST)
        (out / SUMMARY).write_bytes(orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n")
    return read_result(out)
