"""Bursts: several calls of a program for one question, whose answers reach nobody but the call that comes last.

    calls 1 to 4   "Say what of this is relevant: …" (each another document), "How?"    get: Relevant: …
    call 5         "Answer from these parts: …", "How?"                                 gets: So.

Calls 1 to 4 are one, as are those that grade each document with a yes or no before call 5. They begin alike over
different documents, several come before one that begins otherwise and answers the question, and no history holds what
they got.
"""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.formats.asides import TO_KEEP
from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.instructions import instructions_of
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Call
from turnsignal.stream.formats.quotations import MIXED, NUMBER, SHORT, digest_of, digests_quoted, number_of, template_of
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
_PARTS = 5  #: digests of a call
_NO_CALL = bytes(SHORT * _PARTS)


class _BurstCall(NamedTuple):
    """A call. conversation: 0 where none is named; own: its question; kind: how it begins; verdict: its few words."""

    order: float
    conversation: int
    own: int
    kind: int
    sent: int
    answer: int
    verdict: str
    quoted: Sequence[int]


class Bursts:
    """The calls of a log, and which kinds of them come in bursts."""

    def __init__(self) -> None:
        self._digests = bytearray()  # of each call, as `_BurstCall` has them, from the conversation to the answer
        self._orders = array("d")
        self._grades: dict[int, tuple[str, Sequence[int]]] = {}  # number of a call → its few words, what it quotes
        self._returned = bytearray()  # answers that histories end with
        self._texts: dict[int, str] = {}  # what the first call of a kind got
        self._shown = ""
        self._times = 0

    def add(self, call: Call) -> None:
        """Take in the next call."""
        spoken, answers = spoken_in(call.inputs), spoken_in(call.outputs)[:1]
        if len(spoken) > 1 and spoken[-2].role == "assistant":
            self._returned += digested(spoken[-2])[1][:SHORT]
        self._orders.append(call.start if call.start is not None else float(call.line))
        if call.kind != "answer" or call.trace or not spoken or spoken[-1].role != "user" or not answers:
            self._digests += _NO_CALL
            return
        question, text = spoken[-1].text.strip(), answers[0].text.strip()
        begun = f"{template_of(instructions_of(call))}\0{template_of(question) if chr(10) in question else ''}"
        system = call.inputs[0].text if call.inputs[0].role == "system" else ""
        kind = digest_of(begun)
        if (number := number_of(kind)) not in self._texts:
            self._texts[number] = one_line(text, _SHOWN)
        if _is_grade(text):
            quoted = np.frombuffer(digests_quoted(question), NUMBER).tolist()
            self._grades[len(self._orders) - 1] = text.casefold(), quoted
        self._digests += digest_of(call.conversation) if call.conversation else bytes(SHORT)
        self._digests += digest_of(question) + kind + digest_of(f"{system}\0{question}")
        self._digests += digested(answers[0])[1][:SHORT]

    def take_steps(self, asides: Set[int]) -> set[int]:
        """Return the numbers of those that come in bursts, and are no asides; what was taken in is gone then."""
        table = np.frombuffer(self._digests, NUMBER).reshape(-1, _PARTS)
        kinds, times = np.unique(table[table[:, 2] != 0, 2], return_counts=True)
        often = set(kinds[times >= _FEWEST].tolist()) if len(kinds) > 1 else set()
        many = [kind for kind in self._texts if kind in often]
        returned = set(np.frombuffer(self._returned, NUMBER).tolist()) if many else set()
        answering = self._answering(table) if many else {}
        steps: set[int] = set()
        for kind in many if answering else ():
            members = np.flatnonzero(table[:, 2] == kind).tolist()
            if self._is_burst([self._call(at, table) for at in members], answering, returned):
                steps.update(others := [at for at in members if at not in asides])
                self._shown = self._shown or (self._texts[kind] if others else "")
        self._times = len(steps)
        self._digests, self._orders, self._returned = bytearray(), array("d"), bytearray()
        self._grades, self._texts = {}, {}
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

    def _call(self, at: int, table: Any) -> _BurstCall:
        verdict, quoted = self._grades.get(at, ("", ()))
        conversation, own, kind, sent, answer = table[at].tolist()
        return _BurstCall(self._orders[at], conversation, own, kind, sent, answer, verdict, quoted)

    def _answering(self, table: Any) -> dict[int, list[tuple[float, int, int]]]:
        """Return time, number and kind of calls by their conversation and question, in the order of their times.

        Of what is asked once, and quoted by no grade, nothing comes before an answer.
        """
        places = table[:, 0] * np.uint64(MIXED) ^ table[:, 1]
        quoted = (_place(int(table[at, 0]), each) for at, (_, given) in self._grades.items() for each in given)
        asked, times = np.unique(places, return_counts=True)
        wanted = np.union1d(asked[times > 1], np.fromiter(quoted, NUMBER))
        which = np.flatnonzero(np.isin(places, wanted) & (table[:, 2] != 0)).tolist()
        answering: dict[int, list[tuple[float, int, int]]] = {}
        for at in which:
            answering.setdefault(int(places[at]), []).append((self._orders[at], at, int(table[at, 2])))
        for calls in answering.values():
            calls.sort()
        return answering

    def _is_burst(
        self, calls: Sequence[_BurstCall], asked: dict[int, list[tuple[float, int, int]]], back: Set[int]
    ) -> bool:
        """Say whether calls of one kind answer nobody. back: answers that histories end with."""
        grades = Counter(call.verdict for call in calls if call.verdict)
        are_grades = sum(n for _, n in grades.most_common(_GRADES)) >= _MOST * len(calls)
        returned = sum(call.answer in back for call in calls)
        if returned * (_GRADES if are_grades else _BACK) > len(calls):  # a yes is said elsewhere, too
            return False
        before: dict[int, set[int]] = {}
        times = 0
        for call in calls:
            places = (call.own, *(call.quoted if are_grades else ()))
            answered = (_next(call, asked.get(_place(call.conversation, place), ())) for place in places)
            if (at := next((at for at in answered if at is not None), None)) is not None:
                times += 1
                before.setdefault(at, set()).add(call.sent)
        unlike = sum(map(len, before.values()))
        return times >= max(_SHARE * len(calls), _EACH * len(before)) and unlike >= _UNLIKE * times


def _place(conversation: int, question: int) -> int:
    """Return one number for what is asked in a conversation."""
    return (conversation * MIXED & 0xFFFFFFFFFFFFFFFF) ^ question


def _next(call: _BurstCall, others: Sequence[tuple[float, int, int]]) -> int | None:
    """Return the first call of another kind that asks the same soon after a call."""
    for order, at, kind in others[bisect_left(others, (call.order, -1, 0)) :]:
        if order - call.order > _SOON:
            break
        if kind != call.kind:
            return at
    return None


def _is_grade(text: str) -> bool:
    return len(text) <= _GRADE and (text.startswith("{") or len(text.split()) <= _WORDS)
