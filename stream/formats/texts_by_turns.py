"""Texts by turns: a prompt that is a list of texts without roles, as older Spring AI writes it, and its answer."""

from typing import Any

from turnsignal.stream.formats.protocol import Assumed, Message
from turnsignal.stream.formats.values import items

_WITHOUT_ROLES = "prompts whose texts have no roles (older Spring AI), taken for said by turns, the last by the user"


def texts_without_roles(given: dict[str, Any], assumed: Assumed) -> tuple[list[Message], list[Message]]:
    """Return what was asked, and what was answered, in attributes that hold texts alone; nothing for any others."""
    texts = items(given.get("gen_ai.prompt"))
    if not texts or not all(isinstance(text, str) for text in texts):
        return [], []
    assumed[_WITHOUT_ROLES] += len(texts) > 1
    return _in_turn(texts), [Message("assistant", str(text)) for text in items(given.get("gen_ai.completion"))[:1]]


def _in_turn(texts: list[str]) -> list[Message]:
    """Return the texts of a prompt as messages: the user's last, before it one of each by turns, instructions first.

    >>> [message.role for message in _in_turn(["Be brief.", "Hi", "Hello", "How do I pay?"])]
    ['system', 'user', 'assistant', 'user']
    """
    roles = ["user" if (len(texts) - at) % 2 else "assistant" for at in range(len(texts))]
    roles[:1] = ["system"] if roles[0] == "assistant" else roles[:1]
    return [Message(role, text) for role, text in zip(roles, texts, strict=True)]
