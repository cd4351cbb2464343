"""The second oracle: which rows must be there, by the rules alone; nothing of the product is imported here.

It says which rows and dead letters must come of what the broker kept; what users say up to an answer is one follow-up.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import takewhile
from typing import Any, NamedTuple

KEPT_TURNS, KEPT_IDS = 6, 256  #: of a conversation: turns that can still be paired, ids that are known again
REMEMBERED = 300.0 + 3600.0  #: seconds of event time: idle and retention, as the suite of the fault runs has them
SPEAKERS = ("user", "assistant")
LENGTHS = {"conversation_id": (1, 200), "turn_id": (1, 200), "text": (0, 200_000)}
Row = tuple[str, str, str, str, str]  #: conversation, turn, stage, outcome, follow-up (its turns, joined)


class Kept(NamedTuple):
    """A turn that can still be paired; gap: it stands for a record nobody can read."""

    time: float
    role: str
    name: str
    gap: bool = False


class Conversation:
    """What is known of one conversation."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str]] = []
        self.kept, self.pairs = list[Kept](), dict[str, tuple[str, str, bool]]()
        self.asked = False  # a user spoke before all that are kept
        self.last, self.clock, self.oldest, self.gaps = *[float("-inf")] * 3, 0

    def put(self, turn: Kept) -> Iterable[tuple[str, str, str]]:
        """Put a turn in its place; yield (response, outcome, follow-up) of every pair that this makes or changes."""
        turns = sorted([*self.kept, turn], key=lambda kept: kept.time)  # after those of the same time
        if turn.time < self.oldest or len(turns) > KEPT_TURNS:  # one of them is too old to be kept
            gone = turn if turn.time < self.oldest else turns[0]
            turns.remove(gone)
            self.oldest = max(self.oldest, gone.time)
            self.asked |= gone.role == "user"
        self.kept = turns
        first = next((at for at, one in enumerate(turns) if one.role == "user"), len(turns))
        for at, response in enumerate(turns):
            after = next((one for one in turns[at + 1 :] if one.role == "user" or not one.gap), None)
            if response.role == "user" or response.gap or after is None or not (self.asked or at > first):
                continue
            outcome, name = ("followed_up", after.name) if after.role == "user" else ("superseded", "")
            together = takewhile(lambda one: one.role == "user" and not one.gap, turns[at + 1 :])
            name = "\n".join(one.name for one in together) or name
            pair = outcome, after.name + name, bool(name) and (after.gap or turns[at + 1] is not after)
            if self.pairs.get(response.name) != pair:
                self.pairs[response.name] = pair
                yield response.name, outcome, name


def foretell_rows(records: Sequence[Any]) -> tuple[Counter[Row], Counter[int]]:
    """Say which rows, how often, and which offsets are dead letters, for one partition's records in their order."""
    rows, letters = Counter[Row](), Counter[int]()
    everybody, stream = dict[str, Conversation](), float("-inf")
    for record in records:
        turn, conversation, role = read(record)
        state = everybody.get(conversation)
        if state and max(stream, turn["time"] if turn else stream) > max(state.last, state.clock) + REMEMBERED:
            state = everybody.pop(conversation) and None
        if turn is None:
            letters[record.offset] += 1
            if state is None:
                continue  # where nothing was said before there is nothing to misjudge
            state.gaps += 1
            changed = state.put(Kept(state.last, role, f"gap:{state.gaps}", gap=True))
        else:
            state = everybody.setdefault(conversation, Conversation())
            name, content = turn["turn_id"], role + turn["text"]
            if known := [before for seen, before in state.seen if seen == name]:
                letters[record.offset] += content not in known
                continue
            state.seen = [*state.seen, (name, content)][-KEPT_IDS:]
            stream = state.clock = max(stream, min(turn["time"], record.timestamp / 1000))
            state.last = max(state.last, turn["time"])
            rows[conversation, name, "response", "", ""] += role == "assistant"
            changed = state.put(Kept(turn["time"], role, name)) if role in SPEAKERS else ()
        for response, outcome, follow_up in changed:
            rows[conversation, response, "follow_up", outcome, follow_up] += 1
    return +rows, +letters


def read(record: Any) -> tuple[dict[str, Any] | None, str, str]:
    """Read a record: the turn, its conversation and role; None, and "" where these are not known either."""
    whose = "", ""
    try:
        turn = json.loads(record.value or b"", parse_constant=lambda _: 1 / 0)
        json.dumps(turn, ensure_ascii=False).encode()  # half a surrogate pair
        conversation, role = turn["conversation_id"], turn["role"]
        if conversation.encode() == record.key and role in SPEAKERS:
            whose = conversation, role
        fits = all(least <= len(turn[field]) <= most for field, (least, most) in LENGTHS.items())
        time = datetime.fromisoformat(turn["timestamp"])
        turn["time"] = (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
        ids = conversation.encode() == record.key and (conversation + turn["turn_id"]).isprintable()
        fits &= role in (*SPEAKERS, "system", "tool") and len(turn.get("retrieved") or []) <= 1000
        if fits and ids and turn["time"] <= record.timestamp / 1000 + 86_400:
            return turn, conversation, role
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        pass  # it is nobody's turn
    return None, *whose
