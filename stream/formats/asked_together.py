"""Questions that several calls are asked together, in a log whose calls send their last message alone.

    9:00:00   "Safe or unsafe?" (system) "How do I pay?"   gets: safe
    9:00:01   "Help users." (system) "How do I pay?"       gets: By card, in the app.

No history tells whose answer the user saw. The whole log may, as `who_answers` reads it: of each two instructions, or
models, that are asked the same in one conversation within seconds, it decides by all they got. Where it cannot, both
stay turns, and that is said. Who repeats himself under the same instructions stays, too.
"""

from array import array
from collections.abc import Sequence, Set
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.formats.asides import TO_KEEP, history_of
from turnsignal.stream.formats.call_table import AskedCall, CallColumns, CallTable
from turnsignal.stream.formats.heads import Head
from turnsignal.stream.formats.instructions import instructions_of, lasting
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call
from turnsignal.stream.formats.quotations import NUMBER, digest_of, number_of, quoted_in, template_of
from turnsignal.stream.formats.who_answers import comes_before, is_beside
from turnsignal.stream.text.visible import one_line

TWICE = "questions that were asked twice in the same words, taken as asked again by their users"
_HELD = 4_096  #: instructions whose texts, examples and digests are held
_FEWEST_SHOWN = 3  #: calls that are left out, of which the words are kept
_SHARE = 0.5  #: of the calls under instructions, those that are asked what others are: the rest are of their kind,
_ALL = 0.9  #: or nearly all, where they come before an answer
_SHOWN = 60


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


class AskedTogether:
    """The calls of a log that send no history, and which of them answer no user."""

    def __init__(self) -> None:
        self._columns = CallColumns()
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
            self._columns.conversing += b"".join(kinds)
            return
        got = spoken_in(answer.outputs)[:1]
        if not got:
            return
        for kind in map(number_of, kinds):
            if len(self._texts) < _HELD and kind not in self._texts:
                self._texts[kind] = instructions_of(answer), str(answer.fields.get("model", ""))
        self._columns.add(number, answer, kinds, got[0], shows=bool(history))

    def _shows_examples(self, kind: bytes, history: bytes) -> bool:
        """Say whether what a call sends is what all of its kind did until now, as examples are."""
        if kind not in self._examples and len(self._examples) >= _HELD:
            return False
        return self._examples.setdefault(kind, history) == history

    def take_beside(
        self, heads: Sequence[Head], openings: Sequence[bytes], asides: Set[int], assumed: Assumed
    ) -> set[int]:
        """Return the numbers of those that no user saw, and are no asides; what was taken in is gone then."""
        table = CallTable(self._columns, heads, openings, asides)
        decided = _decide(table, self._texts)
        beside: set[int] = set(table.of_kinds(decided.beside))
        partly: set[int] = set()
        quoting = array("Q")
        for round_ in table.rounds() if decided.is_any else ():
            self._take_round(round_, table, decided, partly)
            quoting.extend(table.typed_in(round_, decided.beside))
        self._typed = np.array(quoting, NUMBER).reshape(-1, 2)
        self._typed = self._typed[np.argsort(self._typed[:, 0], kind="stable")]
        if not len(self._columns.conversing):
            assumed[TWICE] += table.asked_again(beside | partly)
        self._steps = table.numbers_of((set(table.of_kinds(decided.steps)) & beside) | partly)
        if self._pair is not None:
            self._shown = dict.fromkeys((table.number_of(at) for at in self._pair), ("", ""))
        self._columns, self._texts, self._examples = CallColumns(), {}, {}
        return table.numbers_of(beside | partly)

    def see(self, number: int, answer: Call) -> None:
        """Look at a call again, which may be quoted, and name what its user typed where its prompt quotes that."""
        at = int(np.searchsorted(self._typed[:, 0], np.uint64(number)))
        if at < len(self._typed) and int(self._typed[at, 0]) == number and answer.typed is None:
            typed = int(self._typed[at, 1])
            parts = quoted_in(spoken_in(answer.inputs)[-1].text)
            answer.typed = next((part for part in parts if number_of(digest_of(part)) == typed), None)
        if number in self._shown or (number in self._steps and len(self._shown) < _FEWEST_SHOWN):
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

    def _take_round(self, round_: Sequence[AskedCall], table: CallTable, decided: _Decided, partly: set[int]) -> None:
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


def _decide(table: CallTable, texts: dict[int, tuple[str, str]]) -> _Decided:
    """Decide of each two kinds that are asked the same which one answers users."""
    both = table.asked_both()
    decided = _Decided(set(), set(), set(), set())
    if not both:
        return decided
    answerers = {kind: table.answerer(kind, *texts.get(kind, ("", ""))) for pair in both for kind in pair}
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


def _beside(lost: dict[int, set[int]]) -> set[int]:
    """Return the kinds that answer nobody: who loses to one that answers, or to one that loses to that."""
    beside: set[int] = set()
    answering = {other for others in lost.values() for other in others} - set(lost)
    while answering:
        answering = {kind for kind, others in lost.items() if kind not in beside and others & answering}
        beside |= answering
    return beside
