"""Half-said questions: what an assistant that listens asks of the model before its user has finished.

    08:00:01.2   sends: "How do I pay"            gets: Sure, by …
    08:00:02.0   sends: "How do I pay by card?"   gets: In your account.

Nobody hears what the first call got: its question is the beginning of one that is asked after the same words within two
seconds, and no history holds its answer, but those of calls like the second. Nobody writes so fast.
"""

import re
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.instructions import instructions_of, lasting
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call
from turnsignal.stream.formats.quotations import SHORT

LEFT_OUT = "calls for the beginning of a question that was still being spoken left out"
_SOON = 2.5  #: seconds between one and the next
_RECENT = 100  #: calls among which the other one is looked for
_LAST = 8  #: messages of a call that are looked at,
_AFTER = 3  #: and before a question those that have to be the same
_TELLING = 4  #: words of a question with which no two users begin in that time
_BACK = 10  #: answers of second calls that come back, for one of first calls
_LONGEST = 1_000  #: characters of a question that is spoken
_WORDS = re.compile(r"\w+")


class _Spoken(NamedTuple):
    """A question. context: after what it was asked, and by whom; number: of its call; answer: its digest."""

    context: tuple[object, ...]
    number: int
    start: float
    text: str
    answer: bytes


class HalfSaid:
    """Which calls of a log are for the beginning of a question."""

    def __init__(self) -> None:
        self._recent: deque[_Spoken] = deque()
        self._by_context: dict[tuple[object, ...], list[_Spoken]] = {}
        self._begun: dict[int, tuple[bytes, bytes]] = {}  # the number of a call → its answer, and that of the second
        self._returned: set[bytes] = set()  # answers that histories end with
        self._half_said: set[int] | None = None

    def add(self, call: Call) -> None:
        """Take in the next call; called for each before the first `taken_out`."""
        if call.start is None or call.kind != "answer" or call.partial:
            return
        spoken = spoken_in(call.inputs[-_LAST:])
        if not spoken or spoken[-1].role != "user":
            return
        before = [digested(message)[1] for message in spoken[-_AFTER - 1 : -1]]
        if before and spoken[-2].role == "assistant":
            self._returned.add(before[-1][:SHORT])
        text = spoken[-1].text.strip()
        if "\n" in text or len(text) > _LONGEST:
            return
        who = call.conversation, call.fields.get("user_id"), lasting(instructions_of(call))
        answers = spoken_in(call.outputs)[:1]
        answer = digested(answers[0])[1][:SHORT] if answers else b""
        question = _Spoken((*who, len(call.inputs), *before), call.line, call.start, text, answer)
        others = self._by_context.setdefault(question.context, [])
        is_told = bool(before) or call.conversation is not None
        for other in others:
            if abs(apart := question.start - other.start) <= _SOON and (is_told or apart):
                first, second = (other, question) if apart >= 0 else (question, other)
                if _begins(first.text, second.text, 0 if is_told else _TELLING):
                    self._begun[first.number] = first.answer, second.answer
        others.append(question)
        self._recent.append(question)
        if len(self._recent) > _RECENT:
            self._forget(self._recent.popleft())

    def taken_out(self, calls: Sequence[Call], assumed: Assumed) -> list[Call]:
        """Return calls without those for the beginning of a question."""
        if self._half_said is None:
            self._half_said = self._find()
            self._begun, self._returned = {}, set()
        if not self._half_said:
            return list(calls)
        kept = [call for call in calls if call.line not in self._half_said]
        assumed[LEFT_OUT] += len(calls) - len(kept)
        return kept

    def _find(self) -> set[int]:
        """Return the numbers of calls whose answer nobody heard."""
        half_said = {number for number, (answer, _) in self._begun.items() if answer not in self._returned}
        back = sum(answer in self._returned for _, answer in self._begun.values())
        return half_said if back >= max(1, _BACK * (len(self._begun) - len(half_said))) else set()

    def _forget(self, question: _Spoken) -> None:
        others = self._by_context[question.context]
        others.remove(question)
        if not others:
            del self._by_context[question.context]


def _begins(text: str, other: str, fewest: int) -> bool:
    """Say whether a question is the beginning of another one, of so many words at least, and cut within a word or not.

    >>> _begins("how do I pa", "How do I pay by card?", 2), _begins("How do I pay?", "How do I pay?", 2)
    (True, False)
    """
    words, others = (_WORDS.findall(each.casefold()) for each in (text, other))
    if text == other or not words or not fewest <= len(words) <= len(others):
        return False
    return words[:-1] == others[: len(words) - 1] and others[len(words) - 1].startswith(words[-1])
