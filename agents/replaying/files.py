"""Replay files: what the partitions of a replay write, and what is made of their parts."""

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, cast

import orjson

from turnsignal.agents.files.dead_letters import encode_dead_letter
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.writing import spare_inputs
from turnsignal.agents.replaying.back_testing import SERIES_FILE
from turnsignal.agents.replaying.checkpoints import DIRECTORY as UNFINISHED
from turnsignal.agents.replaying.checkpoints import RUN
from turnsignal.agents.replaying.past_alarms import kept_series
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.records.wire import CONVERSATIONS, DEAD_LETTERS, SCORES, SERIES, OutputRecord

FILES = {SCORES: "scores.jsonl", CONVERSATIONS: "conversations.jsonl", DEAD_LETTERS: "dead-letters.jsonl"}
SUMMARY = "summary.json"
WORST = "worst.jsonl"  #: the worst exchanges with their texts: apart from the summary, which holds none


class ReplayFiles(ExitStack):
    """The files that the partitions write: one for each partition and kind of row; alerts: of series, too."""

    def __init__(self, directory: Path, recording: Recording, alerts: bool = False) -> None:
        super().__init__()
        self._names = FILES | ({SERIES: SERIES_FILE} if alerts else {})
        self._directory = directory
        self._recording = recording
        self._files: dict[tuple[int, str], IO[bytes]] = {}

    def write(self, partition: int, outputs: Iterable[OutputRecord]) -> None:
        """Append what a batch of a partition wrote."""
        rows: dict[str, list[bytes]] = {topic: [] for topic in self._names}
        for output in outputs:
            if output.topic == DEAD_LETTERS:
                rows[DEAD_LETTERS].append(self._encode(output))
            elif output.topic in rows and output.value is not None:
                rows[output.topic].append(output.value)
        for topic, lines in rows.items():
            if lines:
                lines += (b"", b"") if topic == SERIES else (b"",)  # an empty line ends a batch of series
                self._open(partition, self._names[topic]).write(b"\n".join(lines))

    def flush(self) -> dict[tuple[int, str], int]:
        """Write out what was written, and return how long each file is: (partition, name) → bytes."""
        for file in self._files.values():
            file.flush()
        return {part: file.tell() for part, file in self._files.items()}

    def cut(self, lengths: Mapping[tuple[int, str], int]) -> None:
        """Go on with files as they were at a `flush`; call before the first `write`.

        Raises ConfigError when they hold less than that.
        """
        for part, length in lengths.items():
            try:
                file = self._open(*part, mode="r+b")
                size = file.seek(0, os.SEEK_END)
            except FileNotFoundError:
                size = -1
            if size < length:
                msg = f"{self._directory}: expected {length} bytes of {part[1]} of partition {part[0]}, "
                msg += f"got {max(size, 0)}; "
                raise ConfigError(msg + "delete the directory to begin anew")
            file.truncate(length)
            file.seek(length)

    def _open(self, partition: int, name: str, mode: str = "wb") -> IO[bytes]:
        file = self._files.get((partition, name))
        if file is None:
            path = self._directory / f"{partition:02d}-{name}"
            file = self._files[partition, name] = self.enter_context(cast("IO[bytes]", path.open(mode)))
        return file

    def _encode(self, output: OutputRecord) -> bytes:
        """Write a dead letter as one JSON line: the file and line where it still stands, and why."""
        headers = dict(output.headers or [])
        file, line = self._recording.where(int(headers["offset"]))
        return encode_dead_letter({"file": file, "line": line}, headers, output.value)


def join_parts(directory: Path, name: str, *, keep: bool) -> None:
    """Put the partitions' files together, in their order, into one beside them; keep: leave them there."""
    whole = directory / name
    with whole.open("wb") as file:
        for part in sorted(directory.glob(f"[0-9][0-9]-{name}")):
            with part.open("rb") as rows:
                shutil.copyfileobj(rows, file, 1 << 20)
            if not keep:
                part.unlink()


def result_files(directory: Path) -> list[Path]:
    """Return the files that a replay into a directory writes, whether they are there or not."""
    return [directory / name for name in (*FILES.values(), WORST, SUMMARY)]


def spare_others(out: Path, inputs: Iterable[Path]) -> None:
    """Raise ConfigError where a replay into a directory would replace one of its inputs, or what no replay wrote."""
    spare_inputs(result_files(out), inputs)
    spare_strangers([*result_files(out), *kept_series(out)], (out / SUMMARY, out / UNFINISHED / RUN))


def spare_strangers(files: Iterable[Path], marks: Iterable[Path]) -> None:
    """Raise ConfigError where a file that is to be replaced is there, and nothing says that turnsignal wrote it.

    marks: files of ours that do: a summary, or the note of a run that is not finished.
    """
    there = next((path for path in files if path.exists()), None)
    if there is not None and not any(map(_is_ours, marks)):
        msg = (
            f"{there}: expected none, or one that turnsignal wrote, got one without a {SUMMARY} of ours beside it; "
            "choose another directory, or move it away"
        )
        raise ConfigError(msg)


def spare_scored(out: Path, summary: Mapping[str, Any]) -> None:
    """Raise TurnsignalError where a replay that scored nothing would replace the result of one that did."""
    if sum(summary["turns"].values()):
        return
    try:
        earlier = orjson.loads((out / SUMMARY).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return
    if not (isinstance(earlier, dict) and earlier.get("turns")):
        return
    others, letters = summary["other_environments"], summary["dead_letters"]
    got = [f"{n:,} of {name}" for name, n in others.items()] + [f"{n:,} {reason}" for reason, n in letters.items()]
    msg = (
        f"{out}: expected turns of {summary['environment']} in {', '.join(summary['files'])}, got "
        f"{', '.join(got) or 'none'}: nothing was scored, so what an earlier replay wrote there stays; another --out "
        "shows why"
    )
    raise TurnsignalError(msg)


def _is_ours(mark: Path) -> bool:
    try:
        content = orjson.loads(mark.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return False
    return isinstance(content, dict) and ("run" in content or "fingerprint" in (content.get("suite") or ()))
