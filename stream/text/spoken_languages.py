"""Spoken languages: which language a text is in, as far as its letters and most frequent words tell.

Why no classifier: those that know many languages take half a millisecond a text or megabytes of memory, and always have
an answer. Here letters speak for a language (kana, Hangul, Thai, Greek, Hebrew, …), and words that are frequent in it,
the more the fewer other languages have them. What is not clearly ahead is not told. A bounded part of a text is read.
"""

import re
import tomllib
from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from importlib.resources import files
from typing import Any, NamedTuple

READ = 4_000  #: characters of a text that are read at most

WHOLE = 220  #: characters of a text up to which a glance is at all of it
_GLANCE = WHOLE // 2  #: characters of the begin, and as many of the middle, that are enough for most longer texts
_HEAD = 300  #: that tell most English ones, which the others should not slow down
#: words of short and of longer texts that only English has, from which on a glance asks nothing else
_FEW, _SURE = 2, 3
_LEAST = 1.5  #: from so much on a language is told; a word that no other language has counts 1
_AHEAD = 1.6  #: times what speaks for any other language
_LETTERS = 4  #: that count as a word
_DENSE = 2  #: of Chinese, Japanese and Korean
_SOME_KANA = 0.08  #: share of kana beside Han from which on it is Japanese
_ROMANISED = "romanised"  #: of languages that are usually written in other letters: who writes so reads several
_LATIN_END = "\u024f"
_LATIN, _CYRILLIC, _ARABIC, _DEVANAGARI, _HAN, _KANA = "latin", "cyrillic", "arabic", "devanagari", "han", "kana"
#: first character of a range → language; the script where several share it; "" where nothing is known of it
_RANGES = {
    "\0": _LATIN,
    "\u0370": "el",
    "\u0400": _CYRILLIC,
    "\u0530": "hy",
    "\u0590": "he",
    "\u0600": _ARABIC,
    "\u0780": "",
    "\u0900": _DEVANAGARI,
    "\u0980": "bn",
    "\u0a00": "pa",
    "\u0a80": "gu",
    "\u0b00": "",
    "\u0b80": "ta",
    "\u0c00": "te",
    "\u0c80": "kn",
    "\u0d00": "ml",
    "\u0d80": "si",
    "\u0e00": "th",
    "\u0e80": "",
    "\u1000": "my",
    "\u10a0": "ka",
    "\u1100": "ko",
    "\u1200": "",
    "\u1780": "km",
    "\u1800": "",
    "\u1e00": _LATIN,
    "\u1f00": "el",
    "\u2000": "",
    "\u3040": _KANA,
    "\u3100": "",
    "\u3130": "ko",
    "\u3190": "",
    "\u3400": _HAN,
    "\ua000": "",
    "\uac00": "ko",
    "\ud7b0": "",
    "\uf900": _HAN,
    "\ufb00": _LATIN,
    "\ufb1d": "he",
    "\ufb50": _ARABIC,
    "\ufe00": "",
    "\ufe70": _ARABIC,
    "\ufeff": "",
    "\U00020000": _HAN,
}
_STARTS, _SCRIPTS = list(_RANGES), list(_RANGES.values())
_SHARED = {**dict.fromkeys(("ru", "uk", "bg", "sr"), _CYRILLIC), **dict.fromkeys(("ar", "fa", "ur"), _ARABIC)}
_SHARED |= dict.fromkeys(("hi", "mr", "ne"), _DEVANAGARI)
#: Han that Japanese hardly ever writes
_CHINESE = frozenset("的了你您这這们們吗嗎么麼怎请請没沒哪谁給给让讓个個还還吧呢啊呀着")
#: around words, or between them, where no space is
_SIGNS = '.,;:!?()[]{}<>/\\|"*_~`#=+&%$@^-–—…“”„‘«»•·、。，！？।؟،「」『』'
_AROUND = "0123456789" + _SIGNS
#: What is not the writer's own prose: code, addresses, quotations. Each repeat ends at a character that it excludes.
_NOT_OWN = re.compile(
    r"```(?:[^`]|`(?!``))*(?:```|\Z)|`[^`\n]*`|https?://\S+|www\.\S+|^[ \t]*>[^\n]*$"
    r'|"[^"\n]{12,}"|“[^“”\n]{12,}”|„[^„“”\n]{12,}[“”]|«[^«»\n]{12,}»|「[^「」\n]{8,}」|『[^『』\n]{8,}』',
    re.MULTILINE,
)
_CODE = ("{", "}", "=>", "==", " = ", "();", "</", "/>", "::", "&&", "||", "SELECT ", "Traceback", "Exception")


class LanguageWeights(NamedTuple):
    """What a text says of its language.

    code: ISO 639-1, "" where it is not told; weights: language → how much speaks for it, counted in words.
    """

    code: str
    weights: Mapping[str, float]

    def weight(self, code: str) -> float:
        """Return how much speaks for a language."""
        return self.weights.get(code, 0.0)


def glance(text: str) -> str:
    """Return the language of a text as a little of its begin and of its middle tells it, "" where that does not."""
    least = _FEW
    if len(text) > WHOLE:
        head, least = text[:_HEAD], _SURE
        if " the " in head and (" and " in head or " you" in head or " with " in head or " are " in head):
            return "en"  # as most are, and a look into a string is the cheapest there is
        middle = len(text) // 2
        text = head[:_GLANCE] + text[middle : middle + _GLANCE]
    lowered = text.lower()
    return "en" if len(_ENGLISH.intersection(lowered.split())) >= least else _weigh(text, _words(lowered)).code


def read(text: str) -> LanguageWeights:
    """Return what the writer's own words say: without code, addresses and what is quoted."""
    own = _NOT_OWN.sub(" ", text[:READ])
    if any(sign in own for sign in _CODE):
        own = "\n".join([line for line in own.splitlines() if not any(sign in line for sign in _CODE)])
    return _weigh(own, _words(own.lower()))


def names_language(text: str) -> bool:
    """Say whether a text names a language, or asks for a translation."""
    plain = text[:READ].casefold()
    return any(part in plain for part in _ANYWHERE) or any(word.startswith(_REQUESTS) for word in _words(plain))


def are_close(code: str, other: str) -> bool:
    """Say whether two languages are too close to each other to be told apart surely."""
    return f"{code} {other}" in _CLOSE


def language_name(code: str) -> str:
    """Name a language in English."""
    return str(_NAMES.get(code, code))


def _weigh(text: str, words: Set[str]) -> LanguageWeights:
    weights: dict[str, float] = {}
    scripts: Iterable[str] = (_LATIN,)
    if not text.isascii() and max(text) > _LATIN_END:
        scripts = _weigh_letters(text, weights)
    for script in scripts:
        known = _WORDS[script]
        for word in words & known.keys():
            for code, weight in known[word]:
                weights[code] = weights.get(code, 0.0) + weight
        if not text.isascii():
            marks = _MARKS[script]
            for code in {marks[letter] for letter in marks.keys() & set(text)}:
                weights[code] = weights.get(code, 0.0) + 1.0
    ahead = sorted(weights.values(), reverse=True)[:2]
    if not ahead or ahead[0] < _LEAST or (len(ahead) > 1 and ahead[0] < _AHEAD * ahead[1]):
        return LanguageWeights("", weights)
    code = max(weights, key=weights.__getitem__)
    return LanguageWeights("" if code == _ROMANISED else code, weights)


def _words(text: str) -> set[str]:
    """Return the words of a text; a letter with a number is none: "[d1]" is a document, and no end of "I'd"."""
    pieces = text.replace("'", " ").replace("’", " ").replace("-", " ").split()
    return {word for piece in pieces if len(word := piece.strip(_AROUND)) > 1 or word == piece.strip(_SIGNS)}


def _weigh_letters(text: str, weights: dict[str, float]) -> list[str]:
    """Add what letters alone say, and return the scripts whose words are to be asked."""
    counts: dict[str, int] = {}
    for letter, count in Counter(text).items():
        if letter.isalpha():
            script = _SCRIPTS[bisect(_STARTS, letter) - 1]
            counts[script] = counts.get(script, 0) + count
    han, kana = counts.pop(_HAN, 0), counts.pop(_KANA, 0)
    if kana and kana >= _SOME_KANA * (han + kana):
        weights["ja"] = _DENSE * (han + kana) / _LETTERS
    elif han:
        weights["zh"] = _DENSE * han / _LETTERS
        if _CHINESE.isdisjoint(text):
            weights["ja"] = weights["zh"]  # a few words of Han may be either
    counts.pop("", 0)
    for script in [script for script in counts if script not in _WORDS]:
        dense = _DENSE if script == "ko" else 1
        weights[script] = dense * counts.pop(script) / _LETTERS
    return list(counts)


def _load(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _lists() -> dict[str, dict[str, tuple[tuple[str, float], ...]]]:
    """Return script → word → the languages that have it, each with what it says for them."""
    follow_ups, joined = _load("languages.toml"), _TABLE["joined"]
    romanised = _TABLE["apart"]["romanised"].split()
    spoken: dict[str, dict[str, set[str]]] = {}
    latin = {_ROMANISED if code in romanised else code: words for code, words in follow_ups["unread"].items()}
    for part in (follow_ups["read"], latin, _TABLE["more"]):
        for code, words in part.items():
            by_word = spoken.setdefault(_SHARED.get(code, _LATIN), {})
            for word in words.split():
                by_word.setdefault(word, set()).add(joined.get(code, code))
    return {
        script: {word: tuple((code, 1 / len(codes)) for code in sorted(codes)) for word, codes in by_word.items()}
        for script, by_word in spoken.items()
    }


_TABLE = _load("spoken.toml")
_NAMES = _TABLE["names"]
_WORDS = _lists()
_MARKS = {
    script: {
        letter: code
        for code, letters in _TABLE["letters"].items()
        if _SHARED.get(code, _LATIN) == script
        for letter in letters + letters.upper()
    }
    for script in _WORDS
}
_ENGLISH = frozenset(word for word, codes in _WORDS[_LATIN].items() if codes == (("en", 1.0),))
_PAIRS = _TABLE["apart"]["close"]
_CLOSE = frozenset(f"{code} {other}" for pair in _PAIRS for code, other in (pair, pair[::-1]))
_REQUESTS = tuple(" ".join((_TABLE["requests"]["names"], _TABLE["requests"]["words"])).split())
_ANYWHERE = tuple(_TABLE["requests"]["anywhere"].split())
