"""Rereading: the turns that a replay read, found and read again as they were then."""

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.files.standard_input import DASH
from turnsignal.stream.errors import TurnsignalError

_BEGINNING = 65_536  #: bytes of a file by which it is told from another


class ReplayedFiles(NamedTuple):
    """What a replay read. paths: files that are there; gone: names of those that are not; how: they were read."""

    paths: list[Path]
    gone: list[str]
    how: HowToRead

    def expect_all(self, directory: Path, advice: str = "") -> list[Path]:
        """Return all files; raises TurnsignalError when one is gone. directory: of the replay; advice: what to try."""
        if self.gone:
            is_kept = self.gone[0] != str(DASH)
            what = "no such file as it was, here or there" if is_kept else "what came by standard input"
            msg = f"{self.gone[0]}: expected the turns that {directory} was made of, got {what}{advice}"
            raise TurnsignalError(msg)
        return self.paths


def find_replayed(summary: Mapping[str, Any], directory: Path) -> ReplayedFiles:
    """Find the files that a replay read, and how; raises ConfigError for a mapping that is gone or cannot be read.

    They stand as they were typed from here, beside the results, or from a directory that holds these, and begin as they
    did: others may have their names. summary: as in `summary.json`, which is in the directory. Raises KeyError,
    TypeError or AttributeError for another one.
    """
    read_as: Mapping[str, Any] = summary.get("read_as") or {}
    marks: Mapping[str, Mapping[str, Any]] = summary.get("marks") or {}
    paths, gone = list[Path](), list[str]()
    for name in dict.fromkeys(read_as.get("files") or summary["files"]):
        candidates = [Path(name), directory / Path(name).name, *(above / name for above in directory.resolve().parents)]
        there = next((path for path in candidates if path.is_file() and _fits(path, marks.get(name))), None)
        if there is None:
            gone.append(name)
        else:
            paths.append(there)
    return ReplayedFiles(paths, gone, HowToRead.from_json(read_as))


def mark_file(path: Path) -> dict[str, Any]:
    """Return what a file is known by, later: how large it is, and how it begins."""
    size = path.stat().st_size
    return {"bytes": size, "begins": _beginning(path, size)}


def _fits(path: Path, mark: Mapping[str, Any] | None) -> bool:
    """Say whether a file is the one with a mark, as far as that is known; it may have grown since, as logs do."""
    if mark is None:
        return True
    try:
        return bool(path.stat().st_size >= mark["bytes"] and _beginning(path, mark["bytes"]) == mark["begins"])
    except OSError:
        return True  # who reads it says why that fails


def _beginning(path: Path, size: int) -> str:
    with path.open("rb") as file:
        return sha256(file.read(min(size, _BEGINNING))).hexdigest()
