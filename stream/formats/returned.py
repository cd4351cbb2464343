"""Returned: the answer among a trace's calls, by what the program's own function around them took and gave back.

    chat()    took: {"args": ["Where is my card?"]}                gave back: "In the app, under Cards."
    call 1    sends: "Where is my card?"                           gets: In the app, under Cards.
    call 2    sends: "A title for: Where is my card?"              gets: The missing card

Call 1 is it, and what comes later under other instructions nobody saw. A function may return anything, so that what it
returned is never read as the answer itself: it only tells which call of a model got that. One that returns a list has
answered several, and tells nothing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from turnsignal.stream.formats.asides import LEFT_OUT
from turnsignal.stream.formats.instructions import are_others
from turnsignal.stream.formats.messages import spoken, spoken_in
from turnsignal.stream.formats.protocol import Assumed, Call, Message
from turnsignal.stream.formats.quotations import quoted_in
from turnsignal.stream.formats.values import nested

_TEXTS = 16  #: that a function took, or returned, at most,
_PARTS = 64  #: among so many parts,
_DEEP = 5  #: and so deep
_FUNCTIONS = 8  #: of a trace, the outermost, which are looked at
_LAST = 64  #: calls of a model, of which one may have got a part of what was returned
_TELLING = 24  #: characters of an answer, around which a program may have put more
_NO_CHANCE = 16  #: characters that stand in no other text by chance


def texts_in(value: object, role: str) -> list[Message]:
    """Return the texts that a function took, or returned, that which says something by its name first.

    >>> [each.text for each in texts_in('{"outputs": {"title": "Cards", "answer": "By card."}}', "assistant")]
    ['By card.', 'Cards']
    """
    value = nested(value)
    if isinstance(value, list) and role == "assistant":
        return []
    named = [message.text for message in spoken(value, role, Counter()) if message.role == role]
    texts = dict.fromkeys(text.strip() for text in (*named[-1:], *_leaves(value)))
    return [Message(role, text) for text in list(texts)[:_TEXTS] if text]


def up_to_returned(models: Sequence[Call], calls: Sequence[Call], assumed: Assumed) -> Sequence[Call]:
    """Leave out of a trace's calls of models those behind the one that got what the function around them returned.

    calls: all of the trace, among which functions are context that holds texts.
    """
    functions = sorted(filter(_is_function, calls), key=_outermost)[:_FUNCTIONS]
    given = {_got(call): at for at, call in enumerate(models)} if functions else {}
    for function in functions:
        for text in (message.text for message in function.outputs):
            at = given.get(text, _got_within(models, text))
            if at is None:
                continue
            answer = models[at]
            answer.typed = answer.typed or _typed_in(answer, function)
            kept = [call for call in models[at + 1 :] if not are_others(call, answer) or not spoken_in(call.outputs)]
            assumed[LEFT_OUT] += len(models) - at - 1 - len(kept)
            return [*models[: at + 1], *kept]
    return models


def _is_function(call: Call) -> bool:
    return call.kind == "context" and bool(call.outputs)


def _outermost(function: Call) -> tuple[float, float]:
    start = function.start or 0.0
    return start, start - (function.end or start)


def _got(call: Call) -> str:
    return next((message.text.strip() for message in spoken_in(call.outputs)[:1]), "")


def _got_within(models: Sequence[Call], text: str) -> int | None:
    """Return which of the last calls got what stands in a text, among what a program put around it."""
    for at in range(len(models) - 1, max(len(models) - _LAST, 0) - 1, -1):
        got = _got(models[at])
        if len(got) >= _TELLING and got in text:
            return at
    return None


def _typed_in(answer: Call, function: Call) -> str | None:
    """Return what a function took that stands in its answer's question, among more."""
    asked = [message.text.strip() for message in spoken_in(answer.inputs)[-1:] if message.role == "user"]
    for question in asked:
        parts = set(quoted_in(question))
        texts = (message.text for message in function.inputs if message.text != question)
        return next((text for text in texts if text in parts or (len(text) >= _NO_CHANCE and text in question)), None)
    return None


def _leaves(value: object) -> Iterator[str]:
    """Give the texts within a value, those of lists of many left out."""
    waiting: list[tuple[Any, int]] = [(value, 0)]
    for _ in range(_PARTS):
        if not waiting:
            return
        part, depth = waiting.pop()
        part = nested(part)
        if isinstance(part, str):
            yield part
        elif depth < _DEEP and isinstance(part, dict | list):
            inner = list(part.values() if isinstance(part, dict) else part)[:_PARTS]
            waiting += [(each, depth + 1) for each in reversed(inner)]
