"""The pipeline: turns in, scores, summaries and series out, for the conversations of one partition.

`PartitionProcessor.process` takes records just as they came, and returns everything they produced and changed as one
`BatchResult`. Nothing is remembered until `accept`, which the caller calls after the batch is safe: on Kafka after the
transaction's commit, in a replay at once. So a batch counts wholly or not at all: a processor whose batch failed is
thrown away with it, and a new one is made from what was stored.

A batch has an allowance of seconds and bytes: when it is used up, `process` returns what is done, and says how far it
came. A record is never left half-way, so what one record may cost is bounded where it is worked on: by sizes first (of
record, text, Markdown, table cells), and as a last resort by processor time, see `stream.pipeline.scoring`.
"""

import math
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from functools import partial
from typing import Any, TypeVar

from turnsignal.stream.conversations.clock import Moment, StreamClock
from turnsignal.stream.conversations.judged import Fate
from turnsignal.stream.conversations.recent_ids import Seen
from turnsignal.stream.conversations.state import Conversation, JudgedState, peek, restore, restore_judged
from turnsignal.stream.errors import Refused, SchemaError
from turnsignal.stream.pipeline.agenda import Agenda
from turnsignal.stream.pipeline.allowance import SECONDS, Allowance
from turnsignal.stream.pipeline.batch_output import BatchOutput
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.conversation_processor import ConversationProcessor
from turnsignal.stream.pipeline.effects import RecordContext
from turnsignal.stream.pipeline.feedback_scoring import FeedbackScorer
from turnsignal.stream.pipeline.lenient_turns import lenient_decoder
from turnsignal.stream.pipeline.observer import Observer
from turnsignal.stream.pipeline.reading_order import in_time
from turnsignal.stream.pipeline.release_times import ReleaseTimes
from turnsignal.stream.pipeline.scoring import thresholds
from turnsignal.stream.pipeline.verdict_scoring import Judged
from turnsignal.stream.records.turns import Turn, check_key, decode_turn
from turnsignal.stream.records.verdicts import decode_verdict
from turnsignal.stream.records.wire import Record, Unplaced
from turnsignal.stream.suite import MAX_STATE, Suite

_Read = TypeVar("_Read")

_NEW = Seen.NEW
_SWEEP = 2_000  #: conversations that are closed or forgotten per batch at most
_LATE = 10_000  #: verdicts of which it is remembered that they came after their conversation's retention
_ERASED = 10_000  #: conversations of which it is remembered that somebody asked to forget them
_LEAST = 50  #: of them, and of records of `forget`, that are done even when turns have used up the allowance


def check_entry(_key: bytes, value: bytes) -> None:
    """Read an entry of the state whole. Raises SchemaError where that cannot be done."""
    restore(value)


def _read_entry(read: Callable[[bytes], _Read], key: bytes, value: bytes) -> _Read:
    """Read an entry of the state; what is raised where that cannot be done names its key."""
    try:
        return read(value)
    except SchemaError as error:
        error.key = key
        raise


class PartitionProcessor:
    """The conversations of one partition.

    store: conversation key → snapshot, any mutable mapping; topic, feedback_topic, verdicts_topic, forget_topic,
    partition: where turns, feedback, verdicts and requests to forget come from, for score records and dead letters;
    skip_applied: skip turns that a conversation has taken in already (needed when outputs and position do not commit
    together); full_letters: dead letters keep what came; observer: of a replay, where no batch is ever thrown away;
    cpu_clock: seconds of processor time, without which the scorers of a turn have no budget; environment: which one
    moves means, windows, series and figures, None is production; lenient: read turns that deviate a little;
    release_times: of a replay, name the release of answers that name none.
    """

    def __init__(
        self,
        suite: Suite,
        store: MutableMapping[bytes, bytes] | None = None,
        topic: str = "turnsignal.turns",
        partition: int = 0,
        *,
        feedback_topic: str = "turnsignal.feedback",
        verdicts_topic: str = "turnsignal.verdicts",
        forget_topic: str = "turnsignal.forget",
        skip_applied: bool = False,
        full_letters: bool = False,
        observer: Observer | None = None,
        cpu_clock: Callable[[], float] | None = None,
        environment: str | None = None,
        lenient: bool = False,
        release_times: ReleaseTimes | None = None,
    ) -> None:
        self.store: MutableMapping[bytes, bytes] = {} if store is None else store
        self.topic, self.feedback_topic, self.verdicts_topic = topic, feedback_topic, verdicts_topic
        self.forget_topic = forget_topic
        self.partition = partition
        self.clock = StreamClock(suite.conversations.silence)
        self._skip_applied = skip_applied
        self._limits = suite.limits
        self._observer = observer
        self._conversations = ConversationProcessor(suite, observer, cpu_clock, environment)
        self._feedback = FeedbackScorer(suite, feedback_topic, observer)
        self._redaction = suite.redaction
        self._release_times = release_times
        self._decode = lenient_decoder(lambda: self._output.deltas.assumptions) if lenient else decode_turn
        about = (topic, partition, suite.fingerprint, thresholds(suite), full_letters, environment)
        self._new_output = partial(BatchOutput, *about)
        self.agenda = Agenda()
        self._handlers = {topic: self._on_turn, feedback_topic: self._on_feedback, verdicts_topic: self._on_verdict}
        self._live: dict[bytes, Conversation | None] = {}  # touched by this batch, with more to come
        self._changes: dict[bytes, bytes | None] = {}  # touched by this batch, and put away
        self._erased: dict[bytes, float] = {}  # on request, and when: verdicts may still be on their way
        self._late_verdicts: dict[str, None] = {}  # ids of those that came after their conversation's retention
        self._idle = self._output = self._new_output()  # what stands between batches, and is never written to
        self._allowance = Allowance(None)

    def read_store(self) -> int:
        """Read stream time, and when each conversation is due, from the store; call once, after filling it.

        Returns the last input offset that any conversation has taken in, −1 if none.
        """
        applied = -1
        for key, value in self.store.items():
            due, clock, offset = peek(value)
            self.clock.advance(clock)
            self.agenda.put(key, due)
            applied = max(applied, offset)
        return applied

    def resume(self, last: Moment, now: Moment) -> None:
        """Count the silence from the last turns on, instead of from now; call after `read_store`.

        last: when the last batch with turns was committed. Silence that only wall clocks have measured is capped at
        half the idle time, so that a clock that is wrong by years closes nothing recent. Stream time that lies ahead of
        both moments is damage, which would close and forget everything.
        """
        self.clock.hold(max(last.wall, now.wall))
        self.clock.resume(last.until(now, self._limits.idle / 2), now.steady)

    def process(
        self,
        records: Sequence[Record],
        now: float,
        forget: Sequence[Record] = (),
        *,
        feedback: Sequence[Record] = (),
        verdicts: Sequence[Record] = (),
        clock: Callable[[], float] | None = None,
        budget: float = SECONDS,
    ) -> BatchResult:
        """Work through records in their order, until all are done, the budget is used up, or much is to be written.

        now: seconds on a steady clock, which only carries on a silent partition; forget: records whose keys are
        conversations to erase; feedback, verdicts: taken in among the turns by the broker's times; clock: tells
        seconds that never go backwards, without it there is no budget; budget: in seconds. At least one record is done,
        some of `forget`, and some of what is due: nobody waits for ever.
        """
        self._begin(Allowance(clock, budget))
        if records:
            self.clock.saw(now)
        inputs = {self.topic: records, self.feedback_topic: feedback, self.verdicts_topic: verdicts}
        taken = self._take_in(inputs)
        erased = 0
        for erased, record in enumerate(forget, 1):
            self._forget(record)
            if erased >= _LEAST and self._allowance.is_over():
                break
        self._sweep(self.clock.read(now))
        return self._finish(taken | {self.forget_topic: erased})

    def set_aside(self, topic: str, record: Record, why: str) -> BatchResult:
        """Return the dead letter of a record that cannot be worked on, and leave a gap in its conversation.

        topic: the input that it came from; why: in words.
        """
        self._begin()
        self._output.add_poison(record, why, topic)
        if topic == self.topic and record.key:
            # Read with care: whatever reads the whole record, or the state, may be what cannot be stood.
            role = "user" if b'"role":"user"' in (record.value or b"").replace(b" ", b"") else "assistant"
            try:
                self._leave_gap(record.key, role, record.offset)
            except SchemaError:
                raise  # the state is not to be lost with the record
            except Exception:
                self._begin()  # nothing that the gap has written or counted stays
                self._output.add_poison(record, why, topic)
                self._changes = {record.key: None}
        result = self._finish({topic: 1})
        if any(len(value or b"") > MAX_STATE for value in result.changes.values()):
            result.changes = {record.key or b"": None}  # rather one conversation forgotten than all of them blocked
        result.set_aside = True
        return result

    def close_all(self, end: float = math.inf) -> BatchResult:
        """Close every open conversation: the end of a replay.

        end: event time at which the recording ends. A conversation that has not been idle for long enough by then is
        cut, and has no outcome: how it went on nobody knows.
        """
        self._begin()
        for key, value in self.store.items():
            state = _read_entry(restore, key, value)
            if not state.closed or state.is_waiting:
                self._live[key] = state
                self._output.add_feedback(key, self._feedback.on_end(key, state))
                if not state.closed:
                    self._output.add_close(key, self._conversations.on_close(key, state, end))
                self._put_away(key)
        return self._finish({})

    def accept(self, result: BatchResult) -> None:
        """Remember what a batch changed; call when it is safe."""
        result.apply_to(self.store)

    def conversation(self, key: bytes) -> Conversation | None:
        """Return what is remembered of a conversation."""
        value = self.store.get(key)
        return None if value is None else _read_entry(restore, key, value)

    def describe(self, key: bytes) -> dict[str, Any] | None:
        """Return what is remembered of a conversation, for people to read: without the texts."""
        state = self.conversation(key)
        return None if state is None or not state.turns else self._conversations.describe(key, state)

    def _begin(self, allowance: Allowance | None = None) -> None:
        self._allowance = allowance or Allowance(None)
        self._output = self._new_output()
        self._live, self._changes = {}, {}

    def _finish(self, taken: dict[str, int]) -> BatchResult:
        for key in list(self._live):
            self._put_away(key)
        result = BatchResult(self._output.finish(), self._changes, self._output.deltas, taken)
        self._output, self._live, self._changes = self._idle, {}, {}  # nothing of this batch stays
        return result

    def _put_away(self, key: bytes) -> None:
        """Encode a conversation that was touched; should it be touched again, it is read back.

        To keep it decoded is not worth it: what is kept is cold in the CPU's caches by then, and so is the memory that
        it frees when it gives way.
        """
        if key in self._live:
            self._put(key, self._live.pop(key))

    def _put(self, key: bytes, state: Conversation | JudgedState | None) -> None:
        snapshot = self._changes[key] = None if state is None else state.snapshot()
        self._allowance.write(len(snapshot or b""))

    def _holds(self, key: bytes) -> bool:
        """Say whether anything is kept of a conversation, without reading it."""
        if key in self._live:
            return self._live[key] is not None
        return self._encoded(key) is not None

    def _encoded(self, key: bytes) -> bytes | None:
        """Return what is put away of a conversation, by this batch or before."""
        return self._changes[key] if key in self._changes else self.store.get(key)

    def _load(self, key: bytes) -> Conversation | None:
        if key in self._live:
            return self._live[key]
        value = self._encoded(key)
        if value is None:
            return None
        state = self._live[key] = _read_entry(restore, key, value)
        return state

    def _load_judged(self, key: bytes) -> JudgedState | None:
        """Return what a verdict changes of a conversation; None where that may be all of it, or it is read already."""
        if key in self._live:
            return None
        value = self._encoded(key)
        return None if value is None else _read_entry(restore_judged, key, value)

    def _take_in(self, inputs: Mapping[str, Sequence[Record]]) -> dict[str, int]:
        """Take in turns, feedback and verdicts as far as the allowance goes; return how many of each topic."""
        # Put away after its last record, a conversation is still in the CPU's cache; after the batch it is not.
        ordered = in_time(inputs)
        last = {record.key: count for count, (record, _) in enumerate(ordered, 1)}
        allowance, output, handlers, count = self._allowance, self._output, self._handlers, 0
        for count, (record, topic) in enumerate(ordered, 1):
            handlers[topic](record)
            if last[record.key] == count:
                self._put_away(record.key or b"")
            if allowance.is_over(output.weigh()):
                break
        topics = [topic for _, topic in ordered[:count]]
        return {topic: topics.count(topic) for topic in inputs}

    def _on_turn(self, record: Record) -> None:
        """Take in one record: a turn, a duplicate, or a dead letter."""
        output, key = self._output, record.key or b""
        broker_time = record.timestamp / 1000 if record.timestamp > 0 else None  # Kafka says -1 where it has none
        try:
            turn = self._decode(record.value, key, broker_time)
        except Refused as refused:
            output.add_undecodable(record, refused)
            if refused.conversation_id is not None and refused.role is not None:
                self._leave_gap(key, refused.role, record.offset)
            return
        if self._redaction is not None:
            self._redaction.apply(turn, output.deltas.redactions)
        time = turn.time
        state = self._load_or_begin(key, time)
        if self._skip_applied and record.offset <= state.offset:
            output.deltas.records[self.topic, "applied_before"] += 1
            return
        state.offset = record.offset
        stayed = self._release_times is not None and self._release_times.name(turn)
        seen, entry = state.knows(turn.turn_id, turn.role + turn.text)
        if seen is not _NEW:
            self._on_known_turn(record, turn, state, seen)
            return
        if stayed and self._observer is not None:
            self._observer.on_earlier_release()
        state.remember(entry, self._limits)
        state.clock = self.clock.advance(time, broker_time)
        if turn.environment != state.environment and state.join_environment(turn.environment):
            output.deltas.pairing["mixed_environment"] += 1
        late = state.observe_time(time, self._limits)
        reopened = state.closed
        if reopened:
            state.closed = False
        due = state.schedule(self._limits)
        if reopened:
            self.agenda.put(key, due)
            if state.closes:  # else nothing but feedback was there before
                output.deltas.pairing["reopened"] += 1
        context = RecordContext(key, state, record.offset, time, late)
        before = None if turn.role == "assistant" else state.version_before(time)
        output.count_turn(turn, time, before, late=late)
        if turn.role == "assistant":
            output.add(key, self._conversations.on_response(context, turn))
        elif turn.role == "user":
            output.add(key, self._conversations.on_user(context, turn))
        if self._observer is not None and turn.role != "assistant" and turn.retrieved:
            self._observer.on_documents(key)
        if state.feedback is not None and state.feedback.waiting:
            output.add_feedback(key, self._feedback.on_turn(context, turn.turn_id))
        if turn.vote is not None:
            output.add_feedback(key, self._feedback.on_vote(context, turn))

    def _on_known_turn(self, record: Record, turn: Turn, state: Conversation, seen: Seen) -> None:
        """Take in a turn whose id is known: a duplicate changes nothing, another text goes to the dead letters."""
        output, key = self._output, record.key or b""
        if seen is Seen.CONFLICT:
            output.add_conflict(record, f"turn {turn.turn_id!r}", "another text")
            if self._observer is not None and turn.role == "assistant":
                self._observer.on_other_text(key, turn.turn_id)
            return
        state.duplicates += 1
        output.deltas.records[self.topic, "duplicate"] += 1
        if turn.vote is not None:  # sent again, perhaps, for its sake
            output.add_feedback(key, self._feedback.on_vote(RecordContext(key, state, record.offset, turn.time), turn))

    def _on_feedback(self, record: Record) -> None:
        """Take in one record of feedback; it waits in its conversation if need be, and opens none."""
        output, key = self._output, record.key or b""
        feedback = self._feedback.read(record, output)
        if feedback is None:
            return
        known = self._load_unexpired(key, self.clock.time)
        state = self._live[key] = Conversation(closed=True, clock=self.clock.time) if known is None else known
        seen = self._feedback.recognise(state, feedback)
        if seen is Seen.CONFLICT:
            output.add_conflict(record, f"feedback {feedback.id!r}", "something else", self.feedback_topic)
        else:
            output.count_feedback(self.feedback_topic, feedback.time, duplicate=seen is Seen.DUPLICATE)
        if seen is _NEW:
            output.add_feedback(key, self._feedback.on_feedback(key, state, feedback))
        due = state.schedule(self._limits)
        if known is None:
            self.agenda.put(key, due)

    def _on_verdict(self, record: Record) -> None:
        """Take in one verdict; it waits in its conversation if need be, and opens none."""
        output, key = self._output, record.key or b""
        try:
            judged = Judged(decode_verdict(record.value, key))
        except Refused as refused:
            output.add_undecodable(record, refused, self.verdicts_topic)
            return
        if self._release_times is not None:
            self._release_times.name_judged(judged.verdict)
        written = record.timestamp / 1000
        if key in self._erased and judged.is_before(self._erased[key], written, returned=self._load(key) is not None):
            output.add_verdict(key, judged.without_effect(Fate.FORGOTTEN), self.verdicts_topic)
            return
        apart = self._load_judged(key)
        if apart is not None:
            output.add_verdict(key, self._conversations.on_verdict(apart.memory, judged), self.verdicts_topic)
            self._put(key, apart)
            return
        known = self._load(key)
        state = known or judged.begin_waiting(self.clock.time, self._limits, written)
        if state is None:
            output.add_verdict(key, judged.without_effect(self._fate_without(judged)), self.verdicts_topic)
            return
        row = self._conversations.on_verdict(state.judged_memory(), judged)
        output.add_verdict(key, row, self.verdicts_topic)
        close = self._conversations.close_anew(key, state, row)
        if close is not None:
            output.add_close(key, close)
        self._live[key], due = state, state.schedule(self._limits)
        if known is None:
            self.agenda.put(key, due)

    def _fate_without(self, judged: Judged) -> Fate:
        """Return what becomes of a verdict that no conversation remembers: its row is written once, as far as known."""
        if judged.verdict.id in self._late_verdicts:
            return Fate.DUPLICATE
        self._late_verdicts[judged.verdict.id] = None
        if len(self._late_verdicts) > _LATE:
            del self._late_verdicts[next(iter(self._late_verdicts))]
        return Fate.LATE

    def _load_or_begin(self, key: bytes, time: float) -> Conversation:
        """Return the conversation of a turn of that event time; it is closed, or begun anew, if it was due before."""
        state = self._load_unexpired(key, time if time > self.clock.time else self.clock.time)
        if state is None:
            state = self._live[key] = Conversation()
            self.agenda.put(key, time + self._limits.idle)
        return state

    def _load_unexpired(self, key: bytes, now: float) -> Conversation | None:
        """Return a conversation, closed if it is due at `now`; None where there is none, or its retention is over.

        Where that raises, nothing is written or counted: everything is computed before any of it is added.
        """
        state = self._load(key)
        if state is None or now <= state.due:
            return state
        close = self._conversations.on_close(key, state) if state.idle_at(now, self._limits) else None
        expired = state.expired_at(now, self._limits)
        self._output.add_end(key, close, self._feedback.on_end(key, state) if expired else ())
        return None if expired else state

    def _leave_gap(self, key: bytes, role: str, offset: int) -> None:
        """Mark an unreadable record in its conversation, if that has turns; else there is nothing to misjudge."""
        state = self._load_unexpired(key, self.clock.time)
        if state is None or not state.turns or (self._skip_applied and offset <= state.offset):
            return
        state.offset = offset
        self._output.add(key, self._conversations.on_gap(RecordContext(key, state, offset, state.last), role))

    def _forget(self, record: Record) -> None:
        """Erase a conversation on request: its state, and its summary on the compacted topic."""
        try:
            check_key(record.key)
        except Refused as refused:
            self._output.add_dead_letter(record, refused.reason, refused.detail, self.forget_topic)
            return
        if self._holds(key := record.key or b""):  # damaged state is erased as any other
            self._live[key] = None
            self._output.deltas.pairing["forgotten"] += 1
        self._erased[key] = record.timestamp / 1000
        if len(self._erased) > _ERASED:
            del self._erased[next(iter(self._erased))]
        self._output.erase_summary(key)

    def _sweep(self, now: float) -> None:
        """Close what has been idle, forget what has been closed for long enough; a bounded number at a time."""
        for count, key in enumerate(self.agenda.take(now, _SWEEP), 1):
            self._punctuate_safely(key, now)
            if count >= _LEAST and self._allowance.is_over():
                break

    def _punctuate_safely(self, key: bytes, now: float) -> None:
        """Close or forget a conversation that is due; set it aside where that fails, or it would stay due for ever."""
        try:
            if self._load(key) is not None:
                state = self._live[key] = self._load_unexpired(key, now)
                if state is not None:
                    self.agenda.put(key, state.schedule(self._limits))
        except SchemaError:
            raise  # its state is damaged, and somebody has to decide what becomes of it
        except Exception as error:
            detail = f"expected to close a conversation, got {type(error).__name__}; it is forgotten"
            self._output.add_poison(Unplaced(key, None), detail)
            self._live.pop(key, None)
            self._changes[key] = None
