"""Rounds: what a program asks of the model until an answer is good enough, before anybody sees it.

    call 1   sends: "How?"                                gets: {"anwser": "So."}
    call 2   sends: "How?" {"anwser": … "Invalid: …"      gets: So.
    call 3   sends: "How?" "So." "Why?"                   gets: Because.

Call 2 is one: within a minute or two, it asks something of the answer of call 1, and the later history of call 3 holds
neither, but its own answer in their place. A user's correction stays in the history, and who edits a question, or has
it answered anew, takes nothing out behind an answer that stays. Where an answer was cut, the history holds both pieces
as one. At the end of a conversation nothing goes on: there what a round asks begins as in others of the log.
"""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.formats.asides import TO_KEEP
from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.formats.quotations import NUMBER, SHORT, digest_of, number_of, template_of
from turnsignal.stream.text.visible import one_line

LEFT_OUT = "calls in which a program asked for an answer anew, corrected or continued, taken with it as one"
_DEEP = 3  #: rounds
_SOON = 120.0  #: seconds between one and the next
_WAYS = ("", "", " ")  #: how an answer is made of the rounds': the last one, or all, joined so
_PARTS = 2 + _DEEP * (1 + len(_WAYS))  #: digests of a call
_BEGUN = 8  #: characters with which what is asked begins, at least, to be known by
_FEWEST = 2  #: rounds that histories show, to know others by,
_OTHERS = 10  #: and of so many messages one may begin so and stay in its history
_SHOWN = 60
_NOTHING = bytes(SHORT)


class _Round(NamedTuple):
    """A last round. depth: rounds before it; way: of `_WAYS`; begun: when the first call was."""

    depth: int
    way: int
    begun: float


class _RoundCall(NamedTuple):
    """A call behind an answer.

    what: how its question begins; after: what was said until after its answer; ends: until after the answers before
    it, the last first; instead: what may be said in their place, for each of them and each way.
    """

    order: float
    is_timed: bool
    what: int
    after: int
    ends: Sequence[int]
    instead: Sequence[int]


class _RoundTable:
    """All calls behind an answer, a row each, as `_digests_of` gives them: a long log has no room for an object each.

    behind: of each, whether another answer stands before what it asks; followed: whether another call goes on from its
    answer; others: whether its answer may stand in a history as if it were another's; begun: how its question begins.
    """

    def __init__(self, digests: bytearray, orders: "array[float]", timed: bytearray) -> None:
        self._rows: Any = np.frombuffer(digests, NUMBER).reshape(-1, _PARTS)
        self._orders: Any = np.frombuffer(orders, float)
        self._timed = timed
        self.begun, self._after, self._ends = self._rows[:, 0], self._rows[:, 1], self._rows[:, 2]
        ends = self._ends[self._ends != 0]
        self.behind = (self._ends != 0) & (self._after != 0)
        self.followed = np.isin(self._after, ends)
        self.others = np.isin(self._rows[:, 2 + _DEEP :], ends).any(axis=1)

    def take(self, which: Any) -> list[_RoundCall]:
        """Return the calls of some rows, which a mask names."""
        places = np.flatnonzero(which)
        rows = zip(places.tolist(), self._orders[places].tolist(), self._rows[places].tolist(), strict=True)
        return [
            _RoundCall(order, bool(self._timed[at]), row[0], row[1], row[2 : 2 + _DEEP], row[2 + _DEEP :])
            for at, order, row in rows
        ]

    def given(self, wanted: set[int]) -> dict[int, list[float]]:
        """Return when calls gave answers after which so much was said, in the order of time."""
        given: dict[int, list[float]] = {}
        for after, order in self._of(self._after, wanted):
            given.setdefault(after, []).append(order)
        for orders in given.values():
            orders.sort()
        return given

    def latest(self, wanted: set[int]) -> dict[int, float]:
        """Return when a call last went on from there."""
        latest: dict[int, float] = {}
        for end, order in self._of(self._ends, wanted):
            latest[end] = max(order, latest.get(end, order))
        return latest

    def gone_on(self, which: Any, among: Iterable[int]) -> set[int]:
        """Return from which of some answers the calls of some rows go on."""
        return set(self._ends[which].tolist()) & set(among)

    def _of(self, column: Any, wanted: set[int]) -> Iterable[tuple[int, float]]:
        which = np.isin(column, np.fromiter(wanted - {0}, NUMBER))
        return zip(column[which].tolist(), self._orders[which].tolist(), strict=True)


class Rounds:
    """What is asked behind the answers in a log, and which of that nobody sees."""

    def __init__(self) -> None:
        self._digests = bytearray()
        self._orders = array("d")
        self._timed = bytearray()
        self._last: dict[tuple[int, float], _Round] | None = None  # by what was said until after it, and when
        self._on_the_way: set[tuple[int, float]] = set()
        self._guessed: set[tuple[int, float]] = set()
        self._shown = ""
        self._times = 0

    def add(self, call: Call) -> None:
        """Take in a call; called for each before the first `taken_out`."""
        if digests := _digests_of(call):
            self._digests += digests
            self._orders.append(_order(call))
            self._timed.append(call.start is not None)

    def taken_out(self, calls: Sequence[Call], assumed: Assumed) -> list[Call]:
        """Return calls without rounds on the way to an answer; the last one of them answers the question itself."""
        if self._last is None:
            self._last = {}
            self._find()
            self._digests, self._orders, self._timed = bytearray(), array("d"), bytearray()
        if not self._last:
            return list(calls)
        kept = []
        for call in calls:
            key = _after(call), _order(call)
            if key in self._on_the_way:
                assumed[LEFT_OUT] += 1
                continue
            if (last := self._last.get(key)) is not None:
                if key in self._guessed:
                    self._times += 1
                    self._shown = self._shown or one_line(call.inputs[-1].text, _SHOWN)
                _take_back(call, last)
            kept.append(call)
        return kept

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say how to read them where a user asked that in the end. quoted: with what one of them asks."""
        if not self._times:
            return []
        shown = f", such as “{self._shown}”" if quoted else ""
        doubt = (
            f"{self._times:,} messages that end a conversation are left out with the answer before them, as they begin "
            f"like what a program asks of its answers{shown}: where users wrote them, {TO_KEEP}"
        )
        return [doubt]

    def _find(self) -> None:
        """Find the rounds that histories show, then those at the end that begin like them."""
        table = _RoundTable(self._digests, self._orders, self._timed)
        may_be = table.take(table.behind & ~table.followed & table.others)
        given = table.given({digest for call in may_be for digest in (*call.ends, *call.instead)})
        latest = table.latest({digest for call in may_be for digest in call.instead})
        shown = Counter[tuple[int, int]]()
        for call in may_be:
            if (last := _shown_by(call, latest, given)) is not None and self._take(call, given, *last):
                shown[call.what, last[1]] += 1
        if self._on_the_way:
            self._find_at_ends(table, shown)

    def _find_at_ends(self, table: _RoundTable, shown: Counter[tuple[int, int]]) -> None:
        stays = Counter[int](table.begun[table.behind & table.followed].tolist())
        ways: dict[int, int] = {}
        for (what, way), times in shown.most_common():
            if what and times >= _FEWEST and stays[what] * _OTHERS <= times:
                ways.setdefault(what, way)
        are_known = np.isin(table.begun, np.fromiter(ways, NUMBER))
        may_be = table.take(table.behind & are_known)
        given = table.given({digest for call in may_be for digest in call.ends})
        places = [digest for call in may_be for digest in (call.after, call.ends[0])]
        followed = table.gone_on(table.behind & ~are_known, places)
        depths: dict[int, int] = {}
        for call in sorted(may_be, key=lambda call: call.order):
            is_known = self._last is not None and (call.after, call.order) in self._last
            is_same = ways[call.what] == 0 and call.instead[0] == call.ends[0]  # the answer stays as it was
            if is_known or call.after in followed or (call.ends[0] in followed and not is_same):
                continue
            if (call.after, call.order) in self._on_the_way:
                continue
            depth = min(depths.get(call.ends[0], 0) + 1, _DEEP)
            if self._take(call, given, depth, ways[call.what]):
                depths[call.after] = depth
                if call.ends[0] not in followed:
                    self._guessed.add((call.after, call.order))

    def _take(self, call: _RoundCall, given: dict[int, list[float]], depth: int, way: int) -> bool:
        """Take in that a call is the last round; False where none of those before it is logged, shortly before it."""
        before: list[tuple[int, float]] = []
        order = call.order
        for end in call.ends[:depth]:
            orders = given.get(end, [])
            at = bisect_right(orders, order)
            if not at or (call.is_timed and order - orders[at - 1] > _SOON):
                break
            order = orders[at - 1]
            before.append((end, order))
        if not before or self._last is None:
            return False
        for key in before:
            self._last.pop(key, None)
            self._on_the_way.add(key)
        self._last[call.after, call.order] = _Round(depth, way, order)
        return True


def _shown_by(call: _RoundCall, latest: dict[int, float], given: dict[int, list[float]]) -> tuple[int, int] | None:
    """Return how many rounds before a call a later history lacks, and in which way it holds its answer instead.

    Not where the question itself was answered so later, as its user had it answered anew.
    """
    for at, instead in enumerate(call.instead):
        depth, way = at // len(_WAYS) + 1, at % len(_WAYS)
        is_shown = instead != call.ends[depth - 1] and latest.get(instead, call.order) > call.order
        if is_shown and given.get(instead, [call.order])[-1] <= call.order:
            return depth, way
    return None


def _take_back(call: Call, last: _Round) -> None:
    """Make a last round the call of the question itself."""
    spoken = spoken_in(call.inputs)
    asked = _asked_at(spoken)[last.depth]
    cut = spoken[: asked + 1]
    if last.way:
        pieces = [*(each for each in spoken[asked + 1 :] if each.role == "assistant"), *spoken_in(call.outputs)[:1]]
        spoken_in(call.outputs)[0].text = _WAYS[last.way].join(piece.text for piece in pieces)
    place = next(at for at, message in enumerate(call.inputs) if message is cut[-1])
    call.inputs = call.inputs[: place + 1]
    if call.start is not None:
        call.end = call.start if call.end is None else call.end
        call.start = last.begun


def _order(call: Call) -> float:
    return call.start if call.start is not None else float(call.line)


def _after(call: Call) -> int:
    return number_of(_digests_of(call, alone=True)[SHORT : 2 * SHORT])


def _asked_at(spoken: Sequence[Message]) -> list[int]:
    """Return where the last questions stand that are asked behind an answer each, the last first, and one before."""
    places: list[int] = []
    for at in range(len(spoken) - 1, -1, -2):
        if spoken[at].role != "user":
            break
        places.append(at)
        if len(places) > _DEEP or not at or spoken[at - 1].role != "assistant":
            break
    return places


def _digests_of(call: Call, *, alone: bool = False) -> bytes:
    """Return the digests of a call, as `_RoundCall` has them; alone: up to `after`, b"" where it is none."""
    if call.kind != "answer" or call.partial:
        return b""
    spoken, answers = spoken_in(call.inputs), spoken_in(call.outputs)[:1]
    if not spoken or spoken[-1].role != "user":
        return b""
    passages = [(call.conversation or call.session or "").encode("utf-8", "replace")]
    for message in spoken:
        passages.append(_going_on(passages[-1], message))
    text = template_of(spoken[-1].text)
    what = digest_of(text) if len(text) >= _BEGUN else _NOTHING
    after = _going_on(passages[-1], answers[0]) if answers else _NOTHING
    if alone:
        return what + after
    ends, instead = [], []
    joined = [answers[0].text if answers else ""] * len(_WAYS)
    places = _asked_at(spoken)
    for place, before in pairwise(places):
        ends.append(passages[place])
        for way, between in enumerate(_WAYS):
            if way:
                joined[way] = spoken[place - 1].text + between + joined[way]
            is_again = spoken[before].text == spoken[-1].text  # then a history that is cut may begin with the last one
            answer = Message("assistant", joined[way])
            instead.append(_NOTHING if is_again else _going_on(passages[before + 1], answer))
    ends += [_NOTHING] * (_DEEP - len(ends))
    instead += [_NOTHING] * (_DEEP * len(_WAYS) - len(instead))
    return b"".join((what, after, *ends, *instead))


def _going_on(passage: bytes, message: Message) -> bytes:
    return blake2b(passage + digested(message)[1], digest_size=SHORT).digest()
