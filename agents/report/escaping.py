"""Escaping: texts from strangers, made safe to print: markup is escaped, control characters are made visible."""

from rich.markup import escape

from turnsignal.stream.text.visible import visible


def plain(text: object, limit: int = 120) -> str:
    """Make a text from a record safe to print: control characters shown, cut to `limit` characters.

    >>> plain("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    shown = visible(str(text)[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def safe(text: object, limit: int = 120) -> str:
    """Make a text from a record safe inside rich's markup."""
    return escape(plain(text, limit))
