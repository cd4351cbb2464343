"""Aggregates: what a replay sums up about conversations, instruction checks and ranks, beside its counters.

Everything is taken from scores and summaries that were made anyway. A conversation counts once, when nothing can change
it any more (it is forgotten, or the replay ends), so that one that came back is not counted twice; until then a few
numbers are held, as long as its state is.
"""

from typing import Any

from stream.cite_rates import CiteRates
from stream.conversations import Conversation
from stream.diagnosis import Level
from stream.instructions import Result
from stream.measures.ndcg import NDCG
from stream.pairing import USER, Answer
from stream.pipeline import Batch
from stream.quality import Quality, Went
from stream.review import Review
from stream.scoring import Scored, relevancy_name, scorer_names
from stream.stats import Means
from stream.suite import Suite
from stream.swaps import Swaps
from stream.turns import Turn

DEFAULT_CUTOFF = 5  #: of the debiased nDCG, where the suite measures relevancy in another way

_BOTH_HIGH = f"{Level.HIGH}/{Level.HIGH}/"  #: how a diagnosis begins when relevancy and follow-up are high
_OPEN_ANSWERS = 16  #: failing answers of a conversation whose follow-up is awaited


class Broken:
    """The instructions that a conversation's answers broke.

    fails: check → [failing answers, those whose relevancy and follow-up were high]; awaited: turn id of failing answers
    without a follow-up so far → what they broke.
    """

    __slots__ = ("awaited", "fails")

    def __init__(self) -> None:
        self.fails: dict[str, list[int]] = {}
        self.awaited: dict[str, list[str]] = {}

    def on_answer(self, turn_id: str, checks: list[str]) -> None:
        """Note an answer that broke some checks."""
        for check in checks:
            self.fails.setdefault(check, [0, 0])[0] += 1
        self.awaited[turn_id] = checks
        if len(self.awaited) > _OPEN_ANSWERS:
            del self.awaited[next(iter(self.awaited))]

    def on_good(self, turn_id: str) -> None:
        """Note that relevancy and follow-up of an answer were high; once, even if the row is corrected later."""
        for check in self.awaited.pop(turn_id, ()):
            self.fails[check][1] += 1


class Aggregates:
    """Sum up one shard, as its `Watch`, and `add` its batches; then `finish`, and merge in the order of the shards."""

    def __init__(self, suite: Suite) -> None:
        self.quality = Quality(scorer_names(suite))
        self.review = Review()
        self.cite_rates = CiteRates()
        self.swaps = Swaps()
        self._went: dict[bytes, Went] = {}
        self._broken: dict[bytes, Broken] = {}
        self._good: dict[bytes, int] = {}

    def on_response(self, key: bytes, state: Conversation, turn: Turn, scored: Scored) -> None:
        """Take in a scored response."""
        if scored.compliance is not None and scored.compliance < 1.0:
            checks = [check for check, result in scored.findings if result is Result.FAIL]
            self._broken.setdefault(key, Broken()).on_answer(turn.turn_id, checks)
        if scored.ranks:
            self.cite_rates.count(turn.assistant, turn.version, scored.ranks, scored.cited)
            question = _opening(state) if state.responses == 1 else None
            self.swaps.take(key, turn, scored.ranks, scored.cited, question)

    def on_follow_up(self, key: bytes, turn_id: str, scored: Scored) -> None:
        """Count an answer whose relevancy and follow-up are high."""
        if scored.diagnosis.startswith(_BOTH_HIGH):
            self._good[key] = self._good.get(key, 0) + 1
            if key in self._broken:
                self._broken[key].on_good(turn_id)

    def on_close(self, key: bytes, state: Conversation, answer: Answer, outcome: str, means: Means) -> None:
        """Hold what there is to say of a conversation, until it cannot come back."""
        if state.closes == 1:
            self._settle(key)  # another one under the same id, forgotten meanwhile
        values = self.quality.values(means)
        self._went[key] = Went((answer.assistant, answer.version), outcome, state.first, state.responses, values)

    def add(self, batch: Batch) -> None:
        """Count the conversations that a batch forgot."""
        if None in batch.changes.values():
            for key, value in batch.changes.items():
                if value is None:
                    self._settle(key)

    def finish(self) -> None:
        """Count the conversations that are left: nothing comes after this."""
        for key in list(self._went):
            self._settle(key)
        self._broken.clear()
        self._good.clear()

    def merge(self, other: "Aggregates") -> None:
        """Add another shard's, finished."""
        self.quality.merge(other.quality)
        self.review.merge(other.review)
        self.cite_rates.merge(other.cite_rates)
        self.swaps.merge(other.swaps)

    def summary(self, suite: Suite) -> dict[str, Any]:
        """Return the sections of `summary.json`: conversations, releases compared, checks, ranks."""
        minimum = suite.aggregates.minimum_n
        checks = {check.name: self.quality.pooled(check.name) for _, check in suite.parsed_checks}
        relevancy = next((m for m in suite.parsed_measures if m.name == relevancy_name(suite)), None)
        cutoff = relevancy.cutoff if isinstance(relevancy, NDCG) else None
        return {
            "quality": self.quality.rows(minimum),
            "comparisons": self.quality.comparisons(minimum),
            "review": self.review.rows(checks, minimum),
            "cite_rates": self.cite_rates.rows(minimum),
            "position_bias": self.swaps.rows(minimum, cutoff or DEFAULT_CUTOFF),
        }

    def _settle(self, key: bytes) -> None:
        went = self._went.pop(key, None)
        if went is None:
            return
        good, broken = self._good.pop(key, 0), self._broken.pop(key, None)
        self.quality.add(went)
        resolved = went.outcome == "resolved"
        good = went.answers if resolved else min(good, went.answers)
        fails = broken.fails.items() if broken is not None else ()
        self.review.add(went.answers, good, [(check, n, n if resolved else high) for check, (n, high) in fails])


def _opening(state: Conversation) -> str | None:
    """Return the question that opened a conversation; None where it is not one user turn alone."""
    slots = state.slots
    if len(slots) == 1 and slots[0].role == USER and not state.forgot_turns:
        return slots[0].text
    return None
