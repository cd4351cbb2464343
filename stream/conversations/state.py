"""Conversations: what is remembered of each one, bounded, from its first turn to its tombstone.

A conversation is open until it has been idle for long enough, closed until retention has passed, then forgotten. A turn
that comes back re-opens it with everything it had. No text is kept beyond the last few turns, and of documents no more
than digests of their ids.
"""

from dataclasses import dataclass
from math import inf

import msgspec

from turnsignal.stream.conversations import recent_ids as recent
from turnsignal.stream.conversations.asked_labels import AskedLabels
from turnsignal.stream.conversations.feedback_memory import MAX_WAITING, FeedbackMemory, KeptFeedback
from turnsignal.stream.conversations.judged import JudgedMemory
from turnsignal.stream.conversations.pairing import ASKED, ASSISTANT, KeptTurn, PendingResponse, Responder, insert
from turnsignal.stream.conversations.recent_ids import Seen
from turnsignal.stream.conversations.windows import ScoreWindows
from turnsignal.stream.errors import SchemaError, UnreadableStateError
from turnsignal.stream.records.environments import furthest
from turnsignal.stream.records.summaries import ConversationCounts
from turnsignal.stream.text.timestamps import LATEST

#: Of the state's layout. New fields are added at the end, with a default: older state is read with the defaults, and
#: older code, which may run beside this in one group while a release rolls out, reads past them. Raised only where
#: older code could misread the new state, or lose what counts; then it refuses it.
VERSION = 4
_UNJUDGED = 1  #: what state has as long as no judge has anything to do with it, so that older code still takes it
_UNPACKED = 2  #: what had been judged was not packed; up to 3, it stood among the fields of the conversation

BEFORE_ALL = float("-inf")  #: event time from which all turns are kept


@dataclass(slots=True, frozen=True)
class Limits:
    """How much and how long a conversation is remembered.

    idle, retention, grace: seconds of event time until it closes, until a closed one is forgotten, and until a turn
    counts as late; recent_turns: ids among which duplicates are recognised; kept_turns: turns that can still be paired;
    kept_characters: of each kept turn's text; room: bytes for what long prompts have beyond that, while they wait for a
    response that judges will be asked about.
    """

    idle: float = 1800.0
    retention: float = 86400.0
    grace: float = 300.0
    recent_turns: int = 256
    kept_turns: int = 6
    kept_characters: int = 2000
    room: int = 0

    @property
    def forgotten_after(self) -> float:
        """Seconds of silence after which nothing of a conversation is remembered."""
        return self.idle + self.retention


class Conversation(msgspec.Struct, array_like=True):
    """One conversation's state.

    version: of the layout; due: event time at which it has to be closed, or forgotten, next;
    clock: stream time of the partition when it was last touched; offset: input position it has taken in; first, last:
    smallest and largest event time; closes: how often it has closed; close_row: id of its last close row; turns …
    gaps: see `ConversationCounts`; duplicates: turns that came again; evicted_before: event time of the newest turn
    that is no longer kept; recent: digests of the last turn ids; suite: fingerprint of the suite that `score_windows`
    is under (another suite starts a new one); kept: the kept turns in event-time order; last_evicted_response: the
    newest response that is no longer kept, without its text; went_on: follow-ups that were read as going on or as
    thanks; unhappy: of the follow-ups to responses that are no longer kept, whether the last one that was read is a
    clarification; asked: whom the last user turn was for, while nobody has answered; environment: the one furthest from
    production among its turns, None is production; prompted: whether a user is among the turns that are no longer kept,
    without meaning while there are none of them, and true in older state, which does not have it; feedback: what is
    remembered of feedback, None as long as there is nothing; judged: of judges, in the same way; labels: of the last
    question, None where it has none; earlier: digests of the documents that its answers retrieved.
    """

    version: int = _UNJUDGED
    due: float = 0.0
    clock: float = BEFORE_ALL
    offset: int = -1
    first: float = 0.0
    last: float = BEFORE_ALL
    closed: bool = False
    closes: int = 0
    close_row: str = ""
    turns: int = 0
    responses: int = 0
    clarifications: int = 0
    superseded: int = 0
    late: int = 0
    duplicates: int = 0
    gaps: int = 0
    evicted_before: float = BEFORE_ALL
    recent: bytes = b""
    suite: str = ""
    kept: list[KeptTurn] = []
    last_evicted_response: KeptTurn | None = None
    score_windows: ScoreWindows = msgspec.field(default_factory=ScoreWindows)
    went_on: int = 0
    unhappy: bool = False
    asked: PendingResponse | None = None
    environment: str | None = None
    prompted: bool = True
    feedback: FeedbackMemory | None = None
    judged: JudgedMemory | None = None
    labels: AskedLabels | None = None
    earlier: bytes = b""

    def knows(self, turn_id: str, content: str) -> tuple[Seen, bytes]:
        """Say whether a turn id was seen among the recent ones, and return the entry to `remember`."""
        return recent.look_up(self.recent, turn_id, content)

    def remember(self, entry: bytes, limits: Limits) -> None:
        """Add the entry of a turn; the oldest is dropped when there are too many."""
        self.recent = recent.add(self.recent, entry, limits.recent_turns)

    def observe_time(self, time: float, limits: Limits) -> bool:
        """Take in an event time and return whether it is late for this conversation."""
        late = time < self.last - limits.grace
        if self.turns == 0 or time < self.first:
            self.first = time
        self.turns += 1
        if late:
            self.late += 1
        if time > self.last:
            self.last = time
        return late

    def join_environment(self, environment: str | None) -> bool:
        """Merge a differing environment: the one furthest from production wins.

        Returns whether earlier turns make the conversation mixed.
        """
        self.environment = furthest(self.environment, environment)
        return self.turns > 0

    def insert(self, turn: KeptTurn, limits: Limits) -> int | None:
        """Keep a turn in event-time order; return its index, None when it is too old to be paired with anything."""
        if turn.time < self.evicted_before:
            self.prompted |= turn.role in ASKED
            return None
        index = insert(self.kept, turn)
        if len(self.kept) > limits.kept_turns:
            gone = self.kept.pop(0)
            self.prompted = (self.prompted and self.evicted_before > BEFORE_ALL) or gone.role in ASKED
            self.evicted_before = gone.time
            if gone.response is not None:
                gone.text = ""
                self.last_evicted_response = gone
                if gone.response.clarification or gone.response.went_on:
                    self.unhappy = gone.response.clarification
                self.feedback_memory().on_evicted(gone.turn_id, gone.response)
            index -= 1
            if index < 0:
                return None
        return index

    def admit_remainder(self, remainder: str, limits: Limits) -> str:
        """Return what was cut from a long prompt, to be kept with its turn; "" where there is no room for all of it."""
        kept = sum(len(turn.remainder.encode()) for turn in self.kept if turn.remainder)
        return remainder if kept + len(remainder.encode()) <= limits.room else ""

    def drop_remainders(self, *, waiting: bool) -> None:
        """Drop what was cut from long prompts; waiting: keep that of prompts that wait for a response."""
        for turn in reversed(self.kept):
            if turn.role == ASSISTANT:
                waiting = False
            elif turn.remainder and not waiting:
                turn.remainder = ""

    def feedback_memory(self) -> FeedbackMemory:
        """Return what is remembered of feedback, which begins now if there was nothing."""
        if self.feedback is None:
            self.feedback = FeedbackMemory()
        return self.feedback

    def judged_memory(self) -> JudgedMemory:
        """Return what is remembered of judges, which begins now if there was nothing."""
        if self.judged is None:
            self.judged, self.version = JudgedMemory(), VERSION
        return self.judged

    def responder(self, turn_id: str) -> Responder | None:
        """Return who gave the response of that id, kept or not; None when it is not known (any more)."""
        for turn in self.kept:
            if turn.turn_id == turn_id and turn.role == ASSISTANT:
                return turn.response
        return None if self.feedback is None else self.feedback.find(turn_id)

    def version_before(self, time: float) -> str | None:
        """Return the version of the last answer up to an event time; None when none is known, or it has no version."""
        for turn in reversed(self.kept):
            if turn.response is not None and turn.time <= time:
                return turn.response.version
        gone = self.last_evicted_response
        return gone.response.version if gone is not None and gone.response is not None else None

    def has_had(self, turn_id: str) -> bool:
        """Say whether a turn of that id is among the recent ones, of whatever role."""
        return recent.look_up(self.recent, turn_id, "")[0] is not Seen.NEW

    def wait_for_turn(self, feedback: KeptFeedback) -> KeptFeedback | None:
        """Keep feedback until its turn comes; return the oldest feedback where there is too much of it."""
        waiting = self.feedback_memory().waiting
        waiting.append(feedback)
        return waiting.pop(0) if len(waiting) > MAX_WAITING else None

    @property
    def is_waiting(self) -> bool:
        """Whether feedback waits for its turn."""
        return self.feedback is not None and bool(self.feedback.waiting)

    def adopt_suite(self, suite: str) -> None:
        """Start new means when the suite has changed: under two suites a name may mean two things."""
        if self.suite != suite:
            self.suite, self.score_windows = suite, ScoreWindows()
            for answer in [turn.response for turn in self.kept if turn.response is not None]:
                # Not in the new means, so never to be taken out of them.
                answer.strict = answer.precision = answer.free = None

    def counts(self) -> ConversationCounts:
        """Return what is counted of the conversation, as its summary names it."""
        return {
            "turns": self.turns,
            "responses": self.responses,
            "clarifications": self.clarifications,
            "went_on": self.went_on,
            "superseded": self.superseded,
            "late": self.late,
            "gaps": self.gaps,
        }

    @property
    def forgot_turns(self) -> bool:
        """Whether turns are no longer kept because there were too many."""
        return self.evicted_before > BEFORE_ALL

    @property
    def prompted_before(self) -> bool:
        """Whether a user spoke before all turns that are kept."""
        return self.prompted and self.evicted_before > BEFORE_ALL  # as `forgot_turns`; this is asked for every turn

    @property
    def quiet_since(self) -> float:
        """Event time since which it is idle: of its last turn, or stream time when that turn came, if that is later.

        It is later where old turns come in: a backlog must not find its conversation closed at every turn.
        """
        return self.last if self.last > self.clock else self.clock

    @property
    def needed_since(self) -> float:
        """Event time from which retention counts: what waits for its turn counts as a turn does."""
        waiting = self.feedback.waiting if self.feedback is not None else ()
        since = max((self.quiet_since, *(feedback.time for feedback in waiting)))
        return since if self.judged is None else max(since, self.judged.waits_since)

    def schedule(self, limits: Limits) -> float:
        """Set and return when the conversation has to be closed, or forgotten, next."""
        if self.closed:
            self.due = self.needed_since + limits.forgotten_after
        else:  # `quiet_since`, which is asked for every turn
            self.due = (self.last if self.last > self.clock else self.clock) + limits.idle
        return self.due

    def idle_at(self, now: float, limits: Limits) -> bool:
        """Say whether the conversation is open and has to be closed at `now`."""
        return not self.closed and now > self.quiet_since + limits.idle

    def expired_at(self, now: float, limits: Limits) -> bool:
        """Say whether the conversation's retention is over at `now`."""
        return now > self.needed_since + limits.forgotten_after

    def snapshot(self) -> bytes:
        """Encode as one MessagePack array that begins with the fields that `peek` finds fast.

        Without judges that is the fields in their order; with them, as `JudgedState` has it.
        """
        memory = self.judged
        if memory is None:
            return _encode(self)
        self.judged = None
        rest = _encode(self)
        self.judged = memory
        return _encode(JudgedState(VERSION, self.due, self.clock, self.offset, self.closed, memory, rest))


class JudgedState(msgspec.Struct, array_like=True, gc=False):
    """How a conversation's state stands that judges have to do with: what is remembered of them apart from the rest.

    A verdict on an open conversation reads and writes the memory alone; the rest is copied as it is, undecoded.
    version … closed: as `Conversation` has them; rest: the conversation without the memory, encoded.
    """

    version: int
    due: float
    clock: float
    offset: int
    closed: bool
    memory: JudgedMemory
    rest: bytes

    def snapshot(self) -> bytes:
        """Encode, as the snapshot of the conversation that it is of."""
        return _encode(self)


class _StateHead(msgspec.Struct, array_like=True):
    """The first fields of a conversation's state."""

    version: int
    due: float
    clock: float
    offset: int


# How state begins in which it is counted what went on: a MessagePack array of so many fields (16 to 65,535) or more.
_COUNTED = b"\xdc" + (Conversation.__struct_fields__.index("went_on") + 1).to_bytes(2, "big")

_encode = msgspec.msgpack.Encoder().encode
_JUDGED = bytes((0x90 + len(JudgedState.__struct_fields__), VERSION))  #: how state begins that stands as `JudgedState`

_decode = msgspec.msgpack.Decoder(Conversation).decode
_decode_judged = msgspec.msgpack.Decoder(JudgedState).decode
_decode_head = msgspec.msgpack.Decoder(_StateHead).decode

#: What decoders raise for bytes that do not read as theirs; a text that is no UTF-8 is a ValueError of Python's own.
_UNDECODABLE = (msgspec.DecodeError, ValueError, OverflowError, RecursionError)


def restore(value: bytes) -> Conversation:
    """Read a snapshot back; fields that an older version did not have yet get their defaults.

    Raises SchemaError for a newer version than this code knows, UnreadableStateError for what reads as none.
    """
    try:
        state = _join(_decode_judged(value)) if value[:2] == _JUDGED else _decode(value)
    except _UNDECODABLE as error:  # of another layout, most likely, and then its version says so
        _read_head(value)
        raise _unreadable(value, error) from None
    if state.version > VERSION:
        raise SchemaError.newer("conversation", VERSION, state.version)
    _check_times(value, state.due, state.clock, state.first, state.last)
    if value[:2] == _JUDGED:
        return state
    if state.version != _UNJUDGED:
        if state.version == _UNPACKED and state.judged is not None:
            state.judged.tidy()
        state.version = _UNJUDGED if state.judged is None else VERSION
    if value[:3] < _COUNTED:
        _count_what_went_on(state)
    return state


def restore_judged(value: bytes) -> JudgedState | None:
    """Read what a verdict changes, and no more; None where it may change the whole conversation, which is closed.

    None, too, where no judge had anything to do with it, and for state of another version. Raises UnreadableStateError.
    """
    if value[:2] != _JUDGED:
        return None
    try:
        judged = _decode_judged(value)
    except _UNDECODABLE as error:
        raise _unreadable(value, error) from None
    _check_times(value, judged.due, judged.clock)
    return None if judged.closed else judged


def _join(judged: JudgedState) -> Conversation:
    """Return the conversation with what it remembers of judges."""
    state = _decode(judged.rest)
    state.version, state.judged = VERSION, judged.memory
    return state


def _count_what_went_on(state: Conversation) -> None:
    """Fill in what older state does not have, from its kept turns: which follow-ups went on."""
    kept = [
        turn.response
        for turn in [state.last_evicted_response, *state.kept]
        if turn is not None and turn.response is not None
    ]
    for answer in kept:
        answer.went_on = answer.strict is not None and not answer.clarification
    state.went_on = sum([answer.went_on for answer in kept])
    state.unhappy = (
        state.last_evicted_response is not None
        and state.last_evicted_response.response is not None
        and state.last_evicted_response.response.clarification
    )


def peek(value: bytes) -> tuple[float, float, int]:
    """Read only (due, clock, offset) of a snapshot, so that a million conversations are restored fast.

    Raises SchemaError for a newer version than this code knows.
    """
    head = _read_head(value)
    return head.due, head.clock, head.offset


def _read_head(value: bytes) -> _StateHead:
    try:
        head = _decode_head(value)
    except _UNDECODABLE as error:
        raise _unreadable(value, error) from None
    if head.version > VERSION:
        raise SchemaError.newer("conversation", VERSION, head.version)
    _check_times(value, head.due, head.clock)
    return head


def _check_times(value: bytes, due: float, clock: float, first: float = 0.0, last: float = 0.0) -> None:
    """Refuse what is no number, and times that never come: no record has either."""
    if not (-inf < due < 2 * LATEST and clock <= LATEST and first <= LATEST and last <= LATEST):
        raise _unreadable(value, ValueError(f"no time is {due}, or one of {(clock, first, last)}"))


def _unreadable(value: bytes, error: Exception) -> UnreadableStateError:
    return UnreadableStateError(
        f"expected a conversation's state, got {len(value)} bytes that do not read as one: {error}"
    )
