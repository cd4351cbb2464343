"""What a conversation remembers of judges: which exchanges they were given, and what they have said of each.

Verdicts come late, in any order, more than once, and after a restart even before the turn that they are about. What is
kept follows from the turns and verdicts that have come, never from their order: exchanges stand by their event times,
and means are sums of whole numbers. An exchange that has all its verdicts is added up and packed; beyond the bounds the
oldest are added up and forgotten.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec

from turnsignal.stream.conversations import packed_verdicts
from turnsignal.stream.conversations.packed_verdicts import pack_mark, unpack_marks
from turnsignal.stream.conversations.recent_ids import digest
from turnsignal.stream.records.observations import Earlier
from turnsignal.stream.records.summaries import ScoreMean

MAX_EXCHANGES = 128  #: that are remembered one by one
MAX_MARKS = 2_000  #: verdicts on them
MAX_LABELS = 64  #: of people, the newest
MAX_SCORERS = 100  #: judges of one conversation, former ones included
_NAME_BYTES = 85  #: of a scorer's name at most: its rubric's and its judge's
#: bytes that all of it takes at most
MAX_BYTES = MAX_EXCHANGES * (2 * MAX_SCORERS + 40) + MAX_MARKS * 45 + MAX_SCORERS * (_NAME_BYTES + 30) + MAX_LABELS * 40
_FEW = 16  #: exchanges, of which nobody counts the verdicts unless one has very many
PARTS = 10_000  #: of 1, in which values and weights are counted
LEAST = 1e-5  #: probability; the inverse of a smaller one weighs no more

_UNKNOWN, _CURRENT, _REPLACED = range(3)  # whether the exchange of a verdict has come, and still stands
#: in the place of a verdict's value: nobody read the exchange, nobody was to, or who read it has nothing to say of it
UNREAD, LEFT_OUT, NO_SIGNAL = -1, -2, -3


class Fate(StrEnum):
    """What becomes of a verdict."""

    COUNTED = "counted"  #: on an exchange that stands
    WAITS = "waits"  #: on one that has not come, or is not known any more
    REPLACED = "replaced"  #: on one that another exchange has replaced
    LATE = "late"  #: after the conversation's retention
    FORGOTTEN = "forgotten"  #: from before a request to forget its conversation
    DUPLICATE = "duplicate"  #: it came before

    __hash__ = str.__hash__  # a word that is counted for every verdict; an enum's own is written in Python


def weight_of(inclusion: float) -> float:
    """Return what a verdict counts for: the inverse of the probability with which its exchange was judged."""
    return 1.0 / max(inclusion, LEAST)


_FATES = (Fate.WAITS, Fate.COUNTED, Fate.REPLACED)  # by the state of its exchange
_WAITS, _DUPLICATE = Fate.WAITS, Fate.DUPLICATE  # found in its class in a thousand steps, as those above


class JudgedMean(NamedTuple):
    """The counted values of one scorer: how many, the sum of their weights, and the sum of weight × value, in parts."""

    n: int
    weight: int
    total: int

    @property
    def mean(self) -> float:
        """The weighted mean, 0–1."""
        return self.total / (self.weight * PARTS)


class VerdictMark(msgspec.Struct, array_like=True, gc=False, order=True):
    """One verdict on an exchange.

    id: digest of its id; scorer: number of its scorer; version: of the rubric; value: in parts, or UNREAD, LEFT_OUT,
    NO_SIGNAL (older state has UNREAD for each of these); weight: inverse of its sampling probability, in parts; turn:
    digest of the id of the response, empty in older state.
    """

    id: bytes
    scorer: int
    version: int
    value: int
    weight: int
    turn: bytes = b""


class LabelMark(msgspec.Struct, array_like=True, gc=False, order=True):
    """One label of a person. time: when it was given; id, turn: digests of ids; about: of the scorer that it names."""

    time: float
    id: bytes
    turn: bytes
    about: bytes
    value: int


class JudgedExchange(msgspec.Struct, array_like=True, gc=False, order=True):
    """One exchange that judges were given.

    time: its event time; row: digest of its score row; state: whether it has come and still stands; expected: numbers
    of the scorers whose verdicts are still to come; marks: verdicts, by their ids.
    """

    time: float
    row: bytes
    state: int = _UNKNOWN
    expected: list[int] = []
    marks: list[VerdictMark] = []

    def counted(self) -> dict[int, VerdictMark]:
        """Return the verdict that counts of each scorer."""
        marks = ((number, self.counted_of(number)) for number in sorted({mark.scorer for mark in self.marks}))
        return {number: mark for number, mark in marks if mark is not None}

    def counted_of(self, scorer: int) -> VerdictMark | None:
        """Return the verdict of a scorer that counts: with a value, else one that was read; by its newest rubric."""
        return max((mark for mark in self.marks if mark.scorer == scorer), key=_precedence, default=None)


class VerdictFacts(msgspec.Struct, gc=False):
    """What is remembered of a verdict.

    row: of its exchange; turn: the response; version: of the rubric; kept_as: UNREAD, LEFT_OUT or NO_SIGNAL where it
    has no value.
    """

    id: str
    row: str
    time: float
    scorer: str
    version: int
    value: float | None
    inclusion: float
    turn: str = ""
    kept_as: int = UNREAD


class JudgedMemory(msgspec.Struct, array_like=True):
    """What one conversation remembers of judges.

    scorers: names in their order; exchanges: those that are not complete, in the order of time and row; folded: number,
    weight and sum by scorer, of exchanges that are complete or no longer remembered; packed: the verdicts on exchanges
    that are complete, packed_exchanges: how many of these there are; labels: of people, by their times.
    """

    scorers: list[str] = []
    exchanges: list[JudgedExchange] = []
    folded: list[int] = []
    packed: bytes = b""
    packed_exchanges: int = 0
    labels: list[LabelMark] = []

    def expect(self, row: str, time: float, scorers: Sequence[str]) -> None:
        """Take in that an exchange was handed to judges; scorers: what they are called."""
        exchange = self._at(time, digest(row))
        numbers = [number for number in map(self._number, scorers) if number is not None]
        if len(numbers) > 1:  # the later ones may have moved the earlier ones
            numbers = sorted(number for number in map(self._number, scorers) if number is not None)
        if exchange.marks:
            known = {mark.scorer for mark in exchange.marks}
            numbers = [number for number in numbers if number not in known]
        exchange.state, exchange.expected = _CURRENT, numbers
        self._tidy(exchange)

    def replace(self, row: str) -> None:
        """Take in that the score row of an exchange does not stand any more."""
        named = digest(row)
        self._unpack(named)
        for exchange in self.exchanges:
            if exchange.row == named:
                exchange.state, exchange.expected = _REPLACED, []

    def take(self, verdict: VerdictFacts) -> tuple[Fate, Earlier]:
        """Take in a verdict; return what becomes of it, and number and sum of what its scorer had said before."""
        exchange, named = self._at(verdict.time, digest(verdict.row)), digest(verdict.id)
        marks, expected, value = exchange.marks, exchange.expected, verdict.value
        if marks and any(mark.id == named for mark in marks):
            self._tidy(exchange)
            return _DUPLICATE, ()
        number = self._number(verdict.scorer)
        if number is None:
            self._tidy(exchange)
            return _WAITS, ()
        earlier, kept, weight = self._earlier(number), verdict.kept_as, 0
        if value is not None:
            kept, weight = round(value * PARTS), round(PARTS / max(verdict.inclusion, LEAST))
        insort(marks, VerdictMark(named, number, verdict.version, kept, weight, digest(verdict.turn)))
        if number in expected:
            expected.remove(number)
        self._tidy(exchange)
        return _FATES[exchange.state], earlier

    @property
    def awaiting(self) -> int:
        """How many verdicts have not come on exchanges that stand."""
        return sum([len(exchange.expected) for exchange in self.exchanges])

    def awaited(self) -> dict[str, int]:
        """Return how many verdicts have not come on exchanges that stand, by scorer."""
        numbers = Counter(number for exchange in self.exchanges for number in exchange.expected)
        return {self.scorers[number]: count for number, count in sorted(numbers.items())}

    @property
    def is_full(self) -> bool:
        """Whether older exchanges may be forgotten: they are added up, and what was said of each is not known."""
        marks = len(self.packed) // packed_verdicts.BYTES + sum([len(exchange.marks) for exchange in self.exchanges])
        exchanges = len(self.exchanges) + self.packed_exchanges
        return exchanges >= MAX_EXCHANGES or marks + len(self.scorers) > MAX_MARKS

    @property
    def waits_since(self) -> float:
        """Event time of the newest verdict whose exchange has not come; −inf where none waits."""
        waiting = self.waiting()
        return waiting[-1].time if waiting else float("-inf")  # in the order of their times

    def means(self) -> dict[str, JudgedMean]:
        """Return what counts, by scorer; of those that have judged anything."""
        sums = list(self.folded)
        for exchange in self.exchanges:
            if exchange.state == _CURRENT:
                _add(sums, exchange)
        return {
            scorer: JudgedMean(*sums[3 * number : 3 * number + 3])
            for number, scorer in enumerate(self.scorers)
            if sums[3 * number]
        }

    def verdict_ids(self) -> bytes:
        """Return the digests of all verdicts that count."""
        counted = (sorted(exchange.counted().items()) for exchange in self.current())
        return b"".join(mark.id for marks in counted for _, mark in marks)

    def current(self) -> list[JudgedExchange]:
        """Return the exchanges that have come and stand, complete ones too, in the order of time and row."""
        current = [exchange for exchange in self.exchanges if exchange.state == _CURRENT]
        if not self.packed:
            return current
        return sorted([*_unpacked(self.packed), *current], key=lambda exchange: (exchange.time, exchange.row))

    def waiting(self) -> list[JudgedExchange]:
        """Return the exchanges with verdicts that have not come, or came before any judge was in the suite."""
        return [exchange for exchange in self.exchanges if exchange.state == _UNKNOWN]

    def keep_label(self, label: LabelMark) -> None:
        """Remember a label of a person; the oldest is dropped where there are too many."""
        insort(self.labels, label)
        del self.labels[:-MAX_LABELS]

    def labels_on(self, turn: bytes, about: Container[bytes]) -> list[LabelMark]:
        """Return the labels on a response; about: what they may be about."""
        return [label for label in self.labels if label.turn == turn and label.about in about]

    def values_of(self, turn: bytes) -> list[tuple[str, int]]:
        """Return the scorer and the value, in parts, of every verdict on a response that has one."""
        exchanges = [*_unpacked(self.packed), *self.exchanges]
        marks = [mark for exchange in exchanges for mark in exchange.marks]
        return [(self.scorers[mark.scorer], mark.value) for mark in marks if mark.turn == turn and mark.value >= 0]

    def tidy(self) -> None:
        """Bring what an older version has stored into the form of this one."""
        for exchange in list(self.exchanges):
            known = {mark.scorer for mark in exchange.marks}
            stands = exchange.state == _CURRENT
            exchange.expected = [number for number in exchange.expected if stands and number not in known]
            self._tidy(exchange)

    def _at(self, time: float, row: bytes) -> JudgedExchange:
        """Return the exchange of that event time and row, which is remembered from now on."""
        exchanges = self.exchanges
        if exchanges and exchanges[-1].row == row and exchanges[-1].time == time:  # its verdict has come soon
            return exchanges[-1]
        if row in self.packed:  # seldom
            self._unpack(row, time)
        at = len(exchanges)
        if at and exchanges[-1].time >= time:  # seldom, where an exchange comes
            at = bisect_left(exchanges, (time, row), key=lambda known: (known.time, known.row))
            if at < len(exchanges) and (exchanges[at].time, exchanges[at].row) == (time, row):
                return exchanges[at]
        exchanges.insert(at, new := JudgedExchange(time, row))
        return new

    def _earlier(self, number: int) -> Earlier:
        """Return number and sum of what counts of one scorer, weighted as its mean is; nothing where nothing does."""
        n, weight, total = self.folded[3 * number : 3 * number + 3]
        for exchange in self.exchanges:
            if exchange.marks and exchange.state == _CURRENT:
                mark = exchange.counted_of(number)
                if mark is not None and mark.value >= 0:
                    n, weight, total = n + 1, weight + mark.weight, total + mark.weight * mark.value
        return (n, n * (total / (weight * PARTS))) if n else ()

    def _number(self, scorer: str) -> int | None:
        """Return the number of a scorer; a new one moves those behind it. None where there are too many."""
        if scorer in self.scorers:  # nearly always, and seldom among many
            return self.scorers.index(scorer)
        at = bisect_left(self.scorers, scorer)
        if len(self.scorers) >= MAX_SCORERS:
            return None
        self.scorers.insert(at, scorer)
        self.folded[3 * at : 3 * at] = [0, 0, 0]
        self.packed = packed_verdicts.renumber(self.packed, at)
        for exchange in self.exchanges:
            exchange.expected = [number + (number >= at) for number in exchange.expected]
            for mark in exchange.marks:
                mark.scorer += mark.scorer >= at
        return at

    def _tidy(self, changed: JudgedExchange) -> None:
        """Pack an exchange that is complete; forget the oldest ones where there are too many.

        It is complete where it stands, and has all its verdicts, one of each judge.
        """
        marks = changed.marks
        stands = marks and not changed.expected and changed.state == _CURRENT
        if stands and (len(marks) == 1 or len({mark.scorer for mark in marks}) == len(marks)):
            self._pack(changed)
        if len(self.exchanges) + self.packed_exchanges > _FEW or len(changed.marks) > MAX_MARKS // (2 * _FEW):
            self._bound()

    def _pack(self, complete: JudgedExchange) -> None:
        """Add up an exchange, of which every verdict counts, and keep its marks packed."""
        exchanges, folded, new, time, row = self.exchanges, self.folded, b"", complete.time, complete.row
        if exchanges[-1] is complete:
            exchanges.pop()
        else:
            exchanges[:] = [exchange for exchange in exchanges if exchange is not complete]
        for mark in complete.marks:
            number, value, weight = mark.scorer, mark.value, mark.weight
            if value >= 0:
                at = 3 * number
                folded[at] += 1
                folded[at + 1] += weight
                folded[at + 2] += weight * value
            new += pack_mark(time, row, mark.id, number, mark.version, value, weight, mark.turn)
        self.packed = packed_verdicts.insert(self.packed, new, time) if self.packed else new
        self.packed_exchanges += 1

    def _unpack(self, row: bytes, time: float | None = None) -> None:
        """Put an exchange back among those that are not complete, by its row; do nothing where it is not packed."""
        where = packed_verdicts.find(self.packed, row, time)
        if where is None:
            return
        begin, end = where
        (exchange,) = _unpacked(self.packed[begin:end])
        self.packed = self.packed[:begin] + self.packed[end:]
        self.packed_exchanges -= 1
        _add(self.folded, exchange, -1)
        insort(self.exchanges, exchange, key=lambda known: (known.time, known.row))

    def _bound(self) -> None:
        """Add up the oldest exchanges where there are too many."""
        exchanges = self.exchanges
        marks = len(self.packed) // packed_verdicts.BYTES + sum([len(exchange.marks) for exchange in exchanges])
        while len(exchanges) + self.packed_exchanges > MAX_EXCHANGES or marks > MAX_MARKS:
            oldest = exchanges[0] if exchanges else None
            if self.packed and (oldest is None or packed_verdicts.first(self.packed) < (oldest.time, oldest.row)):
                end = packed_verdicts.end_of_first(self.packed)
                marks -= end // packed_verdicts.BYTES
                self.packed = self.packed[end:]  # it is added up already
                self.packed_exchanges -= 1
                continue
            gone = exchanges.pop(0)
            marks -= len(gone.marks)
            if gone.state == _CURRENT:
                _add(self.folded, gone)


def _precedence(mark: VerdictMark) -> tuple[bool, bool, int, bytes]:
    return mark.value >= 0, mark.value == NO_SIGNAL, mark.version, mark.id


def _unpacked(packed: bytes) -> list[JudgedExchange]:
    exchanges: list[JudgedExchange] = []
    for time, row, *mark in unpack_marks(packed):
        if not exchanges or exchanges[-1].row != row:
            exchanges.append(JudgedExchange(time, row, _CURRENT, [], []))
        exchanges[-1].marks.append(VerdictMark(*mark))
    return exchanges


def _add(sums: list[int], exchange: JudgedExchange, sign: int = 1) -> None:
    for number, mark in exchange.counted().items():
        if mark.value >= 0:
            sums[3 * number] += sign
            sums[3 * number + 1] += sign * mark.weight
            sums[3 * number + 2] += sign * mark.weight * mark.value


def named(means: Iterable[tuple[str, JudgedMean]]) -> dict[str, ScoreMean]:
    """Return the number of values and their weighted mean by scorer."""
    return {scorer: {"n": mean.n, "mean": mean.mean} for scorer, mean in means}
