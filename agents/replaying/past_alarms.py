"""Past alarms: the series that a replay kept, and lists of known incidents, read from files."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from turnsignal.agents.files.json_lines import read_json_lines
from turnsignal.agents.files.reading import read_lines
from turnsignal.agents.replaying.back_testing import read_batches
from turnsignal.stream.detection.known_incidents import KnownIncident
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.text.timestamps import epoch_seconds

SERIES_DIRECTORY = "series"  #: where a replay keeps what each partition's detectors would have been given
MOST_KNOWN = 10_000  #: incidents of one list
_LIKE = '{"name": "bad prompt", "assistant": "support", "began": "2026-11-20T14:00:00Z"}'


class _Noted(msgspec.Struct):
    """An incident as operators note it."""

    began: datetime
    name: str = ""
    assistant: str | None = None
    ended: datetime | None = None


_decode = msgspec.json.Decoder(_Noted).decode


def keep_series(parts: Iterable[Path], out: Path) -> None:
    """Keep the series of a replay's partitions in its directory, in place of those of an earlier one."""
    kept = out / SERIES_DIRECTORY
    for earlier in kept_series(out):
        earlier.unlink()
    for part in sorted(parts):
        kept.mkdir(exist_ok=True)
        shutil.copyfile(part, kept / f"{part.name[:2]}.jsonl")


def kept_series(out: Path) -> list[Path]:
    """Return the series that a replay kept in its directory, by partition."""
    return sorted((out / SERIES_DIRECTORY).glob("[0-9][0-9].jsonl"))


def series_files(paths: Sequence[Path]) -> list[Path]:
    """Return the files of series behind paths: those of the directories of replays, and files of the topic.

    Raises TurnsignalError for a directory that holds none.
    """
    files: list[Path] = []
    for path in paths:
        listed = kept_series(path) if path.is_dir() else [path]
        if not listed:
            msg = f"{path}: expected a replay with its series, got none; replay again with --alerts"
            raise TurnsignalError(msg)
        files += listed
    return files


def read_series(paths: Sequence[Path]) -> list[Iterator[bytes] | Iterator[list[bytes]]]:
    """Read series: of the directories of replays each partition's batches, of files of the topic each file's records.

    In the order of `series_files`, which raises what it does.
    """
    sources: list[Iterator[bytes] | Iterator[list[bytes]]] = []
    for path in paths:
        for file in series_files([path]):
            lines = (line for block in read_lines(file) for line in block.lines)
            sources.append(read_batches(lines) if path.is_dir() else lines)
    return sources


def read_known(path: Path) -> list[KnownIncident]:
    """Read a list of known incidents, one JSON object in a line; times without a zone are UTC.

    Raises TurnsignalError with the line that is none.
    """
    known: list[KnownIncident] = []
    for number, noted in read_json_lines(path, "incidents", _read_noted):
        if len(known) == MOST_KNOWN:
            msg = f"{path}: expected at most {MOST_KNOWN:,} incidents, got more"
            raise TurnsignalError(msg)
        ended = None if noted.ended is None else epoch_seconds(noted.ended)
        name = noted.name[:200] or f"line {number}"
        known.append(KnownIncident(name, noted.assistant, epoch_seconds(noted.began), ended))
    return known


def _read_noted(line: bytes) -> _Noted:
    try:
        noted = _decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        msg = f"expected an incident such as {_LIKE}, got one that does not fit: {error}"
        raise ValueError(msg) from None
    if noted.ended is not None and epoch_seconds(noted.ended) < epoch_seconds(noted.began):
        msg = f"expected `ended` to be after `began`, got {noted.ended} and {noted.began}"
        raise ValueError(msg)
    return noted
