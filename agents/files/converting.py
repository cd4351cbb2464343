"""Converting: files of any known format into one file of turns, in the spelling that a topic takes."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import orjson

from turnsignal.agents.files.containers import kind_of, sample_of
from turnsignal.agents.files.importing import FileReport, Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead, as_records
from turnsignal.agents.files.standard_input import keep_standard_input
from turnsignal.stream.errors import Refused, TurnsignalError
from turnsignal.stream.formats.completeness import Completeness
from turnsignal.stream.formats.proposing import ProposedMapping, propose_mapping
from turnsignal.stream.records.turns import decode_turn

IMPORTING = 0.5  #: of the bytes that progress is told: those that are told as files are read


@dataclass(slots=True)
class Converted:
    """What came of it.

    turns: written; feedback: on their answers; refused: reason → how many, and the first; assumed: by file.
    """

    turns: int = 0
    feedback: int = 0
    reports: list[FileReport] = field(default_factory=list)
    assumed: dict[str, Counter[str]] = field(default_factory=dict)
    refused: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    completeness: Completeness = field(default_factory=Completeness)

    def refuse(self, letter: dict[str, Any]) -> None:
        """Count a record that could not be read."""
        n, first = self.refused.get(letter["reason"], (0, letter))
        self.refused[letter["reason"]] = (n + 1, first)

    def as_json(self, *, check: bool) -> dict[str, Any]:
        """Return it for `convert --json`; check: with what the turns lack."""
        files = [report.as_json() for report in self.reports]
        refused = {reason: {"n": n, "first": first} for reason, (n, first) in self.refused.items()}
        described = {
            "turns": self.turns,
            "feedback": self.feedback,
            "files": files,
            "assumed": self.assumed,
            "refused": refused,
        }
        return described | ({"check": self.completeness.as_json()} if check else {})


def convert_files(
    paths: Iterable[Path],
    how: HowToRead,
    out: IO[bytes] | None,
    say: Callable[[str], None] = lambda _: None,
    feedback: IO[bytes] | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Converted:
    """Read files and write their turns, one a line; out: None only counts. say: takes one line for a person;
    feedback: takes what people said of answers, None for nobody who wants it; progress: told of `size_of(paths)` bytes
    as they are worked through, IMPORTING of them as they are read.

    Raises ConfigError or TurnsignalError when a file cannot be used at all.
    """
    done, paths = Converted(), list(paths)
    size = size_of(paths)
    shared = _Shared(progress)
    with Imported(paths, how, lambda by: shared.advance(by * IMPORTING), say) as imported:
        shared.reach(size * IMPORTING)
        done.reports = imported.reports
        if imported.refused is not None:
            for line in imported.refused.read_bytes().splitlines():
                done.refuse(orjson.loads(line))
        whole = max(Recording(imported.sources).size, 1)
        recording = Recording(imported.sources, lambda by: shared.advance(by / whole * size * (1 - IMPORTING)))
        for line, number in recording.lines():
            try:
                turn = decode_turn(line)
            except Refused as error:
                name, place = recording.where(number)
                done.refuse({"file": name, "line": place, "reason": str(error.reason), "detail": error.shown})
                continue
            done.turns += 1
            done.completeness.add(turn, names_environment=bool(orjson.loads(line).get("environment")))
            if out is not None:
                out.write(line + b"\n")
        done.assumed = recording.assumed
        for source in imported.feedback:
            rated = source.path.read_bytes()
            done.feedback += rated.count(b"\n")
            if feedback is not None:
                feedback.write(rated)
    return done


def size_of(paths: Iterable[Path]) -> int:
    """Return the bytes of files; standard input has none."""
    return sum(path.stat().st_size for path in paths if path.is_file())


class _Shared:
    """Tells whole bytes of what is worked through in parts of bytes."""

    def __init__(self, progress: Callable[[int], None]) -> None:
        self._progress = progress
        self._done = 0.0
        self._told = 0

    def advance(self, by: float) -> None:
        self.reach(self._done + by)

    def reach(self, done: float) -> None:
        self._done = done
        if done >= self._told + 1:
            self._progress(int(done) - self._told)
            self._told = int(done)


def propose_for(paths: Iterable[Path]) -> ProposedMapping:
    """Write a first mapping for the records of files; raises TurnsignalError when none of them can be read."""
    sample: list[dict[str, Any]] = []
    given = list(paths)
    with TemporaryDirectory(prefix="turnsignal-") as directory:
        for path in keep_standard_input(given, Path(directory)):
            sample += sample_of(path, kind_of(path), as_records)
    names = list(map(str, given))
    if not sample:
        msg = f"{', '.join(names)}: expected JSON or CSV, got no record that can be read; plain text is not read"
        raise TurnsignalError(msg)
    return propose_mapping(sample, ", ".join(names))
