"""A baseline for the work: what a first version of it would do, on the same turns.

Decode and validate with a pydantic model, one citation pattern, nDCG@5 and @10, six instruction patterns, four
follow-up patterns, a small JSON state, one JSON record out: the measure of how much the real work may cost.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import orjson
from load import read_turns
from place import Place
from pydantic import BaseModel, Field
from stopwatch import Stopwatch


class Document(BaseModel):
    """A retrieved document."""

    doc_id: str
    rank: int
    score: float
    text: str


class Message(BaseModel):
    """A turn, no more of it than this work needs."""

    conversation_id: str
    turn_id: str
    role: Literal["user", "assistant", "system", "tool"]
    timestamp: str
    text: str
    model: str | None = None
    retrieved: list[Document] = Field(default_factory=list)


MARKER = re.compile(r"\[(doc_\d+)\]")
INSTRUCTIONS = {
    "format": re.compile(r"\[doc_\d+\](?![\s.,;:\[]|$)"),
    "consecutive": re.compile(r"(?:\[doc_\d+\]\s*){4,}"),
    "urls": re.compile(r"https?://\S+"),
    "apology": re.compile(r"\b(?:as an assistant|i am unable|my apologies)\b", re.IGNORECASE),
    "list": re.compile(r"^\s*(?:[-*]|\d+\.)\s", re.MULTILINE),
    "ascii": re.compile(r"[^\x00-\x7f]{3,}"),
}
FOLLOW_UPS = (
    ("corrects", re.compile(r"\b(?:no|wrong|i meant|actually)\b", re.IGNORECASE), 0.2),
    ("repeats", re.compile(r"\b(?:again|already|repeat)\b", re.IGNORECASE), 0.2),
    ("complains", re.compile(r"\b(?:useless|terrible|bad)\b", re.IGNORECASE), 0.1),
    ("asks on", re.compile(r"\b(?:more|also|why|how)\b", re.IGNORECASE), 0.9),
)
DISCOUNTS = [1 / math.log2(rank + 1) for rank in range(1, 101)]


def ndcg(gains: Sequence[int], cutoff: int) -> float:
    """Compute nDCG of binary gains in rank order."""
    ideal = sum(DISCOUNTS[: min(sum(gains), cutoff)])
    return sum(d for gain, d in zip(gains[:cutoff], DISCOUNTS, strict=False) if gain) / ideal if ideal else 0.0


def on_response(state: dict[str, Any], turn: Message) -> dict[str, Any]:
    """Score a response."""
    cited = set(MARKER.findall(turn.text))
    gains = [int(document.doc_id in cited) for document in turn.retrieved]
    at_5, at_10 = ndcg(gains, 5), ndcg(gains, 10)
    state["waiting"] = [turn.turn_id, at_5]
    state["sum"] += at_5
    return {
        "id": turn.turn_id,
        "conversation_id": turn.conversation_id,
        "time": turn.timestamp,
        "model": turn.model,
        "ndcg@5": at_5,
        "ndcg@10": at_10,
        "dangling": len(cited) - sum(gains),
        "instructions": {name: pattern.search(turn.text) is None for name, pattern in INSTRUCTIONS.items()},
    }


def on_user(state: dict[str, Any], turn: Message) -> dict[str, Any] | None:
    """Judge the response before this message."""
    if state["waiting"] is None:
        return None
    response, at_5 = state["waiting"]
    state["waiting"] = None
    found = ((label, value) for label, pattern, value in FOLLOW_UPS if pattern.search(turn.text))
    label, value = next(found, ("goes on", 1.0))
    return {
        "id": f"{response}:{turn.turn_id}",
        "conversation_id": turn.conversation_id,
        "time": turn.timestamp,
        "label": label,
        "value": value,
        "ndcg@5": at_5,
    }


def work(before: bytes | None, raw: bytes, offset: int) -> tuple[bytes, bytes | None]:
    """Take in one turn."""
    state = orjson.loads(before) if before else {"offset": -1, "turns": 0, "waiting": None, "recent": [], "sum": 0.0}
    turn = Message.model_validate(orjson.loads(raw))
    state["offset"] = offset
    state["turns"] += 1
    state["recent"] = [*state["recent"], [turn.role, turn.text[:300]]][-4:]
    record = on_response(state, turn) if turn.role == "assistant" else on_user(state, turn)
    return orjson.dumps(state), None if record is None else orjson.dumps(record)


if __name__ == "__main__":
    watch = Stopwatch.from_env()
    states: dict[bytes, bytes] = {}
    for offset, key, value, _ in read_turns(Place.from_env().load):
        states[key], _record = work(states.get(key), value, offset)
        watch.tick()
