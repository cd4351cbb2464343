"""Feeding the demo: simulated conversations, or files, into the turns topic, in a thread of its own."""

import threading
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable
from pathlib import Path

from turnsignal.agents.demo.ending import SentTurns
from turnsignal.agents.files.produce import Pace, Rejects, readable_key
from turnsignal.agents.files.reading import Recording, Sorted, TurnFile
from turnsignal.agents.kafka.sending import Sender
from turnsignal.agents.settings import Settings
from turnsignal.agents.suite_files import load_redaction
from turnsignal.stream.errors import Refused, TurnsignalError
from turnsignal.stream.records.turns import Turn, decode_turn
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.replay import Indexer, Recorded
from turnsignal.stream.simulation import Regression, Traffic, simulate

SPEED = 120.0  #: seconds of event time per second, so that conversations close while one watches
RATE = 60.0  #: simulated turns per second
WORSE_AT = 0.35  #: of the time, when the regression sets in: it is shown about as much later, and then stays red
CONVERSATIONS = 60  #: simulated conversations at a time: each has a turn per second

_KEPT_BYTES = 16_000_000  #: of turns whose texts can be shown
_KEPT_TURNS = 24  #: of a conversation
_FILE_SHARE = 0.6  #: of the time in which files are fed, so that the rest is left for scoring them


class SentTexts:
    """What was said in the conversations that had a turn lately, read only when it is asked for.

    redaction: what is taken out of texts before anybody sees them, None for nothing.
    """

    def __init__(self, redaction: Redaction | None = None) -> None:
        self._redaction = redaction
        self._bytes = 0
        self._kept: OrderedDict[bytes, list[bytes]] = OrderedDict()
        self._lock = threading.Lock()  # the feeder keeps, the view reads

    def keep(self, key: bytes, value: bytes) -> None:
        """Keep a turn, and forget those of the conversations that have been quiet for longest."""
        with self._lock:
            turns = self._kept.setdefault(key, [])
            self._kept.move_to_end(key)
            turns.append(value)
            self._bytes += len(value)
            if len(turns) > _KEPT_TURNS:
                self._bytes -= len(turns.pop(0))
            while self._bytes > _KEPT_BYTES:
                _, forgotten = self._kept.popitem(last=False)
                self._bytes -= sum(map(len, forgotten))

    def exchange(self, conversation_id: str, turn_id: str, follow_ups: Collection[str]) -> tuple[str, str, str]:
        """Return the texts of an answer's question, of the answer and of what followed; "" for what is not kept."""
        with self._lock:
            values = list(self._kept.get(conversation_id.encode(), ()))
        turns = sorted(filter(None, map(self._read, values)), key=lambda turn: turn.time)
        answer = next((turn for turn in turns if turn.turn_id == turn_id), None)
        then = " / ".join({turn.turn_id: turn.text for turn in turns if turn.turn_id in follow_ups}.values())
        if answer is None:
            return "", "", then
        asked = [turn.text for turn in turns if turn.role == "user" and turn.time <= answer.time]
        return (asked[-1] if asked else ""), answer.text, then

    def _read(self, value: bytes) -> Turn | None:
        try:
            turn = decode_turn(value)
        except Refused:
            return None
        if self._redaction is not None:
            self._redaction.apply(turn, Counter())
        return turn


class LoadGenerator(threading.Thread):
    """A thread that sends turns until all are sent or it is told to stop.

    sent: turns sent so far; total: how many there are, None while unknown or endless; done: nothing more will be sent;
    failure: why it ended early, None when it did not; rejected: lines that no worker could take in; texts: what was
    sent lately; kept: a file of what was sent, if anybody wants one. After the first turn it waits for `begin`: what
    comes of that turn shows that the workers have joined.
    """

    kept: SentTurns | None = None

    def __init__(self, settings: Settings, topic: str) -> None:
        super().__init__(name="feeder", daemon=True)
        self.sent = 0
        self.total: int | None = None
        self.done = False
        self.failure: str | None = None
        self.rejected = 0
        self.texts = SentTexts(load_redaction(settings.redaction))
        self._settings = settings
        self._topic = topic
        self._begun = threading.Event()
        self._stopping = threading.Event()

    def begin(self) -> None:
        """Go on after the first turn."""
        self._begun.set()

    def stop(self) -> None:
        """Send nothing more."""
        self._stopping.set()
        self._begun.set()

    def send(self, sender: Sender, record: Recorded, key: bytes | None) -> None:
        """Send a turn; after the first one wait until the others are wanted."""
        sender.send(record, key, record.value)
        if self.kept is not None:
            self.kept.keep(record.value)
        if key is not None:
            self.texts.keep(key, record.value)
        if not self._begun.is_set():
            sender.flush()
            self._begun.wait()

    def run(self) -> None:
        """Send, and keep what went wrong for whoever looks."""
        try:
            self.feed(Sender(self._settings, self._topic))
        except TurnsignalError as error:
            self.failure = str(error)
        finally:
            self.done = True

    def feed(self, sender: Sender) -> None:
        """Send everything; to be filled in."""
        raise NotImplementedError

    def wait(self, seconds: float) -> None:
        """Wait, unless it is time to stop."""
        self._stopping.wait(seconds)

    @property
    def stopping(self) -> bool:
        """Whether nothing more is to be sent."""
        return self._stopping.is_set()


class SimulatedLoad(LoadGenerator):
    """Simulated support conversations with a release that retrieves worse.

    seconds: how long the demo lasts; None: for ever, at the pace of the clock.
    """

    def __init__(self, settings: Settings, topic: str, seconds: float | None, now: float, speed: float | None) -> None:
        super().__init__(settings, topic)
        self._speed = speed or (SPEED if seconds is not None else 1.0)
        self.traffic = demo_traffic(seconds, now, self._speed)

    def feed(self, sender: Sender) -> None:
        """Send at the pace of the simulation."""
        pace = Pace(self._speed, sleep=self.wait)
        for number, record in enumerate(simulate(self.traffic)):
            if number:
                pace.wait(record.time)
            if self.stopping:
                break
            self.send(sender, Recorded(record.time, number, record.key or b"", record.value or b"", 0), record.key)
            self.sent = number + 1
        sender.flush()


class RecordedLoad(LoadGenerator):
    """Files of recorded turns, sorted by event time, evenly over a part of the time, or at a speed of event time."""

    def __init__(
        self,
        settings: Settings,
        topic: str,
        paths: Iterable[Path | TurnFile],
        seconds: float | None,
        now: float,
        speed: float | None,
        rejects: Path,
    ) -> None:
        super().__init__(settings, topic)
        self._recording = Recording(paths)
        self._seconds = seconds or 60.0
        self._now = now
        self._speed = speed
        self._rejects = rejects

    def feed(self, sender: Sender) -> None:
        """Send every line that a worker can take in."""
        refused = Rejects(self._rejects, self._recording, lambda _: None)
        try:
            with self._recording.in_order(Indexer(self._now, mend=self._recording.mend)) as records:
                self._send(sender, records, refused)
        finally:
            self.rejected = refused.counts.total()
            refused.close()

    def _send(self, sender: Sender, records: Sorted, refused: Rejects) -> None:
        self.total = records.count
        pace = (
            Pace(self._speed) if self._speed else Pace(records.count / (self._seconds * _FILE_SHARE), sleep=self.wait)
        )
        for number, record in enumerate(records):
            if number:
                pace.wait(record.time if self._speed else number)
            if self.stopping:
                break
            try:
                self.send(sender, record, readable_key(record, self._now))
            except Refused as error:
                refused.add(record, error.reason, error.shown)
            self.sent = number + 1
        sender.flush()


def demo_traffic(seconds: float | None, now: float, speed: float) -> Traffic:
    """Say what is simulated: two versions, then a third one that retrieves worse; a few records that cannot be read.

    seconds: of the demo, None for an endless one; it ends at `now`, so that nothing comes from the future.
    """
    length = speed * (seconds if seconds is not None else 300.0)
    start = now - length if seconds is not None else now
    return Traffic(
        seed=5,  # one of those, 19 in 20, in which chance makes no other release look worse
        start=start,
        rate=RATE / speed,
        day_night=False,
        open_conversations=CONVERSATIONS,
        assistants=("support", "billing"),
        versions=("v1", "v2"),
        regression=Regression(minute=length * WORSE_AT / 60, version="v3", kind="retrieves_worse"),
        disorder=0.01,
        duplicates=0.005,
        malformed=0.002,
    )
