"""The one text that an input or output holds which is no message, by its name: {question: …}, {answer: …}.

Whoever is asked puts out more than the answer, often the question once more: what the assistant says is looked for
under names of answers first, and what the user says under those of questions.
"""

import re
from collections.abc import Iterable

from turnsignal.stream.formats.values import first, nested

_MAX_DEPTH = 4  #: objects within objects
ASKED = ("question", "query", "prompt", "user_input")
ANSWERED = ("answer", "final_answer", "response", "reply", "generation", "completion", "result", "text", "content")
_MESSAGES = ("message", "user_message", "userMessage", "user_query", "utterance")
_OF_USERS = (*ASKED, "answer", "response", "result", "text", "content", "input", "output", *_MESSAGES)
_OF_ASSISTANTS = (*ANSWERED, "output", "message", *ASKED, "input", *_MESSAGES)
_NO_TEXT = {"id", "user", "session", "lang", "language", "locale", "model", "name", "type", "kind", "role", "channel"}
_NO_TEXT |= {"platform", "version", "tenant", "customer", "email", "time", "date", "status", "key", "token", "url"}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def words_in(key: str) -> list[str]:
    """Return the words of a name, small: of finalAnswer, final_answer and FinalAnswer the same two."""
    return [word.lower() for word in _WORD.findall(key)]


def plain_text(value: object, role: str = "user", depth: int = 0) -> str:
    """Return the one text that an input or output holds which is no message, said by `role`; empty without one.

    >>> plain_text({"question": "How?"}), plain_text({"user_id": "u1", "request": {"note": "How?"}})
    ('How?', 'How?')
    >>> plain_text({"question": "How?", "answer": "So."}, "assistant")
    'So.'
    """
    value = nested(value)
    if isinstance(value, str):
        return value
    if not isinstance(value, dict):
        return ""
    keyed = first(value, *(_OF_USERS if role == "user" else _OF_ASSISTANTS))
    if isinstance(keyed, str):
        return keyed
    others = {key: inner for key, inner in value.items() if _NO_TEXT.isdisjoint(words_in(key))}
    texts = [inner for inner in (others if len(value) > 1 else value).values() if isinstance(inner, str)]
    if texts or depth == _MAX_DEPTH:
        return texts[0] if len(texts) == 1 else ""
    return _within(others.values(), role, depth + 1)


def _within(values: Iterable[object], role: str, depth: int) -> str:
    held = (plain_text(inner, role, depth) for inner in values if isinstance(inner, dict))
    return next(filter(None, held), "")
