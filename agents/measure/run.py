"""Measuring: score folders of labelled turns with the pipeline, and compare the scores with the labels.

Labels are removed from each line before anything else reads it. The lines are then replayed as usual; only the
comparisons get the labels, together with the score rows of the replay.
"""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording, Sorted, read_lines
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.process.memory import kept_memory
from turnsignal.agents.python_checks.host import hosted
from turnsignal.stream.agreement.comparisons import Comparison, LabelledRecord, comparison, needs_rows
from turnsignal.stream.agreement.figures import RESAMPLES
from turnsignal.stream.agreement.mappings import OF_TURNS, Labels, Mapping, VerdictLabels, parse_mapping, without
from turnsignal.stream.agreement.measurements import Measurement, measurement, with_false_alarms
from turnsignal.stream.agreement.verdicts import VerdictsCompared
from turnsignal.stream.errors import ConfigError, Refused, describe_unreadable
from turnsignal.stream.records.feedback import decode_feedback
from turnsignal.stream.records.turns import decode_turn
from turnsignal.stream.records.verdicts import Verdict
from turnsignal.stream.records.wire import SCORES
from turnsignal.stream.replay import Indexer, Replay
from turnsignal.stream.suite import Suite

MAPPING = "mapping.toml"
AS_IT_STANDS = HowToRead(strict=True)
_BLOCK = 1000  #: lines that are taken at once
_PATTERNS = ("turns*.jsonl", "turns*.jsonl.gz")
_FEEDBACK = ("feedback*.jsonl", "feedback*.jsonl.gz")


@dataclass(slots=True)
class MeasuredSet:
    """The measurements of one folder. dead_letters: lines that could not be read; note: why nothing was measured."""

    name: str
    title: str = ""
    turns: int = 0
    conversations: int = 0
    dead_letters: int = 0
    measurements: list[Measurement] = field(default_factory=list)
    note: str = ""


def find_sets(folders: Sequence[Path]) -> list[Path]:
    """Return the folders that hold turns: each given folder, or the folders directly in it.

    Raises ConfigError for a folder without files of turns, and for two folders of the same name.
    """
    sets: list[Path] = []
    for folder in folders:
        inside = [folder] if turn_files(folder) else [sub for sub in sorted(folder.iterdir()) if turn_files(sub)]
        if not inside:
            msg = f"{folder}: expected turns*.jsonl or turns*.jsonl.gz in it, or in the folders in it; got neither"
            turns = shlex.quote(str(folder / "turns.jsonl"))
            msg += f"; of other logs, `turnsignal convert FILE --out {turns}` makes them"
            raise ConfigError(msg)
        sets += inside
    names: dict[str, Path] = {}
    for path in sets:
        if path.resolve().name in names:
            msg = f"{path}: expected folders of different names, got {names[path.resolve().name]} as well"
            raise ConfigError(msg)
        names[path.resolve().name] = path
    return sets


def turn_files(folder: Path) -> list[Path]:
    """Return a folder's files of turns, by name."""
    return sorted(path for pattern in _PATTERNS for path in folder.glob(pattern)) if folder.is_dir() else []


def set_files(folder: Path, mappings: Path | None) -> list[Path]:
    """Return every file that measuring a folder reads, whether it is there or not."""
    feedback = [path for pattern in _FEEDBACK for path in folder.glob(pattern)]
    return [*turn_files(folder), *feedback, *_mapping_files(folder, mappings)]


def _mapping_files(folder: Path, mappings: Path | None) -> list[Path]:
    return ([mappings / f"{folder.resolve().name}.toml"] if mappings else []) + [folder / MAPPING]


def read_votes(folder: Path) -> dict[tuple[str, str], int]:
    """Return the newest vote on each turn, by conversation and turn id, from a folder's feedback files."""
    newest: dict[tuple[str, str], tuple[float, str, int]] = {}
    for path in sorted(path for pattern in _FEEDBACK for path in folder.glob(pattern)):
        for _, lines in read_lines(path):
            for line in filter(None, lines):
                with suppress(Refused):
                    feedback = decode_feedback(line)
                    if feedback.vote is not None:
                        key = feedback.conversation_id, feedback.turn_id
                        vote = feedback.time, feedback.id, feedback.vote
                        newest[key] = max(newest.get(key, vote), vote)
    return {key: vote for key, (_, _, vote) in newest.items()}


def choose_mapping(folder: Path, mappings: Path | None) -> Mapping:
    """Return the mapping of a folder: from `mappings` by its name, else its own file, else the labels in turns.

    Raises ConfigError naming file and key when a mapping is wrong.
    """
    for path in _mapping_files(folder, mappings):
        if path.is_file():
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                msg = f"{path}: expected a mapping in TOML, got {describe_unreadable(error)}"
                raise ConfigError(msg) from None
            return parse_mapping(text, str(path))
    return OF_TURNS


def measure_sets(
    folders: Sequence[Path],
    mappings: Path | None,
    suite: Suite,
    now: float,
    *,
    resamples: int = RESAMPLES,
    how: HowToRead = AS_IT_STANDS,
    verdicts: Sequence[Verdict] = (),
    progress: Callable[[int], None] = lambda _: None,
) -> list[MeasuredSet]:
    """Measure each folder, in the given order.

    now: the present, seconds since 1970; resamples: draws for the intervals, 0 for none; how: what the files hold;
    verdicts: of judges, for blocks of [[verdicts]]; progress: called with the number of bytes read. Raises ConfigError
    for a wrong mapping before anything is measured, TurnsignalError for a label that does not match its mapping.
    """
    chosen = [(folder, choose_mapping(folder, mappings)) for folder in folders]
    for folder, mapping in chosen:
        mapping.suited(suite, folder.name)
    measured = [_measure(folder, mapping, suite, now, resamples, how, verdicts, progress) for folder, mapping in chosen]
    _lend_negatives(measured, [mapping for _, mapping in chosen], resamples)
    return measured


def _measure(
    folder: Path,
    mapping: Mapping,
    suite: Suite,
    now: float,
    resamples: int,
    how: HowToRead,
    verdicts: Sequence[Verdict],
    progress: Callable[[int], None],
) -> MeasuredSet:
    name = folder.resolve().name
    out = MeasuredSet(name, mapping.title)
    if mapping.no_evaluator is not None:
        out.note = f"no evaluator yet: {mapping.no_evaluator}"
        progress(Recording(turn_files(folder)).size)
        return out
    suited = mapping.suited(suite, name)
    pairs = [(labels, _compare(labels, suited, verdicts)) for labels in mapping.parts if verdicts or _is_scored(labels)]
    if mapping.parts and not pairs:
        out.note = "labels of verdicts only: make some with `turnsignal judge … --out FILE`, then --verdicts FILE"
        progress(Recording(turn_files(folder)).size)
        return out
    reading = LabelledRecording(folder, mapping, pairs, progress, how)
    replayed = [compared for labels, compared in pairs if needs_rows(labels)]
    if replayed:
        for row in reading.replay(suited, now):
            for compared in replayed:
                compared.on_row(row)
    else:
        for _ in reading.lines():
            pass
    out.turns, out.conversations, out.dead_letters = reading.turns, len(reading.conversations), reading.dead_letters
    for labels, compared in pairs:
        outcome = compared.get()
        if outcome.labelled:
            out.measurements.append(measurement(name_of(name, labels), labels, outcome, resamples))
    if not out.measurements:
        paths = ", ".join(dict.fromkeys(part.label for part in mapping.parts))
        looked = f"looked at {paths}" if paths else "its mapping has no block"
        out.note = f"no labels found ({looked})" if out.turns else "no turns found"
    return out


def _compare(labels: Labels, suite: Suite, verdicts: Sequence[Verdict]) -> Comparison:
    return VerdictsCompared(labels, verdicts) if isinstance(labels, VerdictLabels) else comparison(labels, suite)


def _is_scored(labels: Labels) -> bool:
    return not isinstance(labels, VerdictLabels)


class LabelledRecording:
    """One pass over a folder: comparisons get the labels, the replay gets the lines without them.

    A vote in a feedback file is a label of its turn and replaces the vote in the turn itself.

    pairs: blocks of the mapping, each with its comparison; how: what the files hold. turns: lines so far;
    conversations: their ids; dead_letters: lines that could not be read.
    """

    def __init__(
        self,
        folder: Path,
        mapping: Mapping,
        pairs: Sequence[tuple[Labels, Comparison]],
        progress: Callable[[int], None] = lambda _: None,
        how: HowToRead = AS_IT_STANDS,
    ) -> None:
        self._how = how
        self.turns = self.dead_letters = 0
        self.conversations: set[str] = set()
        self._files = turn_files(folder)
        self._votes = read_votes(folder)
        self._hidden = mapping.hidden
        self._pairs = pairs
        self._progress = progress

    def lines(self) -> Iterator[list[bytes]]:
        """Yield the lines of the folder without their labels, and hand each record to the comparisons."""
        with Imported(self._files, self._how) as imported:
            recording = Recording(imported.sources, self._progress)
            lines = recording.lines()
            while block := list(islice(lines, _BLOCK)):
                yield [self._read_line(line, *recording.where(offset)) for line, offset in block]

    def replay(self, suite: Suite, now: float) -> Iterator[dict[str, Any]]:
        """Yield the score rows of a replay of `lines`."""
        indexer = Indexer(now)
        with kept_memory(), hosted(suite) as ready, Sorted() as records:
            records.add_copies(self.lines(), indexer)
            replay = Replay(ready)
            for outputs in (replay.feed(records), replay.finish()):
                for _, batch in outputs:
                    for output in batch:
                        if output.topic == SCORES and output.value is not None:
                            yield orjson.loads(output.value)
        self.dead_letters = sum(run.dead_letters.total() for run in replay.runs.values())

    def _read_line(self, line: bytes, path: str, number: int) -> bytes:
        """Hand a line's record to the comparisons and return the line without its labels."""
        self.turns += 1
        try:
            record = orjson.loads(line)
            clean = orjson.dumps(without(record, self._hidden)) if isinstance(record, dict) else line
        except (orjson.JSONDecodeError, orjson.JSONEncodeError):
            return b"{}"  # becomes a dead letter: labels cannot be removed from a line that cannot be read
        if isinstance(record, dict):
            self.conversations.add(str(record.get("conversation_id")))
            voted = self._votes.get((str(record.get("conversation_id")), str(record.get("turn_id"))))
            record = record if voted is None else {**record, "vote": voted}
            labelled = LabelledRecord(record, partial(decode_turn, clean), f"{path}:{number}")
            for labels, compared in self._pairs:
                if labels.holds(record):
                    self._show(labelled, compared)
        return clean

    def _show(self, labelled: LabelledRecord, compared: Comparison) -> None:
        try:
            compared.on_record(labelled)
        except Refused:
            self.dead_letters += 1


def _lend_negatives(measured: Sequence[MeasuredSet], mappings: Sequence[Mapping], resamples: int) -> None:
    """Compute the false alarm rates of sets without continuations, on those of the sets that their mappings name."""
    lenders = {
        folder.name: figures
        for folder in measured
        for figures in reversed(folder.measurements)
        if figures.continuations
    }
    for folder, mapping in zip(measured, mappings, strict=True):
        wanting = {name_of(folder.name, part): part.negatives for part in mapping.follow_ups}
        for figures in folder.measurements:
            lender = lenders.get(wanting.get(figures.name) or "")
            if lender is not None and not figures.continuations:
                with_false_alarms(figures, lender.continuations, lender.name, resamples)


def as_json(measured: Sequence[MeasuredSet]) -> dict[str, dict[str, dict[str, float | int | None]]]:
    """Return {set: {figure: {value, low, high, n}}}; a named block of a mapping is the set `set/name`."""
    out: dict[str, dict[str, dict[str, float | int | None]]] = {}
    for figures in [figures for folder in measured for figures in folder.measurements]:
        out.setdefault(figures.name, {}).update((name, asdict(figure)) for name, figure in figures.figures.items())
    return out


def name_of(folder: str, labels: Labels) -> str:
    """Return a comparison's name: its folder, and its block's name if it has one."""
    return f"{folder}/{labels.name}" if labels.name else folder
