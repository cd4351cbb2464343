"""First questions: what the words by which users open conversations tell of figures that moved.

A release that is asked harder questions than the one before is met with more complaints, and serves as before. How much
a word tells is a ridge regression within each release (Hoerl and Kennard 1970), so that a release which answers worse,
or finds less, does not count as asked otherwise. Only the first question is read: later ones depend on answers.

What a client writes around messages is no part of a question. It is known where a conversation has another message, and
is left out of all questions where the client began or ceased to write it between two releases.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import erfc, fsum, sqrt
from typing import NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from turnsignal.stream.records.scores import CLARIFICATION_FREE
from turnsignal.stream.statistics.directions import FREE_CONVERSATIONS, RANKS, WITH_DOCUMENTS
from turnsignal.stream.statistics.intervals import Difference, Z, difference, rate
from turnsignal.stream.statistics.promise import PROMISE
from turnsignal.stream.text.wordplay import words_of

_READ = 2_000  #: characters of a question
_BUCKETS = 256  #: that words of questions are counted by
_WORDS_READ = 64  #: of a question, in its first characters
_CAME = 0.5  #: share of questions by which a client's word moved, from which on it writes something else around them
_MOST = 1_000  #: questions of a release that are known one by one
_SHRUNK = 4.0  #: questions without any documents more or less that each word is taken to have had beside its own
_SHRUNK_BY_USERS = 12.0  #: the same, of what users say: chance has more to do with that
#: figures that a question counts for alike: each, by its follow-ups, and where its conversation has an outcome
_BY_USERS = ((CLARIFICATION_FREE,), (FREE_CONVERSATIONS, "resolved", "abandoned", "silent"))
_ALIKE = ((WITH_DOCUMENTS,), (RANKS,), *_BY_USERS)

_SQRT2 = sqrt(2)

_Rows = npt.NDArray[np.float64]


class Opening(NamedTuple):
    """What a conversation's first question asks, and what came of it.

    words: each by the number of its bucket, filled in where the question is kept; around: those that the client wrote
    around it, None where no other message tells; searched: whether it got documents; follow_ups: that rules judge;
    free: those of them that do not complain; outcome: of the conversation, "" where it is not known or says nothing;
    ranked: answers whose citations say where documents stood; ranks: the sum of what they say, 0 to 1 each; complains:
    whether it complains, of the world or in swear words.
    """

    words: bytes = b""
    around: bytes | None = None
    searched: bool = False
    follow_ups: float = 0.0
    free: float = 0.0
    outcome: str = ""
    ranked: float = 0.0
    ranks: float = 0.0
    complains: bool = False


NOT_KNOWN = Opening()  #: of what came of a question, nothing


def words_asked(question: str) -> bytes:
    """Return what is kept of a question's words."""
    words = islice(dict.fromkeys(words_of(question[:_READ].casefold())), _WORDS_READ)
    return bytes({crc32(word.encode("utf-8", "surrogatepass")) % _BUCKETS for word in words})


def words_around(question: str, bare: str) -> bytes:
    """Return what is kept of the words that a client writes around a question; bare: the question without them."""
    return b"" if bare == question else bytes(set(words_asked(question)) - set(words_asked(bare)))


@dataclass(slots=True)
class FirstQuestions:
    """The first questions of one release.

    n: how many; words: how many have a word of each bucket; known: some of those that have words, one by one;
    followed: how many have a word, of those whose user wrote again; around: how many of these have it of the client.
    """

    n: int = 0
    words: Counter[int] = field(default_factory=Counter)
    known: list[Opening] = field(default_factory=list)
    followed: Counter[int] = field(default_factory=Counter)
    around: Counter[int] = field(default_factory=Counter)

    @property
    def alike(self) -> float:
        """The share of those that are known which are worded as the most common one; 0 where none is."""
        worded = Counter(opening.words for opening in self.known)
        return max(worded.values(), default=0) / max(1, len(self.known))

    def add(self, opening: Opening) -> None:
        """Take in one."""
        self.n += 1
        self.words.update(opening.words)
        if opening.around is not None:
            self.followed.update(opening.words)
            self.around.update(opening.around)
        if opening.words and len(self.known) < _MOST:
            self.known.append(opening)

    def merge(self, other: "FirstQuestions") -> None:
        """Add another part's."""
        self.n += other.n
        self.words.update(other.words)
        self.followed.update(other.followed)
        self.around.update(other.around)
        self.known += other.known[: _MOST - len(self.known)]

    def other_words(self, before: "FirstQuestions") -> float:
        """Return how far the share of questions with a word moved most; 0 where none is shown to have moved."""
        if not self.n or not before.n:
            return 0.0
        asked = (self.words.keys() | before.words.keys()) - self.framed(before)
        changes = [difference(rate(self.words[at], self.n), rate(before.words[at], before.n)) for at in sorted(asked)]
        shown = [abs(change.value) for change in changes if change.p * len(changes) <= PROMISE]
        return max(shown, default=0.0)

    def framed(self, before: "FirstQuestions") -> set[int]:
        """Return the words of clients, where one is written around many more or fewer of the questions than before."""
        words = {at for of in (self, before) for at, n in of.around.items() if 2 * n >= of.followed[at]}
        moved = (abs(self.words[at] / max(1, self.n) - before.words[at] / max(1, before.n)) for at in words)
        return words if max(moved, default=0.0) >= _CAME else set()

    def expected(self, before: "FirstQuestions") -> dict[str, Difference]:
        """Return how far figures move by the words of the questions alone; p: that it is by chance who asked what.

        What each word tells is drawn to 0 where it is rare. None of figures of which a side has nothing.
        """
        if not self.known or not before.known:
            return {}
        left_out = list(self.framed(before))
        sides = [(_by_word(of.known, left_out), of.known) for of in (self, before)]
        moves: dict[str, Difference] = {}
        for names in _ALIKE:  # what counts alike shares the sums over words, which take the time
            mine, theirs = (_Told(rows, *_values(names, known)) for rows, known in sides)
            if mine.total and theirs.total:
                shrunk = _SHRUNK if WITH_DOCUMENTS in names else _SHRUNK_BY_USERS
                moves |= zip(names, _moved(mine, theirs, shrunk), strict=True)
        return moves

    def by_complaints(self, before: "FirstQuestions") -> dict[str, Difference]:
        """Return how far figures of users move by how many questions complain, as conversations go on from those.

        Whoever is in a mood stays in it; a topic whose questions sound like complaints may be answered as any other. By
        least squares within each release, as uncertain as how such conversations go on (White 1980).
        """
        moves: dict[str, Difference] = {}
        if not self.known or not before.known:
            return moves
        rows = [np.array([[opening.complains] for opening in of.known], dtype=float) for of in (self, before)]
        for names in _BY_USERS:
            mine, theirs = (
                _Told(complains, *_values(names, of.known)) for complains, of in zip(rows, (self, before), strict=True)
            )
            if mine.total and theirs.total:
                moves |= zip(names, _went_on(mine, theirs), strict=True)
        return moves


class _Told:
    """Figures by what questions say: a row of that, such as words, a row of values and a weight for each."""

    def __init__(self, rows: _Rows, values: _Rows, weights: _Rows) -> None:
        self.weights = weights
        self.total = float(weights.sum())
        self.mean = weights @ rows / self.total if self.total else np.zeros(rows.shape[1])
        self.rows = rows
        self.apart = rows - self.mean
        self.values = values - (weights @ values / self.total if self.total else 0.0)

    def variances(self, says: _Rows) -> _Rows:
        """Return the variance of the mean of what the words say, of each figure."""
        variances: _Rows = self.weights**2 @ (self.apart @ says) ** 2 / self.total**2
        return variances


def _moved(mine: _Told, theirs: _Told, shrunk: float) -> list[Difference]:
    """Return how far figures move by words alone, as uncertain as which questions came."""
    both = (mine, theirs)
    within = sum(((of.apart.T * of.weights) @ of.apart for of in both), shrunk * np.eye(_BUCKETS))
    by = sum(((of.apart.T * of.weights) @ of.values for of in both), np.zeros((_BUCKETS, 1)))
    says: _Rows = np.linalg.solve(within, by).astype(np.float64)
    return _differences(
        mine, theirs, (mine.mean - theirs.mean) @ says, np.sqrt(mine.variances(says) + theirs.variances(says))
    )


def _went_on(mine: _Told, theirs: _Told) -> list[Difference]:
    """Return how far figures move by one thing that questions say or not, as uncertain as how they go on from it."""
    both = (mine, theirs)
    within = fsum(float(of.weights @ of.apart[:, 0] ** 2) for of in both)
    if not within:
        return _differences(mine, theirs, none := np.zeros(mine.values.shape[1]), none)
    by = [of.weights * of.apart[:, 0] for of in both]
    slopes = np.sum([side @ of.values for side, of in zip(by, both, strict=True)], axis=0) / within
    left = [of.values - of.apart * slopes for of in both]
    errors = np.sqrt(np.sum([side**2 @ of**2 for side, of in zip(by, left, strict=True)], axis=0)) / within
    more = float((mine.mean - theirs.mean)[0])
    return _differences(mine, theirs, more * slopes, abs(more) * errors)


def _differences(mine: _Told, theirs: _Told, values: _Rows, errors: _Rows) -> list[Difference]:
    n = min(len(mine.rows), len(theirs.rows))
    return [
        Difference(value, value - Z * error, value + Z * error, n, erfc(abs(value) / error / _SQRT2) if error else 1.0)
        for value, error in zip(values.tolist(), errors.tolist(), strict=True)
    ]


def _values(names: Sequence[str], known: Sequence[Opening]) -> tuple[_Rows, _Rows]:
    """Return the values that each question has of figures that count alike, and how much it counts."""
    values = np.array([[_value(name, of) for name in names] for of in known], dtype=float)
    return values, np.array([_weight(names[0], of) for of in known], dtype=float)


def _value(name: str, opening: Opening) -> float:
    if name == CLARIFICATION_FREE:
        return opening.free / max(1.0, opening.follow_ups)
    if name == RANKS:
        return opening.ranks / max(1.0, opening.ranked)
    if name == FREE_CONVERSATIONS:
        return opening.free >= opening.follow_ups
    return opening.searched if name == WITH_DOCUMENTS else opening.outcome == name


def _weight(name: str, opening: Opening) -> float:
    if name == CLARIFICATION_FREE:
        return opening.follow_ups
    if name == RANKS:
        return opening.ranked
    return 1.0 if name == WITH_DOCUMENTS else bool(opening.outcome)


def _by_word(known: Sequence[Opening], left_out: list[int]) -> _Rows:
    """Return a row of each question with a 1 under each bucket of its words that is not left out."""
    rows = np.zeros((len(known), _BUCKETS))
    for row, opening in zip(rows, known, strict=True):
        row[list(opening.words)] = 1.0
    rows[:, left_out] = 0.0
    return rows
