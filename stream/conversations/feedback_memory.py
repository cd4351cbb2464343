"""What a conversation remembers of feedback: what came, what waits for its turn, and who gave earlier responses.

Feedback comes late, in any order, more than once, and sometimes before the turn that it is about. What is kept of it is
bounded, and is the newest by time and id, not by arrival: so it does not depend on how feedback and turns interleave.
"""

from bisect import insort
from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

import msgspec

from turnsignal.stream.conversations.pairing import ASSISTANT, KeptTurn, PendingResponse, Responder
from turnsignal.stream.conversations.recent_ids import digest
from turnsignal.stream.records.feedback import MAX_REASON
from turnsignal.stream.records.turns import MAX_ID, MAX_SHORT

MAX_WAITING = 16  #: feedback of one conversation that waits for its turn
MAX_NEWEST = 32  #: newest feedback, each about something else, that later feedback may replace
MAX_IDS = 256  #: ids by which feedback that comes again is recognised
MAX_ANSWERED = 64  #: responses that are no longer kept, and can still be given feedback
_MAX_RESPONDERS = 16  #: different ones that gave those responses
_UNKNOWN = 255  #: number of a responder when there were more
_ANSWERED_BYTES = 8  #: of a response: its id's digest, the number of its responder, what its follow-up was
#: bytes that all of it takes at most: what waits, what was newest, who answered, and digests
MAX_BYTES = (
    MAX_WAITING * 4 * (2 * MAX_ID + MAX_REASON + 4 * MAX_SHORT)
    + MAX_NEWEST * (8 * MAX_ID + 200)
    + _MAX_RESPONDERS * 16 * MAX_SHORT
    + 9 * MAX_IDS
    + _ANSWERED_BYTES * MAX_ANSWERED
)
NONE, FINE, CLARIFICATION = 0, 1, 2  #: what a follow-up was

#: Fields of a response that say who gave it.
_WHO = [
    name
    for name in PendingResponse.__struct_fields__
    if name in ("assistant", "version", "model", "platform", "environment")
]
_identify = attrgetter(*_WHO)


class KeptFeedback(msgspec.Struct, array_like=True, gc=False):
    """One feedback as it is kept: redacted, its rater as a digest; id: "" when it came with the turn itself.

    offset: of its record on the topic that it came from.
    """

    id: str
    turn_id: str
    kind: str
    time: float
    offset: int
    vote: int | None = None
    reason: str | None = None
    scorer: str | None = None
    value: float | None = None
    label: str | None = None
    rater: str | None = None

    @property
    def content(self) -> str:
        """Everything that has to be the same where an id comes again."""
        parts = (self.turn_id, self.kind, self.vote, self.reason, self.scorer, self.value, self.label, self.rater)
        return "\x1f".join(map(str, parts))

    @property
    def about(self) -> bytes:
        """Digest of what it is about: newer feedback with the same digest replaces it."""
        return digest("\x1f".join((self.turn_id, self.kind, self.scorer or "", self.rater or "")))


class NewestFeedback(msgspec.Struct, array_like=True, gc=False, order=True):
    """The newest feedback about one thing: when, its id, its row, what it is about, and the vote if it is one."""

    time: float
    id: str
    row: str
    about: bytes
    turn_id: str
    vote: int = 0


class VoteMeeting(NamedTuple):
    """A vote on a response beside its follow-up, or a response without votes.

    turn_id: "" where only its follow-up is known; responder: None where that is not known any more; vote: −1, 1, or 0
    without a vote; follow_up: NONE, FINE or CLARIFICATION.
    """

    turn_id: str
    responder: Responder | None
    vote: int
    follow_up: int


class FeedbackMemory(msgspec.Struct, array_like=True):
    """What one conversation remembers of feedback.

    ids: digests of the last ids; waiting: feedback whose turn has not come, in order of arrival; newest: the newest
    feedback about each thing, oldest first; answered: digests of responses that are no longer kept, with the number of
    their responder and what their follow-up was; responders: who gave those responses.
    """

    ids: bytes = b""
    waiting: list[KeptFeedback] = []
    newest: list[NewestFeedback] = []
    answered: bytes = b""
    responders: list[PendingResponse] = []

    def on_evicted(self, turn_id: str, response: PendingResponse) -> None:
        """Remember who gave a response that is no longer kept, and what its follow-up was."""
        who = _identify(response)
        for number, known in enumerate(self.responders):  # noqa: B007 - nearly always the first
            if _identify(known) == who:
                break
        else:
            number = len(self.responders) if len(self.responders) < _MAX_RESPONDERS else _UNKNOWN
            if number != _UNKNOWN:
                self.responders.append(PendingResponse(**dict(zip(_WHO, who, strict=True))))
        evicted = digest(turn_id) + bytes((number, follow_up_of(response)))
        self.answered = (self.answered + evicted)[-MAX_ANSWERED * _ANSWERED_BYTES :]

    def find(self, turn_id: str) -> Responder | None:
        """Return who gave a response that is no longer kept; None when that is not known."""
        named = digest(turn_id)
        return next((responder for name, responder, _ in self._evicted() if name == named), None)

    def _evicted(self) -> Iterator[tuple[bytes, Responder | None, int]]:
        for at in range(0, len(self.answered), _ANSWERED_BYTES):
            *name, number, follow_up = self.answered[at : at + _ANSWERED_BYTES]
            yield bytes(name), self.responders[number] if number < len(self.responders) else None, follow_up

    def replace(self, new: NewestFeedback) -> tuple[str, str]:
        """Take in feedback; return the row that it replaces, and the row that replaces it, "" for none."""
        known = next((newest for newest in self.newest if newest.about == new.about), None)
        if known is not None:
            if (known.time, known.id) > (new.time, new.id):
                return "", known.row
            self.newest.remove(known)
        insort(self.newest, new)
        del self.newest[:-MAX_NEWEST]
        return "" if known is None else known.row, ""

    def meetings(self, kept: list[KeptTurn]) -> Iterator[VoteMeeting]:
        """Put the votes of all raters beside the follow-ups; kept: the kept turns of the conversation."""
        votes: dict[str, list[int]] = {}
        for feedback in self.newest:
            if feedback.vote:
                votes.setdefault(feedback.turn_id, []).append(feedback.vote)
        for turn in kept:
            if turn.role == ASSISTANT and turn.response is not None:
                for vote in votes.pop(turn.turn_id, (0,)):
                    yield VoteMeeting(turn.turn_id, turn.response, vote, follow_up_of(turn.response))
        named = {digest(turn_id): turn_id for turn_id in votes}
        for name, responder, follow_up in self._evicted():
            turn_id = named.get(name, "")
            for vote in votes.pop(turn_id, (0,)):
                yield VoteMeeting(turn_id, responder, vote, follow_up)
        for turn_id, several in votes.items():
            for vote in several:
                yield VoteMeeting(turn_id, None, vote, NONE)


def follow_up_of(response: PendingResponse) -> int:
    """Return what the follow-up of a response was: NONE where no rule recognised it."""
    if response.strict is None:
        return NONE
    return CLARIFICATION if response.clarification else FINE
