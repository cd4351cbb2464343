"""Routing errors: among which queries they are more frequent, which words go with them, and what mending them gains.

A kind of query is compared with all others, a word with the queries without it. So many comparisons at once are
adjusted for their number (Benjamini and Hochberg 1995), half of the one promise for kinds and half for words: where
errors are by chance, at most 5 % of reports name any. What is left are hints at where to read, not causes.
"""

import heapq
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.reports.classification import ClassCounts, count_classes
from turnsignal.stream.reports.routing import RoutedQuery, Routing, known_dimensions
from turnsignal.stream.statistics.exact import fisher
from turnsignal.stream.statistics.intervals import Interval, Z, adjust, difference, rate, wilson
from turnsignal.stream.statistics.promise import PROMISE
from turnsignal.stream.statistics.sampling import digest
from turnsignal.stream.text.wordplay import words_of

AGENTS = "agents"  #: dimension of the combination of agents that a query belongs to
NONE = "(none)"  #: combination of a query that belongs to no agent
MORE, FEWER, SAME, TOO_FEW = "more errors", "fewer errors", "no difference shown", "too few to compare"
LEAST_QUERIES = 10  #: of a kind that is compared, and beside it
LEAST_WORD = 5  #: queries that have a word which is compared
MOST_GROUPS, MOST_WORDS, MOST_GAINS = 200, 50, 100  #: that are given
MOST_READ = 50_000  #: queries whose words are counted

_MOST_TERMS = 60  # words and pairs of words of one query
_MOST_LETTERS = 40  # of a word
_CHINESE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")  # written without blanks


class ErrorGroup(NamedTuple):
    """Queries of one kind.

    errors, partial: how many of the n were sent wrongly, and how many of those to some of the right agents; instead:
    the agents that they were most often sent to wrongly, with how many, None where none was; adjusted: p of the
    comparison with all other queries, None where there is none.
    """

    dimension: str
    name: str
    n: int
    errors: int
    partial: int
    instead: tuple[str, int] | None
    verdict: str = TOO_FEW
    adjusted: float | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it, with the share of errors and its interval."""
        share = wilson(self.errors, self.n).as_json()
        instead = None if self.instead is None else {"agents": self.instead[0], "n": self.instead[1]}
        adjusted = None if self.adjusted is None else _short(self.adjusted)
        return {**self._asdict(), "adjusted": adjusted, "instead": instead, "error_rate": share}


class ErrorWord(NamedTuple):
    """A word, or two in a row, and how it goes with errors; log_odds: of an error with it, against without.

    low, high: by the normal distribution; adjusted: p by Fisher's exact test, which holds for few queries, too.
    """

    word: str
    n: int
    errors: int
    log_odds: float
    low: float
    high: float
    adjusted: float = 1.0

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        figures = {name: round(getattr(self, name), 6) for name in ("log_odds", "low", "high")}
        return {"word": self.word, "n": self.n, "errors": self.errors, **figures, "adjusted": _short(self.adjusted)}


class ErrorWords(NamedTuple):
    """Words that go with errors, and with right answers, the surest first; read: queries, compared: words."""

    read: int
    compared: int
    errors: list[ErrorWord]
    right: list[ErrorWord]


class Mending(NamedTuple):
    """What would be gained if one kind of error were mended.

    missed, extra: the agent that is left out, and the one that is asked wrongly; both where one stands for the other;
    n: queries with the error; exact: share of all queries that would become right by this alone; weighted_f1,
    macro_f1: by how much those would rise.
    """

    missed: str | None
    extra: str | None
    n: int
    exact: Interval
    weighted_f1: float
    macro_f1: float

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        gains = {name: round(getattr(self, name), 6) for name in ("weighted_f1", "macro_f1")}
        return {"missed": self.missed, "extra": self.extra, "n": self.n, "exact": self.exact.as_json(), **gains}


# -- kinds of queries -------------------------------------------------------------------------------------------------


class ErrorGroups(NamedTuple):
    """The kinds of queries of a dimension, those with more errors than others first; left_out: how many more."""

    groups: list[ErrorGroup]
    left_out: int


def error_groups(routing: Routing) -> dict[str, ErrorGroups]:
    """Return the most frequent kinds of queries by dimension, at most `MOST_GROUPS` of each."""
    queries = routing.queries
    dimensions = [*known_dimensions(queries), AGENTS]
    known = {name: [pair for pair in queries if _kind(name, pair) is not None] for name in dimensions}
    totals = {name: (len(of), sum(not pair.is_exact for pair in of)) for name, of in known.items()}
    kinds = {name: len({_kind(name, pair) for pair in of}) for name, of in known.items()}
    compared = _compare([group for name, of in known.items() for group in _groups(name, of)], totals)
    compared.sort(key=_by_errors)
    of_dimension = {name: [group for group in compared if group.dimension == name] for name in dimensions}
    return {name: ErrorGroups(groups, kinds[name] - len(groups)) for name, groups in of_dimension.items()}


def _kind(dimension: str, pair: RoutedQuery) -> str | None:
    return combination(pair.expected) if dimension == AGENTS else pair.query.dimensions.get(dimension)


def _groups(dimension: str, queries: Iterable[RoutedQuery]) -> list[ErrorGroup]:
    n, errors, partial = Counter[str](), Counter[str](), Counter[str]()
    instead: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair in queries:
        name = _kind(dimension, pair) or ""
        n[name] += 1
        if not pair.is_exact:
            errors[name] += 1
            partial[name] += pair.is_partial
            instead[name][combination(pair.predicted)] += 1
    frequent = heapq.nsmallest(MOST_GROUPS, n, key=lambda name: (-n[name], name))  # whatever their errors
    return [
        ErrorGroup(dimension, name, n[name], errors[name], partial[name], _most_common(instead[name]))
        for name in frequent
    ]


def _compare(groups: Sequence[ErrorGroup], totals: Mapping[str, tuple[int, int]]) -> list[ErrorGroup]:
    """Compare each group with all other queries whose kind is known; totals: queries and errors of each dimension."""
    deltas = {}
    for index, group in enumerate(groups):
        n, errors = totals[group.dimension]
        if min(group.n, n - group.n) >= LEAST_QUERIES:
            others = rate(errors - group.errors, n - group.n)
            deltas[index] = difference(rate(group.errors, group.n), others)
    compared = list(groups)
    for (index, delta), adjusted in zip(deltas.items(), adjust([delta.p for delta in deltas.values()]), strict=True):
        doubled = min(1.0, 2 * adjusted)
        verdict = SAME if doubled > PROMISE else MORE if delta.value > 0 else FEWER
        compared[index] = groups[index]._replace(verdict=verdict, adjusted=doubled)
    return compared


def _by_errors(group: ErrorGroup) -> tuple[bool, int, int, str]:
    return group.verdict != MORE, -group.errors, -group.n, group.name


def combination(labels: Iterable[str]) -> str:
    """Name agents together: `billing + search`, whatever their order."""
    return " + ".join(sorted(set(labels))) or NONE


def _most_common(counts: Counter[str]) -> tuple[str, int] | None:
    return min(counts.items(), key=lambda item: (-item[1], item[0])) if counts else None


# -- words ------------------------------------------------------------------------------------------------------------


def error_words(queries: Iterable[RoutedQuery]) -> ErrorWords:
    """Return which words go with errors and which with right answers.

    A query counts once for each of its words, so that what is compared are queries. Of more than `MOST_READ` queries
    a sample is read, the same one each time.
    """
    texts = [pair for pair in queries if pair.query.text]
    if len(texts) > MOST_READ:
        texts = heapq.nsmallest(MOST_READ, texts, key=lambda pair: digest(str(pair.query.id).encode()))
    n, errors = Counter[str](), Counter[str]()
    for pair in texts:
        terms = set(_terms(pair.query.text or ""))
        n.update(terms)
        if not pair.is_exact:
            errors.update(terms)
    wrong = sum(not pair.is_exact for pair in texts)
    words = [_word(term, n[term], errors[term], len(texts), wrong) for term in sorted(n) if _adds(term, n)]
    adjusted = adjust([fisher(word.errors, word.n, wrong, len(texts)) for word in words])
    shown = [word._replace(adjusted=2 * p) for word, p in zip(words, adjusted, strict=True) if 2 * p <= PROMISE]
    shown.sort(key=lambda word: (word.adjusted, -abs(word.log_odds), word.word))
    more, fewer = ([word for word in shown if (word.log_odds > 0) == side][:MOST_WORDS] for side in (True, False))
    return ErrorWords(len(texts), len(words), more, fewer)


def _terms(text: str) -> Iterator[str]:
    """Give the words of a text and each two in a row; of Chinese and Japanese each two characters in a row."""
    words = [word[:_MOST_LETTERS] for word in words_of(text.casefold())[: _MOST_TERMS // 2]]
    for before, word in zip(["", *words], words, strict=False):
        if len(word) > 1 and _CHINESE.search(word):
            yield from (word[index : index + 2] for index in range(len(word) - 1))
            continue
        yield word
        if before and not _CHINESE.search(before):
            yield f"{before} {word}"


def _adds(term: str, n: Counter[str]) -> bool:
    """Whether a term is frequent enough, and two words say more than one of them, which only stands with the other."""
    return n[term] >= LEAST_WORD and (" " not in term or all(n[word] > n[term] for word in term.split(" ")))


def _word(word: str, n: int, errors: int, queries: int, wrong: int) -> ErrorWord:
    """Return the log odds ratio with half a query added to each cell (Haldane 1956, Anscombe 1956)."""
    cells = (errors + 0.5, n - errors + 0.5, wrong - errors + 0.5, queries - n - wrong + errors + 0.5)
    log_odds = math.log(cells[0] / cells[1]) - math.log(cells[2] / cells[3])
    half = Z * math.sqrt(sum(1 / cell for cell in cells))
    return ErrorWord(word, n, errors, log_odds, log_odds - half, log_odds + half)


# -- gains ------------------------------------------------------------------------------------------------------------


def mendings(routing: Routing) -> tuple[list[Mending], int]:
    """Return what mending each kind of error would gain, the greatest gain first, and how many beyond `MOST_GAINS`."""
    alone, n = Counter[tuple[str | None, str | None]](), Counter[tuple[str | None, str | None]]()
    for pair in routing.queries:
        missed, extra = pair.missed, pair.extra
        kinds = [*((label, None) for label in missed), *((None, label) for label in extra)]
        if len(missed) == len(extra) == 1:
            kinds.append((missed[0], extra[0]))
        n.update(kinds)
        if kinds:
            alone[kinds[-1]] += len(missed) <= 1 and len(extra) <= 1
    counts, classes = count_classes(routing.pairs), len(routing.of_all_labels.classes)
    sizes = len(routing.queries), classes, counts.expected.total()
    gained = [_mend(kind, n[kind], alone[kind], counts, sizes) for kind in n]
    return heapq.nsmallest(MOST_GAINS, gained, key=_by_gain), max(0, len(gained) - MOST_GAINS)


def _mend(
    kind: tuple[str | None, str | None], n: int, alone: int, counts: ClassCounts, sizes: tuple[int, int, int]
) -> Mending:
    """Return the gain of one kind; F1 of two classes changes at most, and supports do not.

    sizes: how many queries there are, classes, and labels of the queries.
    """
    missed, extra = kind
    queries, classes, labels = sizes
    weighted = macro = 0.0
    for label, both, predicted in ((missed, n, n), (extra, 0, -n)):
        if label is not None:
            gain = counts.f1(label, both, predicted) - counts.f1(label)
            macro += gain / classes
            weighted += gain * counts.expected[label] / labels
    return Mending(missed, extra, n, wilson(alone, queries), weighted, macro)


def _by_gain(mending: Mending) -> tuple[float, float, int, str, str]:
    return -mending.exact.value, -mending.weighted_f1, -mending.n, mending.missed or "", mending.extra or ""


def _short(p: float) -> float:
    return float(f"{p:.3g}")
