"""Accents: Latin letters without them, so that one pattern reads "não" and "nao"."""

import re
import unicodedata

_PLAIN = {
    letter: base[0] for letter in range(0xC0, 0x180) if (base := unicodedata.normalize("NFD", chr(letter)))[0].isascii()
} | {ord("ł"): "l", ord("’"): "'"}
_ACCENTS = re.compile("[À-ſ’]")


def without_accents(text: str) -> str:
    """Casefold a text, and write its Latin letters without accents.

    >>> without_accents("Não é ’so’")
    "nao e 'so'"
    """
    if text.isascii():
        return text.lower()
    text = text.casefold()
    return text.translate(_PLAIN) if _ACCENTS.search(text) is not None else text
