"""Shown: what a prompt itself shows of its answers: literals, and examples without quotation marks.

A check that forbids what the prompt shows as to be said contradicts it, in another sentence or in the same: "Greet with
“Hello!” and avoid exclamation marks".
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turnsignal.stream.prompts.wording import QUOTED, forbidden, mask, negated, read_patterns

_SAYS = read_patterns(tomllib.loads(Path(__file__).with_name("shown.toml").read_text(encoding="utf-8"))["patterns"])


def shown_in(sentence: str) -> Iterator[str]:
    """Yield what a sentence shows: its quotes that it does not deny, and what comes after "e.g."."""
    masked = mask(sentence)
    for quote in QUOTED.finditer(sentence):
        if not negated(masked, quote.start()):
            yield _within(quote)
    examples = list(_SAYS["example"].finditer(masked))
    ends = [*(match.start() for match in examples), len(sentence)][1:]
    for match, end in zip(examples, ends, strict=False):
        if not negated(masked, match.start()):
            yield _balanced(sentence[match.end() : end])


def said_in(sentence: str) -> Iterator[str]:
    """Yield the quotes that a sentence which forbids something else wants said."""
    masked = mask(sentence)
    for quote in QUOTED.finditer(sentence):
        is_said = _SAYS["said"].search(masked[: quote.start()]) is not None
        if is_said and not forbidden(masked, *quote.span()):
            yield _within(quote)


def holds_value(pattern: Any, sentence: str) -> bool:
    """Return whether a pattern for words in capitals finds values, as IN REPAIR, and not only stress."""
    if sentence.isupper():
        return False
    return any(_SAYS["stress"].search(match[0]) is None for match in pattern.finditer(sentence))


def _within(quote: Any) -> str:
    return str(next(part for part in quote.groups() if part))


def _balanced(text: str) -> str:
    """Cut an example at the bracket that closes before it opens: "(e.g. soups) …"."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return text[:at]
    return text
