"""Calls that send their last message alone, as rows of a table: a long log has no room for an object each.

Its rounds are what several calls of different kinds are asked together, in one conversation within seconds.
"""

from array import array
from collections.abc import Iterator, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.formats.asides import TOGETHER, quoted_by
from turnsignal.stream.formats.heads import Head
from turnsignal.stream.formats.instructions import lasting
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Call, Message
from turnsignal.stream.formats.quotations import MIXED, NUMBER, SHORT, digest_of, number_of
from turnsignal.stream.formats.who_answers import Answerer, AskedBoth, is_label

_SOON = 30.0  #: seconds between a step and the answer, where no end of the step is known,
_AT_ONCE = 5.0  #: and after its end, before a person could have read it
_FEWEST = 3  #: calls under the same instructions, after which these are known, rather than how they begin,
_MOST = 256  #: and as many instructions, the most frequent ones, as are compared
_RARE = 12  #: calls that are asked the same without an id, at most: a greeting is everybody's
_AT_A_TIME = 12  #: calls that are asked the same together
_TELLING = 3  #: words of a question that nobody says again without need
_LABEL, _WORDED, _SOURCED, _CUT, _SHOWS = 1, 2, 4, 8, 16  #: what is known of a call and its answer
_MOST_WORDS = 1_000  #: of an answer that are counted
_PARTS = 5  #: digests of a call


class AskedCall(NamedTuple):
    """A call that is asked something together with others. quotes: in a prompt, rather than as its question."""

    at: int
    quotes: bool


class CallColumns:
    """What is held of calls that send no history, some sixty bytes each.

    digests: of each call question, conversation, its kind, how that begins, and its answer; numbers: of the calls,
    among all; known: what their answers are; conversing: kinds of calls that send a history.
    """

    def __init__(self) -> None:
        self.digests = bytearray()
        self.numbers, self.lines = array("q"), array("q")
        self.ends = array("d")
        self.words = array("H")
        self.known = bytearray()
        self.conversing = bytearray()

    def add(self, number: int, call: Call, kinds: tuple[bytes, bytes], answer: Message, *, shows: bool) -> None:
        """Take in a call. number: among all; kinds: of its instructions; shows: it sends examples before a question."""
        asked, text = (call.typed or spoken_in(call.inputs)[-1].text).strip(), answer.text.strip()
        conversation = digest_of(call.conversation) if call.conversation else bytes(SHORT)
        self.digests += digest_of(asked) + conversation + b"".join(kinds) + digest_of(text)
        self.numbers.append(number)
        self.lines.append(call.line)
        self.ends.append(-1.0 if call.end is None or call.end == call.start else call.end)
        self.words.append(len(text.split(None, _MOST_WORDS)))
        is_sourced = bool(call.documents or answer.documents or (answer.metadata or {}).get("annotations"))
        is_worded = len(asked.split(None, _TELLING)) >= _TELLING
        known = _LABEL * is_label(text) | _WORDED * is_worded | _SOURCED * is_sourced
        self.known.append(known | _CUT * answer.is_cut | _SHOWS * shows)


class CallTable:
    """The calls as rows: a long log has no room for an object each."""

    def __init__(self, calls: CallColumns, heads: Sequence[Head], openings: Sequence[bytes], asides: Set[int]) -> None:
        self._heads = heads
        self._openings = openings
        self._numbers: Any = np.frombuffer(calls.numbers, np.int64) if calls.numbers else np.empty(0, np.int64)
        rows: Any = np.frombuffer(bytes(calls.digests), NUMBER).reshape(-1, _PARTS)
        self._questions, self._conversations, self._answers = rows[:, 0], rows[:, 1], rows[:, 4]
        self._ends, self._lines = calls.ends, calls.lines
        self._words: Any = np.frombuffer(calls.words, np.uint16) if calls.words else np.empty(0, np.uint16)
        self._flags: Any = np.frombuffer(bytes(calls.known), np.uint8)
        conversing: Any = np.frombuffer(bytes(calls.conversing), NUMBER).reshape(-1, 2)
        own, times = np.unique(np.concatenate((rows[:, 2], conversing[:, 0])), return_counts=True)
        often = own[times >= _FEWEST]
        self._kinds: Any = np.where(np.isin(rows[:, 2], often), rows[:, 2], rows[:, 3])
        shows = (self._flags & _SHOWS) != 0
        some = np.intersect1d(self._kinds[shows], self._kinds[~shows])  # some without: others go on from those
        excluded = np.union1d(np.where(np.isin(conversing[:, 0], often), conversing[:, 0], conversing[:, 1]), some)
        self._starts: Any = np.fromiter((heads[at].start for at in self._numbers.tolist()), float, len(rows))
        gone = np.fromiter((at in asides for at in self._numbers.tolist()), bool, len(rows))
        self._stays: Any = ~gone & ~np.isin(self._kinds, excluded)
        kinds, times = np.unique(self._kinds[self._stays], return_counts=True)
        self._compared = set(kinds[np.argsort(-times, kind="stable")[:_MOST]].tolist()) if len(kinds) > 1 else set()

    def kind(self, at: int) -> int:
        """Return the kind of a call."""
        return int(self._kinds[at])

    def number_of(self, at: int) -> int:
        """Return the number of a call among all."""
        return int(self._numbers[at])

    def numbers_of(self, rows: Set[int]) -> set[int]:
        """Return the numbers of calls among all."""
        return {int(self._numbers[at]) for at in rows}

    def of_kinds(self, kinds: Set[int]) -> list[int]:
        """Return the calls of some kinds."""
        which = np.flatnonzero(np.isin(self._kinds, np.fromiter(kinds, NUMBER, len(kinds))) & self._stays)
        return [int(at) for at in which]

    def rounds(self) -> Iterator[list[AskedCall]]:
        """Give the calls of different kinds that are asked the same together, in the order of their times."""
        if not self._compared:
            return
        which = np.flatnonzero(self._stays & np.isin(self._kinds, np.fromiter(self._compared, NUMBER)))
        questions, places, quotes = self._asking(which)
        is_named = self._conversations[places] != 0
        if not is_named.all():
            unique, counts = np.unique(questions, return_counts=True)
            rare = np.isin(questions, unique[counts <= _RARE])
            yield from self._rounds_at(questions[rare], places[rare], quotes[rare], named=False)
        mixed = self._conversations[places] * np.uint64(MIXED) ^ questions
        yield from self._rounds_at(mixed[is_named], places[is_named], quotes[is_named], named=True)

    def typed_in(self, round_: Sequence[AskedCall], beside: Set[int]) -> Iterator[int]:
        """Give the numbers of calls that stay and quote what one that is left out is asked, each before that."""
        asked = [other.at for other in round_ if not other.quotes and self.kind(other.at) in beside]
        for other in round_ if asked else ():
            if other.quotes and self.kind(other.at) not in beside:
                yield from (self.number_of(other.at), int(self._questions[asked[0]]))

    def _asking(self, which: Any) -> tuple[Any, Any, Any]:
        """Return what calls ask, or quote of what others ask, the places of these calls, and whether they quote it."""
        asked = set(self._questions[which].tolist())
        quoted, places = array("Q"), array("q")
        for at in which.tolist():
            numbers = set(map(number_of, quoted_by(self._openings[self.number_of(at)]))) & asked
            numbers.discard(int(self._questions[at]))
            quoted.extend(numbers)
            places.extend([at] * len(numbers))
        questions = np.concatenate((self._questions[which], np.array(quoted, NUMBER)))
        quotes = np.arange(len(questions)) >= len(which)
        return questions, np.concatenate((which, np.array(places, np.int64))), quotes

    def _rounds_at(self, keys: Any, places: Any, quotes: Any, *, named: bool) -> Iterator[list[AskedCall]]:
        unique, counts = np.unique(keys, return_counts=True)
        several = np.isin(keys, unique[counts > 1])
        keys, places, quotes = keys[several], places[several], quotes[several]
        lines = np.fromiter((self._lines[at] for at in places.tolist()), np.int64, len(places))
        order = np.lexsort((lines, self._starts[places], keys))
        round_: list[AskedCall] = []
        kinds: set[int] = set()
        key = begun = None
        for row in order.tolist():
            at = int(places[row])
            kind, start = self.kind(at), float(self._starts[at])
            is_one = keys[row] == key and begun is not None and start - begun <= TOGETHER
            if not is_one or kind in kinds or len(round_) >= _AT_A_TIME:
                if self._is_round(round_, named=named):
                    yield round_
                round_, kinds, key, begun = [], set(), keys[row], start
            round_.append(AskedCall(at, bool(quotes[row])))
            kinds.add(kind)
        if self._is_round(round_, named=named):
            yield round_

    def _is_round(self, round_: Sequence[AskedCall], *, named: bool) -> bool:
        """Say whether calls are of one moment of a conversation; without ids, at most one is named."""
        if len(round_) < 2 or all(asked.quotes for asked in round_):
            return False
        if named:
            return True
        names = {int(self._conversations[asked.at]) for asked in round_}
        users = {self._heads[self.number_of(asked.at)].who[1] for asked in round_} - {None}
        return 0 in names and len(names) <= 2 and len(users) <= 1

    def asked_both(self) -> dict[tuple[int, int], AskedBoth]:
        """Count how often two kinds are asked the same, and who of them first."""
        counts: dict[tuple[int, int], list[int]] = {}
        for round_ in self.rounds():
            for place, asked in enumerate(round_):
                for other in round_[place + 1 :]:
                    if asked.quotes and other.quotes:
                        continue
                    one, two = self.kind(asked.at), self.kind(other.at)
                    seen = counts.setdefault((min(one, two), max(one, two)), [0] * 5)
                    is_about = self._is_about(other, asked)
                    seen[0] += not is_about
                    seen[1 + (one > two)] += not is_about and self._is_soon(asked.at, other.at)
                    seen[3 + (one < two)] += is_about  # the later one quotes
        return {pair: AskedBoth(*seen) for pair, seen in counts.items() if seen[0]}

    def _is_about(self, asked: AskedCall, before: AskedCall) -> bool:
        """Say whether a prompt quotes what the call before it got, too."""
        if not asked.quotes:
            return False
        answer = int(self._answers[before.at])
        return any(number_of(digest) == answer for digest in quoted_by(self._openings[self.number_of(asked.at)]))

    def _is_soon(self, at: int, other: int) -> bool:
        """Say whether a call comes after another, and before a person could have read what that got."""
        end, start = self._ends[at], float(self._starts[other])
        if end < 0:
            return start - float(self._starts[at]) <= _SOON
        return end <= start <= end + _AT_ONCE

    def answerer(self, kind: int, instructions: str, model: str) -> Answerer:
        """Return what all calls of a kind got."""
        which = np.flatnonzero((self._kinds == kind) & self._stays)
        flags = self._flags[which]
        chained = sum(self._is_chained(int(at)) for at in which)
        return Answerer(
            calls=len(which),
            questions=len(np.unique(self._questions[which])),
            answers=len(np.unique(self._answers[which])),
            labels=int(np.count_nonzero(flags & _LABEL)),
            chained=chained,
            sourced=int(np.count_nonzero(flags & _SOURCED)),
            words=float(np.median(self._words[which])),
            instructions=lasting(instructions),
            model=model,
        )

    def _is_chained(self, at: int) -> bool:
        head = self._heads[self.number_of(at)]
        return head.conversation is not None or head.previous is not None

    def asked_again(self, beside: Set[int]) -> int:
        """Return how many were asked again under the same instructions, though their answer was not cut off."""
        left = np.fromiter((at not in beside for at in range(len(self._kinds))), bool, len(self._kinds))
        which = np.flatnonzero(left & self._stays & (self._conversations != 0))
        keys = (self._conversations * np.uint64(MIXED) ^ self._questions ^ self._kinds * np.uint64(MIXED))[which]
        lines = np.fromiter((self._lines[at] for at in which.tolist()), np.int64, len(which))
        order = np.lexsort((lines, self._starts[which], keys))
        is_again = (keys[order][1:] == keys[order][:-1]) & (np.diff(self._starts[which][order]) <= TOGETHER)
        first = self._flags[which][order][:-1][is_again]
        return int(np.count_nonzero((first & _WORDED != 0) & (first & _CUT == 0)))
