"""Format reading: files of one format, read as if they were one, on their way to turns.

Records are dealt into heaps by trace, traces into heaps by conversation, and conversations become turns, so that each
pass holds a share of the files in memory. What cannot be read becomes a dead letter with its file, line and reason.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, NamedTuple

import msgspec
import orjson

from turnsignal.agents.files.blocks import Progress
from turnsignal.agents.files.containers import Kind, read_items, sample_of
from turnsignal.agents.files.dealt_rows import DealtRows
from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.flat_rows import FlatRows
from turnsignal.agents.files.heaps import Heaps, frames_first
from turnsignal.agents.files.items import CUT_OFF, Item
from turnsignal.agents.files.joining import CallJoiner
from turnsignal.agents.files.loose_messages import LooseMessages
from turnsignal.agents.files.reading import Origin, origin_of
from turnsignal.agents.files.recognising import HowToRead, as_records, is_bare_message
from turnsignal.agents.files.spool import Spool
from turnsignal.agents.files.users import HiddenUsers
from turnsignal.stream.errors import Reason, Refused, TurnsignalError
from turnsignal.stream.formats import FORMATS, OWN
from turnsignal.stream.formats.assembly import group_of
from turnsignal.stream.formats.call_order import CallOrder
from turnsignal.stream.formats.feedback_stats import without_stats
from turnsignal.stream.formats.found_in_runs import FoundInRuns
from turnsignal.stream.formats.human_scores import HumanScore
from turnsignal.stream.formats.mapping import FormatMapping, describe_key, take_missing, take_warnings
from turnsignal.stream.formats.messages import leave_thoughts_out
from turnsignal.stream.formats.pasted import PastedDocuments
from turnsignal.stream.formats.protocol import Call, LogFormat, Row, TurnFields
from turnsignal.stream.formats.repeats import UsualFrames
from turnsignal.stream.formats.row_doubts import RowDoubts
from turnsignal.stream.formats.silence import doubt_answers, doubt_sides, explain_silence
from turnsignal.stream.formats.strangers import Strangers
from turnsignal.stream.formats.times import BACKWARDS, are_timeless, take_doubts
from turnsignal.stream.formats.turns import take_turns
from turnsignal.stream.formats.values import object_id_time
from turnsignal.stream.records.turns import decode_turn

_NAMED_KEYS = 20  #: fields of records that are named where a mapping names others
_CELLS = 500  #: bytes of a row of CSV, about
DEALING = 0.5  #: of the bytes that progress is told: those that count as they are read; the others, as turns are made


class GivenFile(NamedTuple):
    """One file. named: as a person knows it; path: where it is read."""

    named: Path
    path: Path
    kind: Kind


class FilesOfFormat(NamedTuple):
    """Files of one format, to be read as one."""

    format: LogFormat
    report: FileReport
    files: list[GivenFile]


class FormatReading:
    """Files of one format on their way to turns. Their lines are counted through, from the first file's first."""

    def __init__(self, together: FilesOfFormat, rejected: IO[bytes], how: HowToRead, users: HiddenUsers | None) -> None:
        self.has_times = False
        self.human_scores = Spool(msgspec.msgpack.Decoder(HumanScore))
        self._summed = 0  # of these scores, those that count only where the feedback itself is not given
        self.origins: list[Origin] = []
        self._files = together.files
        self._rows = FlatRows([file[1:] for file in together.files], together.format, together.report.assumed)
        self._row_doubts = RowDoubts()
        self._pasted = PastedDocuments()
        self._found_in_runs = FoundInRuns()
        self._format = together.format
        self._has_loose = self._format is not FORMATS[OWN] and not isinstance(self._format, FormatMapping)
        self._report = together.report
        self._rejected = rejected
        self._joiner = CallJoiner(together.report.assumed, keeps_asides=how.keeps_asides)
        self._users = users
        self._named_before = users.turns if users is not None else 0
        self._strangers = Strangers(together.report.format)
        self._lines = 0  # that were read until now, of all files
        self._empty = 0  # answers without a text
        self._lost: list[str] = []  # of files that are cut or damaged, what is missing
        self._line_of = array("Q")  # of each call, in the order in which they stand
        self._order = CallOrder()
        self._stems: Counter[str] = Counter()  # what ids begin with that are made here → files that wanted it

    def turns(self, progress: Progress) -> Iterator[tuple[TurnFields, int]]:
        """Give the turns of the files, each with its line."""
        with ExitStack() as heaps:
            traces = heaps.enter_context(Heaps(kind=Call))
            rows = heaps.enter_context(DealtRows(self._row_doubts))
            yield from self._deal(traces, rows, lambda by: progress(int(by * DEALING)))
            self._order.begin()
            yield from rows.turns(self._report.assumed)
            rows.close()
            conversations = heaps.enter_context(Heaps(kind=Call))
            answers = self._joiner.join(traces, conversations)
            size = sum(file.path.stat().st_size for file in self._files) * (1 - DEALING)
            done, frames = 0, UsualFrames()
            groups = (
                frames_first(conversations, heaps.enter_context(Heaps(kind=Call))) if self._joiner.repeats else None
            )
            for name, calls in groups or conversations.groups():
                self._report.conversations += 1
                numbers = self._order.put_right(calls, self._line_of, self._report.assumed)
                self._joiner.add_conversation(calls)
                turns = take_turns(
                    name,
                    calls,
                    self._report.assumed,
                    repeats=self._joiner.repeats,
                    frames=frames,
                    answering=self._joiner.answering,
                )
                yield from self._in_order(calls, turns, numbers)
                progress(int(size * (done + len(calls)) / answers) - int(size * done / answers))
                done += len(calls)
        self._conclude()

    def _deal(self, traces: Heaps[Call], rows: DealtRows, progress: Progress) -> Iterator[tuple[TurnFields, int]]:
        """Put the calls of the files into heaps by trace, and rows by conversation; one that no heap takes is given."""
        for part, line in self._parts(progress):
            if not isinstance(part, Call):
                self.has_times = self.has_times or _has_time(part)
                if not rows.take(part, line) and not isinstance(part, Row):
                    yield part, line
                continue
            if self._found_in_runs.takes(part):
                continue
            self._line_of.append(line)
            part.line = len(self._line_of)  # not the line, in which many may stand
            self._order.add(part)
            self._joiner.add(part)
            self.has_times = self.has_times or part.start is not None or any(m.time for m in part.inputs)
            try:
                traces.put(group_of(part), part)
            except (RecursionError, OverflowError, TypeError, ValueError) as error:
                detail = f"expected a record of some depth, got {type(error).__name__}"
                self._refuse(line, Refused(Reason.TOO_DEEP, detail, actual=str(error)[:300]), None)

    def _in_order(
        self, calls: Sequence[Call], turns: Iterator[tuple[TurnFields, int]], numbers: Mapping[int, int]
    ) -> Iterator[tuple[TurnFields, int]]:
        """Give a conversation's turns, and count it where the order in which they stand looks reversed.

        numbers: of the calls, as they stand in the files.
        """
        roles: list[str] = []  # of the first turn and of the last
        for turn, line in turns:
            roles[1:] = [turn["role"]]
            self._pasted.add(turn)
            yield turn, self._line_of[numbers[line] - 1]
        self._report.assumed[BACKWARDS] += roles == ["assistant", "user"] and are_timeless(calls)

    def _conclude(self) -> None:
        """Say what the files lack; raises TurnsignalError for what a mapping names and no record has."""
        assumed = self._report.assumed
        if self._report.human_scores > self._summed:
            without_stats(assumed, self._summed)
            self._report.human_scores -= self._summed
        if missing := take_missing(assumed):
            raise TurnsignalError(self._describe_missing(missing))
        conversations = self._report.conversations + self._row_doubts.conversations
        if self._strangers.count and self._report.turns:
            self._report.warnings.clear()  # who asked for one of several formats has it
        self._report.warnings += (
            self._lost
            + self._rows.end()
            + self._row_doubts.doubts(assumed)
            + self._strangers.warnings(self._report.files)
            + take_warnings(assumed)
            + take_doubts(assumed, conversations, quoted=self._users is None)
        )
        report = self._report
        report.strangers = self._strangers.count
        turns = report.turns.total()
        why = explain_silence(report.format, assumed, conversations, turns, report.human_scores)
        report.warnings += [why] if why is not None else []
        report.warnings += doubt_answers(self._empty, report.turns["assistant"])
        report.warnings += doubt_sides(report.turns) if self._row_doubts.conversations and why is None else []
        report.warnings += self._joiner.doubts(quoted=self._users is None)
        report.warnings += self._pasted.doubts(quoted=self._users is None)
        if self._users is not None and turns:
            report.warnings += self._users.doubts(self._named_before)
        for what in [what for what, n in assumed.items() if not n]:
            del assumed[what]

    def format_turn(self, turn: TurnFields, line: int) -> bytes | None:
        """Spell a turn as one line, and count it; one that no worker could take in is refused."""
        try:
            turn = turn if self._users is None else self._users.hide(turn)
            turn = leave_thoughts_out(turn, self._report.assumed)
            formatted = orjson.dumps(turn)
            decode_turn(formatted)
        except orjson.JSONEncodeError as error:
            self._refuse(line, Refused(Reason.NOT_JSON, f"expected text in Unicode, got {error}"), turn.get("turn_id"))
            return None
        except Refused as error:
            self._refuse(line, error, turn.get("turn_id"))
            return None
        self._report.turns[turn["role"]] += 1
        self._report.votes += turn.get("vote") is not None
        self._empty += turn["role"] == "assistant" and not turn["text"].strip()
        return formatted

    def _parts(self, progress: Progress) -> Iterator[tuple[Call | TurnFields | Row, int]]:
        """Yield the turns that the format reads in each file, each with its line, counted through all files."""
        for file in self._files:
            before = self._lines
            self.origins.append(Origin(file.named, before))
            stem = self._stem_of(file.path)
            self._rows.begin(file.path, file.kind)
            self._order.begin()
            loose = LooseMessages(str(file.named), self._report.assumed)
            for item in self._items(file, before, progress):
                for number, part in enumerate(self._parts_of(item, item.line - before, loose)):
                    yield self._named(part, stem, f"{item.line - before}" + (f".{number}" if number else "")), item.line
                if loose.are_full:
                    yield from self._joined(loose, stem, before)
            if loose:
                yield from self._joined(loose, stem, before)

    def _joined(self, loose: LooseMessages, stem: str, before: int) -> Iterator[tuple[Call | TurnFields | Row, int]]:
        """Yield the conversation that messages are which stood alone, with the line of the first."""
        begun = loose.begun
        for part in self._format.read(loose.take(), self._report.assumed):
            yield self._named(part, stem, f"{begun}"), before + begun

    def _parts_of(self, item: Item, line: int, loose: LooseMessages) -> Iterator[Call | TurnFields | Row]:
        """Yield the turns that the format reads in a record; a record that it cannot read is refused.

        line: in its file; loose: takes the messages that stand alone, one a record.
        """
        self._report.records += 1
        is_begun = False
        try:
            value = item.load(self._report.assumed)
            if isinstance(item.value, dict) and any("\ufffd" in cell for cell in item.value.values()):
                self._report.assumed["lines with bytes that are no UTF-8, which were replaced"] += 1
            if self._has_loose and is_bare_message(value):
                loose.put(value, line, len(item.value) if isinstance(item.value, bytes) else _CELLS)
                return
            for record in as_records(value):
                for part in self._strangers.watch(record, self._format.read(record, self._report.assumed)):
                    is_begun = True
                    if isinstance(part, HumanScore):
                        self._take_score(part)
                    else:
                        yield part
        except Refused as error:
            self._refuse(item.line, error, item.value, is_begun=is_begun)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
            detail = f"expected a record of {self._report.format}, got one that is built otherwise"
            self._refuse(item.line, Refused(Reason.WRONG_TYPE, detail, actual=repr(error)[:300]), item.value)

    def _describe_missing(self, missing: list[str]) -> str:
        """Say which paths of a mapping lead nowhere, and what the records have."""
        sample = sample_of(self._files[0].path, self._files[0].kind, as_records)
        keys = list(dict.fromkeys(describe_key(key) for record in sample for key in record))[:_NAMED_KEYS]
        return (
            f"{self._report.name}: expected what the mapping names, {', '.join(missing)}; got {self._report.records:,} "
            f"records, none of which has it; they have {', '.join(keys) or 'nothing'}; name one of these in the mapping"
        )

    def _take_score(self, score: HumanScore) -> None:
        if self._users is not None and score.rater:
            score.rater = self._users.digest(score.rater)
        self.human_scores.put(score)
        self._report.human_scores += 1
        self._summed += score.summed

    def _items(self, file: GivenFile, before: int, progress: Progress) -> Iterator[Item]:
        """Give the records of a file; where it is cut or damaged, those before that are kept."""
        try:
            for item in read_items(file.path, file.kind, progress):
                self._lines = before + item.line
                if item.value is CUT_OFF:
                    whole = f"{file.named}: expected {file.kind.value} to its end, got a file that ends early"
                    self._note_cut(f"{whole}, within line {item.line:,}; fetch or write it again")
                yield item._replace(line=self._lines)
        except TurnsignalError as error:
            read = self._lines - before
            self._note_cut(f"{error}: all that stood in it behind line {read:,} is missing, however much that is")
            self._lines += 1
            self._refuse(self._lines, Refused(Reason.UNDECODABLE, str(error)), None)

    def _note_cut(self, what: str) -> None:
        self._lost.append(what)
        self._report.is_cut = True

    def _stem_of(self, path: Path) -> str:
        """Return the prefix of ids that are made for a file: its name, with a number where another has the same."""
        stem = path.name.partition(".")[0]
        self._stems[stem] += 1
        return stem if self._stems[stem] == 1 else f"{stem}-{self._stems[stem]}"

    def _named(self, part: Call | TurnFields | Row, stem: str, standing: str) -> Call | TurnFields | Row:
        """Give what has no id of its own one of its file and line."""
        if isinstance(part, Call):
            part.origin += f"{stem}.{standing}" if part.origin.endswith(":") else ""
        elif isinstance(part, Row) and part.step:
            self._rows.set_time(part.turn)
        else:
            self._rows.take(part.turn if isinstance(part, Row) else part, f"{stem}:{standing}")
        return part

    def _refuse(self, line: int, error: Refused, value: object, *, is_begun: bool = False) -> None:
        """Keep why a record is not read. is_begun: parts of it are."""
        reason = str(error.reason)
        self._report.refused[reason] += 1
        name, line = origin_of(self.origins, line)
        detail = error.shown if self._users is None else error.detail  # what came may name the user
        self._report.first.setdefault(reason, (line, detail))
        letter = {"file": name, "line": line, "reason": reason, "detail": detail}
        letter |= {"in_part": True} if is_begun else {}
        if isinstance(value, str) and self._users is None:
            letter["turn_id"] = value[:200]
        self._rejected.write(orjson.dumps(letter) + b"\n")


def _has_time(part: TurnFields | Row) -> bool:
    """Say whether a row was logged with its time, or under an id that has one."""
    return not isinstance(part, Row) or part.made is None or object_id_time(part.made) is not None
