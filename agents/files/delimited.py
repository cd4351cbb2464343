"""Delimited: the rows of CSV, each with its line, strictly.

An opening quote that nobody meant takes the rows behind it into one text. Where text follows the quote that ends such a
text, or its lines are rows, its first line alone is refused, and the rows behind it are read as rows.

    c1,t1,user,"Where is it,2026-11-18T09:00:00Z         a row by itself, and so are those behind it: the quote is none
    c1,t2,assistant,"By card,                            no row: its text goes on
    or by invoice, if you like",2026-11-18T09:00:04Z     the end of that text, with the row's own last cells behind it
"""

import codecs
import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from turnsignal.agents.files.blocks import BLOCK, Progress, read_blocks
from turnsignal.agents.files.items import Item
from turnsignal.stream.errors import Reason, Refused, TurnsignalError
from turnsignal.stream.formats.protocol import CsvRow

DELIMITERS = ",;\t|"
MAX_FIELD = 8 << 20  #: characters of a field

_ROW = 4 * MAX_FIELD  #: characters of a row
_MANY_LINES = 100  #: of one text, above which it is doubted
_HEAD_LINES = 200  #: that are looked at to say how quotes are escaped
_TITLE_LINES = 10  #: at most, before the names
_SEPARATOR = re.compile(r"sep=([,;\t|])\s*", re.I)
_NAME = re.compile(r"[\w .:/()-]+")
_ESCAPED = re.compile(r'\\\\|\\"')
_WORDS = re.compile(r"(?P<long>[0-9a-f]{8,}(?:-[0-9a-f]{4,})*\b)|[^\W\d_]+|\d+", re.IGNORECASE)
_PLAIN = frozenset(("", "a", "9"))  #: shapes that many texts have by chance
_SHAPED = 64  #: characters of a cell by which rows are compared


def read_delimited(path: Path, progress: Progress = lambda _: None) -> Iterator[Item]:
    """Give the rows of a file; raises TurnsignalError when its names cannot be read."""
    csv.field_size_limit(MAX_FIELD)
    lines = _Lines(_text_lines(path, progress))
    head = lines.peek(_HEAD_LINES)
    before, delimiter, notes = _preamble(head)
    if before:
        notes.append("lines above the names of the columns left out")
    lines.skip(before)
    if _escapes_by_backslash(lines.peek(_HEAD_LINES), delimiter):
        lines.escaped = True
        notes.append("quotes escaped by a backslash")
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(reader, [])]
    except csv.Error as error:
        msg = f"{path}, line {lines.number}: expected a line of CSV that names the columns, got {error}"
        raise TurnsignalError(msg) from None
    seen: Counter[str] = Counter()
    for number, name in enumerate(names):
        seen[name] += 1
        if name and seen[name] > 1:
            names[number] = f"{name} ({seen[name]})"
    if again := [name for name, n in seen.items() if name and n > 1]:
        which = ", ".join(again[:5])[:200]
        notes.append(f"columns of one name, of which the first counts and others are called `… (2)`: {which}")
    yield from _rows(lines, reader, names, delimiter, notes)


def _rows(
    lines: "_Lines", reader: Iterator[list[str]], names: list[str], delimiter: str, notes: list[str]
) -> Iterator[Item]:
    trailing = _trailing(lines.peek(_HEAD_LINES), delimiter, len(names))
    if trailing:
        notes.append("lines that end with a delimiter more than the first")
    known: list[str] = []  # the last row that was read
    torn, columns = _Torn(delimiter), frozenset(names)
    while True:
        lines.taken.clear()
        lines.size = 0
        line = lines.number + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Item(line, Refused(Reason.NOT_JSON, _describe(error, line, lines)))
            torn.begin(lines.taken)
            lines.take_back()
            continue
        if not any(cells):
            continue
        more = len(cells) - len(names)
        if more != trailing or (trailing and any(cells[-trailing:])):
            why = "a comma unquoted?" if more > trailing else "is the line cut?"
            detail = f"expected {len(names)} fields, as the first line names them, got {len(cells)}: {why}"
            yield Item(line, Refused(Reason.WRONG_TYPE, detail))
            torn.begin(lines.taken)
            lines.take_back()
            continue
        if torn.ends_with(lines.taken, cells, known):
            detail = f"expected a row like those before it, got what may be the rest of a text: {cells[0][:40]!r}"
            yield Item(line, Refused(Reason.NOT_JSON, detail))
            continue
        noted = tuple(notes)
        notes.clear()
        if len(lines.taken) > 1:
            if _holds_rows(lines.taken, cells, delimiter):
                detail = f"expected a quote that ends the field, got {len(lines.taken) - 1} lines that look like rows"
                yield Item(line, Refused(Reason.NOT_JSON, f"{detail}, up to line {lines.number}"), noted)
                torn.begin(lines.taken)
                if lines.take_back():
                    continue
            elif len(lines.taken) > _MANY_LINES:
                noted = (*noted, f"a text over more than {_MANY_LINES} lines of CSV: is a quote missing?")
        known = cells
        row = CsvRow({name: cell for name, cell in zip(names, cells, strict=False) if cell != ""})
        row.columns = columns
        yield Item(line, row, noted)


def _describe(error: csv.Error, line: int, lines: "_Lines") -> str:
    if "unexpected end" in str(error):
        where = f"the end of the file in line {lines.number}: is it cut?"
        return f"expected a quote that ends the field, got {where}"
    if "expected after" in str(error):
        where = "" if lines.number == line else f" in line {lines.number}, where it ends"
        return f"expected a delimiter after the quote that ends a field, got text{where}: quotes within one are doubled"
    return f"expected a line of CSV, got {error}"


def _holds_rows(taken: Sequence[str], cells: Sequence[str], delimiter: str) -> bool:
    """Say whether a row of several lines is several rows: the first of them, and half of the others, are like it.

    The last line has the row's own last cells behind its text, so that it is known by those before the text alone.
    """
    at = _place_of_text(taken, delimiter)
    before, after = cells[:at], cells[at + 1 :]
    ends = taken[0].rstrip("\r\n").split(delimiter)
    if len(ends) < len(cells) or not _may_be_alike(ends[len(ends) - len(after) :], after):
        return False
    others = [_cells(line, delimiter) if line.count(delimiter) >= len(cells) - 1 else [] for line in taken[1:]]
    rows = [_is_row(own, cells, at) for own in others[:-1]]
    alike, telling = _likeness(others[-1][:at], before)
    rows += [len(others[-1]) == len(cells) and alike == telling] if telling else []
    return bool(rows) and sum(rows) * 2 >= len(rows)


def _place_of_text(taken: Sequence[str], delimiter: str) -> int:
    """Return the number of the last cell in the first line of a row: that which goes on, where it does."""
    return max(len(_cells(taken[0], delimiter)) - 1, 0)


def _is_row(own: Sequence[str], cells: Sequence[str], at: int) -> bool:
    """Say whether cells are a row as others are: two are alike where two are telling, one of them before the text."""
    if len(own) != len(cells):
        return False
    before, behind = (_likeness(own[part], cells[part]) for part in (slice(at), slice(at + 1, None)))
    alike, telling = before[0] + behind[0], before[1] + behind[1]
    return alike >= min(telling, 2) and bool(before[0] or (alike and not before[1]))


def _may_be_alike(own: Sequence[str], cells: Sequence[str]) -> bool:
    alike, telling = _likeness(own, cells)
    return alike > 0 or not telling


def _likeness(own: Sequence[str], cells: Sequence[str]) -> tuple[int, int]:
    """Return how many cells have the shape of others, of how many whose shape tells them from words and numbers."""
    shapes = [(_shape(cell), _shape(other)) for cell, other in zip(cells, own, strict=False)]
    telling = [shape == other for shape, other in shapes if shape not in _PLAIN]
    return sum(telling), len(telling)


def _cells(line: str, delimiter: str) -> list[str]:
    """Return the cells of one line, none where it cannot be read."""
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:
        return []


def _shape(cell: str) -> str:
    """Return what times and ids of one make have in common.

    >>> _shape("c12-3"), _shape("0b54a3c1-7d2e-4f00-9a51-3c6e8d9f0a1b")
    ('a9-9', 'x')
    """
    return _WORDS.sub(lambda word: "x" if word["long"] else "9" if word[0].isdigit() else "a", cell.strip()[:_SHAPED])


def _preamble(head: list[str]) -> tuple[int, str, list[str]]:
    """Return how many lines stand before the names of the columns, what delimits them, and what to note of it."""
    if not head:
        return 0, ",", []
    if separator := _SEPARATOR.fullmatch(head[0]):
        return 1, separator[1], []
    delimiter = max(DELIMITERS, key=head[0].count)
    if len(list(filter(None, _cells(head[0], delimiter)))) <= 1:
        for number, line in enumerate(head[1:_TITLE_LINES], 1):
            own = max(DELIMITERS, key=line.count)
            names, *rows = [_cells(row, own) for row in head[number : number + 3]]
            named = [name.strip() for name in names if name.strip()]
            if len(named) > 1 and len(set(named)) == len(names) and all(map(_NAME.fullmatch, named)):
                if len(rows) > 1 and all(len(row) == len(names) for row in rows):
                    return number, own, []
                break
    return 0, delimiter, []


def _escapes_by_backslash(head: list[str], delimiter: str) -> bool:
    """Say whether more of the first rows can be read where a backslash makes a quote one of the text."""
    if not any('\\"' in line for line in head):
        return False
    names = len(_cells(head[0], delimiter))
    return _readable(map(_double, head), delimiter, names) > _readable(head, delimiter, names)


def _trailing(head: list[str], delimiter: str, names: int) -> int:
    """Return how many empty fields stand behind the last name in each of the first rows."""
    extra: set[int] = set()
    rows = 0
    try:
        for cells in filter(any, csv.reader(head, delimiter=delimiter, strict=True)):
            rows += 1
            extra.add(len(cells) - names if not any(cells[names:]) else 0)
    except csv.Error:
        pass  # the last one of them may go on, and a quote in them is refused where it stands
    return max(extra.pop(), 0) if rows > 1 and len(extra) == 1 else 0


def _readable(lines: Iterable[str], delimiter: str, names: int) -> int:
    count = 0
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        try:
            count += len(next(reader)) == names
        except StopIteration:
            return count
        except csv.Error:
            continue


def _double(line: str) -> str:
    """Spell a quote that a backslash escapes as CSV does: twice."""
    return _ESCAPED.sub(lambda escaped: '""' if escaped[0] == '\\"' else escaped[0], line) if "\\" in line else line


class _Torn:
    """The text of a row that was refused, of which the rest may stand on the lines behind it, read as rows."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._at: int | None = None  # its place in the row

    def begin(self, taken: Sequence[str]) -> None:
        """Take the lines of a row that is refused."""
        if self._at is None and taken and taken[0].count('"') % 2:
            self._at = _place_of_text(taken, self._delimiter)

    def ends_with(self, taken: Iterable[str], cells: Sequence[str], known: Sequence[str]) -> bool:
        """Say whether a row is the rest: a quote ends it, and it begins unlike the last one that was read."""
        if self._at is None:
            return False
        is_other = _likeness(cells[: self._at], known)[0] > 0
        is_end = not is_other and sum(line.count('"') for line in taken) % 2 > 0
        if is_other or is_end:
            self._at = None
        return is_end


class _Lines:
    """Lines for a reader of CSV, some of which can be read again.

    number: of the last one, from 1; taken: those of the row that is being read; size: characters of them; escaped: a
    backslash escapes quotes.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self.number = 0
        self.size = 0
        self.taken: list[str] = []
        self.escaped = False
        self._lines = lines
        self._again: deque[str] = deque()
        self._allowance = MAX_FIELD * 4  # characters that may still be read again

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        if self.size > _ROW:
            self._again.appendleft(line)
            msg = f"a row of more than {_ROW:,} characters"
            raise csv.Error(msg)
        self.number += 1
        self.size += len(line)
        self.taken.append(line)
        return _double(line) if self.escaped else line

    def peek(self, most: int) -> list[str]:
        """Return the next lines without taking them."""
        self._again.extend(islice(self._lines, max(most - len(self._again), 0)))
        return list(islice(self._again, most))

    def skip(self, count: int) -> None:
        """Pass over lines."""
        for _ in range(count):
            next(self)

    def take_back(self) -> bool:
        """Have all lines of a row but the first read again; not for ever, so that the costs stay linear."""
        self._allowance += len(self.taken[0]) if self.taken else 0
        if len(self.taken) < 2 or (size := self.size) > self._allowance:
            return False
        self._allowance -= size
        self._again.extendleft(reversed(self.taken[1:]))
        self.number -= len(self.taken) - 1
        return True


def _text_lines(path: Path, progress: Progress) -> Iterator[str]:
    """Give a file's lines with their ends, CR where it has no others; bytes that are no UTF-8 are replaced."""
    decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
    rest, end = "", ""
    for block in read_blocks(path, progress):
        text = rest + decode(block)
        end = end or ("\r" if "\r" in text[:-1] and "\n" not in text[:BLOCK] else "\n" if "\n" in text else "")
        if not end and len(text) < BLOCK:
            rest = text
            continue
        lines = text.split(end or "\n")
        rest = lines.pop()
        yield from (line + "\n" for line in lines)
        if len(rest) > MAX_FIELD:
            yield rest
            rest = ""
    if rest := rest + decode(b"", final=True):  # half a character may stand at the end
        yield rest
