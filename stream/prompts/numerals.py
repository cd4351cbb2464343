"""Numerals: numbers as prompts write them: "1,000", "1 500", "two hundred and fifty", "twenty-five"."""

_SMALL = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_SMALL += [f"{word}teen" for word in ("thir", "four", "fif", "six", "seven", "eigh", "nine")]
_TENS = [f"{word}ty" for word in ("twen", "thir", "for", "fif", "six", "seven", "eigh", "nine")]
#: words that a number follows, so that a sign before it is its own
_RELATING = frozenset(
    [
        *("exactly", "precisely", "only", "just", "most", "least", "max", "max.", "maximum"),
        *("min", "min.", "minimum", "to", "than", "of", "use"),
    ]
)
_OFTEN = {"once": 1, "twice": 2, "thrice": 3}
_PHRASES = _OFTEN | {"a single": 1, "a couple of": 2, "half a dozen": 6, "a dozen": 12}
_VALUES = {word: n for n, word in enumerate(_SMALL)} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
_SCALES = {"hundred": 100, "thousand": 1_000}
#: between the thousands, in any country; a comma or stop before fewer digits is a decimal one, see `is_decimal`
_SEPARATED = r"\d{1,3}(?:[,.'’   ]\d{3})+"


def _any(words: list[str]) -> str:
    return "(?:" + "|".join(sorted(words, key=len, reverse=True)) + ")"


_BELOW_100 = rf"(?:{_any(_TENS)}(?:[\s-]{_any(_SMALL[1:10])}\b)?|{_any(_SMALL)})"
_BELOW_1000 = rf"(?:(?:a|{_BELOW_100})[\s-]hundred(?:\s(?:and\s)?{_BELOW_100}\b)?|{_BELOW_100})"
_SPELLED = rf"(?:(?:a|{_BELOW_1000})[\s-]thousand(?:\s(?:and\s)?{_BELOW_1000}\b)?|{_BELOW_1000})"
NUMBER = rf"(?:{_SEPARATED}\b|\d{{1,6}}|{_any(list(_PHRASES))}|{_SPELLED})"  #: a number, in RE2 syntax


def read_number(text: str) -> int:
    """Return the number that is written as NUMBER matches it."""
    words = " ".join(text.casefold().replace("-", " ").split())
    if words in _PHRASES:
        return _PHRASES[words]
    if words[:1].isdigit():
        return int("".join(sign for sign in words if sign.isdigit()))
    total = last = 0
    for word in words.split():
        if word == "thousand":
            total, last = (total + max(last, 1)) * _SCALES[word], 0
        elif word == "hundred":
            last = max(last, 1) * _SCALES[word]
        else:
            last += _VALUES.get(word, 0)
    return total + last


def is_often(text: str) -> bool:
    """Return whether a number says how often: "twice"."""
    return text.casefold() in _OFTEN


def is_decimal(before: str, after: str) -> bool:
    """Return whether digits are one half of a broken number, as "5" of "1.5"; before, after: what stands around."""
    return (before[-1:] in (".", ",") and before[-2:-1].isdigit()) or (after[:1] in (".", ",") and after[1:2].isdigit())


def is_negative(before: str) -> bool:
    """Return whether a sign makes a number less than nothing, as in "exactly -1"; before: what stands before it.

    In "1 -3" the sign is that of a range, and behind a title, "Summary -3 sentences", a dash.
    """
    words = before.casefold().split()
    return before[-1:] in ("-", "−", "–") and len(words) > 1 and words[-1] == before[-1] and words[-2] in _RELATING
