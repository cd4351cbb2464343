"""What a file is, whatever its records mean: JSON lines, an array, objects over many lines, CSV; and its records.

Records come one at a time with the line on which they begin, in bounded memory. What cannot be read is given all the
same, as bytes, so that whoever takes it can say where it stood.
"""

import codecs
import csv
import io
import re
import shlex
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from turnsignal.agents.files.blocks import BLOCK, GZIP, ZSTD, Progress, read_blocks
from turnsignal.agents.files.reading import MAX_LINE, read_lines
from turnsignal.stream.errors import Reason, Refused, TurnsignalError

SAMPLE = BLOCK  #: bytes at the beginning of a file that are looked at to say what it is
SAMPLED = 50  #: records of them
WRAPPERS = ("runs", "data", "traces", "items", "results", "turns", "resourceSpans", "resourceLogs")
_NAME_BYTES = 200  #: before a list, in which its name is looked for
_END = "\ue000the end of the file\ue000"  # a last line of its own, unless a quote is open
_DEEP = 100_000  #: brackets that are open, after which the rest of a file is not looked at
MAX_FIELD = 8 << 20  #: characters of a field of CSV

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?P<end>"|\\?\Z)|[{}\[\]]', re.S)
_WRAPPER = re.compile(rb'"(' + "|".join(WRAPPERS).encode() + rb')"\s*:\s*\Z')
_HEADER = re.compile(r'[\w .:/()-]+|"[^"]*"')
_DELIMITERS = ",;\t|"
_FIRST_LINE = re.compile(rb'(?:[^\r\n"]+|"[^"]*"?)*(?P<end>\r\n|\r|\n|)')
_QUOTE = ord('"')
_TOO_LONG = Refused(Reason.TOO_LARGE, f"expected a record of less than {MAX_LINE} bytes, got a longer one")
_BOM = b"\xef\xbb\xbf"


_LOOKED_AT = 1024  #: bytes, of which a tenth are control characters where a file is no text
_CONTROL = bytes({*range(32)} - {*b"\t\n\f\r\x1b"})


class Kind(Enum):
    """How a file holds its records; the value says so to a person."""

    LINES = "JSON lines"
    ARRAY = "a JSON array"
    VALUES = "pretty-printed JSON"
    WRAPPED = "a JSON object around a list"
    CSV = "CSV"


class Item(NamedTuple):
    """One record as it stands: its line, from 1, and its bytes, or the fields of a line of CSV."""

    line: int
    value: bytes | dict[str, Any] | Refused

    def load(self) -> Any:
        """Return the JSON that it is; raises Refused with the reason when it is none."""
        if isinstance(self.value, Refused):
            raise self.value
        if isinstance(self.value, dict):
            return self.value
        if len(self.value) >= MAX_LINE:
            raise _TOO_LONG
        try:
            return orjson.loads(self.value)
        except orjson.JSONDecodeError as error:
            deep = "recursion" in str(error).lower() or "depth" in str(error).lower()
            detail = f"expected JSON in UTF-8, got {len(self.value)} bytes that do not parse: {error}"
            raise Refused(Reason.TOO_DEEP if deep else Reason.NOT_JSON, detail) from None


def kind_of(path: Path) -> Kind:
    """Say how a file holds its records, by its beginning; raises TurnsignalError for what is packed otherwise."""
    head = next(read_blocks(path), b"")[:SAMPLE]
    if head.startswith((GZIP, ZSTD, b"PK\x03\x04", b"BZh", b"\xfd7zXZ")) or head[:4] == b"PAR1":
        packed = "gzip or zstd within another" if head.startswith((GZIP, ZSTD)) else "zip, bzip2, xz or Parquet"
        msg = f"{path}: expected text, plain, in gzip or in zstd, got {packed}; unpack or export it as JSON lines first"
        raise TurnsignalError(msg)
    if _is_utf_16(head):
        name = shlex.quote(str(path))
        msg = (
            f"{path}: expected text in UTF-8, got UTF-16, as Excel and PowerShell write it; "
            f"try: iconv -f UTF-16 -t UTF-8 {name} > utf8-{shlex.quote(path.name)}"
        )
        raise TurnsignalError(msg)
    looked_at = head[:_LOOKED_AT]
    if b"\0" in head[:4] or (len(looked_at) - len(looked_at.translate(None, _CONTROL))) * 10 > len(looked_at):
        msg = f"{path}: expected text, as JSON or CSV in UTF-8, got bytes that are no text; export it as JSON lines"
        raise TurnsignalError(msg)
    head = head.removeprefix(_BOM).lstrip()
    line = head.partition(b"\n")[0].strip()
    by_lines = head if b"\n" in head else head.replace(b"\r", b"\n")  # as Excel for Macintosh ends them
    is_table = _is_header(by_lines.partition(b"\n")[0].strip(), by_lines)
    if is_table or path.name.removesuffix(".gz").removesuffix(".zst").endswith((".csv", ".tsv")):
        return Kind.CSV
    if not head.startswith((b"{", b"[")):
        return Kind.LINES
    if line.startswith(b"{") and _is_json(line):
        return Kind.LINES
    whole = head.split(b"\n") if len(head) < SAMPLE // 2 else head.split(b"\n")[:-1]
    lines = [line for line in whole[:20] if line.strip()]
    if sum(map(_is_json, lines)) * 2 >= len(lines) > 1:  # most lines are records of their own, if not the first
        return Kind.LINES
    if head.startswith(b"["):
        return Kind.LINES if _is_json(line) and b"\n" in head.strip() else Kind.ARRAY
    if b"\n" not in head and len(head) < SAMPLE:
        return Kind.LINES  # one line that is cut
    return Kind.WRAPPED if _wrapper_at(head) else Kind.VALUES


def _is_utf_16(head: bytes) -> bool:
    """Say whether a file begins with the mark of UTF-16, or with two letters of it."""
    first, second = head[0:4:2], head[1:4:2]
    letters = (first, second) if second == b"\0\0" else (second, first)
    is_letters = letters[1] == b"\0\0" and b"\0" not in letters[0]
    return head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or is_letters


def read_items(path: Path, kind: Kind, progress: Progress = lambda _: None) -> Iterator[Item]:
    """Give a file's records in their order."""
    if kind is Kind.CSV:
        yield from _csv_items(path, progress)
    elif kind is Kind.LINES:
        before = 0
        for block in read_lines(path, progress):
            for number, line in enumerate(block.lines, before + 1) if any(block.lines) else ():
                if line.strip():
                    yield Item(number, line)
            before += len(block.lines)
    else:
        yield from _Scanner(kind).items(read_blocks(path, progress))


class _Scanner:
    """Finds where records begin and end in JSON that is not one a line, without reading them."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._depth = 0
        self._base = 0  # depth at which records stand: 0, or within the list around them
        self._held = b""  # what was read and is not given yet
        self._at = 0  # where in it to go on
        self._start = -1  # where in it a record began
        self._line = 1  # of the first byte that is held
        self._cut = False  # the record is too long, and only its brackets are followed

    def items(self, blocks: Iterator[bytes]) -> Iterator[Item]:
        """Give the records of a file."""
        for number, block in enumerate(blocks):
            self._held += block.removeprefix(_BOM) if number == 0 else block
            yield from self._scan()
            if self._depth > _DEEP:
                refused = Refused(Reason.TOO_DEEP, f"expected a record, got {self._depth:,} open brackets")
                yield Item(self._line, refused)
                return
            most = 0 if self._cut else MAX_LINE
            if len(self._held) - self._at > most:  # a string without end: nothing in it can end the record
                backslashes = len(self._held) - len(self._held.rstrip(b"\\"))
                self._held = self._held[: self._at + 1] + b"\\" * (backslashes % 2)
                self._cut = True
            if self._start >= 0 and len(self._held) - self._start > MAX_LINE:
                self._held = self._held[:1] + self._held[self._at :]
                self._at, self._cut = 1, True
        rest = self._held.strip(b" \t\r\n,]}")
        if self._start >= 0 or (rest and self._kind is not Kind.WRAPPED):
            detail = "expected the end of a record, got that of the file: it is cut off"
            yield Item(self._line, Refused(Reason.NOT_JSON, detail))

    def _scan(self) -> Iterator[Item]:
        """Give the records that end in what is held, and let go of them."""
        held = self._held
        for token in _TOKEN.finditer(held, self._at):
            mark = held[token.start()]
            if mark == _QUOTE:
                if token["end"] != b'"':
                    self._at = token.start()
                    break
            elif mark in b"{[":
                if self._start < 0 and not self._opens_base(held, token.start()):
                    yield from self._between(held, token.start())
                    self._start = token.start()
                self._depth += 1
            else:
                self._depth = max(self._depth - 1, 0)
                if self._start >= 0 and self._depth == self._base:
                    value = held[self._start : token.end()]
                    yield Item(self._line, value if not self._cut else _TOO_LONG)
                    self._let_go(held, token.end())
                    self._start, self._cut = -1, False
                elif self._depth < self._base:
                    yield from self._between(held, token.start())
                    self._base = 0
                    self._let_go(held, token.end())
            self._at = token.end()
        if self._start < 0 and self._base and self._kind is Kind.ARRAY:
            yield from self._between(held, self._at)
        elif self._start < 0:  # the name of a list stands before it
            self._let_go(held, self._at - (_NAME_BYTES if self._kind is Kind.WRAPPED else 0))
        given = self._given
        self._held, self._at, self._given = held[given:], self._at - given, 0
        self._start = 0 if self._start >= 0 else -1

    _given = 0  # up to where what is held was given

    def _let_go(self, held: bytes, to: int) -> None:
        if to > self._given:
            self._line += held.count(b"\n", self._given, to)
            self._given = to

    def _opens_base(self, held: bytes, at: int) -> bool:
        """Say whether a bracket is that around the records, and no record itself."""
        if self._kind is Kind.ARRAY and self._depth == 0 and held[at] == 0x5B:
            self._base = 1
            return True
        if self._kind is Kind.WRAPPED:
            if self._depth == 0:
                return True
            if (
                self._base == 0
                and self._depth == 1
                and held[at] == 0x5B
                and _WRAPPER.search(held, max(at - _NAME_BYTES, 0), at)
            ):
                self._base = 2
                return True
            return self._base == 0
        return False

    def _between(self, held: bytes, start: int) -> Iterator[Item]:
        """Give what stands between records and is none."""
        odd = held[self._given : start].strip(b" \t\r\n,[")
        if odd and self._kind is not Kind.WRAPPED:
            yield Item(self._line, odd)
        self._let_go(held, start)


def _csv_items(path: Path, progress: Progress) -> Iterator[Item]:
    csv.field_size_limit(MAX_FIELD)
    lines = _text_lines(path, progress)
    header = next(lines, "")
    delimiter = max(_DELIMITERS, key=header.count)
    try:
        names = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    except csv.Error as error:
        msg = f"{path}, line 1: expected a line of CSV that names the columns, got {error}"
        raise TurnsignalError(msg) from None
    reader = csv.reader(chain(lines, [_END]), delimiter=delimiter)
    while True:
        line = reader.line_num + 2
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Item(line, Refused(Reason.NOT_JSON, f"expected a line of CSV, got {error}"))
            continue
        if cells == [_END]:
            return
        if cells and cells[-1].endswith(_END):
            detail = (
                f"expected a quote that ends the field, got the end of the file in line {reader.line_num}: is it cut?"
            )
            yield Item(line, Refused(Reason.NOT_JSON, detail))
        elif any(cells) and len(cells) != len(names):
            why = "a comma unquoted?" if len(cells) > len(names) else "is the line cut?"
            detail = f"expected {len(names)} fields, as the first line names them, got {len(cells)}: {why}"
            yield Item(line, Refused(Reason.WRONG_TYPE, detail))
        elif any(cells):
            yield Item(line, {name: cell for name, cell in zip(names, cells, strict=True) if cell != ""})


def _text_lines(path: Path, progress: Progress) -> Iterator[str]:
    """Give a file's lines with their ends; bytes that are no UTF-8 are replaced.

    Where the first line ends with a CR alone, all ends of lines are read as LF, in quotes too.
    """
    unicode = codecs.getincrementaldecoder("utf-8-sig")("replace")
    decode: Callable[[bytes], str] = unicode.decode
    rest = ""
    for number, block in enumerate(read_blocks(path, progress)):
        if number == 0 and _FIRST_LINE.match(block)["end"] == b"\r":  # type: ignore[index]
            decode = io.IncrementalNewlineDecoder(unicode, translate=True).decode
        lines = (rest + decode(block)).split("\n")
        rest = lines.pop()
        yield from (line + "\n" for line in lines)
        if len(rest) > MAX_FIELD:
            yield rest
            rest = ""
    if rest:
        yield rest


def _is_header(line: bytes, head: bytes) -> bool:
    """Say whether a first line names columns, two or more, over lines that are no JSON."""
    if any(text.lstrip().startswith((b"{", b"[")) for text in head.split(b"\n", 20)[:20]):
        return False
    text = line.decode("utf-8", "replace")
    delimiter = max(_DELIMITERS, key=text.count)
    names = [name.strip() for name in text.split(delimiter)]
    return len(names) > 1 and b"\n" in head and all(map(_HEADER.fullmatch, names)) and len(set(names)) == len(names)


def _is_json(line: bytes) -> bool:
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def _wrapper_at(head: bytes) -> bool:
    """Say whether a first object holds a list of records under one of the usual names."""
    depth = 0
    for token in _TOKEN.finditer(head):
        mark = head[token.start()]
        if mark in b"{[":
            if (
                depth == 1
                and mark == 0x5B
                and _WRAPPER.search(head, max(token.start() - _NAME_BYTES, 0), token.start())
            ):
                return True
            depth += 1
        elif mark in b"}]":
            depth -= 1
            if depth == 0:
                return False
    return False


def sample_of(path: Path, kind: Kind, shape: Callable[[Any], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the first records of a file that can be read; shape: a record's value → the records that it holds."""
    records: list[dict[str, Any]] = []
    for number, item in enumerate(read_items(path, kind)):
        if number >= SAMPLED:
            break
        try:
            records += shape(item.load())
        except Refused:
            continue
    return records
