"""Streams: standard output and error that take any text, whatever the encoding that somebody's environment names."""

import codecs
import sys
from typing import IO

_HANDLER = "turnsignal.plain"
#: What stands for a sign that an encoding does not have; as wide as it is, so that tables stay straight.
_PLAIN = {
    **dict.fromkeys("−–—‐‑─━═·", "-"),
    "±": "~",
    "…": ".",
    "•": "*",
    "→": ">",
    "×": "x",
    "▼": "v",
    "▲": "^",
    "●": "o",
    "✓": "*",
    **dict.fromkeys("“”„«»", '"'),
    **dict.fromkeys("‘’‚", "'"),
    **dict.fromkeys("│┃", "|"),
}


def make_printable() -> None:
    """Write plain signs for those that the encoding of standard output or error does not have, and never fail."""
    codecs.register_error(_HANDLER, _in_plain_signs)
    for stream in (sys.stdout, sys.stderr):
        encoding = getattr(stream, "encoding", None)
        if encoding is not None and not encoding.lower().startswith("utf") and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=_HANDLER)


def _in_plain_signs(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_PLAIN.get(sign, "?") for sign in error.object[error.start : error.end]), error.end


class Trimmed:
    """A stream whose lines lose the blanks at their ends: tables are padded, and who pipes them wants no padding."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self.encoding = getattr(stream, "encoding", "utf-8")

    def write(self, text: str) -> int:
        """Write a text; blanks before the end of a line that is not there yet stay."""
        *whole, rest = text.split("\n")
        self._stream.write("".join(f"{line.rstrip(' ')}\n" for line in whole) + rest)
        return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Say that nobody looks: a terminal needs no trimming."""
        return False
