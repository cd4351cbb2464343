"""Asked first: questions with what was found for them behind, below a line that a program writes into each prompt.

How do I pay?                     Where is it?
                                                                 Both ask what stands above "Context:",
Context:                          Context:                       which no user writes below each question.
[1] Cards. …                      [1] Parcels. …
"""

import re
from collections.abc import Iterator

from turnsignal.stream.formats.quotations import digest_of
from turnsignal.stream.formats.templates import ASKS, FINDINGS

_LOOKED_AT = 4_000  #: characters of a prompt, in which the line stands,
_LINES = 40  #: and lines
_LONG = 80  #: characters of such a line
_WORDS = 10  #: of it
_LOGGED = 20_000  #: prompts of a log that are looked at,
_MARKS = 500  #: and lines in them
_MANY = 5  #: that stand above the line,
_SHARE = 0.3  #: of all; of one that says nothing of documents
_NEARLY_ALL = 0.9
_ONCE = 0.6  #: of what stands above it, that is asked once: graders ask the same of each document
_BEHIND = 200  #: characters that stand below it on average, beside so many times those above
_TIMES = 3
_RULE = re.compile(r"([-=*_#~])\1{2,40}")
_ASKED = re.compile(
    rf"^[^\w\n]{{0,4}}(?:[^\W\d_]{{1,20}} ){{0,2}}(?:{'|'.join(sorted(ASKS))})[^\w\n]{{0,3}}[:>]", re.I | re.M
)


class _Line:
    """A line that prompts have. above: digests of what stands above it; again: of what stood there before."""

    def __init__(self) -> None:
        self.above: set[bytes] = set()
        self.again: set[bytes] = set()
        self.times = self.size_above = self.size_below = self.asked_below = 0

    def add(self, above: str, below: str) -> None:
        """Take in the next prompt that has it."""
        self.times += 1
        (self.again if (digest := digest_of(above)) in self.above else self.above).add(digest)
        self.size_above += len(above)
        self.size_below += len(below)
        self.asked_below += _ASKED.search(below, 0, _LOOKED_AT) is not None

    @property
    def is_programs(self) -> bool:
        """Whether questions stand above it, and below it what was found for them."""
        is_long = self.size_below >= max(_BEHIND * self.times, _TIMES * self.size_above)
        are_apart = len(self.above) - len(self.again) >= max(_ONCE * len(self.above), _MANY)
        return are_apart and is_long and self.asked_below * 2 < self.times


class AskedFirst:
    """The lines below the questions of a log."""

    def __init__(self) -> None:
        self._prompts = 0
        self._lines: dict[str, _Line] = {}
        self._chosen: frozenset[str] = frozenset()

    def add(self, text: str) -> None:
        """Take in the last thing that a call asks."""
        if self._prompts >= _LOGGED:
            return
        self._prompts += 1
        for line, begin, end in _marks_in(text):
            if line in self._lines or len(self._lines) < _MARKS:
                self._lines.setdefault(line, _Line()).add(text[:begin].strip(), text[end:])

    def conclude(self) -> None:
        """Choose the lines that a program writes."""
        shares = {line: _NEARLY_ALL if _RULE.fullmatch(line) else _SHARE for line in self._lines}
        self._chosen = frozenset(
            line
            for line, each in self._lines.items()
            if each.times >= shares[line] * self._prompts and each.is_programs
        )
        self._lines = {}

    def question_in(self, text: str) -> str:
        """Return what stands above such a line; "" without one."""
        if not self._chosen:
            return ""
        return next((text[:begin].strip() for line, begin, _ in _marks_in(text) if line in self._chosen), "")


def _marks_in(text: str) -> Iterator[tuple[str, int, int]]:
    """Give each line once that may stand above documents, without what follows its colon, where it begins and ends."""
    seen: set[str] = set()
    begin = 0
    for line in text[:_LOOKED_AT].split("\n", _LINES)[:_LINES]:
        head, colon, _ = line[:_LONG].partition(":")
        mark = head.strip().lower() if colon or len(line) <= _LONG else ""
        end = begin + (len(head) + 1 if colon else len(line))
        if (
            mark
            and begin
            and mark not in seen
            and text[:begin].strip()
            and _may_head_documents(mark, has_colon=bool(colon))
        ):
            seen.add(mark)
            yield mark, begin, end
        begin += len(line) + 1


def _may_head_documents(mark: str, *, has_colon: bool) -> bool:
    """Say whether a line is a rule, or names what was found as labels, headings and tags do."""
    if _RULE.fullmatch(mark):
        return not has_colon
    words = re.findall(r"\w+", mark)
    is_heading = has_colon or mark[0] in "#*[" or (mark[0] == "<" and mark[-1] == ">" and mark[1] != "/")
    return (
        is_heading
        and 0 < len(words) <= _WORDS
        and not FINDINGS.isdisjoint(part for word in words for part in word.split("_"))
    )
