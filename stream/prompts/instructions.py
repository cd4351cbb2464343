"""Instructions: a sentence of a prompt as the families of wording get it, and what they make of it."""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from turnsignal.stream.prompts.leftover import RequestedCheck, Scope, Span
from turnsignal.stream.prompts.wording import read_patterns

WORDED = tomllib.loads(Path(__file__).with_name("proposals.toml").read_text(encoding="utf-8"))
LANGUAGES: dict[str, str] = WORDED["languages"]  #: name → code
SAYS = read_patterns(WORDED["patterns"], LANGUAGE="|".join(LANGUAGES))
NO_WORDS = frozenset(WORDED["no_words"])  #: words that are keywords only if they are quoted


class Sentence(NamedTuple):
    """One sentence of a prompt.

    text: as written; masked: the same length, with quoted text replaced by dots; dividers: what the prompt wants
    between paragraphs: `***`, or an empty line; paragraphs: how many the prompt asks for, 0 if it does not say;
    splitter: the word that sections must begin with, as in "Section X"; about: the headings above and the sentence
    before, which may hold the subject; scope: what narrows the sentence.
    """

    text: str
    masked: str
    dividers: str = "\n\n"
    paragraphs: int = 0
    splitter: str = ""
    about: str = ""
    scope: Scope = Scope()


def asked(names: Iterable[str], kind: str, *spans: Span, doubt: str | None = None) -> Iterator[RequestedCheck]:
    """Yield checks that one wording asks for; spans: the words that it accounts for."""
    yield from (RequestedCheck(name, spans, kind, doubt) for name in names)
