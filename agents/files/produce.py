"""Produce: recorded turns, and feedback among them, into Kafka, at the pace at which they came or as fast as it goes.

Both are keyed by conversation. A line that no worker could take in is not sent at all: it goes to a reject file with
its number and the reason, and the rest goes on. Nothing is lost in silence: a record counts as sent when the broker has
acknowledged it.
"""

import math
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import orjson

from turnsignal.agents.files.journal import Journal
from turnsignal.agents.files.reading import Recording, TurnFile
from turnsignal.agents.files.tails import read_tails
from turnsignal.agents.kafka.sending import Arrival, Sender
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError, Refused, TurnsignalError
from turnsignal.stream.records.feedback import decode_feedback
from turnsignal.stream.records.turns import decode_turn
from turnsignal.stream.replay import Indexer, Recorded
from turnsignal.stream.text.timestamps import LATEST

LEAVE_SECONDS = 5.0  #: for what is on its way when a run is interrupted
LONG_WAIT = 600.0  #: seconds between two records, above which it is said that nothing stands still
UNTIMED = 366 * 86_400.0  #: seconds since 1970; what has no time of its own is put there, a second apart
SHOWN = 5  #: rejected lines that are reported one by one; all are in the reject file

_SPEED = re.compile(r"(\d+(?:\.\d+)?)\s*x?")


@dataclass(slots=True)
class Produced:
    """What became of the lines.

    sent, feedback: turns, and feedback beside them; skipped: what earlier runs had sent; rejected: reason → lines;
    rejects: where they are, None when there were none; assumed: what was read of lines that deviate, by file;
    is_repeated: an earlier run had done everything.
    """

    sent: int = 0
    feedback: int = 0
    skipped: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    rejects: Path | None = None
    assumed: dict[str, Counter[str]] = field(default_factory=dict)
    is_repeated: bool = False


def parse_speed(text: str) -> float | None:
    """Read `60x` (seconds of event time per second) or `max`, which is None.

    Raises ConfigError for anything else.

    >>> parse_speed("60x")
    60.0
    """
    if text == "max":
        return None
    match = _SPEED.fullmatch(text)
    if match is None or not 0 < float(match[1]) < 1e9:
        msg = f"--speed: expected a number of times such as 1x or 60x, or max; got {text!r}"
        raise ConfigError(msg)
    return float(match[1])


class Rejects:
    """The reject file: one JSON line per line that was not sent; made when there is one.

    goes_on: an earlier run may have written some lines down, which are not to stand there twice.
    """

    def __init__(self, path: Path, recording: Recording, say: Callable[[str], None], *, goes_on: bool = False) -> None:
        self._goes_on = goes_on
        self._written = _lines_in(path) if goes_on and path.exists() else frozenset()
        self.counts: Counter[str] = Counter()
        self.path = path
        self._recording = recording
        self._say = say
        self._file: IO[bytes] | None = None

    def add(self, record: Recorded, reason: str, detail: str) -> None:
        """Write a line down, and report it as long as there are few."""
        file, line = self._recording.where(record.offset)
        value = record.value.decode("utf-8", "replace")
        self._write({"file": file, "line": line, "reason": str(reason), "detail": detail, "value": value})

    def add_letters(self, letters: Path) -> None:
        """Write down what was refused before there were any lines of turns."""
        with letters.open("rb") as rows:
            for row in rows:
                self._write(orjson.loads(row))

    def _write(self, row: dict[str, Any]) -> None:
        reason = row["reason"]
        self.counts[reason] += 1
        if _identity(row) not in self._written:
            if self._file is None:
                mode = "ab" if self._goes_on else "wb"
                self._file = self.path.open(mode, buffering=0)  # a journal may note right away that the line is done
            self._file.write(orjson.dumps(row) + b"\n")
        total = self.counts.total()
        if total <= SHOWN or self.counts[reason] == 1:  # the first of each kind, however many there were of others
            self._say(f"{row['file']}, line {row['line']}: rejected, {reason}: {row['detail']}")
        if total == SHOWN:
            self._say(f"more rejected lines of the same kinds are only written to {self.path}")

    def close(self) -> None:
        """Finish the file."""
        if self._file is not None:
            self._file.close()


def _identity(row: dict[str, Any]) -> bytes:
    """Return what tells a row of a reject file from others: a line may hold several records."""
    return sha256(orjson.dumps(row)).digest()[:16]


def _lines_in(path: Path) -> frozenset[bytes]:
    """Return the identity of each row in a reject file; what a kill has cut off is none."""
    lines = set()
    with path.open("rb") as rows:
        for row in rows:
            with suppress(orjson.JSONDecodeError):
                lines.add(_identity(orjson.loads(row)))
    return frozenset(lines)


class Pace:
    """When a record is to be sent. speed: seconds of event time per second, None for at once; sleep: how to wait.

    untimed: event time before which records have none of their own, and go at once; say: takes a line for a person
    before a long wait.
    """

    def __init__(
        self,
        speed: float | None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        untimed: float = -math.inf,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._speed = speed
        self._untimed = untimed
        self._say = say
        self._clock = clock
        self._sleep = sleep
        self._first: tuple[float, float] | None = None

    def wait(self, event_time: float) -> None:
        """Wait until a record of that event time is due; the first one is due at once."""
        if self._speed is None or event_time < self._untimed:
            return
        now = self._clock()
        if self._first is None:
            self._first = (event_time, now)
        due = self._first[1] + (event_time - self._first[0]) / self._speed
        if due - now > LONG_WAIT:
            at = datetime.fromtimestamp(min(max(event_time, 0.0), LATEST - 1), UTC).isoformat(timespec="seconds")
            self._say(
                f"the next record is of {at}, {(due - now) / 3600:,.1f} hours from now at this speed; to wait "
                "less, end this with Ctrl-C and choose a higher --speed, or max; --resume goes on where it ended"
            )
        if due > now:
            self._sleep(due - now)


def produce_files(
    settings: Settings,
    paths: Iterable[Path | TurnFile],
    topic: str,
    *,
    now: float,
    rejects: Path,
    refused: Path | None = None,
    feedback: tuple[Iterable[Path | TurnFile], str] | None = None,
    speed: float | None = None,
    as_is: bool = False,
    resume: Path | None = None,
    read_as: Sequence[object] = (),
    reading: Callable[[int], None] = lambda _: None,
    sending: Callable[[int, int], None] = lambda *_: None,
    say: Callable[[str], None] = lambda _: None,
) -> Produced:
    """Send the turns of files to a topic, sorted by event time unless `as_is`.

    now: the present, seconds since 1970; refused: a file of dead letters that were found when the paths were made, to
    be counted and kept among the rejects; feedback: files of it and the topic that it goes to; resume: file that notes
    how far it came, to go on from there, and that it is done, to send nothing twice; read_as: what is equal where files
    are read in the same way, `HowToRead.identity`; reading: told how many bytes of the files were read, in steps;
    sending: told now and then how many of how many (0: not known) lines are through; say: takes one line for a person.
    Raises TurnsignalError when a file cannot be read or the broker does not take records.
    """
    feedback_files = [] if feedback is None else [*feedback[0]]
    recording = Recording(paths, reading, feedback_files)
    journal = None
    if resume is not None:
        read = (*read_as, len(feedback_files), feedback and feedback[1])
        journal = Journal(resume, recording.sources, settings.brokers, topic, as_is, read=read)
    skip = 0 if journal is None else journal.skip
    if journal is not None and journal.is_done:
        return Produced(skipped=skip, is_repeated=True)
    rejected = Rejects(rejects, recording, say, goes_on=skip > 0)
    on_sent: Callable[[int, Arrival | None], None] = journal.finish if journal is not None else lambda *_: None
    sender = Sender(settings, topic, rejected.add, on_sent)
    second = sender if feedback is None else Sender(settings, feedback[1], rejected.add, on_sent)
    known: set[int] = set()
    if journal is not None:
        known, begins, ends = read_tails(settings, journal, (sender.topic, second.topic), say)
        journal.start(begins, ends, max(known, default=skip - 1) + 1)
    # among records with times, others would be half a century apart
    untimed = -math.inf if recording.is_whole else UNTIMED
    indexer, pace, total = Indexer(now, mend=recording.mend), Pace(speed, untimed=untimed, say=say), 0
    with ExitStack() as files:
        files.callback(rejected.close)
        if journal is not None:
            files.callback(_leave, journal, (sender, second))
        if refused is not None and not skip:
            rejected.add_letters(refused)
        records: Iterable[Recorded] = recording.index(indexer)
        if not as_is:
            records = ordered = files.enter_context(recording.in_order(indexer))
            total = ordered.count
        for number, record in enumerate(records):
            if number < skip:
                continue
            if journal is not None:
                journal.begin(record.offset)
                if number in known:
                    on_sent(record.offset, None)
                    continue
            is_feedback = indexer.is_feedback(record)
            try:
                key = readable_key(record, now, is_feedback=is_feedback)
            except Refused as error:
                rejected.add(record, error.reason, error.shown)
                on_sent(record.offset, None)
                continue
            pace.wait(record.time)
            headers = () if journal is None else journal.header_of(number)
            (second if is_feedback else sender).send(record, key, record.value, headers=headers)
            if number % 256 == 0 or speed is not None:
                sending(number, total)
        try:
            sender.flush()
            second.flush()
        except TurnsignalError as error:
            how = "the same command goes on" if journal is not None else "begun with --resume, it could go on from here"
            stop = "" if str(error).endswith("?") else "."
            msg = f"{error}{stop} So far {sender.sent:,} records were taken; {how}"
            raise TurnsignalError(msg) from None
    if journal is not None:
        journal.finish_run()
    sending(total, total)
    feedback_sent = second.sent if second is not sender else 0
    kept = rejects if rejected.counts else None
    return Produced(sender.sent, feedback_sent, skip + len(known), rejected.counts, kept, recording.assumed)


def _leave(journal: Journal, senders: Iterable[Sender]) -> None:
    """Note how far it came, however it ended."""
    for sender in senders:
        sender.wait(LEAVE_SECONDS)
    journal.note()


def readable_key(record: Recorded, now: float, *, is_feedback: bool = False) -> bytes:
    """Return the key of a line that a worker could take in; raises Refused for any other."""
    record_read = decode_feedback(record.value, None, now) if is_feedback else decode_turn(record.value, None, now)
    return record_read.conversation_id.encode()
