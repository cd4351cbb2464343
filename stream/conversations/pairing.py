"""Pairing: which message follows which response, by event time, whatever the order of arrival.

The last few turns of a conversation are kept in event-time order. A new turn is inserted by its event time, and only
the responses around it are paired again. Where a response is now paired with something else than before, the caller
writes a score row. So a late turn and a turn in order take the same path.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import Protocol

import msgspec

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.records.scores import Outcome

#: roles of a kept turn; a gap stands for a record of that role that could not be read
USER, ASSISTANT, GAP_USER, GAP_ASSISTANT = "user", "assistant", "gap_user", "gap_assistant"
ASKED = (USER, GAP_USER)  #: roles of users
_BY_USERS = frozenset(ASKED)
_FOLLOWED_UP, _SUPERSEDED = Outcome.FOLLOWED_UP, Outcome.SUPERSEDED
_ANSWERED = (ASSISTANT, GAP_ASSISTANT)
#: Exchange records that the rest of a long text is written to at most: as a follow-up, and as the prompt of what
#: answers it, twice each. Without a bound, each answer that comes late would have it written again.
MOST_GIVEN = 4
TOGETHER = "\n"  #: between messages that came together, and between their ids
_CLEAR = {outcome: f"{outcome}:clear:" for outcome in Outcome}  #: how the keys begin of pairings that can be scored
_TOGETHER_KEY = f"{_FOLLOWED_UP}:clear"  #: how the keys begin of pairings that may have several messages


class Responder(Protocol):
    """Who gave a response, or was asked for one; environment: None is production."""

    assistant: str
    version: str | None
    model: str | None
    platform: str | None
    environment: str | None


class PendingResponse(msgspec.Struct, array_like=True, gc=False):
    """What is remembered of a response until it is paired, and of its pairing afterwards; with its `Responder`.

    relevancy, compliance: its scores, None when unscored; pairing: the key of its last `Pairing`, "" before; row_id,
    row_time, strict, precision, clarification, free, went_on: of the follow-up row that was written for that pairing,
    "" and None before; free: whether it was clarification-free, as 0 or 1; went_on: whether it was read as going on or
    as thanks.
    """

    assistant: str
    version: str | None
    model: str | None
    platform: str | None
    relevancy: float | None = None
    compliance: float | None = None
    pairing: str = ""
    row_id: str = ""
    row_time: float = 0.0
    strict: float | None = None
    precision: float | None = None
    clarification: bool = False
    free: float | None = None
    went_on: bool = False
    environment: str | None = None


class KeptTurn(msgspec.Struct, array_like=True, gc=False):
    """One kept turn: id, role, event time, text (cut), and what is remembered of it if it is a response.

    remainder: what was cut from the text, "" when it is not kept any more, None when the text is whole; given: how
    many exchange records it was written to.
    """

    turn_id: str
    role: str
    time: float
    text: str
    response: PendingResponse | None = None
    remainder: str | None = None
    given: int = 0

    def give_remainder(self) -> str:
        """Return what was cut from the text, for one more exchange record; what was given often enough is dropped."""
        remainder = self.remainder or ""
        if remainder:
            self.given += 1
            if self.given >= MOST_GIVEN:
                self.remainder = ""
        return remainder


class Pairing(msgspec.Struct, frozen=True, gc=False):
    """How a response's exchange closed: with which turn, and whether an unreadable record lies between.

    turn: what followed; several messages in a row of the user are one, with the id of the first, the time of the last
    and the texts joined; turns: the ids of all of them; key: identifies the pairing among those that this response may
    have had.
    """

    outcome: Outcome
    turn: KeptTurn
    gap: bool
    key: str
    turns: tuple[str, ...]


def pairing_key(outcome: Outcome, turn_id: str, *more: str, gap: bool = False) -> str:
    """Return the key of a pairing: what happened, whether it can be scored, and the turns."""
    if not more and not gap:  # as nearly always
        return _CLEAR[outcome] + turn_id
    clear = "gap" if gap else "clear"
    if not more:
        return f"{outcome}:{clear}:{turn_id}"
    return f"{outcome}:{clear}{len(more) + 1}:{TOGETHER.join((turn_id, *more))}"


def comes_apart(before: str, pairing: Pairing) -> bool:
    """Say whether a response loses the last of the messages that followed it, and keeps the first ones.

    before: the key of its pairing until now. Messages join one after the other, so the row that sees only the first
    ones was most likely written before, and its id is taken.
    """
    if pairing.outcome is not _FOLLOWED_UP or pairing.gap or not before.startswith(_TOGETHER_KEY):
        return False
    return before.split(":", 2)[2].startswith(TOGETHER.join((*pairing.turns, "")))


def _paired(outcome: Outcome, turn: KeptTurn, gap: bool, more: Sequence[KeptTurn] = ()) -> Pairing:
    if not more:  # as nearly always
        return Pairing(outcome, turn, gap, pairing_key(outcome, turn.turn_id, gap=gap), (turn.turn_id,))
    turns = (turn.turn_id, *[later.turn_id for later in more])
    text = TOGETHER.join(each.text for each in (turn, *more))
    is_cut = any(each.remainder is not None for each in (turn, *more))
    turn = KeptTurn(turn.turn_id, USER, more[-1].time, text, remainder="" if is_cut else None)
    return Pairing(outcome, turn, gap, pairing_key(outcome, *turns, gap=gap), turns)


def insertion_index(kept: Sequence[KeptTurn], time: float) -> int:
    """Return the index that a turn of this event time gets among kept turns: after equal times."""
    index = len(kept)
    while index and kept[index - 1].time > time:
        index -= 1
    return index


def insert(kept: list[KeptTurn], turn: KeptTurn) -> int:
    """Insert a turn by event time, after equal times, and return its index."""
    index = insertion_index(kept, turn.time)
    kept.insert(index, turn)
    return index


def affected_responses(kept: Sequence[KeptTurn], index: int) -> list[int]:
    """Return the indexes of the responses whose pairing the turn inserted at `index` may have changed."""
    last = index == len(kept) - 1
    answers_last = last and kept[index].role in _ANSWERED
    if last and index:  # most turns are the newest
        before_it = kept[index - 1].role
        if answers_last and before_it in ASKED:
            return []
        if not answers_last and before_it == ASSISTANT:
            return [index - 1]
    changed = []
    for before in range(index - 1, -1, -1):
        if kept[before].role == ASSISTANT:
            changed.append(before)
            break
        if answers_last and kept[before].role in ASKED:
            break  # the response before it is paired with that one, and stays so
    if kept[index].role == ASSISTANT:
        if not last:
            changed.append(index)
    elif kept[index].role in ASKED:
        for after in range(index + 1, len(kept)):
            if kept[after].role in ASKED:
                break  # what stands behind that one had a prompt before
            if kept[after].role == ASSISTANT:
                changed.append(after)
    return changed


def unprompted(kept: Sequence[KeptTurn]) -> list[int]:
    """Return the indexes of responses before which no user spoke among these turns."""
    first = next((index for index, turn in enumerate(kept) if turn.role in ASKED), len(kept))
    return [index for index in range(first) if kept[index].role == ASSISTANT]


def prompted(kept: Sequence[KeptTurn], index: int) -> bool:
    """Say whether a user spoke before the response at `index`; a greeting answers nobody, so nothing follows it up."""
    if index and kept[index - 1].role in ASKED:  # as before most responses
        return True
    return not _BY_USERS.isdisjoint([turn.role for turn in kept[:index]])


def pair_response(kept: Sequence[KeptTurn], index: int) -> Pairing | None:
    """Return how the exchange of the response at `index` closed; None while nothing followed.

    The first later user turn is the follow-up, together with the user turns right after it: a user who writes on before
    the answer has not finished. A response that comes before any user turn supersedes this one. An unreadable user
    record is a follow-up that cannot be scored, and so is the next user turn after an unreadable response.
    """
    gap = False
    for after in range(index + 1, len(kept)):
        turn = kept[after]
        if turn.role == USER:
            if gap or after + 1 == len(kept):
                return _paired(_FOLLOWED_UP, turn, gap)
            return _paired(_FOLLOWED_UP, turn, gap, [*takewhile(lambda later: later.role == USER, kept[after + 1 :])])
        if turn.role == ASSISTANT:
            return _paired(_SUPERSEDED, turn, False)
        if turn.role == GAP_USER:
            return _paired(_FOLLOWED_UP, turn, True)
        gap = True
    return None


def exchange(kept: Sequence[KeptTurn], index: int, follow_up: str) -> Exchange:
    """Collect the texts around the response at `index`: its prompt, joined, and the prompt before that."""
    prompt, position = _prompt_before(kept, index)
    before, _ = _prompt_before(kept, position) if position > 0 else ("", 0)
    return Exchange(prompt, kept[index].text, follow_up, before)


def last_answer(kept: Sequence[KeptTurn]) -> int | None:
    """Return where the last response stands, None where there is none."""
    return next((at for at in range(len(kept) - 1, -1, -1) if kept[at].role == ASSISTANT), None)


def asked(kept: Sequence[KeptTurn], index: int) -> tuple[int, int]:
    """Return where the user turns right before `index` (skipping responses) begin and end.

    None of them when an unreadable one stands there: an older prompt would be the wrong one.
    """
    end = index
    while end > 0 and kept[end - 1].role not in ASKED:
        end -= 1
    start = end
    while start > 0 and kept[start - 1].role == USER:
        start -= 1
    return start, end


def _prompt_before(kept: Sequence[KeptTurn], index: int) -> tuple[str, int]:
    """Return the joined user turns right before `index`, and where they begin."""
    end = index - 1 if index > 1 and kept[index - 1].role == ASSISTANT else index
    if end > 1 and kept[end - 1].role == USER and kept[end - 2].role == ASSISTANT:
        return kept[end - 1].text, end - 1  # as most do
    start, end = asked(kept, index)
    if end - start == 1:
        return kept[start].text, start
    return "\n".join(turn.text for turn in kept[start:end]), start
