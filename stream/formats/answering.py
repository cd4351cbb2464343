"""Answering: under which instructions a log's calls answer its users, and under which they are about such an answer.

    instructions 1   sends: "Where is my card?"                         gets: In the app, under Cards.
    instructions 2   sends: "Question: Where is … Answer: In the …"     gets: 1. Can I block it? 2. Who sent it?

One trace alone does not tell which of both the user saw. The log does: histories have the answers that were given under
the first, and none of the second's; whoever words an answer anew keeps its words in most traces, and a list of
questions, a title or a summary does in none.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.formats.asides import TO_KEEP
from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.instructions import are_others, instructions_of, lasting
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.prompts import Prompts
from turnsignal.stream.formats.protocol import Call
from turnsignal.stream.formats.quotations import NUMBER, SHORT, digest_of, number_of, template_of
from turnsignal.stream.text.visible import one_line

_FEWEST = 3  #: calls under the same instructions, after which these are known,
_BACK = 50  #: and of so many answers one may be in a history, by chance
_MOST = 0.5  #: of their calls
_SHORT_ANSWERS = 0.9  #: of those under whose instructions titles are given
_KEPT = 0.6  #: of the words of an answer, that one which words it anew has, too,
_CHANCE = 4  #: words that others have by chance,
_ASKED = 0.5  #: and of the question's other words, that it has not
_WORDS = re.compile(r"\w{4,}")  #: those that say something
_READ = 4_000  #: characters of an answer
_SHOWN = 60
_TELLING = 24  #: characters of an answer that two do not give alike
_HELD = 1_024  #: instructions whose digests are held
_TITLED = 9  #: words that are more than a title has,
_OBJECTS = 20  #: and an object that holds one, or tags,
_QUOTES = "\"'”’*` "  #: and what may stand around one
_NOTHING = bytes(SHORT)
_PARTS = 4  #: digests of a call


class _UnderInstructions(NamedTuple):
    """Calls under the same instructions: how many there are, how many of their answers come back, and are few words."""

    calls: int
    returned: int
    few: int


class Answering:
    """What a log shows of those who answer in it; asked from the first `finish` on."""

    def __init__(self) -> None:
        self._said = bytearray()  # of each call: who answered, at length, alone and alike, and what
        self._few = bytearray()  # of each call
        self._returned: set[bytes] = set()  # answers that histories end with
        self._histories: Any = np.empty(0, NUMBER)  # the same as numbers, in their order
        self._known: dict[bytes, _UnderInstructions] = {}
        self._conversing: set[bytes] = set()
        self._beside: Counter[bytes] = Counter()  # calls of traces in which a history holds another answer, less others
        self._quoting: Counter[bytes] = Counter()  # calls that quote an exchange of their trace
        self._rewording: Counter[bytes] = Counter()  # and word its answer anew
        self._open: tuple[Call | None, bool | None] = None, False
        self._unsure = _Unsure()
        self.prompts: Prompts | None = None  # of the log

    def add(self, call: Call, answer: bytes, before: bytes) -> None:
        """Take in a call. answer: what it got; before: the answer that its history ends with, b"" without one."""
        self._said += b"".join((*_keys(call), answer))
        self._few.append(any(are_few(message.text) for message in spoken_in(call.outputs)[:1]))
        if before:
            self._returned.add(before)

    def finish(self) -> None:
        """Conclude who answers users."""
        calls, returned, few = Counter[bytes](), Counter[bytes](), Counter[bytes]()
        for is_few, (alone, *others, answer) in zip(self._few, self.answerers(), strict=True):
            is_back = answer != _NOTHING and answer in self._returned
            if is_back:
                self._conversing.add(alone)
            for key in others:
                calls[key] += 1
                returned[key] += is_back
                few[key] += is_few
        self._known = {key: _UnderInstructions(n, returned[key], few[key]) for key, n in calls.items() if n >= _FEWEST}
        self._histories = np.sort(np.fromiter(map(number_of, self._returned), NUMBER))
        self._said, self._few, self._returned = bytearray(), bytearray(), set()

    def answerers(self) -> Iterator[tuple[bytes, ...]]:
        """Give of each call by whom it was answered, and what."""
        return in_parts(self._said, _PARTS)

    def learn_beside(self, call: Call, before: Call) -> None:
        """Take in that a call was asked what another was whose answer histories may hold, or quotes that."""
        is_known = self.is_in_history(call)
        if is_known or self.is_in_history(before):
            self._beside[self._key(call)] += -1 if is_known else 1

    def is_beside(self, call: Call, before: Call) -> bool:
        """Say whether a history holds the other's answer rather than the call's, or does so of calls like it."""
        if self.is_in_history(call):
            return False
        return self.is_in_history(before) or self._beside[self._key(call)] > 0

    def learn(self, call: Call, question: str, answer: str) -> None:
        """Take in that a call of a trace quotes an exchange of it under other instructions."""
        key = self._key(call)
        self._quoting[key] += 1
        self._rewording[key] += rewords(call, question, answer)

    def converses(self, call: Call) -> bool:
        """Say whether answers under a call's instructions come back in histories."""
        known = self._known.get(self._key(call))
        return known is not None and known.returned * _BACK > known.calls

    def is_in_history(self, call: Call) -> bool:
        """Say whether a history holds a call's answer, which is long enough to be no other's."""
        for message in spoken_in(call.outputs)[:1]:
            if len(message.text) >= _TELLING:
                return self.came_back(digested(message)[1][:SHORT])
        return False

    def came_back(self, answer: bytes) -> bool:
        """Say whether a history ends with an answer."""
        number = number_of(answer)
        at = int(np.searchsorted(self._histories, np.uint64(number)))
        return at < len(self._histories) and int(self._histories[at]) == number

    def tells_apart(self, call: Call, before: Call) -> bool:
        """Say whether a call is known by other calls than one before it."""
        keys = self._key(call), self._key(before)
        return keys[0] != keys[1] and keys[0] in self._known

    def answers_nobody(self, call: Call) -> bool:
        """Say whether no answer under a call's instructions comes back, though there are some."""
        known = self._known.get(self._key(call))
        return known is not None and known.returned * _BACK <= known.calls

    def is_conversing(self, who: bytes) -> bool:
        """Say the same of whom `who` names, by any answer."""
        return who in self._conversing

    def may_title(self, call: Call) -> bool:
        """Say whether what is got under a call's instructions is few words, as far as that is known."""
        known = self._known.get(self._key(call))
        return known is None or known.few >= _SHORT_ANSWERS * known.calls

    def answers_at_length(self, call: Call) -> bool:
        """Say whether most of what is got under a call's instructions is known to be more than few words."""
        known = self._known.get(self._key(call))
        return known is not None and known.few <= _MOST * known.calls

    def is_usual(self, call: Call) -> bool:
        """Say whether calls that begin like this one quote exchanges, so that a program asks it."""
        return self._quoting[self._key(call)] >= _FEWEST

    def words_anew(self, call: Call, question: str, answer: str) -> bool:
        """Say whether a call that quotes an exchange words its answer anew, as calls like it do in most traces.

        Of a log without traces, those before it are known.
        """
        if call.trace is None:
            self.learn(call, question, answer)
        key = self._key(call)
        if (times := self._quoting[key]) >= _FEWEST:
            return self._rewording[key] > _MOST * times
        return rewords(call, question, answer)

    def doubt(self, call: Call, *, is_about: bool | None) -> None:
        """Take in a call of which nothing tells whether the user saw what it got.

        is_about: whether it is taken for about an exchange that it quotes; None where it was asked the same.
        """
        self._open = call, is_about

    def settle(self, last: Call) -> None:
        """Count that where it is the last call of its trace: a step on the way no user sees."""
        call, is_about = self._open
        if call is last:
            self._unsure.add(call, is_about=is_about)
        self._open = None, False

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say what was guessed, and how to read it otherwise. quoted: with an answer."""
        return self._unsure.doubts(quoted=quoted)

    def _key(self, call: Call) -> bytes:
        """Return by what calls like one are known: where others have no such instructions, as documents stand there."""
        _, own, alike = _keys(call)
        return own if own in self._known or own in self._quoting else alike


class _Unsure:
    """Calls that quote an exchange of their trace, or were asked the same, and what was guessed of them."""

    def __init__(self) -> None:
        self._calls = Counter[bool | None]()
        self._shown: dict[bool | None, str] = {}

    def add(self, call: Call, *, is_about: bool | None) -> None:
        self._calls[is_about] += 1
        if is_about not in self._shown:
            self._shown[is_about] = one_line(spoken_in(call.outputs)[0].text, _SHOWN)

    def doubts(self, *, quoted: bool) -> list[str]:
        shown = {about: f", such as “{text}”" if quoted else "" for about, text in self._shown.items()}
        warnings = []
        if about := self._calls[True]:
            warnings.append(
                f"{about:,} calls that quote a question with its answer are left out as about these{shown[True]}: "
                f"where users saw what they got, {TO_KEEP}"
            )
        if seen := self._calls[False]:
            warnings.append(
                f"{seen:,} calls that quote a question with its answer are taken for what users saw in its "
                f"stead{shown[False]}: where users saw the answer that is quoted, leave these calls out of the log"
            )
        if same := self._calls[None]:
            warnings.append(
                f"{same:,} answers are those of the last call of a trace, before which another was asked the same "
                f"under other instructions{shown[None]}: where users saw what that got, leave the last ones out of the "
                "log, or trace each request as a root span with its input and output"
            )
        return warnings


def are_few(text: str) -> bool:
    """Say whether a text is a title's few words, or an object."""
    words = text.strip()
    is_title = len(words.split(None, _TITLED)) < _TITLED and not words.rstrip(_QUOTES).endswith((".", "?", "!", "…"))
    return is_title or words.startswith(("{", "["))


def are_a_titles(text: str) -> bool:
    """Say the same where an object holds few words as well."""
    return are_few(text) and len(text.split(None, _OBJECTS)) < _OBJECTS


def who(call: Call) -> bytes:
    """Return a digest of who answers: a model, under instructions, whatever date stands in them."""
    return _under(instructions_of(call), str(call.fields.get("model")))[0]


@lru_cache(_HELD)
def _under(instructions: str, model: str) -> tuple[bytes, bytes]:
    """Return digests of what lasts of instructions, and of how they begin, each with the model."""
    return digest_of(f"{lasting(instructions)}\0{model}"), digest_of(f"\0{template_of(instructions)}\0{model}")


def asks_otherwise(call: Call, before: Call, answering: Answering | None) -> bool:
    """Say whether a program asks with a call something else than with one before: under other instructions, or so."""
    if are_others(call, before):
        return True
    return answering is not None and answering.is_usual(call) and _keys(call)[1] != _keys(before)[1]


def in_parts(digests: bytearray, parts: int) -> Iterator[tuple[bytes, ...]]:
    """Give digests that stand one behind the other, so many at once."""
    held = bytes(digests)
    for at in range(0, len(held), parts * SHORT):
        yield tuple(held[at + SHORT * part : at + SHORT * (part + 1)] for part in range(parts))


def _keys(call: Call) -> Sequence[bytes]:
    """Return digests of who answers, of that with how a prompt of several lines begins, and of how both begin."""
    alone, alike = _under(instructions_of(call), str(call.fields.get("model")))
    text = call.inputs[-1].text if call.inputs and call.inputs[-1].role == "user" else ""
    own = digest_of(f"{alone.hex()}\0{template_of(text)}") if "\n" in text.strip() else alone
    return alone, own, alike


def rewords(call: Call, question: str, answer: str) -> bool:
    """Say whether what a call got has most words of an answer, and is not of the question as well, as summaries are."""
    got = _words(spoken_in(call.outputs)[0].text)
    words = _words(answer)
    asked = _words(question) - words
    is_kept = bool(words) and len(words & got) >= max(_KEPT * len(words), min(len(words), _CHANCE))
    return is_kept and (not asked or len(asked & got) < _ASKED * len(asked))


def _words(text: str) -> set[str]:
    return set(_WORDS.findall(text[:_READ].lower()))
