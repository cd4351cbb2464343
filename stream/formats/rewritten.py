"""Rewritten questions: what a program asks of the model in the place of what its user typed.

    call 1   sends: "… Follow Up Input: And on my phone? Standalone question:"   gets: How do I reset it on my phone?
    call 2   sends: "How do I reset it on my phone?"                             gets: In the app.

Call 1 rewrites: it is asked for a question that stands alone, and what it gets is, word by word, what call 2 sends. The
user typed "And on my phone?", which stands in call 1 behind a label, or as its last message. Where call 2 sends nothing
else, what was said before stands in call 1 alone, and its conversation is known by that.
"""

import re
from typing import NamedTuple

from turnsignal.stream.formats.heads import history_in
from turnsignal.stream.formats.instructions import instructions_of
from turnsignal.stream.formats.messages import questions_in, spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.formats.quotations import digest_of
from turnsignal.stream.formats.transcripts import said_in

PUT_BACK = "questions that a program rewrote, read as the user typed them"
_SOON = 120.0  #: seconds until what was rewritten is asked
_READ = 600  #: characters of what is asked, in which it is told that a question is to be rewritten
_TYPED = 4_000  #: characters of what a user types without a label around it
_REWRITES = re.compile(
    r"\b(?:stand[- ]?alone|self[- ]contained|re-?phras\w*|reformulat\w*|re-?writ\w*|condens\w*|contextuali[sz]\w*)\b",
    re.IGNORECASE,
)
_ASKED = re.compile(r"\b(?:question|query|queries|message|input)\b", re.IGNORECASE)
_LABEL = re.compile(
    r"^[<*# \t]*(?:follow[- ]?up|latest|last|new|current|user)(?: user)? (?:input|question|message|query)[*\s]*[:>][*]*"
    r"\s*(?P<typed>\S[^\n<]*)",
    re.IGNORECASE | re.MULTILINE,
)


class _TypedQuestion(NamedTuple):
    """What a user typed before it was rewritten, when, and behind which history."""

    typed: str
    start: float | None
    history: bytes


class _CondenseCall(NamedTuple):
    """What a user typed, and what was said before that, of a call that rewrites it."""

    typed: str
    before: list[Message]


class RewrittenQuestions:
    """What programs rewrote in a log."""

    def __init__(self) -> None:
        self._rewritten: dict[tuple[str, bytes], list[_TypedQuestion]] = {}  # by conversation, and what it became
        self._used: set[tuple[str, bytes]] = set()

    def add(self, call: Call) -> None:
        """Take in a call; called for each before the first `put_back`."""
        if (rewriting := _rewriting_in(call)) is not None:
            question = _TypedQuestion(rewriting.typed, call.start, history_in(rewriting.before))
            self._rewritten.setdefault(_keys(call, _got(call))[0], []).append(question)

    def put_back(self, answer: Call, assumed: Assumed) -> bytes:
        """Give an answer's questions, the history's too, as the user typed them.

        Returns the history, as `head_of` takes it, that was sent with the last one alone; b"" without one.
        """
        history = b""
        if not self._rewritten or _rewriting_in(answer) is not None:
            return history
        is_alone = len(spoken_in(answer.inputs)) == 1
        for message, is_last in questions_in(answer.inputs):
            for key in _keys(answer, message.text):  # a trace's calls may name no conversation, and its root does
                given = [each for each in self._rewritten.get(key, ()) if _is_before(each, answer, soon=is_last)]
                if not given:
                    continue
                self._used.add(key)
                assumed[PUT_BACK] += is_last and message.text.strip() != given[-1].typed
                message.text = given[-1].typed
                answer.typed = None if is_last else answer.typed
                history = given[-1].history if is_last and is_alone else history
                break
        return history

    @property
    def was_used(self) -> bool:
        """Whether any question was put back."""
        return bool(self._used)

    def is_rewriting(self, call: Call) -> bool:
        """Say whether another call sent what a call rewrote; after all were put back."""
        return _rewriting_in(call) is not None and not self._used.isdisjoint(_keys(call, _got(call)))


def _keys(call: Call, text: str) -> list[tuple[str, bytes]]:
    digest = digest_of(text.strip())
    return [(name, digest) for name in dict.fromkeys((call.conversation or call.session or "", ""))]


def _got(call: Call) -> str:
    return next((message.text for message in spoken_in(call.outputs)[:1]), "")


def _is_before(rewriting: _TypedQuestion, answer: Call, *, soon: bool) -> bool:
    if rewriting.start is None or answer.start is None:
        return True
    end = answer.start if answer.end is None else answer.end  # a trace begins before what it asks of a model
    return rewriting.start <= end and (not soon or answer.start - rewriting.start <= _SOON)


def _rewriting_in(call: Call) -> _CondenseCall | None:
    """Return what a user typed, of a call that rewrites it into other words; None for any other call.

    Words that stand alone already are got as they were: what tells of these is the history alone.
    """
    spoken = spoken_in(call.inputs)
    sent = spoken[-1:]
    if call.kind != "answer" or call.partial or not sent or sent[0].role != "user" or not (got := _got(call).strip()):
        return None
    text, instructions = sent[0].text.strip(), instructions_of(call)
    asked = f"{instructions[:_READ]}\n{text[:_READ]}"
    if _REWRITES.search(asked) is None or _ASKED.search(asked) is None:
        return None
    labelled = list(_LABEL.finditer(text))
    is_plain = bool(instructions) and _REWRITES.search(instructions[:_READ]) is not None and len(text) <= _TYPED
    typed = labelled[-1]["typed"].strip() if labelled else text if is_plain else ""
    before = spoken[:-1] or (said_in(_without_tag(text[: labelled[-1].start()])) if labelled else [])
    return _CondenseCall(typed, before) if typed and (typed != got or before) else None


def _without_tag(text: str) -> str:
    """Return a text without a tag on its last line, which ends a history."""
    before, _, last = (text := text.rstrip()).rpartition("\n")
    return before if last.startswith("<") and last.endswith(">") else text
