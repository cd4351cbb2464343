"""Importing: files of any known format → turns in files of our own, which are then replayed, sent or measured.

A file of turns is left where it is. Everything else is read once, in three passes that each hold a share of it in
memory: records are dealt into heaps by trace, traces into heaps by conversation, and conversations become turns.
"""

import shlex
import struct
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import SpooledTemporaryFile, TemporaryDirectory
from typing import IO, Any
from zlib import crc32

import msgspec
import orjson

from turnsignal.agents.files.blocks import Progress
from turnsignal.agents.files.containers import Item, Kind, read_items
from turnsignal.agents.files.human_scores import ScoredFile, write_feedback
from turnsignal.agents.files.reading import TurnFile
from turnsignal.agents.files.recognising import (
    HowToRead,
    as_records,
    choose_format,
    hash_user,
    is_bare_message,
    repeated_key,
)
from turnsignal.agents.files.standard_input import keep_standard_input
from turnsignal.stream.errors import Reason, Refused, TurnsignalError
from turnsignal.stream.formats import FORMATS, OWN
from turnsignal.stream.formats.assembly import Head, group_of, head_of, join_trace, link, take_turns
from turnsignal.stream.formats.human_scores import HumanScore
from turnsignal.stream.formats.protocol import Assumed, Call, LogFormat, TurnFields
from turnsignal.stream.records.turns import decode_turn

_HEAPS = 64  #: that calls are dealt into; the largest is held in memory
_HELD = 1 << 18  #: bytes of a heap before it goes to disk
_LENGTH = struct.Struct("<I")


@dataclass(slots=True)
class FileReport:
    """What became of one file.

    records: read; human_scores: by people; refused: reason → records; first: reason → (line, detail).
    """

    name: str
    format: str
    why: str
    records: int = 0
    turns: Counter[str] = field(default_factory=Counter)
    conversations: int = 0
    human_scores: int = 0
    assumed: Assumed = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[int, str]] = field(default_factory=dict)

    def sentence(self) -> str:
        """Say in one line what the file was taken for, and why."""
        return f"{self.name}: taken for {self.format}, by {self.why}"

    def as_json(self) -> dict[str, Any]:
        """Return it for `convert --json`."""
        described = {"file": self.name, "format": self.format, "why": self.why, "records": self.records}
        return (
            described
            | {"turns": self.turns, "conversations": self.conversations, "human_scores": self.human_scores}
            | {"assumed": self.assumed}
        )


class Imported(ExitStack):
    """Files ready to be read as turns, until the end of this context.

    sources: for `Recording`; reports: one for each file that was not one of turns; refused: file of dead letters, None
    without any; feedback: what people said of answers in these files.
    """

    def __init__(
        self,
        paths: Iterable[Path],
        how: HowToRead,
        progress: Progress = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self.sources: list[TurnFile] = []
        self.reports: list[FileReport] = []
        self.refused: Path | None = None
        self.feedback: list[TurnFile] = []
        self._paths = list(paths)
        self._how = how
        self._progress = progress
        self._say = say
        self._scored: list[ScoredFile] = []

    def __enter__(self) -> "Imported":
        with ExitStack() as on_error:
            on_error.push(self)
            directory = Path(self.enter_context(TemporaryDirectory(prefix="turnsignal-import-")))
            kept = keep_standard_input(self._paths, directory)
            for number, (named, path) in enumerate(zip(self._paths, kept, strict=True)):
                kind, name, each, why = choose_format(path, self._how)
                if kind is Kind.LINES and name == OWN and self._how.user_key is None:
                    origin = None if named == path else named
                    self.sources.append(TurnFile(path, origin, lenient=not self._how.strict))
                    continue
                report = FileReport(str(named), name, why)
                self._say(report.sentence())
                self.sources.append(self._convert(path, kind, each, report, directory / str(number)))
                self.reports.append(report)
            self.feedback += write_feedback(self._scored, directory)
            on_error.pop_all()
        return self

    def _convert(self, path: Path, kind: Kind, each: LogFormat, report: FileReport, to: Path) -> TurnFile:
        to.mkdir()
        turns, lines, refused = to / "turns.jsonl", to / "lines", to.parent / "refused.jsonl"
        has_times = False
        with turns.open("wb") as out, lines.open("wb") as places, refused.open("ab") as rejected:
            reading = _FileReading(path, kind, each, report, rejected, self._how.user_key)
            for turn, line in reading.turns(self._progress):
                formatted = reading.format_turn(turn, line)
                if formatted is not None:
                    out.write(formatted + b"\n")
                    places.write(array("Q", [line]).tobytes())
            has_times = reading.has_times
        self._scored.append(ScoredFile(turns, each, report.name, reading.human_scores, report.assumed))
        if report.refused:
            self.refused = refused
        return TurnFile(turns, Path(report.name), lines, whole=not has_times)


class _FileReading:
    """One file on its way to turns."""

    def __init__(
        self, path: Path, kind: Kind, each: LogFormat, report: FileReport, rejected: IO[bytes], user_key: bytes | None
    ) -> None:
        self.has_times = False
        self.human_scores: list[HumanScore] = []
        self._path = path
        self._kind = kind
        self._format = each
        self._report = report
        self._rejected = rejected
        self._user_key = user_key
        self._standing = path.name.partition(".")[0]

    def turns(self, progress: Progress) -> Iterator[tuple[TurnFields, int]]:
        """Give the turns of the file, each with its line."""
        assumed = self._report.assumed
        with ExitStack() as heaps:
            traces = heaps.enter_context(_Heaps())
            for part, line in self._parts(progress):
                if isinstance(part, Call):
                    part.line = line
                    self.has_times = self.has_times or part.start is not None or any(m.time for m in part.inputs)
                    try:
                        traces.put(group_of(part), part)
                    except (RecursionError, OverflowError, TypeError, ValueError) as error:
                        self._refuse(
                            line,
                            Refused(Reason.TOO_DEEP, f"expected a record of some depth, got {error!r}"[:300]),
                            None,
                        )
                else:
                    self.has_times = True
                    yield part, line
            answers = heaps.enter_context(_Heaps(1))
            heads: list[Head] = []
            for _, calls in traces.groups():
                for answer in join_trace(calls, assumed):
                    heads.append(head_of(len(heads), answer))
                    answers.put("", answer)
            traces.close()
            chosen = link(heads, assumed)
            conversations = heaps.enter_context(_Heaps())
            for number, (_, answer) in enumerate(answers.all()):
                conversations.put(chosen[number], answer)
            answers.close()
            for name, calls in conversations.groups():
                self._report.conversations += 1
                yield from take_turns(name, calls, assumed)
        for what in [what for what, n in assumed.items() if not n]:
            del assumed[what]

    def format_turn(self, turn: TurnFields, line: int) -> bytes | None:
        """Spell a turn as one line, and count it; one that no worker could take in is refused."""
        if self._user_key is not None and turn.get("user_id"):
            turn["user_id"] = hash_user(turn["user_id"], self._user_key)
        try:
            formatted = orjson.dumps(turn)
            decode_turn(formatted)
        except orjson.JSONEncodeError as error:
            self._refuse(line, Refused(Reason.NOT_JSON, f"expected text in Unicode, got {error}"), turn.get("turn_id"))
            return None
        except Refused as error:
            self._refuse(line, error, turn.get("turn_id"))
            return None
        self._report.turns[turn["role"]] += 1
        return formatted

    def _parts(self, progress: Progress) -> Iterator[tuple[Call | TurnFields, int]]:
        """Give what the format reads in each record; a record that it cannot read is refused."""
        messages: list[Any] = []
        for item in self._items(progress):
            self._report.records += 1
            try:
                value = item.load()
                if isinstance(item.value, dict) and any("\ufffd" in cell for cell in item.value.values()):
                    self._report.assumed["lines with bytes that are no UTF-8, which were replaced"] += 1
                if self._format is not FORMATS[OWN] and is_bare_message(value):
                    messages.append(value)
                    continue
                parts = (part for each in as_records(value) for part in self._format.read(each, self._report.assumed))
                for number, part in enumerate(parts):
                    if isinstance(part, HumanScore):
                        if self._user_key is not None and part.rater:
                            part.rater = hash_user(part.rater, self._user_key)
                        self.human_scores.append(part)
                        self._report.human_scores += 1
                        continue
                    yield self._named(part, f"{item.line}.{number}" if number else f"{item.line}"), item.line
            except Refused as error:
                self._refuse(item.line, error, item.value)
            except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
                detail = f"expected a record of {self._report.format}, got one that is built otherwise: {error!r}"[:300]
                self._refuse(item.line, Refused(Reason.WRONG_TYPE, detail), item.value)
        if messages:
            if (key := repeated_key(messages)) is not None:
                file = self._report.name
                msg = (
                    f"{file}: expected messages that name their conversation, got no known name for it, but {key!r} "
                    f"repeats like one; `turnsignal convert {shlex.quote(file)} --propose mapping.toml` writes a "
                    "mapping"
                )
                raise TurnsignalError(msg)
            self._report.assumed["messages one a record, taken for one conversation"] += len(messages)
            for part in self._format.read({"messages": messages}, self._report.assumed):
                yield self._named(part, "1"), 1

    def _items(self, progress: Progress) -> Iterator[Item]:
        """Give the records of the file; where it is cut or damaged, those before that are kept."""
        line = 0
        try:
            for item in read_items(self._path, self._kind, progress):
                line = item.line
                yield item
        except TurnsignalError as error:
            self._refuse(line + 1, Refused(Reason.UNDECODABLE, str(error)), None)

    def _named(self, part: Call | TurnFields, standing: str) -> Call | TurnFields:
        """Give what has no id of its own one of its file and line."""
        if isinstance(part, Call):
            part.origin += f"{self._standing}.{standing}" if part.origin.endswith(":") else ""
        elif part.get("turn_id") in (None, ""):
            part["turn_id"] = f"{self._standing}:{standing}"
            self._report.assumed["turn_id is the file and line, where there is none"] += 1
        return part

    def _refuse(self, line: int, error: Refused, value: object) -> None:
        reason = str(error.reason)
        self._report.refused[reason] += 1
        self._report.first.setdefault(reason, (line, error.shown))
        letter = {"file": self._report.name, "line": line, "reason": reason, "detail": error.shown}
        if isinstance(value, str):
            letter["turn_id"] = value[:200]
        self._rejected.write(orjson.dumps(letter) + b"\n")


class _Heaps:
    """Calls on disk, dealt by the name of their group, so that each group can be taken whole."""

    def __init__(self, of: int = _HEAPS) -> None:
        self._files: list[IO[bytes]] = [SpooledTemporaryFile(_HELD) for _ in range(of)]  # noqa: SIM115 - until close
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(tuple[str, Call]).decode

    def __enter__(self) -> "_Heaps":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of everything."""
        for file in self._files:
            file.close()

    def put(self, group: str, call: Call) -> None:
        """Add a call to its group."""
        data = self._encode((group, call))
        file = self._files[crc32(group.encode("utf-8", "replace")) % len(self._files)]
        file.write(_LENGTH.pack(len(data)) + data)

    def all(self) -> Iterator[tuple[str, Call]]:
        """Give every call with its group, one heap after another, each in its order."""
        for file in self._files:
            yield from self._read(file)

    def groups(self) -> Iterator[tuple[str, list[Call]]]:
        """Give each group whole, one heap after another."""
        for file in self._files:
            groups: dict[str, list[Call]] = {}
            for group, call in self._read(file):
                groups.setdefault(group, []).append(call)
            yield from groups.items()

    def _read(self, file: IO[bytes]) -> Iterator[tuple[str, Call]]:
        file.seek(0)
        while length := file.read(_LENGTH.size):
            yield self._decode(file.read(_LENGTH.unpack(length)[0]))
