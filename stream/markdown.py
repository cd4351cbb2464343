"""Markdown: a bounded part of a response as CommonMark blocks with tables.

The parser is the dearest thing that a text meets, so it is given no more than so many characters, and a table no more
cells than those could write out: rows that lack cells are filled up to the width of the table's head, which would make
65,000 cells out of 8 kB.
"""

from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

MAX_CHARACTERS = 8_000  #: that are parsed: the parser takes 10 µs for each of the most hostile ones
MAX_CELLS = MAX_CHARACTERS // 2  #: of all tables together; one that is written out takes two characters at least

_MAX_NESTING = 12  #: lists in lists (two each), quotes, brackets in brackets

_LEFT, _CUT = "turnsignal.cells_left", "turnsignal.cells_cut"


class Markdown(NamedTuple):
    """A parsed text. cut: whether tables had more cells than are looked at."""

    tokens: list[Token]
    cut: bool


def parse_markdown(text: str) -> Markdown:
    """Parse the first MAX_CHARACTERS of a text; a table that has more cells than are left to it ends there."""
    environment: dict[str, int] = {_LEFT: MAX_CELLS, _CUT: 0}
    tokens = _MARKDOWN.parse(text[:MAX_CHARACTERS], environment)
    return Markdown(tokens, environment[_CUT] > 0)


def _bounded_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Give the parser's own rule no more rows than there are cells left."""
    if not table(state, start, end, True):
        return False
    delimiters = state.src[state.bMarks[start + 1] : state.eMarks[start + 1]]
    columns = delimiters.count("|") + 1  # or fewer
    rows = state.env[_LEFT] // columns
    if rows == 0:
        state.env[_CUT] = 1
        return False
    if silent:
        return True
    last = min(end, start + 1 + rows)  # the line of delimiters is no row
    table(state, start, last, False)
    state.env[_LEFT] -= columns * (state.line - start - 1)
    if state.line == last < end and not state.isEmpty(last):
        state.env[_CUT] = 1
    return True


_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
_MARKDOWN.block.ruler.at("table", _bounded_table, {"alt": ["paragraph", "reference"]})
