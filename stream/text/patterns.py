"""Patterns: which of many expressions a text matches, found in little time however different the texts are.

In one RE2 set the states of hundreds of expressions multiply, and texts that all differ meet new ones without end: they
cost 110 µs instead of 5. So most are tried only where letters that they cannot do without are in the text (RE2's
filter); those that have no such letters stand in a set of their own, unless there are few.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import re2

NEVER = r"[^\s\S]"  #: matches nothing
_FEW_APART = 16  #: expressions without such letters that are tried one by one as fast as in a set of their own
_SIGNS = re.compile(r"\\.|[][()|]", re.DOTALL)  #: what splitting an expression looks at; of our own expressions only


def encode(text: str) -> bytes:
    """Encode for RE2, which reads bytes."""
    return text.encode("utf-8", "replace")  # a lone surrogate becomes "?", which RE2 can read


class Patterns:
    """Expressions by index; `match` returns which of them match. Each top-level alternative is compiled alone."""

    __slots__ = ("_always", "_always_numbers", "_filter", "_numbers")

    def __init__(self, patterns: Sequence[str], *, few: bool = False) -> None:
        """Compile expressions; few: there are so few that one set of all is faster."""
        branches = [
            (number, branch)
            for number, pattern in enumerate(patterns)
            for branch in _branches(pattern)
            if branch != NEVER
        ]
        self._filter: Any = None
        self._numbers: list[int] = []
        unfiltered = frozenset(range(len(branches)))
        if not few:
            self._filter, self._numbers = _filtered(branches)
            unfiltered = frozenset(self._filter.Match(b"", potential=True) or ())
            if len(unfiltered) <= _FEW_APART:  # to compile the others once more takes as long as the first time
                unfiltered = frozenset()
        if unfiltered and self._numbers:
            filtered = [branch for i, branch in enumerate(branches) if i not in unfiltered]
            self._filter, self._numbers = _filtered(filtered)
        # A set that need not be looked for behind the beginning is done with most texts after a few letters.
        begins = all(branches[i][1].startswith("^") for i in unfiltered)
        self._always = re2.Set.MatchSet(options()) if begins else re2.Set.SearchSet(options())
        self._always_numbers = []
        for i in sorted(unfiltered):
            self._always.Add(branches[i][1])
            self._always_numbers.append(branches[i][0])
        self._always.Compile()

    def match(self, text: bytes) -> list[int]:
        """Return the indices of the patterns that match, ascending; an index may be repeated."""
        some = self._numbers and self._filter.Match(text)
        always = self._always_numbers and self._always.Match(text)
        numbers = [self._numbers[i] for i in some] if some else []
        if always:
            numbers += [self._always_numbers[i] for i in always]
            numbers.sort()
        return numbers


def options() -> Any:
    """Return the RE2 options with which expressions are compiled."""
    options = re2.Options()
    options.max_mem = 64 << 20
    options.dot_nl = True
    options.log_errors = False
    return options


def _filtered(branches: Sequence[tuple[int, str]]) -> tuple[Any, list[int]]:
    made, chosen = re2.Filter(), options()
    for _, branch in branches:
        made.Add(branch, chosen)
    made.Compile()
    return made, [number for number, _ in branches]


def _branches(pattern: str) -> Iterator[str]:
    """Split an expression at its outermost alternatives."""
    start = depth = 0
    in_class = False
    for sign in _SIGNS.finditer(pattern):  # 2,000 expressions are split at the start: letter by letter it takes 0.2 s
        letter = sign[0]
        if in_class:
            in_class = letter != "]"
        elif letter == "[":
            in_class = True
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "|" and depth == 0:
            yield pattern[start : sign.start()]
            start = sign.end()
    yield pattern[start:]
