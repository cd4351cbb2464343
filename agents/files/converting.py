"""Converting: files of any known format into one file of turns, in the spelling that a topic takes."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple

import orjson

from turnsignal.agents.files.blocks import is_packed, read_blocks
from turnsignal.agents.files.containers import Kind, kind_of, sample_of, why_unread
from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead, as_records, refuse_nothing
from turnsignal.agents.files.rewriting import refuse_rewritable
from turnsignal.agents.files.standard_input import keep_standard_input
from turnsignal.stream.errors import Refused, TurnsignalError
from turnsignal.stream.formats import FORMATS, recognise
from turnsignal.stream.formats.completeness import Completeness
from turnsignal.stream.formats.envelopes import open_envelopes
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.proposing import ProposedMapping, propose_mapping
from turnsignal.stream.formats.protocol import Call, TurnFields
from turnsignal.stream.formats.reshaping import reshaping_of
from turnsignal.stream.formats.unnamed import KNOWN_KEYS, count_unnamed, key_of_conversations, renamed
from turnsignal.stream.records.turns import decode_turn

IMPORTING = 0.5  #: of the bytes that progress is told: those that are told as files are read


@dataclass(slots=True)
class Converted:
    """What came of it.

    turns: written; records: read, and lines of turns; feedback: on their answers; refused: reason → how many, and the
    first; in_part: reason → of how many of these parts were read; assumed: by file.
    """

    turns: int = 0
    records: int = 0
    feedback: int = 0
    reports: list[FileReport] = field(default_factory=list)
    assumed: dict[str, Counter[str]] = field(default_factory=dict)
    refused: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    in_part: Counter[str] = field(default_factory=Counter)
    completeness: Completeness = field(default_factory=Completeness)

    def refuse(self, letter: dict[str, Any]) -> None:
        """Count a record that could not be read."""
        n, first = self.refused.get(letter["reason"], (0, letter))
        self.refused[letter["reason"]] = (n + 1, first)
        self.in_part[letter["reason"]] += letter.pop("in_part", False)

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
            with imported.refused.open("rb") as letters:
                for letter in letters:
                    done.refuse(orjson.loads(letter))
        whole = max(Recording(imported.sources).size, 1)
        recording = Recording(imported.sources, lambda by: shared.advance(by / whole * size * (1 - IMPORTING)))
        for line, number in recording.lines():
            try:
                turn = decode_turn(line)
            except Refused as error:
                name, place = recording.where(number)
                detail = error.shown if how.user_key is None else error.detail  # what came may name the user
                done.refuse({"file": name, "line": place, "reason": str(error.reason), "detail": detail})
                done.records += 1
                continue
            done.turns += 1
            done.completeness.add(turn, names_environment=bool(orjson.loads(line).get("environment")))
            if out is not None:
                out.write(line + b"\n")
        done.assumed = recording.assumed
        made = sum(report.turns.total() for report in done.reports)
        done.records += done.turns - made + sum(report.records for report in done.reports)
        for source in imported.feedback:
            for rated in read_blocks(source.path):
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


class Known(NamedTuple):
    """A format that records have already.

    unnamed: requests that become a conversation each, as nothing that is read tells whose they are; key: what looks
    like the conversation's id then, None without any; mend: what to type for its name to be one that is read.
    """

    name: str
    unnamed: int = 0
    key: str | None = None
    mend: str | None = None


def propose_for(paths: Iterable[Path]) -> tuple[ProposedMapping, Known | None]:
    """Write a first mapping for the records of files, and say what format they have already, None where none.

    Raises TurnsignalError when none of them can be read.
    """
    sample: list[dict[str, Any]] = []
    given = list(paths)
    known: dict[str, Known | None] = {}
    has_json = True
    with TemporaryDirectory(prefix="turnsignal-") as directory:
        unread: list[str] = []
        for named, path in zip(given, keep_standard_input(given, Path(directory)), strict=True):
            kind = kind_of(path)
            of_file = sample_of(path, kind, as_records)
            refuse_nothing(named, path, kind)
            refuse_rewritable(path, kind, of_file)
            sample += of_file
            of_format = _format_of(of_file)
            known[of_format.name if of_format is not None else ""] = of_format
            has_json = has_json and kind is not Kind.CSV and named == path and not is_packed(path)
            if not sample and (why := why_unread(path, kind)) is not None:
                unread.append(f"{named}, {why}")
    names = list(map(str, given))
    if (reshaping := reshaping_of(sample)) is not None:
        files = " ".join(map(shlex.quote, names))
        msg = (
            f"{', '.join(names)}: expected records that a mapping can read, got {reshaping.name}; this makes a log "
            f"of it that can be read: jq {reshaping.options} {shlex.quote(reshaping.filter)} {files} > log.jsonl"
        )
        raise TurnsignalError(msg)
    if not sample:
        msg = f"{', '.join(names)}: expected JSON or CSV, got no record that can be read; plain text is not read"
        msg += f"; {unread[0]}" if unread else ""
        raise TurnsignalError(msg)
    common = known.popitem()[1] if len(known) == 1 else None
    if common is not None and common.key is not None and has_json and (mend := _name_key(sample, common)) is not None:
        common = common._replace(mend=f"{mend} {' '.join(map(shlex.quote, names))} > log.jsonl")
    return propose_mapping(sample, ", ".join(names)), common


def _format_of(sample: Sequence[dict[str, Any]]) -> Known | None:
    """Return the one format that records have, or those within them, and are read by; None without."""
    fitting = list(recognise(sample))
    if not fitting and (opened := open_envelopes(sample)) is not None:
        return Known(opened.name)
    if len(fitting) != 1 or not (parts := _parts_of(sample, fitting[0])):
        return None
    calls = [part for part in parts if isinstance(part, Call)]
    unnamed = count_unnamed(calls) if len(calls) == len(parts) else 0
    return Known(fitting[0], unnamed, key_of_conversations(sample, unnamed) if unnamed else None)


def _parts_of(sample: Sequence[dict[str, Any]], name: str) -> list[Call | TurnFields]:
    """Return what a format reads in records, nothing where it cannot, as reading the file would say, or is silent."""
    parts = []
    try:
        for part in (part for record in sample for part in FORMATS[name].read(record, Counter())):
            if isinstance(part, dict):
                decode_turn(orjson.dumps({"turn_id": "1", **part}))
            parts += [part] if isinstance(part, dict | Call) else []
    except (Refused, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return []
    speaks = any(isinstance(part, dict) or spoken_in([*part.inputs, *part.outputs]) for part in parts)
    return parts if speaks else []


def _name_key(sample: Sequence[dict[str, Any]], known: Known) -> str | None:
    """Return what renames the key of conversations to one that the format reads; None where none of them helps."""
    key, text = str(known.key), orjson.dumps(sample).decode()
    for old in dict.fromkeys((key, key.rpartition(".")[2])):
        for new in KNOWN_KEYS:
            parts = _parts_of(orjson.loads(renamed(text, old, new)), known.name)
            if any(isinstance(part, Call) and (part.conversation or part.session) for part in parts):
                pattern = "".join(f"\\{sign}" if sign in ".[]*^$/\\" else sign for sign in old)
                return "sed " + shlex.quote(f's/"{pattern}"/"{new}"/g')
    return None
