"""Openers: the checks of what an answer must not start with: a question, a heading, a list."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.instructions import Sentence, asked
from turnsignal.stream.prompts.leftover import RequestedCheck
from turnsignal.stream.prompts.wording import negated, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("openers.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"])
_FOUND: dict[str, str] = _BUILT["found"]


def openers(sentence: Sentence) -> Iterator[RequestedCheck]:
    """Yield the check that forbids what a sentence says that answers must not start with."""
    match = _SAYS["opens"].search(sentence.masked)
    if match is None or not negated(sentence.masked, match.start()):
        return
    thing = next((regex for words, regex in _FOUND.items() if match[words]), "")
    yield from asked([write_name("pattern.forbid", {"regex": thing})], "openers", match.span())
