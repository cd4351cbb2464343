"""What a file is, whatever its records mean: JSON lines, an array, objects over many lines, CSV; and its records.

Records come one at a time with the line on which they begin, in bounded memory. What cannot be read is given all the
same, as bytes, so that whoever takes it can say where it stood.
"""

import codecs
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

from turnsignal.agents.files.blocks import BLOCK, GZIP, ZSTD, Progress, is_packed, read_blocks
from turnsignal.agents.files.delimited import DELIMITERS, read_delimited
from turnsignal.agents.files.items import Item
from turnsignal.agents.files.reading import read_lines
from turnsignal.agents.files.scanning import Scanner, are_keyed, holds_list
from turnsignal.stream.errors import Refused, TurnsignalError
from turnsignal.stream.text.loose_json import load_json

SAMPLE = BLOCK  #: bytes at the beginning of a file that are looked at to say what it is
SAMPLED = 50  #: records of them
SAMPLED_BYTES = 8 << 20  #: of such records; beyond the first one, where it is larger
SAMPLED_PARTS = 2_000  #: records that lists in them may hold

_PRINTED = re.compile(rb'\n\{\r?\n\s+"')  #: pretty-printed JSON, behind what a program says beside it
_HEADER = re.compile(r'[\w .:/()-]+|"[^"]*"')
_TAR, _TAR_AT = b"ustar", 257  #: what an archive's first header holds there
_BOM = b"\xef\xbb\xbf"
_LOOKED_AT = 1024  #: bytes, of which a tenth are control characters where a file is no text
_ONE_BYTE = re.compile("[\udc80-\udcff]")  #: what is no UTF-8, as Python decodes it
_ODD_BYTES = 3  #: of them at least, from which a file is in another encoding,
_ODD_CELLS = 2  #: and a table, as Excel saves it
_CONTROL = bytes({*range(32)} - {*b"\t\n\f\r\x1b"})


class Kind(Enum):
    """How a file holds its records; the value says so to a person."""

    LINES = "JSON lines"
    ARRAY = "a JSON array"
    VALUES = "pretty-printed JSON"
    WRAPPED = "a JSON object around a list"
    KEYED = "a JSON object of records by their ids"
    CSV = "CSV"


def kind_of(path: Path) -> Kind:
    """Say how a file holds its records, by its beginning; raises TurnsignalError for what is packed otherwise."""
    head = next(read_blocks(path), b"")[:SAMPLE]
    if head.startswith((GZIP, ZSTD, b"PK\x03\x04", b"BZh", b"\xfd7zXZ")) or head[:4] == b"PAR1":
        packed = "gzip or zstd within another" if head.startswith((GZIP, ZSTD)) else "zip, bzip2, xz or Parquet"
        msg = f"{path}: expected text, plain, in gzip or in zstd, got {packed}; unpack or export it as JSON lines first"
        raise TurnsignalError(msg)
    if head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        msg = f"{path}: expected one file, got an archive of files; unpack it first: tar xf {shlex.quote(str(path))}"
        raise TurnsignalError(msg)
    if _is_utf_16(head):
        msg = (
            f"{path}: expected text in UTF-8, got UTF-16, as Excel and PowerShell write it; "
            f"try: {_recode(path, 'UTF-16')}"
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
        _refuse_one_byte_letters(path, head, _ODD_CELLS)
        return Kind.CSV
    if head.startswith((b"{", b"[")):
        _refuse_one_byte_letters(path, head, _ODD_BYTES)
    if not head.startswith((b"{", b"[")):
        return Kind.VALUES if _PRINTED.search(head) else Kind.LINES
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
    if holds_list(head, is_whole=len(head) < SAMPLE):
        return Kind.WRAPPED
    return Kind.KEYED if are_keyed(head) else Kind.VALUES


def _refuse_one_byte_letters(path: Path, head: bytes, few: int) -> None:
    """Raise TurnsignalError where a file has its letters beyond ASCII in one byte each; fewer may be damage."""
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(head)  # its last letter may be cut
    odd = len(_ONE_BYTE.findall(text))
    if odd < few or odd * 2 < len(text) - len(text.encode("ascii", "ignore")):
        return
    msg = (
        f"{path}: expected text in UTF-8, got letters of one byte, as Latin-1 and Windows have them; "
        f"try: {_recode(path, 'WINDOWS-1252')}"
    )
    raise TurnsignalError(msg)


def _recode(path: Path, encoding: str) -> str:
    """Return the line that makes UTF-8 of a file, unpacked where it is packed."""
    plain = path.name.removesuffix(".gz").removesuffix(".zst") if is_packed(path) else path.name
    return piped(path, f"iconv -f {encoding} -t UTF-8") + f" > {shlex.quote(f'utf8-{plain}')}"


def piped(path: Path, command: str) -> str:
    """Return what to type so that a command of the shell reads a file, unpacked where it is packed."""
    name = shlex.quote(str(path))
    if not is_packed(path):
        return f"{command} {name}"
    return f"{'zstd' if path.suffix == '.zst' else 'gzip'} -dc {name} | {command}"


def _is_utf_16(head: bytes) -> bool:
    """Say whether a file begins with the mark of UTF-16, or with two letters of it."""
    first, second = head[0:4:2], head[1:4:2]
    letters = (first, second) if second == b"\0\0" else (second, first)
    is_letters = letters[1] == b"\0\0" and b"\0" not in letters[0]
    return head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or is_letters


def read_items(path: Path, kind: Kind, progress: Progress = lambda _: None) -> Iterator[Item]:
    """Give a file's records in their order."""
    if kind is Kind.CSV:
        yield from read_delimited(path, progress)
    elif kind is Kind.LINES:
        before = 0
        for block in read_lines(path, progress):
            for number, line in enumerate(block.lines, before + 1) if any(block.lines) else ():
                if line.strip():
                    yield Item(number, line)
            before += len(block.lines)
    else:
        yield from Scanner(kind is Kind.ARRAY, kind is Kind.WRAPPED, kind is Kind.KEYED).items(
            read_blocks(path, progress)
        )


def _is_header(line: bytes, head: bytes) -> bool:
    """Say whether a first line names columns, two or more, over lines that are no JSON."""
    if any(text.lstrip().startswith((b"{", b"[")) for text in head.split(b"\n", 20)[:20]):
        return False
    text = line.decode("utf-8", "replace")
    delimiter = max(DELIMITERS, key=text.count)
    names = [name.strip() for name in text.split(delimiter)]
    return len(names) > 1 and b"\n" in head and all(map(_HEADER.fullmatch, names)) and len(set(names)) == len(names)


def _is_json(line: bytes) -> bool:
    try:
        load_json(line)
    except ValueError:
        return False
    return True


def sample_of(path: Path, kind: Kind, shape: Callable[[Any], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the first records of a file that can be read; shape: a record's value → the records that it holds."""
    records: list[dict[str, Any]] = []
    size = 0
    for number, item in enumerate(read_items(path, kind)):
        size += len(item.value) if isinstance(item.value, bytes) else 0
        if number >= SAMPLED or (records and size > SAMPLED_BYTES) or len(records) >= SAMPLED_PARTS:
            break
        try:
            records += shape(item.load(Counter()))[: SAMPLED_PARTS - len(records)]
        except Refused:
            continue
    return records


def why_unread(path: Path, kind: Kind) -> str | None:
    """Say where the first record stands that cannot be read, and why; None where the first ones all can."""
    for _, item in zip(range(SAMPLED), read_items(path, kind), strict=False):
        try:
            item.load(Counter())
        except Refused as error:
            return f"line {item.line}: {error.reason}: {error.shown}"
    return None
