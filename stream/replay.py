"""Replay: recorded turns in event-time order → Run, through the partition processors that a worker uses.

Conversations are dealt out to a fixed number of partitions by checksum of their id, as a topic does it. Everything that
comes out depends on the partition alone, so any number of processes that share them give the same rows.
"""

import math
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, Protocol
from zlib import crc32

import msgspec
import orjson
from pydantic import TypeAdapter, ValidationError

from turnsignal.stream.conversations.clock import StreamClock
from turnsignal.stream.pipeline.agenda import Agenda
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.release_times import ReleaseTimes
from turnsignal.stream.records.turns import Role, Truth
from turnsignal.stream.records.wire import OutputRecord, Record
from turnsignal.stream.reports.run import Run
from turnsignal.stream.suite import Suite
from turnsignal.stream.text.timestamps import epoch_seconds

__all__ = [
    "FEEDBACK_TOPIC",
    "PARTITIONS",
    "TOPIC",
    "Indexer",
    "Line",
    "Mend",
    "PackedReplay",
    "Recorded",
    "Replay",
    "Run",
]

PARTITIONS = 32  #: conversations are dealt out to so many; also the most processes that can share a replay
TOPIC = "replay"  #: stands in score rows where a live row names its topic; the offset beside it is the line's number
FEEDBACK_TOPIC = "replay-feedback"  #: the same for feedback, whose lines are numbered on behind the turns
VERDICTS_TOPIC = "replay-verdicts"  #: the same for verdicts, behind the feedback

_BATCH = 512  #: lines that a partition works through at once
_BATCH_BYTES = 4_000_000
#: Key of a line whose conversation cannot be read: it becomes a dead letter, whose reason is the line's own.
_NOBODY = b"?"

_DATETIME: TypeAdapter[datetime] = TypeAdapter(datetime)


class Line(Record, Protocol):
    """One line on its way to a partition. key: conversation id; size: bytes of it that wait in memory."""

    @property
    def key(self) -> bytes: ...  # noqa: D102
    @property
    def time(self) -> float: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102


class Recorded(NamedTuple):
    """A line with its value; sorts by event time, then by its place in the input.

    time: event time, seconds since 1970; offset: number of the line over all files, from 0; key: conversation id;
    value: the line; timestamp: milliseconds, the event time or the present, whichever is earlier.
    """

    time: float
    offset: int
    key: bytes
    value: bytes
    timestamp: int

    @property
    def size(self) -> int:
        """Bytes of the line."""
        return len(self.value)


class Mend(Protocol):
    """Spell a line of turns, by its number over all files, as a topic takes it; None where it stays as it is.

    zoneless: it deviates by no more than that its time has no zone, which is to be counted.
    """

    def __call__(self, line: bytes, offset: int, *, zoneless: bool = False) -> bytes | None: ...  # noqa: D102


class Indexer:
    """Find out whose a line is and when it was said, and decode no more of it.

    now: the present, seconds since 1970; keep: says of a partition whether its lines are wanted; end: the largest event
    time of all lines so far, wanted or not, and not beyond the present; lines: how many there were; feedback_from:
    number of the first line of feedback, None as long as there is none: it comes from files of its own, after all
    turns; verdicts_from: the same of verdicts, after all feedback; mend: asked for each line of turns that deviates,
    None: such lines stay as they are. A line whose time cannot be read stays beside the one before it in its partition.
    """

    def __init__(self, now: float, keep: Callable[[int], bool] = lambda _: True, mend: Mend | None = None) -> None:
        self._latest = round(now * 1000)
        self._kept = [keep(partition) for partition in range(PARTITIONS)]
        self._last = [0.0] * PARTITIONS
        self.lines = 0
        self.end = -math.inf
        self.feedback_from: int | None = None
        self.verdicts_from: int | None = None
        self._mend = mend

    def is_feedback(self, line: Record) -> bool:
        """Say whether a line is of a file of feedback."""
        return self.feedback_from is not None and line.offset >= self.feedback_from and not self.is_verdict(line)

    def is_verdict(self, line: Record) -> bool:
        """Say whether a line is of a file of verdicts."""
        return self.verdicts_from is not None and line.offset >= self.verdicts_from

    def split(self, lines: list[Line]) -> tuple[list[Line], list[Line], list[Line]]:
        """Return lines of turns, of feedback and of verdicts apart, each in their order."""
        if self.feedback_from is None and self.verdicts_from is None:
            return lines, [], []
        feedback = [line for line in lines if self.is_feedback(line)]
        verdicts = [line for line in lines if self.is_verdict(line)]
        return [line for line in lines if not (self.is_feedback(line) or self.is_verdict(line))], feedback, verdicts

    def index(self, lines: Iterable[bytes]) -> Iterator[Recorded]:
        """Give the wanted lines, in their order; empty ones are counted and left out."""
        last, kept, latest, present = self._last, self._kept, self._latest, self._latest / 1000
        mend = self._mend if self.feedback_from is None else None
        read_head = _read_head if mend is None else _read_turn_head
        if self.verdicts_from is not None:
            read_head = _read_verdict_head
        offset = self.lines - 1
        for offset, line in enumerate(lines, self.lines):
            if not line:
                continue
            try:
                head = read_head(line)
                key = head.conversation_id.encode() or _NOBODY
                stamp: datetime | None = head.timestamp
                if mend is not None and head.timestamp.tzinfo is None:
                    mend(line, offset, zoneless=True)
            except (msgspec.MsgspecError, ValueError, OverflowError, OSError, RecursionError):
                if mend is not None:
                    line = mend(line, offset) or line
                key, stamp = _slow_head(line)
            partition = crc32(key) % PARTITIONS
            time = last[partition] if stamp is None else epoch_seconds(stamp)
            last[partition] = time
            if time > self.end and stamp is not None:
                self.end = min(time, present)
            if not kept[partition]:
                continue
            yield Recorded(time, offset, key, line, min(int(time * 1000), latest))
        self.lines = offset + 1


class _LineHead(msgspec.Struct, gc=False):
    """What is to be known of a line before its turn comes."""

    conversation_id: str
    timestamp: datetime


class _DocumentHead(msgspec.Struct, gc=False):
    doc_id: str


class _TurnHead(_LineHead, gc=False):
    """The same, where every field has the shape that a topic takes."""

    turn_id: str
    role: Role
    text: str
    version: str | None = None
    user_id: str | None = None
    retrieved: list[_DocumentHead] = []
    truth: Truth | None = None


class _VerdictHead(msgspec.Struct, gc=False):
    """The same of a verdict, which has the time of its exchange."""

    conversation_id: str
    time: float

    @property
    def timestamp(self) -> datetime:
        return datetime.fromtimestamp(self.time, UTC)


_read_verdict_head: Any = msgspec.json.Decoder(_VerdictHead).decode
_read_head: Callable[[bytes], _LineHead] = msgspec.json.Decoder(_LineHead).decode
_read_turn_head: Callable[[bytes], _LineHead] = msgspec.json.Decoder(_TurnHead).decode


def _slow_head(line: bytes) -> tuple[bytes, datetime | None]:
    """Best effort: key and timestamp of a line that the fast path could not read."""
    try:
        data = orjson.loads(line)
    except orjson.JSONDecodeError:
        return _NOBODY, None
    fields = data if isinstance(data, dict) else {}
    named = fields.get("conversation_id")
    key = named.encode() if isinstance(named, str) and named else _NOBODY
    try:
        return key, _DATETIME.validate_python(fields.get("timestamp"))
    except ValidationError:
        return key, None


class PackedReplay(NamedTuple):
    """A replay at rest between two batches, which can be pickled: see `Replay.pack`."""

    runs: dict[int, Run]
    partitions: dict[int, tuple[MutableMapping[bytes, bytes], StreamClock, Agenda]]
    waiting: list[list[Recorded]]
    sizes: list[int]
    release_times: ReleaseTimes | None = None


class Replay:
    """Feed recorded turns, with feedback and verdicts among them, to their partitions.

    runs: partition → what came of it so far; environment: which one moves the figures, None is production; indexer:
    tells which lines are feedback or verdicts, None where none are; released: event times of releases, which name that
    of answers without a version.
    """

    def __init__(
        self,
        suite: Suite,
        environment: str | None = None,
        indexer: Indexer | None = None,
        released: Sequence[float] = (),
    ) -> None:
        self.runs: dict[int, Run] = {}
        self._environment = environment
        self._indexer = indexer
        self._release_times = ReleaseTimes(released, suite.limits.forgotten_after) if released else None
        self._suite = suite
        self._processors: dict[int, PartitionProcessor] = {}
        self._waiting: list[list[Line]] = [[] for _ in range(PARTITIONS)]
        self._sizes = [0] * PARTITIONS

    def pack(self) -> PackedReplay:
        """Return everything that the rest of the replay depends on; call between two batches of `feed`."""
        partitions = {
            number: (processor.store, processor.clock, processor.agenda)
            for number, processor in self._processors.items()
        }
        waiting = [
            [Recorded(line.time, line.offset, line.key or b"", line.value or b"", line.timestamp) for line in lines]
            for lines in self._waiting
        ]
        return PackedReplay(self.runs, partitions, waiting, self._sizes, self._release_times)

    def unpack(self, packed: PackedReplay) -> None:
        """Go on from what `pack` returned, with the same suite; call before the first `feed`."""
        self.runs, self._release_times = packed.runs, packed.release_times
        self._waiting, self._sizes = [[*lines] for lines in packed.waiting], packed.sizes
        for number, (store, clock, agenda) in packed.partitions.items():
            self.runs[number].aggregates.attach(self._suite)
            processor = self._processors[number] = self._new_processor(self.runs[number])
            processor.store, processor.clock, processor.agenda = store, clock, agenda

    def feed(self, records: Iterable[Line]) -> Iterator[tuple[int, list[OutputRecord]]]:
        """Work through records in their order; give what each batch of a partition wrote."""
        waiting, sizes = self._waiting, self._sizes
        for record in records:
            number = crc32(record.key) % PARTITIONS
            lines = waiting[number]
            lines.append(record)
            sizes[number] += record.size
            if len(lines) >= _BATCH or sizes[number] >= _BATCH_BYTES:
                yield number, self._work(number)

    @property
    def waiting(self) -> int:
        """Number of records that were taken in and not worked through yet."""
        return sum(map(len, self._waiting))

    def finish(self, end: float = math.inf) -> Iterator[tuple[int, list[OutputRecord]]]:
        """Work through what waits, and close every conversation that is open.

        end: event time at which the recording ends, which cuts those that were not idle for long enough, unless the
        suite says that all of them are whole; without it they are.
        """
        if self._suite.aggregates.whole:
            end = math.inf
        for number in range(PARTITIONS):
            if self._waiting[number]:
                yield number, self._work(number)
            if number in self._processors:
                yield number, self._accept(number, self._processors[number].close_all(end))
                self.runs[number].aggregates.finish()

    def _work(self, number: int) -> list[OutputRecord]:
        processor = self._processors.get(number)
        if processor is None:
            run = self.runs[number] = Run(self._suite, self._environment)
            processor = self._processors[number] = self._new_processor(run)
        records, self._waiting[number], self._sizes[number] = self._waiting[number], [], 0
        turns, feedback, verdicts = (records, [], []) if self._indexer is None else self._indexer.split(records)
        # No wall clock: only event times carry a replay on.
        return self._accept(number, processor.process(turns, 0.0, feedback=feedback, verdicts=verdicts))

    def _new_processor(self, run: Run) -> PartitionProcessor:
        return PartitionProcessor(
            self._suite,
            topic=TOPIC,
            feedback_topic=FEEDBACK_TOPIC,
            verdicts_topic=VERDICTS_TOPIC,
            observer=run.aggregates,
            environment=self._environment,
            release_times=self._release_times,
        )

    def _accept(self, number: int, result: BatchResult) -> list[OutputRecord]:
        self._processors[number].accept(result)
        self.runs[number].add(result)
        return result.outputs
