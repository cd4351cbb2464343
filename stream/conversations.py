"""Conversations: what is remembered of each one, bounded, from its first turn to its tombstone.

A conversation is open until it has been idle for long enough, closed until retention has passed, then forgotten. A turn
that comes back re-opens it with everything it had. No text is kept beyond the last few turns, no document at all.
"""

from binascii import b2a_base64
from dataclasses import dataclass, field
from enum import Enum
from hashlib import blake2b
from typing import Any
from zlib import crc32

import orjson

from stream.errors import SchemaError
from stream.pairing import Answer, Slot, place
from stream.stats import Means
from stream.windows import Window, pack

VERSION = 1  #: of the state's layout; raised when older code could misread it

_ID_CHARS, _TURN_CHARS = 8, 12  # 6 bytes of the id's digest, then 3 of the content's checksum, in base 64
_BEFORE_ALL = float("-inf")


class Known(Enum):
    """What a turn id is to a conversation."""

    NEW = "new"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"


@dataclass(slots=True, frozen=True)
class Limits:
    """How much and how long a conversation is remembered.

    idle, retention, grace: seconds of event time until it closes, until a closed one is forgotten, and until a turn
    counts as late; recent_turns: ids among which duplicates are recognised; kept_turns: turns that can still be paired;
    kept_characters: of each kept turn's text.
    """

    idle: float = 1800.0
    retention: float = 86400.0
    grace: float = 300.0
    recent_turns: int = 256
    kept_turns: int = 6
    kept_characters: int = 2000


@dataclass(slots=True)
class Conversation:
    """One conversation's state.

    due: when it is to be looked at next (to close it, or to forget it), seconds of event time; clock: stream time of
    the partition when it was last touched; offset: input position it has taken in; first, last: smallest and largest
    event time; slots: the kept turns in event-time order; horizon: event time of the newest turn that is no longer
    kept; recent: digests of the last turn ids; suite: fingerprint of the suite whose means and windows these are
    (another suite starts new ones).
    """

    due: float = 0.0
    clock: float = _BEFORE_ALL
    offset: int = -1
    first: float = 0.0
    last: float = _BEFORE_ALL
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
    horizon: float = _BEFORE_ALL
    recent: str = ""
    suite: str = ""
    slots: list[Slot] = field(default_factory=list)
    means: Means = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)

    def knows(self, turn_id: str, content: str) -> tuple[Known, str]:
        """Say whether a turn id was seen among the recent ones, and return its digest to `remember`."""
        checksum = crc32(content.encode()).to_bytes(4, "big")[1:]
        digest = blake2b(turn_id.encode(), digest_size=6).digest() + checksum
        mark = b2a_base64(digest, newline=False).decode()
        recent, named = self.recent, mark[:_ID_CHARS]
        at = recent.find(named)
        while at >= 0:
            if at % _TURN_CHARS == 0:
                same = recent.startswith(mark, at)
                return (Known.DUPLICATE if same else Known.CONFLICT), mark
            at = recent.find(named, at + 1)
        return Known.NEW, mark

    def remember(self, mark: str, limits: Limits) -> None:
        """Add a turn's digest; the oldest leaves when there are too many."""
        self.recent = (self.recent + mark)[-limits.recent_turns * _TURN_CHARS :]

    def meet(self, time: float, limits: Limits) -> bool:
        """Take in an event time and return whether it is late for this conversation."""
        late = time < self.last - limits.grace
        if self.turns == 0 or time < self.first:
            self.first = time
        self.turns += 1
        self.late += late
        self.last = max(self.last, time)
        return late

    def put(self, slot: Slot, limits: Limits) -> int | None:
        """Keep a turn in its place; return its index, None when it is too old to be paired with anything."""
        if slot.time < self.horizon:
            return None
        index = place(self.slots, slot)
        if len(self.slots) > limits.kept_turns:
            gone = self.slots.pop(0)
            self.horizon = gone.time
            index -= 1
            if index < 0:
                return None
        return index

    @property
    def forgot_turns(self) -> bool:
        """Whether turns have left because there were too many to keep: a prompt may have been among them."""
        return self.horizon > _BEFORE_ALL

    @property
    def quiet_since(self) -> float:
        """Event time from which on it counts as idle: of its last turn, or of the partition when that turn came.

        The latter is later where old turns come in: a backlog must not find its conversation closed at every turn.
        """
        return max(self.last, self.clock)

    def settle(self, limits: Limits) -> float:
        """Set and return when the conversation is to be looked at next."""
        self.due = self.quiet_since + limits.idle + (limits.retention if self.closed else 0.0)
        return self.due

    def idle_at(self, now: float, limits: Limits) -> bool:
        """Say whether an open conversation is to be closed at `now`."""
        return not self.closed and now > self.quiet_since + limits.idle

    def forgotten_at(self, now: float, limits: Limits) -> bool:
        """Say whether nothing of the conversation is to be remembered at `now`."""
        return now > self.quiet_since + limits.idle + limits.retention

    def snapshot(self) -> bytes:
        """Encode as one JSON array: version, due, clock and offset first, where `peek` finds them without the rest."""
        # fmt: off
        return orjson.dumps([
            VERSION, self.due, _finite(self.clock), self.offset, self.first, self.last, self.closed, self.closes,
            self.close_row, self.turns, self.responses, self.clarifications, self.superseded, self.late,
            self.duplicates, self.gaps, _finite(self.horizon), self.recent, self.suite,
            [[s.turn_id, s.role, s.time, s.text, _fields(s.answer)] for s in self.slots],
            self.means, pack(self.windows),
        ])
        # fmt: on


def restore(value: bytes) -> Conversation:
    """Read a snapshot back.

    Raises SchemaError for a newer version than this code knows.
    """
    version, due, clock, *counted, horizon, recent, suite, slots, means, windows = orjson.loads(value)
    if version != VERSION:
        raise SchemaError(_newer(version))
    fields = [due, _BEFORE_ALL if clock is None else clock, *counted, _BEFORE_ALL if horizon is None else horizon]
    fields += [recent, suite]
    fields.append([Slot(i, role, t, text, None if a is None else Answer(*a)) for i, role, t, text, a in slots])
    fields += [means, [Window(size, start, observed) for size, start, observed in windows]]
    return Conversation(*fields)


def peek(value: bytes) -> tuple[float, float, int]:
    """Read (due, clock, offset) of a snapshot without the rest; what a restore of a million conversations needs.

    Raises SchemaError for a newer version than this code knows.
    """
    version, due, clock, offset, _ = value[1:120].split(b",", 4)
    if version != b"1":
        raise SchemaError(_newer(version.decode("ascii", "replace")))
    return float(due), _BEFORE_ALL if clock == b"null" else float(clock), int(offset)


def _newer(version: object) -> str:
    return f"expected conversation state of version {VERSION}, got {version}: start a turnsignal that knows it"


def _finite(value: float) -> float | None:
    return None if value == _BEFORE_ALL else value


def _fields(answer: Answer | None) -> list[Any] | None:
    if answer is None:
        return None
    a = answer
    # fmt: off
    return [
        a.assistant, a.version, a.model, a.platform, a.relevancy, a.compliance, a.link, a.row, a.row_time, a.strict,
        a.precision, a.clarification,
    ]
    # fmt: on
