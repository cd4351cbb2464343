"""Table checks: a cell of a Markdown table holds one line of text.

Renderers differ in what they make of a line break or a list inside a cell; most show broken rows.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from markdown_it.token import Token

from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import NOT_APPLICABLE, PASSED, CheckResult, Result
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.markdown import CUT

#: every delimiter row has one of these; pipes alone are common in Slack links and code
_DELIMITERS = ("|-", "|:", "| -", "| :", "-|", ":|", "- |", ": |")
_NOT_PLAIN = "<`&\\~\t\r•"
_NOT_PLAIN_LINE = re.compile(r"\n(?: {2,}|>| {0,3}(?:[-*+]|\d{1,9}[.)])\s+\|)")
_DELIMITER_ROW = re.compile(r"\|(?: ?:?-+:? ?\|)+ ?")
#: pipes at both ends, and no cell that begins like a list or holds a number like a list's
_PLAIN_ROW = re.compile(r"\|(?:(?! *[-*+◦▪‣] )[^|]*+\|)+ ?")
_NUMBER = re.compile(r"\d[.)] ")
_BREAK = re.compile(r"<\s*/?\s*(br|p|div|hr)\b", re.IGNORECASE)
_LIST = re.compile(r"<\s*/?\s*(ul|ol|li)\b", re.IGNORECASE)
_BULLET = re.compile(r"\s*[-*+•◦▪‣]\s+\S")
_NUMBERED = re.compile(r"(?:^|\s)\d{1,3}[.)]\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells(InstructionCheck):
    """Table cells hold no line break (`<br>` too) and no list; decoration and citations are allowed.

    Error where the text is so intricate (rows that lack most cells, quotes in quotes) that not all of it is parsed, and
    what is gives no reason to fail.

    Source: Hoffer, "Table constraints: text decorators and citations allowed, but no newlines or lists within cells". A
    line break typed into a cell shows as a row that is not closed and goes on below. Not applicable without a table.
    """

    family: ClassVar[str] = "table.cells"
    example: ClassVar[str] = "table.cells"
    breaks: ClassVar[str] = "| a |\n|---|\n| one<br>two |"

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first row with such a cell."""
        text = response.text
        if "|" not in text or not any(delimiter in text for delimiter in _DELIMITERS):
            return NOT_APPLICABLE
        if _is_plainly_fine(text):
            return PASSED
        has_table = False
        lines: list[str] = []
        for line, cells in _rows(response.markdown.tokens):
            if not has_table:
                lines = re.split(r"\r\n?|\n", text)
            if cells is None:
                has_table, header = True, _edges(lines[line])
                continue
            wrong = next((w for w in map(_wrong, cells) if w is not None), None)
            if wrong is None and _is_broken(header, lines, line):
                wrong = f"a line break inside the row {shown(lines[line].strip())}"
            if wrong is not None:
                return failed(wrong, *_span(text, lines[line]))
        if response.markdown.cut:
            return CheckResult(Result.ERROR, CUT)
        return PASSED if has_table else NOT_APPLICABLE


def _is_plainly_fine(text: str) -> bool:
    """Say whether a look at the lines is enough: a plain table with nothing in it that could be wrong.

    Most tables are; parsing costs a hundred times as much. Whatever is not plain (code, quotes, escapes, tags, rows of
    another form than the header's) is left to the parser.
    """
    for sign in _NOT_PLAIN:
        if sign in text:
            return False
    if _NOT_PLAIN_LINE.search("\n" + text):
        return False
    tables = pipes = 0  # pipes in every row of the table that the line stands in, 0 outside of tables
    before = ""
    for line in text.split("\n"):
        if pipes:
            if not line.strip():
                pipes = 0
            elif not _is_plain_row(line, pipes):
                return False
        elif "|" in line and _DELIMITER_ROW.fullmatch(line) is not None:
            pipes = line.count("|")
            tables += 1
            if not _is_plain_row(before, pipes):
                return False
        elif "|" in line and any(delimiter in line for delimiter in _DELIMITERS) and not _is_row(line):
            return False
        before = line
    return tables > 0


def _is_plain_row(line: str, pipes: int) -> bool:
    return line.count("|") == pipes and _is_row(line)


def _is_row(line: str) -> bool:
    if (". " in line or ") " in line) and _NUMBER.search(line) is not None:
        return False
    return _PLAIN_ROW.fullmatch(line) is not None


def _rows(tokens: list[Token]) -> Iterator[tuple[int, list[Token] | None]]:
    """Yield, per table, its first line with None, then line and cells of every row."""
    cells: list[Token] = []
    line = 0
    for index, token in enumerate(tokens):
        if token.type == "table_open" and token.map:
            line = token.map[0]
            yield line, None
        elif token.type == "tr_open":
            line = token.map[0] if token.map else line + 1
            cells = []
        elif token.type in ("td_open", "th_open"):
            cells.append(tokens[index + 1])
        elif token.type == "tr_close":
            yield line, cells


def _wrong(cell: Token) -> str | None:
    """Say what is wrong with one cell."""
    for child in cell.children or ():
        if child.type == "html_inline" and _LIST.match(child.content):
            return f"a list inside the cell {shown(cell.content)}"
        if (child.type == "html_inline" and _BREAK.match(child.content)) or (
            child.type == "text" and "\n" in child.content
        ):
            return f"a line break inside the cell {shown(cell.content)}"
    plain = " ".join(child.content for child in cell.children or () if child.type == "text")
    if _BULLET.match(plain) or "•" in plain or len(_NUMBERED.findall(plain)) > 1:
        return f"a list inside the cell {shown(cell.content)}"
    return None


def _is_broken(header: tuple[bool, bool], lines: list[str], line: int) -> bool:
    """Say whether a row that is drawn with pipes at both ends goes on in the next line, or came from the one before."""
    opens, closes = _edges(lines[line])
    if header[0] and not opens:
        return True
    below = lines[line + 1] if line + 1 < len(lines) else ""
    return header[1] and not closes and bool(below.strip()) and not _edges(below)[0]


def _edges(line: str) -> tuple[bool, bool]:
    """Say whether a row opens and closes with a pipe, whatever quote or list it stands in."""
    bare = line.strip().lstrip("> ")
    return "|" in bare and bare.lstrip("-*+0123456789.) \t").startswith("|"), bare.endswith("|")


def _span(text: str, line: str) -> tuple[int, int]:
    start = text.find(line)
    return (start, start + len(line)) if start >= 0 else (-1, -1)
