"""Exemptions: the responses that a suite prescribes, so that no check binds them, word for word but for their holes.

"I can only help with {{product}}." stands for every response that says so of some product: what a prompt fills in
before a model reads it is a name or a number, and neither long nor several lines.
"""

from collections.abc import Iterable
from typing import Any

import re2

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.text.typography import typed

_HOLE = re2.compile(r"\{\{[^{}\n]{0,80}\}\}")
_FILLED = r"[^\n]{1,80}"  #: what stands in a hole
_WORD = re2.compile(r"\pL+")
_LEAST = 2  #: words of its own that a text with holes has


class Exemptions:
    """Prescribed responses: `texts`, with straight or typographic signs, and `{{…}}` for what differs between them.

    Raises ConfigError for a text that is hardly more than holes, which any short answer would fit.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        plain = [typed(text).strip() for text in texts]
        holed = [text for text in plain if _HOLE.search(text) is not None]
        for text in holed:
            if len(_WORD.findall(_HOLE.sub(" ", text))) < _LEAST:
                msg = f"expected {_LEAST} words at least beside what is filled in, got {text!r}, which any answer fits"
                raise ConfigError(msg)
        self._texts = frozenset(plain)
        self._patterns: list[Any] = [re2.compile(_pattern(text)) for text in holed]

    def __contains__(self, response: str) -> bool:
        """Return whether a response is one of them, white space around it aside."""
        if not self._texts:
            return False
        text = typed(response).strip()
        return text in self._texts or any(pattern.fullmatch(text) is not None for pattern in self._patterns)


def _pattern(text: str) -> str:
    return _FILLED.join(map(re2.escape, _HOLE.split(text)))
