"""Lines: the check of how many lines an answer has: "exactly three lines", as a haiku has.

Empty lines are none. Only an exact number above one is read: "at most five lines" may be of a screen, which breaks
lines where it likes.
"""

from collections.abc import Iterator

from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.instructions import Sentence, asked
from turnsignal.stream.prompts.leftover import RequestedCheck
from turnsignal.stream.prompts.numerals import NUMBER, read_number
from turnsignal.stream.prompts.wording import compile_pattern, negated

_LINES = compile_pattern(rf"\b(?:exactly|precisely)\s+(?P<n>{NUMBER})\s+lines?\b|\b(?P<m>{NUMBER})\s+lines? exactly\b")
_LINE = r"[^\n]*\S[^\n]*"
_MOST = 30  #: lines that a pattern counts; its size grows with them


def lines(sentence: Sentence) -> Iterator[RequestedCheck]:
    """Yield the check that requires an exact number of lines."""
    match = _LINES.search(sentence.masked)
    if match is None or negated(sentence.masked, match.start()):
        return
    number = read_number(match["n"] or match["m"])
    if 1 < number <= _MOST:
        regex = rf"\A\s*{_LINE}(?:\n\s*{_LINE}){{{number - 1}}}\s*\z"
        yield from asked([write_name("pattern.require", {"regex": regex})], "counts", match.span())
