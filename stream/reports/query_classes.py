"""Query classes: among which questions answers are better or worse than among all others (Jhunjhunwala).

By label where a turn has one; and by the words of a conversation's opening question, or by all of it, where many begin
alike. A class is compared with all other answers, conversation by conversation. So many comparisons at once are
adjusted for their number (Benjamini and Hochberg 1995): where answers fail by chance, at most 5 % of reports name any.
Classes with few conversations are counted, and nothing is said of them.
"""

import heapq
import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from turnsignal.stream.reports.answers import OTHERS, Answers, CountedNames, clusters
from turnsignal.stream.statistics.intervals import Clusters, Difference, Interval, adjust, difference, mean_over_turns
from turnsignal.stream.statistics.promise import PROMISE
from turnsignal.stream.statistics.sampling import digest
from turnsignal.stream.text.wordplay import words_of

WORD, QUESTION = "word", "opening question"  #: kinds of classes beside the names of labels
MOST_CLASSES = 100_000  #: different ones that are counted
MOST_COMPARED = 200  #: of each kind, the most frequent ones
MOST_SHOWN = 20  #: that fail, and that excel
MOST_OPENINGS = 100_000  #: conversations whose opening questions are read
CONVERSATIONS = 3  #: to read, of each class
LEAST_CHANGE = 0.02  #: smallest difference that is worth naming

_MOST_TERMS = 30  # of one question
_MOST_LETTERS = 40  # of a word
_QUESTION = 160  # characters of an opening question
_CHINESE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")  # written without blanks

_Whole = npt.NDArray[np.uint32]


class ComparedClass(NamedTuple):
    """Answers of one class beside all others.

    kind: the name of a label, or `WORD` or `QUESTION`; good: share of its answers that fail nowhere; others: of all
    others; adjusted: p of the difference; read: conversations to read, the worst or the best ones.
    """

    kind: str
    name: str
    answers: int
    good: Interval
    others: float
    delta: Difference
    adjusted: float
    read: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        delta = {name: round(getattr(self.delta, name), 6) for name in ("value", "low", "high")}
        figures = {"good": self.good.as_json(), "others": round(self.others, 6), "difference": delta}
        named = {"kind": self.kind, "name": self.name, "answers": self.answers, "conversations": self.good.n}
        return {**named, **figures, "adjusted": float(f"{self.adjusted:.3g}"), "read": list(self.read)}


class _Members:
    """Classes of one kind by number, and the answers or conversations that belong to them.

    turns, good: of each member, how many answers, and how many of them fail nowhere.
    """

    def __init__(self) -> None:
        self.names = CountedNames(MOST_CLASSES)
        self._numbers = array("I")
        self._columns = array("I"), array("I"), array("I")  # conversation, answers, good ones

    def add(self, name: str, conversation: int, turns: int, good: int) -> None:
        self._numbers.append(self.names.number(name))
        for column, value in zip(self._columns, (conversation, turns, good), strict=True):
            column.append(value)

    def all(self) -> "_Sums":
        """Return the sums of all members by conversation."""
        return _Sums(*(np.frombuffer(column, dtype=np.uint32) for column in self._columns))

    def most_frequent(self, most: int) -> Iterator[tuple[str, "_Sums"]]:
        """Give the classes with the most members."""
        numbers = np.frombuffer(self._numbers, dtype=np.uint32)
        counts = np.bincount(numbers, minlength=len(self.names.all))
        order = np.argsort(numbers, kind="stable")
        ends = np.cumsum(counts)
        columns = [np.frombuffer(column, dtype=np.uint32) for column in self._columns]
        for number in heapq.nsmallest(most, range(len(counts)), key=lambda number: (-counts[number], number)):
            if self.names.all[number] != OTHERS:
                members = order[ends[number] - counts[number] : ends[number]]
                yield self.names.all[number], _Sums(*(column[members] for column in columns))


class _Sums:
    """Answers of some conversations, and good ones among them; numbers: of the conversations, each once, ascending."""

    def __init__(self, conversations: _Whole, turns: _Whole, good: _Whole) -> None:
        self.numbers, places = np.unique(conversations, return_inverse=True)
        self.turns = np.bincount(places, weights=turns, minlength=len(self.numbers))
        self.good = np.bincount(places, weights=good, minlength=len(self.numbers))

    @property
    def clusters(self) -> Clusters:
        return clusters(self.turns, self.good)

    def without(self, others: "_Sums", all_of_them: Clusters) -> Clusters:
        """Return the sums less others that are among them; all_of_them: the `clusters` of this."""
        at = np.searchsorted(self.numbers, others.numbers)
        before = clusters(self.turns[at], self.good[at])
        after = clusters(self.turns[at] - others.turns, self.good[at] - others.good)
        named = [field.name for field in fields(Clusters)]
        return Clusters(*(getattr(all_of_them, n) - getattr(before, n) + getattr(after, n) for n in named))


class QueryClasses:
    """Classes of questions: `open` each conversation, `add` each answer, then `as_json`.

    minimum: conversations, beneath which nothing is said of a class.
    """

    def __init__(self, minimum: int) -> None:
        self.opened = 0
        self._minimum = minimum
        self._labels: dict[str, _Members] = {}
        self._openings: dict[int, tuple[int, str]] = {}
        self._threshold = 1 << 32

    def open(self, conversation: int, name: str, text: str) -> None:
        """Take in the question that a conversation begins with; of very many a sample is kept, always the same."""
        self.opened += 1
        place = digest(name.encode("utf-8", "replace"))
        if place >= self._threshold:
            return
        self._openings[conversation] = place, text[:_QUESTION]
        while len(self._openings) > MOST_OPENINGS:
            self._threshold //= 2
            kept = self._threshold
            self._openings = {number: held for number, held in self._openings.items() if held[0] < kept}

    def add(self, conversation: int, labels: Mapping[str, str], *, good: bool) -> None:
        """Take in one answer of which something is known; labels: of its question, by kind."""
        for kind, name in labels.items():
            self._labels.setdefault(kind, _Members()).add(name, conversation, 1, good)

    def as_json(self, answers: Answers) -> dict[str, Any]:
        """Return the classes that differ from all other answers; answers: those that were added, and their outcomes."""
        compared: list[ComparedClass] = []
        counted = {"compared": 0, "too_few": 0, "left_out": 0}
        for kind, members in (*self._labels.items(), *self._by_opening(answers).items()):
            few = len(compared)
            compared += self._compare(kind, members, answers.conversations)
            different = len(members.names.all) - (OTHERS in members.names.all[-1:])
            counted["left_out"] += members.names.left_out + max(0, different - MOST_COMPARED)
            counted["too_few"] += min(different, MOST_COMPARED) - (len(compared) - few)
        counted["compared"] = len(compared)
        adjusted = adjust([one.delta.p for one in compared])
        named = [
            one._replace(adjusted=p)
            for one, p in zip(compared, adjusted, strict=True)
            if p <= PROMISE and abs(one.delta.value) >= LEAST_CHANGE
        ]
        named.sort(key=lambda one: (-abs(one.delta.value) * one.answers, one.name))
        fail = [one.as_json() for one in named if one.delta.value < 0]
        excel = [one.as_json() for one in named if one.delta.value > 0]
        read = {"openings": len(self._openings), "of": self.opened}
        return {**counted, **read, "fail": fail[:MOST_SHOWN], "excel": excel[:MOST_SHOWN]}

    def _by_opening(self, answers: Answers) -> dict[str, _Members]:
        """Return the classes of words and of whole opening questions; their members are conversations."""
        table = answers.of_version()
        judged = table.judged()
        conversations = len(answers.conversations)
        turns = np.bincount(table.conversations[judged], minlength=conversations)
        good = np.bincount(table.conversations[table.good()], minlength=conversations)
        words, questions = _Members(), _Members()
        for number, (_, text) in self._openings.items():
            if not turns[number]:
                continue
            sums = number, int(turns[number]), int(good[number])
            spoken = words_of(text.casefold())
            if spoken:
                questions.add(" ".join(spoken), *sums)
            for term in dict.fromkeys(_terms(spoken)):
                words.add(term, *sums)
        return {WORD: words, QUESTION: questions}

    def _compare(self, kind: str, members: _Members, names: list[str]) -> Iterator[ComparedClass]:
        whole = members.all()
        total = whole.clusters
        for name, sums in members.most_frequent(MOST_COMPARED):
            others = whole.without(sums, total)
            if len(sums.numbers) < self._minimum or others.n < self._minimum:
                continue
            mine, theirs = mean_over_turns(sums.clusters), mean_over_turns(others)
            delta = difference(mine, theirs)
            amount = sums.turns - sums.good if delta.value < 0 else sums.good
            worst = np.lexsort((sums.numbers, -amount))[:CONVERSATIONS]
            read = tuple(names[sums.numbers[place]] for place in worst)
            yield ComparedClass(kind, name, int(sums.turns.sum()), mine.interval, theirs.value, delta, 1.0, read)


def _terms(words: list[str]) -> Iterator[str]:
    """Give the words of a text; of Chinese and Japanese each two signs in a row."""
    for word in (word[:_MOST_LETTERS] for word in words[:_MOST_TERMS]):
        if len(word) > 1 and _CHINESE.search(word):
            yield from (word[index : index + 2] for index in range(len(word) - 1))
        elif len(word) > 1:
            yield word


def describe_classes(classes: Mapping[str, Any]) -> Iterator[str]:
    """Give a sentence for each thing that a reader of the classes should know."""
    if classes["too_few"]:
        few = classes["too_few"]
        yield f"{few:,} {'class is' if few == 1 else 'classes are'} in too few conversations to report."
    if classes["left_out"]:
        left = classes["left_out"]
        yield f"Classes that were not compared, beyond the {MOST_COMPARED} most frequent of a kind: {left:,}."
    if classes["openings"] < classes["of"]:
        yield f"Opening questions were read of {classes['openings']:,} of {classes['of']:,} conversations."
