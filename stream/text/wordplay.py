"""Words of a follow-up compared with words of the prompt: repeated in capitals, misspelt, or in other forms."""

import string
from collections.abc import Sequence
from itertools import pairwise

from rapidfuzz.distance import OSA

from turnsignal.stream.text.patterns import Patterns

_BLANKS = str.maketrans(dict.fromkeys(string.punctuation + "“”„«»¿¡…–—。，、？！：；（）", " "))
_ASCII_BLANKS = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))
_STEM = 4  #: letters at least that two forms of a word share
_SHARED = 2  #: words that a question asked again has at least of what was asked
_CAPITALS = Patterns([r"\b\p{Lu}{3}"], few=True)


def words_of(text: str) -> list[str]:
    """Split a text into words: punctuation becomes blanks first, at half the cost of a pattern for words."""
    if text.isascii():  # the usual case, at a quarter of the cost
        return text.encode().translate(_ASCII_BLANKS).decode().split()
    return text.translate(_BLANKS).split()


def insists(follow_up: str, prompt: str, asked: frozenset[str]) -> bool:
    """Return whether a word of the prompt is repeated in capitals, in a message that is not all in capitals."""
    if not _CAPITALS.match(follow_up.encode("utf-8", "replace")) or follow_up.isupper():
        return False
    stressed = [word for word in words_of(follow_up) if len(word) > 2 and word.isupper()]
    return any(word.casefold() in asked and word not in prompt for word in stressed)


def spelled_as(word: str, asked: frozenset[str]) -> str:
    """Return the word of the prompt from which this word differs by one letter, else the word itself."""
    if word in asked or len(word) < 4:
        return word
    for other in asked:
        if other[0] == word[0] and abs(len(other) - len(word)) <= 1 and len(other) > 3 and nearly(word, other):
            return other
    return word


def rewords(own: Sequence[str], asked: Sequence[str]) -> bool:
    """Return whether words with a subject say again what was asked: most of them, in some form, in another order.

    own, asked: the words of the follow-up and of the prompt, in their order. The same question about another thing
    keeps the order of what it shares ("how long do we keep invoices", "how long do we keep contracts").

    >>> rewords(["return", "parcel"], ["parcel", "returned", "sender"]), rewords(["parcel", "lost"], ["parcel", "late"])
    (True, False)
    """
    places = [next((at for at, other in enumerate(asked) if is_form(word, other)), None) for word in own]
    shared = [at for at in places if at is not None]
    if len(set(shared)) < _SHARED or len(own) - len(shared) > 1 or 5 * len(set(shared)) < 3 * len(set(asked)):
        return False
    return shared != sorted(shared)


def swaps_detail(own: Sequence[str], asked: Sequence[str]) -> bool:
    """Return whether a word of the prompt has another in its place, behind the same word ("keep invoices")."""
    places = {before for before, word in pairwise(("", *asked)) if not _has(own, word)}
    return any(before in places for before, word in pairwise(("", *own)) if not _has(asked, word))


def _has(words: Sequence[str], word: str) -> bool:
    return any(is_form(word, other) for other in words)


def is_form(word: str, other: str) -> bool:
    """Return whether two words may be forms of one: they differ in no more than their ends."""
    if word == other:
        return True
    least = max(_STEM, min(len(word), len(other)) - 2)
    return min(len(word), len(other)) >= _STEM and word[:least] == other[:least]


def nearly(word: str, other: str) -> bool:
    """Return whether two words differ by one letter added, lost or changed, or by two neighbours that are turned."""
    return OSA.distance(word, other, score_cutoff=1) <= 1
