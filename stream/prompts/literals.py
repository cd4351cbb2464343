"""Literals: the patterns of words that a prompt quotes, with straight and typographic signs alike.

Models differ in whether they write “isn’t” or "isn't", and a change of model breaks no instruction by that.
"""

import re2

_EITHER = {
    **dict.fromkeys("'‘’ʼ", "['‘’ʼ]"),
    **dict.fromkeys('"“”„', '["“”„]'),
}


def literal(text: str) -> str:
    """Return the pattern of a text word for word, with straight and typographic signs alike."""
    return "".join(_EITHER.get(sign) or re2.escape(sign) for sign in text)


def spaced(text: str) -> str:
    """Return the pattern of a text with any white space between its words."""
    return r"\s+".join(literal(word) for word in text.split())
