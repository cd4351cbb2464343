"""Words of a follow-up compared with words of the prompt: repeated in capitals, or misspelt."""

import string

from turnsignal.stream.text.patterns import Patterns

_BLANKS = str.maketrans(dict.fromkeys(string.punctuation + "“”„«»¿¡…–—。，、？！：；（）", " "))
_ASCII_BLANKS = bytes.maketrans(string.punctuation.encode(), b" " * len(string.punctuation))
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


def nearly(word: str, other: str) -> bool:
    """Return whether two words differ by one letter added, lost or changed, or by two letters exchanged."""
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(word), len(other)) - start and word[-1 - end] == other[-1 - end]:
        end += 1
    left, right = word[start : len(word) - end], other[start : len(other) - end]
    return max(len(left), len(right)) <= 1 or (len(left) == 2 and left == right[::-1])
