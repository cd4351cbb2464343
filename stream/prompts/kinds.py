"""Kinds: what a prompt as a whole makes answers of, where its rules are not about the answers.

A judge or proofreader is given the rules that other texts have to keep; a prompt for "three replies" says "replies" of
what one answer holds. Nothing that such a prompt asks for is known to bind its own answers.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path

from turnsignal.stream.prompts.wording import read_patterns

_SAYS = read_patterns(tomllib.loads(Path(__file__).with_name("kinds.toml").read_text(encoding="utf-8"))["patterns"])
_REASONS = {
    "judges": "the prompt is about other texts",
    "rewriters": "the prompt is about other texts",
    "makers": "the prompt makes rules for others",
    "items": "an answer holds several texts",
}
_SHOWN = 80  #: characters of the sentence in the reason for a doubt


def kind_doubt(sentences: Iterable[str]) -> str | None:
    """Return why no check of a prompt is known to bind its answers; None if there is no reason.

    sentences: with quoted text masked.
    """
    for sentence in sentences:
        for kind, reason in _REASONS.items():
            if _SAYS[kind].search(sentence) is not None:
                return f"{reason} (“{sentence[:_SHOWN]}{'…' if len(sentence) > _SHOWN else ''}”)"
    return None
