"""Banned: the checks for words that must not appear.

Most are `keywords.forbidden_words`, whole words in either case. Some are not: an ending that follows a sign, as in
"*innen", stands within words; a phrase with capitals where small letters are usual, as "The End", is meant as it is
written, because "in the end" is not forbidden; so are an abbreviation in capitals, as "US", the names that must not be
mentioned, as "Target", and a spelling that differs from the prescribed one in capitals alone, as "wifi" from "WiFi";
and of an exclamation, as "Great!", the sign is a part: "a great deal" is not forbidden.
"""

from collections.abc import Iterator, Sequence

from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.literals import literal, spaced
from turnsignal.stream.prompts.wording import QUOTED, compile_pattern, mask

_ENDING = compile_pattern(r"^[*:_/·+][\pL]")
_TITLE = compile_pattern(r"^(?-i:The|A|An|In|To|At|By|On|For|Of)(?:\s+(?-i:\p{Lu})[\pL’'-]*)+$")
_ABBREVIATION = compile_pattern(r"^(?-i:\p{Lu}{2,5})$")
_OKAY = "OK"  #: in capitals, and the same word without them
_NAME = compile_pattern(r"^(?-i:\p{Lu})")
#: how a sentence speaks of names, so that words with capitals are some
_NAMES = compile_pattern(
    r"\b(?:mention(?:s|ing)?|names?|naming|referr?(?:ing)? to|competitors?|rivals?|compan(?:y|ies)|brands?|vendors?"
    r"|suppliers?|manufacturers?|partners?|products?|projects?|clients)\b"
)
_EXCLAMATION = compile_pattern(r"^\W*([\pL\pN'’-]+)([!?])\W*$")


def banned(words: Sequence[str], sentence: str) -> Iterator[str]:
    """Yield the checks that find words: the names of one for plain words, and of one for each other kind.

    sentence: as written, which may prescribe another spelling, and quote a word with its exclamation mark.
    """
    signs = _signs(sentence)
    endings = [word for word in words if _ENDING.search(word) is not None]
    exclaimed = [word for word in words if word in signs]
    is_named = are_names(words, sentence)
    written = [
        word
        for word in words
        if is_named
        or _is_abbreviation(word, words, sentence)
        or _TITLE.search(word)
        or _is_misspelt(word, words, sentence)
    ]
    plain = [word for word in words if word not in {*endings, *exclaimed, *written}]
    if plain:
        yield write_name("keywords.forbidden_words", {"words": "|".join(plain)})
    if endings:
        yield write_name("pattern.forbid", {"regex": rf"(?i)(?:{'|'.join(map(literal, endings))})\b"})
    if exclaimed:
        shouts = "|".join(literal(word + signs[word]) for word in exclaimed)
        yield write_name("pattern.forbid", {"regex": rf"(?i)\b(?:{shouts})"})
    if written:
        yield write_name("pattern.forbid", {"regex": rf"\b(?:{'|'.join(map(spaced, written))})\b"})


def _signs(sentence: str) -> dict[str, str]:
    """Return the words that a sentence quotes with a sign behind them: word → `!` or `?`."""
    quotes = (_EXCLAMATION.search(next(filter(None, quote.groups()))) for quote in QUOTED.finditer(sentence))
    return {quote[1]: quote[2] for quote in quotes if quote is not None}


def _is_abbreviation(word: str, words: Sequence[str], sentence: str) -> bool:
    """Return whether a word is written in capitals as an abbreviation, and not because all around it is."""
    if word == _OKAY or word.casefold() in words or _ABBREVIATION.search(word) is None:
        return False
    return any(map(str.islower, mask(sentence)))


def are_names(words: Sequence[str], sentence: str) -> bool:
    """Return whether words are the names of somebody or something: all have capitals, and the sentence says so.

    In a sentence of nothing but capitals they say nothing.
    """
    masked = mask(sentence)
    is_told = any(map(str.islower, masked)) and _NAMES.search(masked) is not None
    return is_told and all(_NAME.search(word) is not None for word in words)


def _is_misspelt(word: str, words: Sequence[str], sentence: str) -> bool:
    """Return whether a sentence has the same word with other capitals, too, and does not forbid it.

    The first letter of a sentence does not count, because it is a capital anyway.
    """
    spellings = {match[0] for match in compile_pattern(rf"\b{literal(word)}\b").finditer(sentence[1:])}
    return not spellings.issubset(words)
