"""Signals of rows: what the score rows of a replay say of each answer, in a few bytes an answer.

What is kept of an answer are levels, not values, under a digest of its ids: a recording may have millions of answers.
"""

from collections.abc import Mapping
from hashlib import blake2b

import msgspec

from turnsignal.stream.diagnosis import Level, level
from turnsignal.stream.records.environments import PRODUCTION
from turnsignal.stream.records.scores import FOLLOW_UP, Outcome, Stage
from turnsignal.stream.truth.stages import Signals

COMPLIANCE = "compliance"
APPROVING = (
    "factual_correctness"  #: what says of an answer that it is right: by people, or by a judge that has read more
)
APPROVED = 0.5  #: from which on it does

_LEVELS = tuple(Level)
_UNKNOWN = _LEVELS.index(Level.UNKNOWN)
_NONE = _UNKNOWN * (1 + 3 + 9 + 27)  # nothing is known of any of the four
_PLACES = {"relevancy": 1, "follow_ups": 3, "instructions": 9, "approved": 27}


class _RowScore(msgspec.Struct, gc=False):
    scorer: str
    value: float | None = None


class _Row(msgspec.Struct, gc=False):
    conversation_id: str
    turn_id: str
    stage: str
    scores: list[_RowScore]
    environment: str = PRODUCTION
    outcome: str | None = None


_read = msgspec.json.Decoder(_Row).decode


class RowSignals:
    """Signals of the answers of a replay: `add` its rows in their order, since later ones correct earlier ones.

    relevancy: name of the scorer that stands for it; thresholds: relevancy, follow_ups and instructions, from which on
    a value is good; environment: whose rows count.
    """

    def __init__(self, relevancy: str, thresholds: Mapping[str, float], environment: str = PRODUCTION) -> None:
        self.elsewhere = 0
        self._environment = environment
        self._known: dict[int, int] = {}
        self._superseded: set[int] = set()
        self._of = {
            relevancy: ("relevancy", thresholds["relevancy"]),
            FOLLOW_UP: ("follow_ups", thresholds["follow_ups"]),
            COMPLIANCE: ("instructions", thresholds["instructions"]),
        }

    def __len__(self) -> int:
        return len(self._known)

    def add(self, line: bytes) -> None:
        """Take in one row; raises msgspec.MsgspecError for a line that is none."""
        row = _read(line)
        if row.stage == Stage.CLOSE:
            return
        if row.environment != self._environment:
            self.elsewhere += row.stage == Stage.RESPONSE
            return
        key = _key(row.conversation_id, row.turn_id)
        known = self._known.get(key, _NONE)
        if row.stage == Stage.RESPONSE:
            self._known[key] = known
        elif row.stage == Stage.FOLLOW_UP:
            if row.outcome == Outcome.SUPERSEDED:
                self._superseded.add(key)
            else:
                self._superseded.discard(key)
        for score in row.scores:
            named = self._of.get(score.scorer)
            if named is not None:
                known = _put(known, named[0], level(score.value, named[1]))
            elif score.value is not None and score.scorer.startswith(APPROVING):
                known = _put(known, "approved", level(score.value, APPROVED))
        if key in self._known or row.stage == Stage.RESPONSE:
            self._known[key] = known

    def get(self, conversation_id: str, turn_id: str, *, failed: bool = False) -> Signals | None:
        """Return what is known of an answer, None of one that was not scored; failed: it is none."""
        known = self._known.get(_key(conversation_id, turn_id))
        return None if known is None else _SIGNALS[known, failed]

    def is_superseded(self, conversation_id: str, turn_id: str) -> bool:
        """Say whether the assistant went on after an answer before its user wrote again."""
        return bool(self._superseded) and _key(conversation_id, turn_id) in self._superseded


def _key(conversation_id: str, turn_id: str) -> int:
    text = f"{conversation_id}\x1f{turn_id}"
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


def _put(known: int, what: str, to: Level) -> int:
    place = _PLACES[what]
    return known + (_LEVELS.index(to) - known // place % 3) * place


def _signals(known: int, *, failed: bool) -> Signals:
    relevancy, follow_ups, instructions, approved = (_LEVELS[known // place % 3] for place in _PLACES.values())
    opinion = None if approved is Level.UNKNOWN else approved is Level.HIGH
    return Signals(relevancy, follow_ups, instructions, failed, opinion)


_SIGNALS = {(known, failed): _signals(known, failed=failed) for known in range(81) for failed in (False, True)}
