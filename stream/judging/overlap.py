"""Overlap: which share of a text's words stands in others. A floor, cheap and shown beside judges, never a headline."""

import re
from collections.abc import Iterable

MAX_TEXT = 50_000  #: characters that are looked at
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_SHORT = 3  #: letters: shorter words stand everywhere


def words_of(text: str) -> list[str]:
    """Return the words of a text that say something, in small letters."""
    words = _WORD.findall(text[:MAX_TEXT].casefold())
    return [word for word in words if len(word) > _SHORT or word.isdigit() or not word.isascii()] or words


def sentences_of(text: str, at_most: int) -> list[str]:
    """Return the sentences of a text, as far as full stops and line ends tell."""
    parts = (part.strip() for part in _SENTENCE.split(text[:MAX_TEXT]))
    return [part for part in parts if _WORD.search(part)][:at_most]


def overlap(text: str, others: Iterable[str]) -> float:
    """Return the share of a text's words that stand in any of the others; 0 for a text without words.

    >>> overlap("The warranty is two years.", ["Warranty: two (2) years"])
    1.0
    """
    words = words_of(text)
    known = {word for other in others for word in _WORD.findall(other[:MAX_TEXT].casefold())}
    return sum(word in known for word in words) / len(words) if words else 0.0
