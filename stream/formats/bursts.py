"""Bursts: several calls of a program for one question, whose answers reach nobody but the call that comes last.

    calls 1 to 4   "Say what of this is relevant: …" (each another document), "How?"    get: Relevant: …
    call 5         "Answer from these parts: …", "How?"                                 gets: So.

Calls 1 to 4 are one, as are those that grade each document with a yes or no before call 5. They begin alike over
different documents, several come before one that begins otherwise and answers the question, and no history holds what
they got.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence, Set
from typing import NamedTuple

from turnsignal.stream.formats.asides import TO_KEEP
from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.instructions import instructions_of
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Call
from turnsignal.stream.formats.quotations import SHORT, digest_of, digests_quoted, template_of
from turnsignal.stream.text.visible import one_line

_SOON = 60.0  #: seconds between one and the call that answers the question
_FEWEST = 6  #: calls that begin alike,
_SHARE = 0.5  #: how many of them come before an answer,
_EACH = 2.5  #: how many before one answer at least,
_UNLIKE = 0.8  #: and how many of these differ: others are samples of one answer
_BACK = 50  #: of so many answers one may be in a history, by chance
_GRADES = 3  #: answers that all are,
_MOST = 0.9  #: or most
_GRADE, _WORDS = 40, 2  #: characters of one that is an object, and words of one that is none
_SHOWN = 60


class _BurstCall(NamedTuple):
    """A call. conversation: b"" where none is named; own: its question; kind: how it begins; verdict: its few words."""

    order: float
    conversation: bytes
    own: bytes
    kind: bytes
    sent: bytes
    answer: bytes
    verdict: str
    quoted: tuple[bytes, ...]


class Bursts:
    """The calls of a log, and which kinds of them come in bursts."""

    def __init__(self) -> None:
        self._calls: list[_BurstCall | None] = []
        self._returned: set[bytes] = set()
        self._texts: dict[bytes, str] = {}  # what the first call of a kind got
        self._shown = ""
        self._times = 0

    def add(self, call: Call) -> None:
        """Take in the next call."""
        spoken, answers = spoken_in(call.inputs), spoken_in(call.outputs)[:1]
        if len(spoken) > 1 and spoken[-2].role == "assistant":
            self._returned.add(digested(spoken[-2])[1][:SHORT])
        if call.kind != "answer" or call.trace or not spoken or spoken[-1].role != "user" or not answers:
            self._calls.append(None)
            return
        question, text = spoken[-1].text.strip(), answers[0].text.strip()
        begun = f"{template_of(instructions_of(call))}\0{template_of(question) if chr(10) in question else ''}"
        system = call.inputs[0].text if call.inputs[0].role == "system" else ""
        verdict = text.casefold() if _is_grade(text) else ""
        quoted = digests_quoted(question) if verdict else b""
        kind = digest_of(begun)
        self._texts.setdefault(kind, one_line(text, _SHOWN))
        self._calls.append(
            _BurstCall(
                call.start if call.start is not None else float(call.line),
                digest_of(call.conversation) if call.conversation else b"",
                digest_of(question),
                kind,
                digest_of(f"{system}\0{question}"),
                digested(answers[0])[1][:SHORT],
                verdict,
                tuple(quoted[at : at + SHORT] for at in range(0, len(quoted), SHORT)),
            )
        )

    def take_steps(self, asides: Set[int]) -> set[int]:
        """Return the numbers of those that come in bursts, and are no asides; what was taken in is gone then."""
        kinds: dict[bytes, list[int]] = {}
        for at, call in enumerate(self._calls):
            if call is not None:
                kinds.setdefault(call.kind, []).append(at)
        many = {kind: members for kind, members in kinds.items() if len(members) >= _FEWEST}
        answering = self._answering() if len(kinds) > 1 and many else {}
        steps: set[int] = set()
        for kind, members in many.items() if answering else ():
            if self._is_burst([call for at in members if (call := self._calls[at]) is not None], answering):
                steps.update(others := [at for at in members if at not in asides])
                self._shown = self._shown or (self._texts[kind] if others else "")
        self._times = len(steps)
        self._calls, self._returned, self._texts = [], set(), {}
        return steps

    def doubts(self, *, quoted: bool) -> list[str]:
        """Say how to read them where users saw that. quoted: with what one of them got."""
        if not self._times:
            return []
        shown = f", such as “{self._shown}”" if quoted else ""
        doubt = (
            f"{self._times:,} calls are left out as steps on the way to an answer, as several come before each "
            f"that answers the same question{shown}: where users saw what they got, {TO_KEEP}"
        )
        return [doubt]

    def _answering(self) -> dict[tuple[bytes, bytes], list[tuple[float, int]]]:
        """Return the calls by their conversation and question, in the order of their times."""
        asked: dict[tuple[bytes, bytes], list[tuple[float, int]]] = {}
        for at, call in enumerate(self._calls):
            if call is not None:
                asked.setdefault((call.conversation, call.own), []).append((call.order, at))
        for calls in asked.values():
            calls.sort()
        return asked

    def _is_burst(self, calls: Sequence[_BurstCall], asked: dict[tuple[bytes, bytes], list[tuple[float, int]]]) -> bool:
        """Say whether calls of one kind answer nobody."""
        grades = Counter(call.verdict for call in calls if call.verdict)
        are_grades = sum(n for _, n in grades.most_common(_GRADES)) >= _MOST * len(calls)
        returned = sum(call.answer in self._returned for call in calls)
        if returned * (_GRADES if are_grades else _BACK) > len(calls):  # a yes is said elsewhere, too
            return False
        before: dict[int, set[bytes]] = {}
        times = 0
        for call in calls:
            places = (call.own, *(call.quoted if are_grades else ()))
            answered = (self._next(call, asked.get((call.conversation, place), ())) for place in places)
            if (at := next((at for at in answered if at is not None), None)) is not None:
                times += 1
                before.setdefault(at, set()).add(call.sent)
        unlike = sum(map(len, before.values()))
        return times >= max(_SHARE * len(calls), _EACH * len(before)) and unlike >= _UNLIKE * times

    def _next(self, call: _BurstCall, others: Sequence[tuple[float, int]]) -> int | None:
        """Return the first call of another kind that asks the same soon after a call."""
        for order, at in others[bisect_left(others, (call.order, -1)) :]:
            if order - call.order > _SOON:
                break
            other = self._calls[at]
            if other is not None and other.kind != call.kind:
                return at
        return None


def _is_grade(text: str) -> bool:
    return len(text) <= _GRADE and (text.startswith("{") or len(text.split()) <= _WORDS)
