"""Banned: the checks for words that must not appear.

Most are `keywords.forbidden_words`, whole words in either case. Two kinds are not: an ending that follows a sign, as in
"*innen", stands within words; and a phrase with capitals where small letters are usual, as "The End", is meant as it is
written, because "in the end" is not forbidden.
"""

from collections.abc import Iterator, Sequence

import re2

from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.wording import compile_pattern

_ENDING = compile_pattern(r"^[*:_/·+][\pL]")
_TITLE = compile_pattern(r"^(?-i:The|A|An|In|To|At|By|On|For|Of)(?:\s+(?-i:\p{Lu})[\pL’'-]*)+$")


def banned(words: Sequence[str]) -> Iterator[str]:
    """Yield the checks that find words: the names of one for plain words, and of one for each other kind."""
    endings = [word for word in words if _ENDING.search(word) is not None]
    titles = [word for word in words if _TITLE.search(word) is not None]
    plain = [word for word in words if word not in endings and word not in titles]
    if plain:
        yield write_name("keywords.forbidden_words", {"words": "|".join(plain)})
    if endings:
        yield write_name("pattern.forbid", {"regex": rf"(?i)(?:{'|'.join(map(re2.escape, endings))})\b"})
    if titles:
        yield write_name("pattern.forbid", {"regex": rf"\b(?:{'|'.join(map(_spaced, titles))})\b"})


def _spaced(phrase: str) -> str:
    return r"\s+".join(re2.escape(word) for word in phrase.split())
