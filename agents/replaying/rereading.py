"""Rereading: the turns that a replay read, found and read again as they were then."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.files.standard_input import DASH
from turnsignal.stream.errors import TurnsignalError


class ReplayedFiles(NamedTuple):
    """What a replay read. paths: files that are there; gone: names of those that are not; how: they were read."""

    paths: list[Path]
    gone: list[str]
    how: HowToRead

    def expect_all(self, directory: Path, advice: str = "") -> list[Path]:
        """Return all files; raises TurnsignalError when one is gone. directory: of the replay; advice: what to try."""
        if self.gone:
            what = (
                "what came by standard input" if self.gone[0] == str(DASH) else "no such file from here, nor from there"
            )
            msg = f"{self.gone[0]}: expected the turns that {directory} was made of, got {what}{advice}"
            raise TurnsignalError(msg)
        return self.paths


def find_replayed(summary: Mapping[str, Any], directory: Path) -> ReplayedFiles:
    """Find the files that a replay read, and how; raises ConfigError for a mapping that is gone or cannot be read.

    They stand where they stood as they were typed, beside the results, or below a directory that holds these. summary:
    as in `summary.json`, which is in the directory. Raises KeyError, TypeError or AttributeError for another one.
    """
    read_as: Mapping[str, Any] = summary.get("read_as") or {}
    paths, gone = list[Path](), list[str]()
    for name in dict.fromkeys(read_as.get("files") or summary["files"]):
        candidates = [Path(name), directory / Path(name).name, *(above / name for above in directory.resolve().parents)]
        there = next((path for path in candidates if path.is_file()), None)
        if there is None:
            gone.append(name)
        else:
            paths.append(there)
    return ReplayedFiles(paths, gone, HowToRead.from_json(read_as))
