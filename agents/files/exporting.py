"""Exporting: what a topic holds, by the time at which it came in, as a file of JSON lines.

Partition by partition, so that the same range gives the same file. It is written beside its final name, with a note of
how far it is; an export that was interrupted goes on from there.
"""

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Self

import msgspec
import orjson

from turnsignal.agents.files.dead_letters import encode_kept_letter
from turnsignal.agents.files.writing import write_file
from turnsignal.agents.kafka.log_records import LogRecord
from turnsignal.agents.kafka.logs import Ranges, find_held_back, find_log, find_offsets, find_topic_id, read_log
from turnsignal.agents.kafka.topics import TOPICS, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.records.wire import DEAD_LETTERS

#: topics that can be exported: what stands on them are records, and no state
EXPORTED = tuple(topic.name for topic in TOPICS if not topic.name.endswith("_changelog"))

_FORGET = "forget"
_OF_CONVERSATIONS = frozenset(topic.name for topic in TOPICS if topic.key == "conversation") - {_FORGET}
_NOTED = 64 << 20  # bytes of lines between two notes of how far it is
_TOGETHER = 200  # lines that are joined: their memory is used again, where that of thousands is had anew each time
_COMPRESSION = 4  # of zlib's nine: half the time of the usual six, for a tenth more bytes

Progress = Callable[[int, int], None]


class Wanted(msgspec.Struct, frozen=True):
    """What is to be exported.

    topic: one of ours without its prefix, or any other as the broker has it; since, until: seconds since 1970 between
    which records came in, None for no bound; offsets: partition → first offset and the one behind the last, instead of
    times, None for times; whole: every record of each conversation that has one in the range, or, with `of` the name of
    another topic, in the same range of that.
    """

    topic: str
    since: float | None = None
    until: float | None = None
    offsets: dict[int, tuple[int, int]] | None = None
    whole: bool = False
    of: str | None = None


class Exported(msgspec.Struct):
    """What was written.

    lines: records; forgotten: records left out because their conversation was forgotten after they came; tombstones:
    records without a value, left out; gone: partition → since when (seconds since 1970, 0 for not at all) it has what
    was asked for, where retention has taken what came before; held_back: partitions whose last records are in a
    transaction that is open; resumed: whether an export that had begun was gone on with.
    """

    lines: int = 0
    forgotten: int = 0
    tombstones: int = 0
    gone: dict[int, float] = {}
    held_back: list[int] = []
    resumed: bool = False


class _Note(msgspec.Struct):
    """How far an export is.

    chosen: the ranges that were asked for; left: what is to be read; size: bytes written; topic_id: of the topic that
    it began with, "" where the broker has none.
    """

    topic: str
    wanted: Wanted
    chosen: dict[int, tuple[int, int]]
    left: dict[int, tuple[int, int]]
    exported: Exported
    size: int = 0
    topic_id: str = ""


def export_topic(settings: Settings, wanted: Wanted, out: Path, progress: Progress = lambda *_: None) -> Exported:
    """Write what a topic holds to a file of JSON lines, gzip where its name ends so.

    Only what is committed; no group and no metric is touched. progress: told how many of how many offsets lie behind.
    Raises TurnsignalError when the broker does not answer, ConfigError when `out` is there already, or what stands
    beside it is the beginning of another export, or of one of another topic of that name.
    """
    topic = topic_names(settings.prefix).get(wanted.topic, wanted.topic)
    log, topic_id = find_log(settings, topic), find_topic_id(settings, topic)
    with _PartialFile(out, topic, wanted) as file:
        note = file.note
        if note is not None and note.topic_id and topic_id and note.topic_id != topic_id:
            raise ConfigError(file.describe_anew(topic))
        if note is None:
            chosen = _choose(settings, topic, log, wanted)
            left = dict(log) if wanted.whole else chosen
            exported = Exported(gone=_emptied(log, wanted), held_back=find_held_back(settings, topic, left))
            note = file.note = _Note(topic, wanted, chosen, left, exported, topic_id=topic_id)
        keys = _keys(settings, wanted, note.chosen, progress) if wanted.whole else None
        forgotten = _forgotten(settings) if wanted.topic in _OF_CONVERSATIONS else {}
        behind, total = 0, sum(end - first for first, end in note.left.values())
        for number, (first, end) in sorted(note.left.items()):
            part = {number: (first, end)}
            done = _shifted(progress, behind, total)
            with _told_to_repeat():
                for records in read_log(settings, topic, part, committed=True, progress=done):
                    _note_gone(note, number, records[0], log[number][0])
                    file.write(_lines(records, note, keys, forgotten))
                    note.left[number] = records[-1].offset + 1, end
            del note.left[number]
            behind += end - first
        return file.finish()


@contextmanager
def _told_to_repeat() -> Iterator[None]:
    """Add to what the broker did not do that the export can be repeated, and goes on."""
    try:
        yield
    except TurnsignalError as error:
        msg = f"{error}; repeat the same command when the broker is back, and it goes on where it was"
        raise TurnsignalError(msg) from None


def _choose(settings: Settings, topic: str, log: Ranges, wanted: Wanted) -> dict[int, tuple[int, int]]:
    """Return the ranges that were asked for, as far as the log has them."""
    if wanted.offsets is not None:
        unknown = sorted(set(wanted.offsets) - set(log))
        if unknown:
            msg = f"expected partitions of {topic}, 0 to {max(log)}, got {unknown[0]}"
            raise ConfigError(msg)
        return {n: (max(first, log[n][0]), min(end, log[n][1])) for n, (first, end) in wanted.offsets.items()}
    since, until = (
        {} if at is None else find_offsets(settings, topic, log, at, is_end=is_end)
        for at, is_end in ((wanted.since, False), (wanted.until, True))
    )
    return {number: (since.get(number, first), until.get(number, end)) for number, (first, end) in log.items()}


def _emptied(log: Ranges, wanted: Wanted) -> dict[int, float]:
    """Return the partitions that have had records that were asked for, and have none any more."""
    return {number: 0.0 for number, (first, end) in log.items() if first == end > 0 and _asks(wanted, number, end)}


def _asks(wanted: Wanted, number: int, before: int) -> bool:
    """Say whether offsets below `before` of a partition were asked for; times say nothing of that."""
    if wanted.offsets is None:
        return True
    return number in wanted.offsets and wanted.offsets[number][0] < before


def _note_gone(note: _Note, number: int, record: LogRecord, kept_from: int) -> None:
    """Note that what came before a partition's first record is gone, where that was asked for."""
    came = record.timestamp / 1000
    since = note.wanted.since
    if number in note.exported.gone or record.offset != kept_from or not kept_from:
        return
    if _asks(note.wanted, number, kept_from) and (since is None or since < came):
        note.exported.gone[number] = came


def _keys(settings: Settings, wanted: Wanted, ranges: Ranges, progress: Progress) -> set[bytes | None]:
    """Return the keys of the records in the range, which is one of the topic `wanted.of` where that is named."""
    name = wanted.of or wanted.topic
    topic = topic_names(settings.prefix).get(name, name)
    if wanted.of is not None:
        ranges = _choose(settings, topic, find_log(settings, topic), wanted)
    read = read_log(settings, topic, ranges, committed=True, progress=progress)
    return {record.key for records in read for record in records}


def _forgotten(settings: Settings) -> dict[bytes | None, int]:
    """Return the conversations that were to be forgotten, with the time of the last request, in milliseconds."""
    topic = topic_names(settings.prefix)[_FORGET]
    read = read_log(settings, topic, find_log(settings, topic), committed=True)
    return {record.key: record.timestamp for records in read for record in records}


def _lines(
    records: Sequence[LogRecord], note: _Note, keys: set[bytes | None] | None, forgotten: dict[bytes | None, int]
) -> Iterator[bytes]:
    """Give the line of each record that is wanted, and count the others."""
    exported = note.exported
    if keys is None and not forgotten and note.wanted.topic != DEAD_LETTERS:
        values = [record.value for record in records]
        lines = [_as_line(value) if b"\n" in value else value for value in values if value is not None]
        exported.lines += len(lines)
        exported.tombstones += len(values) - len(lines)
        yield from lines
        return
    for record in records:
        key, value = record.key, record.value
        if keys is not None and key not in keys:
            continue
        if key in forgotten and record.timestamp <= forgotten[key]:
            exported.forgotten += 1
        elif note.wanted.topic == DEAD_LETTERS:
            exported.lines += 1
            yield encode_kept_letter({name: content or b"" for name, content in record.headers}, value)
        elif value is None:
            exported.tombstones += 1
        else:
            exported.lines += 1
            yield _as_line(value) if b"\n" in value else value


def _as_line(value: bytes) -> bytes:
    """Put a record of several lines into one."""
    try:
        return orjson.dumps(orjson.loads(value))
    except orjson.JSONDecodeError:
        return value.replace(b"\n", b" ")


def _shifted(progress: Progress, behind: int, total: int) -> Progress:
    return lambda done, _: progress(behind + done, total)


class _PartialFile(AbstractContextManager["_PartialFile"]):
    """The file beside its final name, and the note of how far it is; note: None for one that begins."""

    def __init__(self, out: Path, topic: str, wanted: Wanted) -> None:
        if out.exists():
            msg = f"{out}: expected a new file, got one that is there; move it away or choose another name"
            raise ConfigError(msg)
        self._out, self._part = out, out.with_name(f"{out.name}.part")
        self._note = out.with_name(f"{out.name}.part.json")
        self._zipped = out.suffix == ".gz"
        self.note = self._read_note(topic, wanted)
        out.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[bytes] = self._part.open("r+b" if self.note else "wb")
        if self.note is not None:
            self.note.exported.resumed = True
            self._file.truncate(self.note.size)
            self._file.seek(self.note.size)
        self._zip = zlib.compressobj(_COMPRESSION, wbits=31)
        self._unnoted = 0

    def _read_note(self, topic: str, wanted: Wanted) -> _Note | None:
        if not self._part.exists() and not self._note.exists():
            return None
        try:
            note = msgspec.json.decode(self._note.read_bytes(), type=_Note)
        except (OSError, msgspec.MsgspecError):
            return None  # it ended before its first note
        if (note.topic, note.wanted) != (topic, wanted):
            msg = (
                f"{self._part}: expected the beginning of this export, got that of another; repeat that one to finish"
                f" it, or remove {self._part} and {self._note}"
            )
            raise ConfigError(msg)
        return note

    def describe_anew(self, topic: str) -> str:
        """Say that the topic was made anew since the export began, and what to do."""
        return (
            f"{self._part}: expected the topic {topic} that this export began with, got another under the same name (it"
            f" was made anew); remove {self._part} and {self._note} to export what there is now"
        )

    def write(self, lines: Iterator[bytes]) -> None:
        """Add lines; note how far it is when there are enough."""
        if self._unnoted >= _NOTED:
            self._save()
        while part := [*islice(lines, _TOGETHER)]:
            data = b"\n".join([*part, b""])
            self._unnoted += len(data)
            self._file.write(self._zip.compress(data) if self._zipped else data)

    def _save(self) -> None:
        """Have everything that was written on disk, and note that: gzip ends a member there."""
        assert self.note is not None
        if self._zipped:
            self._file.write(self._zip.flush())
            self._zip = zlib.compressobj(_COMPRESSION, wbits=31)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.note.size = self._file.tell()
        write_file(self._note, msgspec.json.encode(self.note))
        self._unnoted = 0

    def finish(self) -> Exported:
        """Give the file its name."""
        assert self.note is not None
        self._save()
        self._part.replace(self._out)
        self._note.unlink()
        return self.note.exported

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()  # what was written since the last note is written again by whoever repeats the command
