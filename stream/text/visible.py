"""Visible: texts from strangers with nothing hidden in them: control characters and turns of direction are shown."""

import re

# Control characters, and those that turn the direction of writing or hide themselves.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")

#: what a text over several lines may keep: its lines, and the joiners without which Persian and emoji fall apart
OF_TEXTS = "\n\t\u200c\u200d"


def visible(text: str, kept: str = "") -> str:
    """Show what a text hides as escapes; kept: characters that stay as they are.

    >>> visible("a\\x1b[31m")
    'a\\\\x1b[31m'
    """
    return _HIDDEN.sub(lambda match: match[0] if match[0] in kept else ascii(match[0])[1:-1], text)


def capital(text: str) -> str:
    """Begin a sentence with a capital, and leave the rest as it is.

    >>> capital("nDCG of v2")
    'NDCG of v2'
    """
    return text[:1].upper() + text[1:]


def one_line(text: str, limit: int = 300) -> str:
    """Cut a stranger's text to `limit` characters of one line that no terminal obeys."""
    line = " ".join(text[: 4 * limit].split())
    if not line.isprintable():
        line = "".join(sign if sign.isprintable() else "�" for sign in line)
    return line if len(line) <= limit else line[: limit - 1] + "…"
