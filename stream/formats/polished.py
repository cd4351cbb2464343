"""Polished answers: drafts that another call words anew, before anybody sees them.

    call 1   sends: "How?"                                    gets: so
    call 2   sends: "Customer asked: How? Draft answer: so"   gets: So.
    call 3   sends: "How?" "So." "Why?"                       gets: because

Call 2 answers the question of call 1: it sends what call 1 got at once, alone, and histories hold what such calls got,
not the drafts. A title or a verdict quotes an answer, too, and comes back in none; who translates an answer leaves it
in the history as it was.
"""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from turnsignal.stream.formats.answering import rewords
from turnsignal.stream.formats.heads import digested
from turnsignal.stream.formats.instructions import instructions_of
from turnsignal.stream.formats.messages import spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call
from turnsignal.stream.formats.quotations import NUMBER, SHORT, digest_of, number_of, quoted_in, template_of

LEFT_OUT = "drafts left out that another call worded anew before anybody saw them"
_SOON = 30.0  #: seconds between one and the next
_RECENT = 100  #: calls among which the draft is looked for
_TELLING = 16  #: characters of a draft that nobody sends by chance
_FEWEST = 2  #: calls that begin alike, whose answers come back
_SHARE = 0.5  #: and how many of those that begin so send a draft
_READ = 4_000  #: characters of a draft
_PARTS = 6  #: numbers of a pair
Drafts = Mapping[int, int]  #: the lines of drafts, and of calls that word them anew → that of the first draft


class _Draft(NamedTuple):
    """A call that another may word anew. words: what it got; text: a digest of that; answer: as histories have it."""

    line: int
    start: float | None
    conversation: str | None
    text: bytes
    words: str
    answer: int


class PolishedAnswers:
    """Which calls of a log word the answer of another one anew."""

    def __init__(self) -> None:
        self._recent: deque[_Draft] = deque(maxlen=_RECENT)
        self._kinds = bytearray()  # of calls that send no history: how they begin
        self._pairs = (
            bytearray()
        )  # of such a call and its draft: how it begins, both lines, both answers, are they alike
        self._returned = bytearray()  # answers that histories end with

    def add(self, call: Call) -> None:
        """Take in the next call; called for each before `drafts`."""
        spoken, answers = spoken_in(call.inputs), spoken_in(call.outputs)[:1]
        if call.kind != "answer" or call.partial or call.trace is not None or not spoken or not answers:
            return
        if len(spoken) > 1 and spoken[-2].role == "assistant":
            self._returned += digested(spoken[-2])[1][:SHORT]
        answer = number_of(digested(answers[0])[1][:SHORT])
        text = answers[0].text.strip()
        if len(spoken) == 1 and spoken[0].role == "user":
            self._pair(call, spoken[0].text.strip(), answer)
        if len(text) >= _TELLING:
            self._recent.append(_Draft(call.line, call.start, call.conversation, digest_of(text), text[:_READ], answer))

    def _pair(self, call: Call, sent: str, answer: int) -> None:
        quoted = {digest_of(part) for part in (sent, *quoted_in(sent)) if len(part) >= _TELLING}
        draft = next((each for each in reversed(self._recent) if each.text in quoted and _is_before(each, call)), None)
        is_whole = draft is not None and draft.text == digest_of(sent)
        begun = "" if is_whole or "\n" not in sent else template_of(sent)
        kind = digest_of(f"{template_of(instructions_of(call))}\0{begun}")
        self._kinds += kind
        if draft is not None:
            numbers = (number_of(kind), call.line, draft.line, answer, draft.answer, rewords(call, "", draft.words))
            self._pairs += np.array(numbers, NUMBER).tobytes()

    def drafts(self) -> Drafts:
        """Return drafts, and calls that answer in their place; what was taken in is gone then."""
        table: Any = np.frombuffer(bytes(self._pairs), NUMBER).reshape(-1, _PARTS)
        returned = np.frombuffer(bytes(self._returned), NUMBER)
        back, drafts_back = (np.isin(table[:, column], returned) for column in (3, 4))
        kinds, times = np.unique(np.frombuffer(bytes(self._kinds), NUMBER), return_counts=True)
        calls = dict(zip(kinds.tolist(), times.tolist(), strict=True)) if len(table) else {}
        sending = Counter[int](table[:, 0].tolist())
        polished = Counter[int](table[back & ~drafts_back, 0].tolist())
        polished.subtract(table[drafts_back & ~back, 0].tolist())
        alike = Counter[int](table[table[:, 5] != 0, 0].tolist())  # who answers what another asks says something else
        often = [kind for kind, n in polished.items() if n >= _FEWEST and sending[kind] >= _SHARE * calls[kind]]
        chosen = [kind for kind in often if alike[kind] >= _SHARE * sending[kind]]
        pairs = table[np.isin(table[:, 0], np.array(chosen, NUMBER))]
        self._recent.clear()
        self._kinds, self._pairs, self._returned = bytearray(), bytearray(), bytearray()
        first: dict[int, int] = {}
        for line, draft in pairs[:, 1:3].tolist():  # in the order of the log: a draft may be one worded anew
            first[line] = first.setdefault(draft, draft)
        return first


def without_drafts(calls: Sequence[Call], drafts: Drafts, assumed: Assumed) -> list[Call]:
    """Return the calls of one answer without its drafts: the last call answers what the first one was asked."""
    ordered = sorted(calls, key=lambda call: call.line)
    if len(ordered) < 2 or drafts.get(ordered[-1].line) != ordered[0].line:
        return list(calls)
    draft, last = ordered[0], ordered[-1]
    last.inputs, last.documents = draft.inputs, last.documents or draft.documents
    last.end = last.end if last.end is not None else last.start
    last.start = draft.start
    assumed[LEFT_OUT] += len(ordered) - 1
    return [last]


def _is_before(draft: _Draft, call: Call) -> bool:
    if draft.conversation != call.conversation:
        return False
    return draft.start is None or call.start is None or 0 <= call.start - draft.start <= _SOON
