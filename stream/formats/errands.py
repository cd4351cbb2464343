"""Errands: what a program asks of the model with the history of a conversation: suggestions, titles, summaries.

    call 1   sends: "How?"                                        gets: So.
    call 2   sends: "How?" "So." "Suggest what to ask next."      gets: Why? When?
    call 3   sends: "How?" "So." "Why?"                           gets: Because.

Call 2 is one. What it asks is asked in many conversations, no history has an answer to that, and calls like call 3 go
on from the same answer, which a call gave, as if nobody had asked. What users say alike is short, or answered alike.
What stands in a history is a user's, whoever asks the same elsewhere. Where a conversation has an answer twice, it is
told by the question before it, too: who goes on from the second one does not go on from the first.
Who sums up what was said longest ago asks after an answer from which the conversation had gone on already, and goes on
there later: whoever edits a question goes on from the edited one.
"""

import math
import re
import tomllib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from turnsignal.stream.formats.answering import Answering, in_parts
from turnsignal.stream.formats.asides import LEFT_OUT, TO_KEEP
from turnsignal.stream.formats.behind import Behind, answer_before, answers_behind
from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.instructions import instructions_of
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.formats.quotations import SHORT, digest_of, number_of, template_of
from turnsignal.stream.formats.stood import StoodInHistories, numbers_of
from turnsignal.stream.text.visible import one_line

_FEWEST = 3  #: exchanges after which it is asked, and from which conversations go on without it,
_SHARE = 0.25  #: and how many of all after which it is asked: where a conversation ends nothing tells
_BACK = 50  #: of so many answers one may be in a history, by chance
_FROM = 2  #: calls without an id that go on from the same exchange, at most, so that it is of one conversation
_BEGUN = 8  #: characters with which what is asked begins, at least, to be known by
_SHORTEST = 25  #: characters of what a program asks; what is shorter users say,
_LONG = 40  #: and what is not so long and answered alike, too
_DISTINCT = 0.5  #: of the answers, where they are not alike
_MOST = 0.5  #: of the exchanges of a log, after which no users ask the same, and of its answers
_OBJECT, _SYSTEM = 1, 2  #: what an answer is, and whose message asks
_SHOWN = 60  #: characters of what is asked
_NOTHING = bytes(SHORT)
_PARTS = 10  #: digests of a call
_NUMBERS = 2  #: by which it is known in later histories, at most
_MOST_TYPED = 200  #: characters from which on the words of a widely used program are its own, and no user's
_READ = 300  #: characters of a prompt
_BEGINS = tomllib.loads(Path(__file__).with_name("errands.toml").read_text(encoding="utf-8"))["begins"].values()
_USUAL = re.compile(
    r"\s*(?:" + "|".join(r"\s+".join(map(re.escape, text.split())) for text in _BEGINS) + ")", re.IGNORECASE
)


class Errands:
    """What is asked after an exchange in a log, and which of that is asked by a program."""

    def __init__(self) -> None:
        # Of each call: what it asks, exchange and answer before, its own answer and exchange; both exchanges by words
        # alone; the one before with its question and its conversation; and its numbers in later histories.
        self._digests = bytearray()
        self._orders = array("d")
        self._lengths = array("H")  # characters of what it asks, up to _LONG
        self._kinds = bytearray()  # whether it is a system's, and gets an object
        self._answers = Counter[bool]()  # of all calls, by whether they are objects
        self._given: set[bytes] = set()  # answers of the other calls, which begin conversations,
        self._begun = bytearray()  # and these exchanges, where the conversation is named
        self._stood = StoodInHistories()
        self.answering = Answering()
        self._behind = Behind(self.answering)
        self._usual: set[bytes] | None = None
        self._left_out = 0
        self._shown = ""

    def add(self, call: Call) -> None:
        """Take in a call; called for each before the first `taken_out`."""
        if call.kind in ("answer", "whole", "inner") and not call.partial:
            self._stood.add(call)
        if call.kind != "answer" or call.partial or is_errand(call):
            return
        answers = spoken_in(call.outputs)[:1]
        answer = digested(answers[0])[1][:SHORT] if answers else _NOTHING
        is_object = any(message.text.lstrip()[:1] in ("{", "[") for message in answers)
        self._answers[is_object] += bool(answers)
        asked = _asked_of(call)
        if answers_behind(call):
            self.answering.add(call, answer, answer_before(call))
            self._behind.add(call, answer)
            return
        self.answering.add(call, answer, asked[2 * SHORT :])
        if asked:
            self._digests += asked + answer + (own := _exchange_of(call, call.conversation))
            is_named = bool(call.conversation)  # else both are by words alone already
            self._digests += _exchange_before(call, None) if is_named else asked[SHORT : 2 * SHORT]
            self._digests += _exchange_of(call, None) if is_named else own
            numbers = b"".join(number.to_bytes(SHORT, "little") for number in numbers_of(call))
            self._digests += _asked_exchange_before(call) + numbers.ljust(_NUMBERS * SHORT, b"\0")
            self._orders.append(call.start if call.start is not None else call.line)
            self._lengths.append(min(len(call.inputs[-1].text.strip()), _LONG))
            self._kinds.append(_OBJECT * is_object | _SYSTEM * (call.inputs[-1].role == "system"))
        else:
            self._given.add(answer)
            self._begun += _exchange_of(call, call.conversation) if call.conversation else b""

    def conclude(self) -> None:
        """Find out what programs ask; at the latest, the first `taken_out` does."""
        if self._usual is None:
            self._stood.conclude()
            self._usual = self._find_usual()
            self._behind.conclude()
            self._digests, self._orders, self._lengths, self._given = bytearray(), array("d"), array("H"), set()
            self._kinds, self._begun = bytearray(), bytearray()

    def taken_out(self, calls: Sequence[Call], assumed: Assumed) -> list[Call]:
        """Return the calls of a trace without its errands; none where nothing else says anything."""
        self.conclude()
        kept: list[Call] = []
        for call in calls:
            if self._is_known(call) or self._behind.takes_out(call, assumed):
                continue
            if self._usual and _asked_of(call)[:SHORT] in self._usual and not self._stood.has_asked(call):
                self._shown = self._shown or one_line(call.inputs[-1].text, _SHOWN)
                self._left_out += 1
            else:
                kept.append(call)
        left_out = len(calls) - len(kept)
        assumed[LEFT_OUT] += left_out
        return kept if not left_out or any(call.inputs or call.outputs for call in kept) else []

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say how to read them where users asked that. quoted: with what one of them asks."""
        behind = self._behind.doubts(quoted=quoted)
        if not self._left_out:
            return behind
        shown = f", such as “{self._shown}”" if quoted else ""
        doubt = (
            f"{self._left_out:,} calls are left out, as conversations go on as if nobody had asked that{shown}: "
            f"where users did, {TO_KEEP}"
        )
        return [doubt, *behind]

    def _is_known(self, call: Call) -> bool:
        """Say whether a call asks what a widely used program does, and no history shows that a user typed it.

        Nobody types as much as most of these write; where a program asks once more, its own words stand in a history.
        """
        if not is_errand(call):
            return False
        is_typed = not call.inputs or len(call.inputs[-1].text) < _MOST_TYPED
        return _is_usual(instructions_of(call)) or not is_typed or not self._stood.has_asked(call)

    def _stands(self, numbers: Sequence[bytes]) -> bool:
        return any(self._stood.has(number_of(each)) for each in numbers if each != _NOTHING)

    def _find_usual(self) -> set[bytes]:
        """Return what programs ask."""
        answered = {before for _, _, before, *_ in self._all()}
        given = {answer for _, _, _, answer, *_ in self._all()} | self._given
        times, back = Counter[bytes](), Counter[bytes]()
        for question, _, before, answer, _, _, _, _, *numbers in self._all():
            times[question] += answer != _NOTHING
            is_back = answer in answered and answer != before  # a check that finds nothing says it again
            back[question] += is_back or self._stands(numbers)
        may_be = self._may_be(
            {question for question, n in times.items() if n >= _FEWEST and back[question] * _BACK <= n}
        )
        if not may_be:
            return may_be
        asking, going_on = Counter[bytes](), Counter[bytes]()
        again = self._given_again()
        asked: dict[bytes, float] = {}  # what, and after what exchange → when first
        latest: dict[bytes, float] = {}  # an exchange → when somebody last went on from it, or from what came of it
        for at in sorted(range(len(self._orders)), key=self._orders.__getitem__, reverse=True):
            order, (question, exchange, before, _, own, worded, own_worded, with_asked, *numbers) = (
                self._orders[at],
                self._at(at),
            )
            if before not in given:  # what every call begins with
                continue
            after_what = with_asked if exchange in again else exchange
            if question in may_be:
                is_unclear = after_what == _NOTHING or self._stands(numbers)
                asking[question + after_what] += 1
                asked[question + (exchange if is_unclear else after_what)] = math.inf if is_unclear else order
                continue
            # Who asks for a title may name no conversation.
            for end, begun in {(after_what, own), (worded, own_worded)} - {(_NOTHING, own)}:
                going_on[end] += 1
                latest[end] = max(order, latest.get(end, order), latest.get(begun, order))
        after, passed = Counter[bytes](), Counter[bytes]()
        for both, order in asked.items():
            question, exchange = both[:SHORT], both[SHORT:]
            after[question] += 1
            if going_on[exchange] <= _FROM and asking[both] <= _FROM:
                passed[question] += latest.get(exchange, order) > order
        return {question for question, n in passed.items() if n >= max(_FEWEST, _SHARE * after[question])}

    def _given_again(self) -> set[bytes]:
        """Return the exchanges whose answer their conversation has twice, so that it does not tell which is meant."""
        first: dict[bytes, bytes] = {}
        again: set[bytes] = set()
        for question, exchange, _, _, own, *_ in self._all():
            if own == exchange or first.setdefault(own, question) != question:
                again.add(own)
        return again | {own for (own,) in in_parts(self._begun, 1) if own in first}

    def _may_be(self, often: set[bytes]) -> set[bytes]:
        """Return what of that which is asked often is none that users say alike."""
        asks = {question: _Ask() for question in often}
        exchanges: set[bytes] = set()
        for length, kind, (question, exchange, _, answer, *_) in zip(
            self._lengths, self._kinds, self._all(), strict=True
        ):
            exchanges.add(exchange)
            if question in often:
                asks[question].add(length, kind, exchange, answer)
        return {question for question, ask in asks.items() if ask.may_be_a_programs(len(exchanges), self._answers)}

    def _all(self) -> Iterator[tuple[bytes, ...]]:
        return in_parts(self._digests, _PARTS)

    def _at(self, at: int) -> tuple[bytes, ...]:
        size = _PARTS * SHORT
        return next(in_parts(self._digests[at * size : (at + 1) * size], _PARTS))


class _Ask:
    """What is asked often: after which exchanges, and what it gets."""

    def __init__(self) -> None:
        self._length = 0
        self._kinds = Counter[int]()
        self._exchanges: set[bytes] = set()
        self._answers: set[bytes] = set()

    def add(self, length: int, kind: int, exchange: bytes, answer: bytes) -> None:
        """Take in that it was asked once more."""
        self._length = length
        self._kinds[kind] += 1
        self._exchanges.add(exchange)
        self._answers.add(answer)

    def may_be_a_programs(self, exchanges: int, answers: Counter[bool]) -> bool:
        """Say whether users do not ask that alike: it is long, or a system's, or asked after most answers of the log.

        Or it is answered in other words each time, or with objects where nothing else is. exchanges: of the log, after
        which something is asked; answers: of the log, by whether they are objects.
        """
        times = self._kinds.total()
        objects = self._kinds[_OBJECT] + self._kinds[_OBJECT | _SYSTEM]
        are_others = answers[True] - objects >= _MOST * (answers.total() - times)
        is_object = objects >= _MOST * times and not are_others
        is_systems = self._kinds[_SYSTEM] + self._kinds[_OBJECT | _SYSTEM] >= _MOST * times
        is_distinct = self._length >= _SHORTEST and len(self._answers) >= _DISTINCT * times
        is_usual = len(self._exchanges) > _MOST * exchanges
        return self._length >= _LONG or is_distinct or is_object or is_systems or is_usual


def is_errand(call: Call) -> bool:
    """Say whether a call asks what a widely used program does."""
    if call.kind != "answer":
        return False
    asked = spoken_in(call.inputs)[-1:]
    return any(map(_is_usual, (instructions_of(call), *(message.text[:_READ] for message in asked))))


def _is_usual(text: str) -> bool:
    return _USUAL.match(text) is not None


def _asked_of(call: Call) -> bytes:
    """Return digests of what a call asks, of the exchange before that, and of its answer; b"" without one.

    What a program asks may stand in a system prompt behind the history, and begin alike over different lines.
    """
    spoken = spoken_in(call.inputs)
    last = call.inputs[-1] if call.inputs else None
    if last is None or not spoken:
        return b""
    asked, before = (last, spoken) if last.role == "system" else (spoken[-1], spoken[:-1])
    text = asked.text.strip()
    if asked.role == "assistant" or not before or before[-1].role != "assistant":
        return b""
    begun = template_of(text) if "\n" in text else ""
    question = digest_of(begun if len(begun) >= _BEGUN else text)
    answer = digested(before[-1])[1]
    return question + _exchange_before(call, call.conversation) + answer[:SHORT]


def _exchange_before(call: Call, conversation: str | None) -> bytes:
    """Return the digest of the exchange after which a call asks something."""
    spoken = spoken_in(call.inputs)
    before = spoken if call.inputs[-1].role == "system" else spoken[:-1]
    return _exchange(conversation, before[-2:-1], digested(before[-1])[1])


def _asked_exchange_before(call: Call) -> bytes:
    """Return the digest of that exchange with its question and its conversation; nothing where one is not known."""
    spoken = spoken_in(call.inputs)
    before = spoken if call.inputs[-1].role == "system" else spoken[:-1]
    if not call.conversation:
        return _exchange_before(call, None)
    asked = before[-2:-1]
    return _exchange(call.conversation, (), _words_of((*asked, before[-1]))) if asked else _NOTHING


def _exchange_of(call: Call, conversation: str | None) -> bytes:
    """Return the digest of the exchange that a call is, as those that go on from it have it."""
    answers = spoken_in(call.outputs)[:1]
    return _exchange(conversation, spoken_in(call.inputs)[-1:], digested(answers[0])[1]) if answers else _NOTHING


def _exchange(conversation: str | None, asked: Sequence[Message], answer: bytes) -> bytes:
    """Return a digest of an answer with its conversation, or with what was asked where none is named."""
    words = conversation.encode("utf-8", "replace") if conversation else _words_of(asked)
    return blake2b(words + answer, digest_size=SHORT).digest()


def _words_of(spoken: Sequence[Message]) -> bytes:
    return b"".join(digested(message)[1] for message in spoken)
