"""Questions that several calls are asked together, in a log whose calls send their last message alone.

    9:00:00   "Safe or unsafe?" (system) "How do I pay?"   gets: safe
    9:00:01   "Help users." (system) "How do I pay?"       gets: By card, in the app.

No history tells whose answer the user saw. The whole log may, as `who_answers` reads it: of each two instructions, or
models, that are asked the same in one conversation within seconds, it decides by all they got. Where it cannot, both
stay turns, and that is said. Who repeats himself under the same instructions stays, too.
"""

from array import array
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.formats.asides import TO_KEEP, TOGETHER, history_of, quoted_by
from turnsignal.stream.formats.heads import Head
from turnsignal.stream.formats.instructions import instructions_of, lasting
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call
from turnsignal.stream.formats.quotations import NUMBER, SHORT, digest_of, number_of, quoted_in, template_of
from turnsignal.stream.formats.who_answers import Answerer, AskedBoth, comes_before, is_beside, is_label
from turnsignal.stream.text.visible import one_line

TWICE = "questions that were asked twice in the same words, taken as asked again by their users"
_SOON = 30.0  #: seconds between a step and the answer, where no end of the step is known,
_AT_ONCE = 5.0  #: and after its end, before a person could have read it
_FEWEST = 3  #: calls under the same instructions, after which these are known, rather than how they begin,
_MOST = 256  #: and as many instructions, the most frequent ones, as are compared,
_HELD = 4_096  #: of so many that are held
_SHARE = 0.5  #: of the calls under instructions, those that are asked what others are: the rest are of their kind,
_ALL = 0.9  #: or nearly all, where they come before an answer
_RARE = 12  #: calls that are asked the same without an id, at most: a greeting is everybody's
_AT_A_TIME = 12  #: calls that are asked the same together
_TELLING = 3  #: words of a question that nobody says again without need
_SHOWN = 60
_LABEL, _TOLD, _SOURCED, _CUT, _SHOWS = 1, 2, 4, 8, 16  #: what is known of a call and its answer
_MOST_WORDS = 1_000  #: of an answer that are counted
_PARTS = 5  #: digests of a call
_MIXED = 0x9E3779B97F4A7C15  #: odd: no two conversations become one


class _Asked(NamedTuple):
    """A call that is asked something together with others. quotes: in a prompt, rather than as its question."""

    at: int
    quotes: bool


class AskedTogether:
    """The calls of a log that send no history, and which of them answer no user."""

    def __init__(self) -> None:
        self._digests = bytearray()  # of each call: question, conversation, its kind, how that begins, and its answer
        self._numbers = array("q")  # of the calls, among all
        self._lines = array("q")
        self._ends = array("d")
        self._words = array("H")
        self._known = bytearray()
        self._conversing = bytearray()  # kinds of calls that send a history
        self._examples: dict[bytes, bytes] = {}  # a kind → what its calls send before the question, each the same
        self._texts: dict[int, tuple[str, str]] = {}  # a kind → its instructions and its model
        self._steps: set[int] = set()
        self._typed: Any = np.empty((0, 2), NUMBER)  # numbers of calls whose prompt quotes a question, and that
        self._unsure = 0
        self._pair: tuple[int, int] | None = None
        self._shown: dict[int, tuple[str, str]] = {}  # the number of a call → its question and its answer

    def add(self, number: int, answer: Call, kinds: tuple[bytes, bytes], opening: bytes) -> None:
        """Take in a call. number: among all; kinds: of its instructions, as `kinds_of` gives them."""
        if not opening or answer.kind not in ("answer", "whole"):
            return
        if (history := history_of(opening)) and not self._shows_examples(kinds[0], history):
            self._conversing += b"".join(kinds)
            return
        got = spoken_in(answer.outputs)[:1]
        if not got:
            return
        asked, text = (answer.typed or spoken_in(answer.inputs)[-1].text).strip(), got[0].text.strip()
        for kind in map(number_of, kinds):
            if len(self._texts) < _HELD and kind not in self._texts:
                self._texts[kind] = instructions_of(answer), str(answer.fields.get("model", ""))
        conversation = digest_of(answer.conversation) if answer.conversation else bytes(SHORT)
        self._digests += digest_of(asked) + conversation + b"".join(kinds) + digest_of(text)
        self._numbers.append(number)
        self._lines.append(answer.line)
        self._ends.append(-1.0 if answer.end is None or answer.end == answer.start else answer.end)
        self._words.append(len(text.split(None, _MOST_WORDS)))
        is_sourced = bool(answer.documents or got[0].documents or (got[0].metadata or {}).get("annotations"))
        is_told = len(asked.split(None, _TELLING)) >= _TELLING
        known = _LABEL * is_label(text) | _TOLD * is_told | _SOURCED * is_sourced
        self._known.append(known | _CUT * got[0].is_cut | _SHOWS * bool(history))

    def _shows_examples(self, kind: bytes, history: bytes) -> bool:
        """Say whether what a call sends is what all of its kind did until now, as examples are."""
        if kind not in self._examples and len(self._examples) >= _HELD:
            return False
        return self._examples.setdefault(kind, history) == history

    def take_beside(
        self, heads: Sequence[Head], openings: Sequence[bytes], asides: Set[int], assumed: Assumed
    ) -> set[int]:
        """Return the numbers of those that no user saw, and are no asides; what was taken in is gone then."""
        table = _Table(self, heads, openings, asides)
        decided = table.decide(self._texts)
        beside: set[int] = set(table.of_kinds(decided.beside))
        partly: set[int] = set()
        quoting = array("Q")
        for round_ in table.rounds() if decided.is_any else ():
            self._take_round(round_, table, decided, partly)
            quoting.extend(table.typed_in(round_, decided.beside))
        self._typed = np.array(quoting, NUMBER).reshape(-1, 2)
        self._typed = self._typed[np.argsort(self._typed[:, 0], kind="stable")]
        if not len(self._conversing):
            assumed[TWICE] += table.asked_again(beside | partly)
        self._steps = table.numbers_of((set(table.of_kinds(decided.steps)) & beside) | partly)
        if self._pair is not None:
            self._shown = dict.fromkeys((table.number_of(at) for at in self._pair), ("", ""))
        found = table.numbers_of(beside | partly)
        self._clear()
        return found

    def see(self, number: int, answer: Call) -> None:
        """Look at a call again, which may be quoted, and name what its user typed where its prompt quotes that."""
        at = int(np.searchsorted(self._typed[:, 0], np.uint64(number)))
        if at < len(self._typed) and int(self._typed[at, 0]) == number and answer.typed is None:
            typed = int(self._typed[at, 1])
            parts = quoted_in(spoken_in(answer.inputs)[-1].text)
            answer.typed = next((part for part in parts if number_of(digest_of(part)) == typed), None)
        if number in self._shown or (number in self._steps and len(self._shown) < 3):
            asked, got = spoken_in(answer.inputs)[-1:], spoken_in(answer.outputs)[:1]
            texts = [one_line(message.text, _SHOWN) for message in (*asked, *got)]
            self._shown[number] = texts[0], texts[-1]

    def is_step(self, number: int) -> bool:
        """Say whether a call is left out as a step on the way to an answer."""
        return number in self._steps

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say what was guessed, and what nothing tells. quoted: with words of the log."""
        doubts: list[str] = []
        if self._steps:
            texts = [got for number, (_, got) in self._shown.items() if number in self._steps]
            shown = f", such as “{texts[0]}”" if quoted and texts else ""
            doubts.append(
                f"{len(self._steps):,} calls are left out as steps on the way, as another was asked the same right "
                f"after them under other instructions{shown}: where users saw what these got, {TO_KEEP}"
            )
        if self._unsure:
            pairs = [pair for number, pair in self._shown.items() if number not in self._steps]
            shown = f", such as “{pairs[0][0]}” (“{pairs[0][1]}”, “{pairs[-1][1]}”)" if quoted and pairs else ""
            doubts.append(
                f"{self._unsure:,} questions were asked twice within seconds, under other instructions or of another "
                f"model{shown}, and nothing tells which answer the user saw: both count as turns; leave the calls that "
                "no user saw out of the log, or trace each request as a root span with its input and output"
            )
        return doubts

    def _take_round(self, round_: Sequence[_Asked], table: "_Table", decided: "_Decided", partly: set[int]) -> None:
        """Take in what was asked of several together: what is left out of it, and what nothing tells."""
        kinds = [table.kind(asked.at) for asked in round_]
        staying = [at for at, kind in enumerate(kinds) if kind not in decided.beside]
        for place, at in enumerate(staying):
            for other in staying[place + 1 :]:
                pair = kinds[at], kinds[other]
                if pair in decided.handing_over:
                    partly.add(round_[at].at)
                elif frozenset(pair) in decided.unsure:
                    self._unsure += 1
                    self._pair = self._pair or (round_[at].at, round_[other].at)

    def _clear(self) -> None:
        self._digests, self._conversing, self._known = bytearray(), bytearray(), bytearray()
        self._numbers, self._lines, self._ends, self._words = array("q"), array("q"), array("d"), array("H")
        self._texts, self._examples = {}, {}


class _Decided(NamedTuple):
    """Kinds of calls that answer nobody; of these, steps on the way to an answer; pairs of which the second takes over
    from the first; and pairs of which nothing tells who answers."""

    beside: set[int]
    steps: set[int]
    handing_over: set[tuple[int, int]]
    unsure: set[frozenset[int]]

    @property
    def is_any(self) -> bool:
        """Whether anything was decided, or left open."""
        return any(self)


class _Table:
    """The calls as rows: a long log has no room for an object each."""

    def __init__(
        self, calls: AskedTogether, heads: Sequence[Head], openings: Sequence[bytes], asides: Set[int]
    ) -> None:
        self._heads = heads
        self._openings = openings
        self._numbers: Any = np.frombuffer(calls._numbers, np.int64) if calls._numbers else np.empty(0, np.int64)
        rows: Any = np.frombuffer(bytes(calls._digests), NUMBER).reshape(-1, _PARTS)
        self._questions, self._conversations, self._answers = rows[:, 0], rows[:, 1], rows[:, 4]
        self._ends, self._lines = calls._ends, calls._lines
        self._words: Any = np.frombuffer(calls._words, np.uint16) if calls._words else np.empty(0, np.uint16)
        self._flags: Any = np.frombuffer(bytes(calls._known), np.uint8)
        conversing: Any = np.frombuffer(bytes(calls._conversing), NUMBER).reshape(-1, 2)
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

    def numbers_of(self, places: Set[int]) -> set[int]:
        """Return the numbers of calls among all."""
        return {int(self._numbers[at]) for at in places}

    def of_kinds(self, kinds: Set[int]) -> list[int]:
        """Return the calls of some kinds."""
        found = np.flatnonzero(np.isin(self._kinds, np.fromiter(kinds, NUMBER, len(kinds))) & self._stays)
        return [int(at) for at in found]

    def rounds(self) -> Iterator[list[_Asked]]:
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
        mixed = self._conversations[places] * np.uint64(_MIXED) ^ questions
        yield from self._rounds_at(mixed[is_named], places[is_named], quotes[is_named], named=True)

    def typed_in(self, round_: Sequence[_Asked], beside: Set[int]) -> Iterator[int]:
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

    def _rounds_at(self, keys: Any, places: Any, quotes: Any, *, named: bool) -> Iterator[list[_Asked]]:
        unique, counts = np.unique(keys, return_counts=True)
        several = np.isin(keys, unique[counts > 1])
        keys, places, quotes = keys[several], places[several], quotes[several]
        lines = np.fromiter((self._lines[at] for at in places.tolist()), np.int64, len(places))
        order = np.lexsort((lines, self._starts[places], keys))
        round_: list[_Asked] = []
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
            round_.append(_Asked(at, bool(quotes[row])))
            kinds.add(kind)
        if self._is_round(round_, named=named):
            yield round_

    def _is_round(self, round_: Sequence[_Asked], *, named: bool) -> bool:
        """Say whether calls are of one moment of a conversation; without ids, at most one is named."""
        if len(round_) < 2 or all(asked.quotes for asked in round_):
            return False
        if named:
            return True
        names = {int(self._conversations[asked.at]) for asked in round_}
        users = {self._heads[self.number_of(asked.at)].who[1] for asked in round_} - {None}
        return 0 in names and len(names) <= 2 and len(users) <= 1

    def decide(self, texts: dict[int, tuple[str, str]]) -> _Decided:
        """Decide of each two kinds that are asked the same which one answers users."""
        both = self._asked_both()
        decided = _Decided(set(), set(), set(), set())
        if not both:
            return decided
        answerers = {kind: self._answerer(kind, *texts.get(kind, ("", ""))) for pair in both for kind in pair}
        lost: dict[int, set[int]] = {}
        stepping: set[int] = set()
        for pair, asked in both.items():
            for one, other, seen in ((*pair, asked), (*pair[::-1], asked.turned())):
                known, rival = answerers[one], answerers[other]
                if is_beside(known, rival, seen) and not is_beside(rival, known, seen.turned()):
                    is_kind = seen.times >= _SHARE * known.calls
                elif any(map(is_beside, (known, rival), (rival, known), (seen, seen.turned()))):
                    continue
                elif comes_before(known, rival, seen):
                    is_kind = seen.times >= _ALL * known.calls
                    stepping |= {one} if is_kind else set()
                else:
                    continue
                if is_kind:
                    lost.setdefault(one, set()).add(other)
                elif comes_before(known, rival, seen):
                    decided.handing_over.add((one, other))
        decided.beside.update(_beside(lost))
        decided.steps.update(stepping & decided.beside)
        for pair, asked in both.items():
            is_open = decided.handing_over.isdisjoint((pair, pair[::-1])) and decided.beside.isdisjoint(pair)
            if is_open and asked.times >= _SHARE * min(answerers[kind].calls for kind in pair):
                decided.unsure.add(frozenset(pair))
        return decided

    def _asked_both(self) -> dict[tuple[int, int], AskedBoth]:
        """Count how often two kinds are asked the same, and who of them first."""
        counts: dict[tuple[int, int], list[int]] = {}
        for round_ in self.rounds():
            for place, asked in enumerate(round_):
                for other in round_[place + 1 :]:
                    if asked.quotes and other.quotes:
                        continue
                    one, two = self.kind(asked.at), self.kind(other.at)
                    seen = counts.setdefault((min(one, two), max(one, two)), [0] * 4)
                    is_about = self._is_about(other, asked)
                    seen[0] += not is_about
                    seen[1 + (one > two)] += not is_about and self._is_soon(asked.at, other.at)
                    seen[3] += is_about
        return {pair: AskedBoth(*seen) for pair, seen in counts.items() if seen[0]}

    def _is_about(self, asked: _Asked, before: _Asked) -> bool:
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

    def _answerer(self, kind: int, instructions: str, model: str) -> Answerer:
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
        keys = (self._conversations * np.uint64(_MIXED) ^ self._questions ^ self._kinds * np.uint64(_MIXED))[which]
        lines = np.fromiter((self._lines[at] for at in which.tolist()), np.int64, len(which))
        order = np.lexsort((lines, self._starts[which], keys))
        is_again = (keys[order][1:] == keys[order][:-1]) & (np.diff(self._starts[which][order]) <= TOGETHER)
        first = self._flags[which][order][:-1][is_again]
        return int(np.count_nonzero((first & _TOLD != 0) & (first & _CUT == 0)))


def kinds_of(call: Call) -> tuple[bytes, bytes]:
    """Return digests of who is asked, under which instructions, and of how these begin: others hold documents.

    A prompt without instructions is known by how it begins.
    """
    instructions = instructions_of(call)
    by = f"{call.fields.get('model')}\0{call.fields.get('assistant')}"
    text = call.inputs[-1].text if not instructions and call.inputs and call.inputs[-1].role == "user" else ""
    begun = template_of(text) if "\n" in text.strip() else ""
    return _digests(instructions, begun, by)


@lru_cache(_HELD)
def _digests(instructions: str, begun: str, by: str) -> tuple[bytes, bytes]:
    alone, alike = lasting(instructions), template_of(instructions)
    return digest_of(f"{alone}\0{begun}\0{by}"), digest_of(f"\0{alike}\0{begun}\0{by}")


def _beside(lost: dict[int, set[int]]) -> set[int]:
    """Return the kinds that answer nobody: who loses to one that answers, or to one that loses to that."""
    beside: set[int] = set()
    answering = {other for others in lost.values() for other in others} - set(lost)
    while answering:
        answering = {kind for kind, others in lost.items() if kind not in beside and others & answering}
        beside |= answering
    return beside
