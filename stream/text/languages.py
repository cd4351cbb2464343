"""Languages: whether a message is in a language that the follow-up rules read, by letters and most frequent words.

Why not a classifier: messages are short, the question is only whether patterns in seven languages apply to them, and
the answer must cost no more than the patterns do. If the words decide nothing, the message counts as read, because
product names, numbers and pasted errors look the same in every language.
"""

import tomllib
from collections.abc import Collection
from importlib.resources import files

_TABLE = tomllib.loads(files(__package__).joinpath("languages.toml").read_text(encoding="utf-8"))
#: the languages whose follow-ups can be read, as ISO 639-1 codes
READ = tuple(_TABLE["read"])

_KNOWN = {name: frozenset(words.split()) for name, words in _TABLE["read"].items()}
_OTHER = {name: frozenset(words.split()) for name, words in _TABLE["unread"].items()}
_ENGLISH = _KNOWN["en"]
_ANY_OTHER = frozenset().union(*_OTHER.values())
_ANY_KNOWN = frozenset().union(*_KNOWN.values())
_BESIDE_ENGLISH = _ANY_KNOWN - _ENGLISH
_ONLY_ENGLISH = _ENGLISH.difference(*(words for name, words in _KNOWN.items() if name != "en"))
_TELLING = _ANY_OTHER - _ENGLISH
#: letters with accents that no language of READ has
_STRANGE = frozenset(
    "łąęśćńźżőűşğıțșăâîřůěčšžýťďňľĺŕđðþæøåơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỷỹỵāēīūģķļņėįųċġħŵŷəŋọṣẹĉĝĥĵŝŭ"
)
_STRANGE -= frozenset("âî")  # French and Portuguese have these
_LISTS = [*_KNOWN.values(), *_OTHER.values()]
#: word → places in _LISTS of the languages that have it
_SPEAKING: dict[str, list[int]] = {}
for _index, _words in enumerate(_LISTS):
    for _word in _words:
        _SPEAKING.setdefault(_word, []).append(_index)
_TELLING_LETTERS = 3  #: of a word that by itself tells that a message of three words or more is in another language
_LATIN_END = "\u024f"


def is_read(text: str, words: Collection[str]) -> bool:
    """Return whether the rules can read a message.

    text: case-folded; words: its words without punctuation. True unless letters or words indicate another language.
    """
    if not text.isascii():
        if max(text) > _LATIN_END:
            foreign = sum([letter > _LATIN_END and letter.isalpha() for letter in text])
            if foreign and 2 * foreign > sum([letter.isalpha() for letter in text]):
                return False
        if not _STRANGE.isdisjoint(text):
            return len(_ENGLISH.intersection(words)) > 1
    if _TELLING.isdisjoint(words):
        return True  # any word of an unread language here is English as well
    ours, others = _counts(words)
    if others == 1 and ours == 0 and len(words) > 2:  # "Placer County CA": one short word tells nothing
        return all(len(word) < _TELLING_LETTERS for word in _TELLING.intersection(words))
    return ours >= others


def may_be_read(words: Collection[str]) -> bool:
    """Return whether the words say so: a language of READ has more of them than any other, or English as many."""
    ours, others = _counts(words)
    return ours > others or 1 < ours == others == len(_ENGLISH.intersection(words))


def is_frequent(word: str) -> bool:
    """Return whether a word, case-folded, is among the most frequent ones of a language of READ."""
    return word in _ANY_KNOWN


def _counts(words: Collection[str]) -> tuple[int, int]:
    """Return how many words are frequent in the language of READ, and in the other one, that has most of them."""
    spoken = [0] * len(_LISTS)
    for word in words:
        for index in _SPEAKING.get(word, ()):
            spoken[index] += 1
    return max(spoken[: len(READ)]), max(spoken[len(READ) :])


def is_english(words: Collection[str]) -> bool:
    """Return whether a message has a word that only English has, and no word of READ that English lacks."""
    return _BESIDE_ENGLISH.isdisjoint(words) and not _ONLY_ENGLISH.isdisjoint(words)
