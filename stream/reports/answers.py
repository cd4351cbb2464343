"""Answers: which stages of each were right, in columns of a few bytes an answer, and sums of them by conversation.

Turns of a conversation are alike, so every interval is taken over conversations; what is kept is enough to sum by them
at the end, however the conversations of a recording are mixed.
"""

from array import array
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from turnsignal.stream.statistics.intervals import Clusters
from turnsignal.stream.truth.stages import AnswerStage, Basis, Findings, judged_stages

UNKNOWN, PASSED, FAILED = range(3)
MOST_NAMES = 1_000  #: of one kind, such as versions; those beyond share one
OTHERS = "(others)"
NO_VERSION = "(no version)"

Column = npt.NDArray[Any]
Chosen = npt.NDArray[np.bool_]


class CountedNames:
    """CountedNames by number, in the order in which they came, and at most so many."""

    def __init__(self, most: int = MOST_NAMES) -> None:
        self.all: list[str] = []
        self.left_out = 0
        self._numbers: dict[str, int] = {}
        self._most = most

    def number(self, name: str) -> int:
        """Return the number of a name; those beyond the most share the last one."""
        number = self._numbers.get(name)
        if number is None:
            if len(self.all) >= self._most:
                self.left_out += 1
                name = OTHERS
                if name in self._numbers:
                    return self._numbers[name]
            number = self._numbers[name] = len(self.all)
            self.all.append(name)
        return number


class Answers:
    """Answers with what came of their stages.

    conversations, versions: names by number; bases, failed_by: (stage, basis) → answers that were judged so, and those
    of them that failed.
    """

    def __init__(self) -> None:
        self.conversations: list[str] = []
        self.versions = CountedNames()
        self.bases: Counter[tuple[str, str]] = Counter()
        self.failed_by: Counter[tuple[str, str]] = Counter()
        self._numbers: dict[str, int] = {}
        self._conversation = array("I")
        self._version = array("H")
        self._outcome = array("B")
        self._known = array("B")

    def __len__(self) -> int:
        return len(self._outcome)

    def add(self, conversation: str, version: str | None, findings: Findings, *, failed: bool = False) -> int:
        """Take in one answer, and return its outcome as `outcomes` knows it; failed: it is empty, an error or so."""
        outcome = 0
        for stage, finding in judged_stages(findings):
            outcome += (PASSED if finding.is_right else FAILED) * _PLACES[stage]
            basis = (stage.value, finding.basis.value)
            self.bases[basis] += 1
            self.failed_by[basis] += not finding.is_right
        self._conversation.append(self.number(conversation))
        self._version.append(self.versions.number(version or NO_VERSION))
        self._outcome.append(outcome)
        is_labelled = any(finding.basis is Basis.TRUTH for finding in findings.values())
        self._known.append(sum(_BITS[stage] for stage in findings) + _EMPTY * failed + _LABELLED * is_labelled)
        return outcome

    def number(self, conversation: str) -> int:
        """Return the number of a conversation."""
        number = self._numbers.get(conversation)
        if number is None:
            number = self._numbers[conversation] = len(self.conversations)
            self.conversations.append(conversation)
        return number

    def of_version(self, version: str | None = None) -> "StageTable":
        """Return the stages of one version's answers, or of all."""
        conversations = np.frombuffer(self._conversation, dtype=np.uint32).astype(np.int64)
        outcomes = np.frombuffer(self._outcome, dtype=np.uint8)
        known = np.frombuffer(self._known, dtype=np.uint8)
        if version is None:
            return StageTable(conversations, outcomes, known)
        chosen = np.frombuffer(self._version, dtype=np.uint16) == self.versions.number(version)
        return StageTable(conversations[chosen], outcomes[chosen], known[chosen])


class StageTable:
    """Which stages passed and failed, one line an answer; conversations: the number of each answer's.

    known: a bit for each stage of which something is known, whether or not an earlier one failed.
    """

    def __init__(
        self,
        conversations: npt.NDArray[np.int64],
        outcomes: npt.NDArray[np.uint8],
        known: npt.NDArray[np.uint8],
    ) -> None:
        self.conversations = conversations
        self._outcomes = outcomes
        self._known = known

    def __len__(self) -> int:
        return len(self._outcomes)

    def judged(self) -> Chosen:
        """Return of which answers anything is known."""
        return np.asarray(self._outcomes != 0)

    def known(self, stage: AnswerStage) -> Chosen:
        """Return the answers of which it is known whether a stage was right."""
        return np.asarray(self._known & _BITS[stage] != 0)

    def complete(self) -> Chosen:
        """Return the answers that may be said to fail nowhere: retrieval and generation are known, or it is none."""
        both = self.known(AnswerStage.RETRIEVAL) & self.known(AnswerStage.GENERATION)
        return np.asarray(both | (self._known & _EMPTY != 0))

    def labelled(self) -> Chosen:
        """Return the answers of which labels say something."""
        return np.asarray(self._known & _LABELLED != 0)

    def weight(self) -> Column:
        """Return for how many answers each complete one stands, 0 for the others.

        Of every answer it is known whether it is none; of those that are, only some are complete. If these counted
        once, too, answers that are none would count for more than their share.
        """
        empty = self._known & _EMPTY != 0
        complete = self.complete() & ~empty
        many = complete.sum()
        if not many and not empty.all():
            return np.zeros(len(self))
        return np.asarray(np.where(complete, (~empty).sum() / max(1, many), empty.astype(np.float64)))

    def before(self, stage: AnswerStage) -> Column:
        """Return a number for what came of the stages before one; two answers with the same are known alike."""
        return np.asarray(self._outcomes % _PLACES[stage])

    def failed(self, stage: AnswerStage) -> Chosen:
        """Return the answers whose first failing stage it is."""
        return np.asarray(self._outcomes // _PLACES[stage] % 3 == FAILED)

    def passed(self, stage: AnswerStage) -> Chosen:
        """Return the answers that reached a stage which was right."""
        return np.asarray(self._outcomes // _PLACES[stage] % 3 == PASSED)

    def good(self) -> Chosen:
        """Return the answers of which something is known, and nothing that was wrong."""
        return np.asarray(self.judged() & ~np.isin(self._outcomes, _BAD))

    def sums(self, columns: Iterable[Column]) -> npt.NDArray[np.float64]:
        """Return how many answers each conversation has in each column: conversations × columns."""
        used, places = np.unique(self.conversations, return_inverse=True)
        return np.stack([np.bincount(places, weights=column, minlength=len(used)) for column in columns], axis=1)


def is_good(outcome: int) -> bool:
    """Say of an outcome whether something is known of it, and nothing that was wrong."""
    return outcome != 0 and all(outcome // place % 3 != FAILED for place in _PLACES.values())


def clusters(turns: Column, totals: Column) -> Clusters:
    """Sum over conversations: how many values each has, and their totals."""
    some = turns > 0
    turns, totals = turns[some], totals[some]
    means = totals / turns
    turns2, cross = turns * turns, turns * totals
    sums = (turns.sum(), totals.sum(), turns2.sum(), cross.sum(), totals @ totals, means.sum(), means @ means)
    longer = (turns2 @ turns, turns2 @ turns2, turns @ cross, totals @ cross)
    return Clusters(float(some.sum()), *map(float, (*sums, *longer)))


_PLACES = {stage: 3**place for place, stage in enumerate(AnswerStage)}
_BITS = {stage: 1 << place for place, stage in enumerate(AnswerStage)}
_EMPTY = 1 << len(_BITS)  # the answer is empty, an error or a refusal
_LABELLED = _EMPTY << 1  # labels say something of it
_BAD = np.array(
    [code for code in range(3 ** len(_PLACES)) if any(code // place % 3 == FAILED for place in _PLACES.values())],
    dtype=np.uint8,
)
