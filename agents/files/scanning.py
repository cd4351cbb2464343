"""Scanning: where records begin and end in JSON that is not one a line, without reading them.

Each byte is looked at once, however long a text it stands in, and no more is held than a record and a block.
"""

import re
from collections.abc import Iterator

from turnsignal.agents.files.items import CUT_OFF, TOO_LONG, Item
from turnsignal.agents.files.keyed_records import BY_ID
from turnsignal.agents.files.reading import MAX_LINE
from turnsignal.stream.errors import Reason, Refused

WRAPPERS = ("runs", "data", "traces", "items", "results", "turns", "resourceSpans", "resourceLogs")
_NAME_BYTES = 200  #: before a list, in which its name is looked for
_DEEP = 100_000  #: brackets that are open, after which the rest of a file is not looked at

# what a text holds is never given back: a mark for each escape would take a hundred times the text
_REST = rb'[^"\\]*+(?:\\.[^"\\]*+)*+(?P<end>"|\\?\Z)'
_TOKEN = re.compile(rb'"' + _REST + rb"|[{}\[\]]", re.S)
_TEXT = re.compile(_REST, re.S)
_WRAPPER = re.compile(rb'"(' + "|".join(WRAPPERS).encode() + rb')"\s*:\s*\Z')
_LARGE_WRAPPER = re.compile(rb'"(observations|conversations|scores)"\s*:\s*\Z')
_RECORD_KEYS = {
    *(b'"id"', b'"trace_id"', b'"traceId"', b'"run_type"', b'"conversation_id"', b'"role"', b'"object"', b'"messages"')
}
_SPEAKER = re.compile(rb'\[\s*\{[^{}\[\]]{0,200}?"(from|role|speaker|sender|author)"\s*:')
_WHOSE = re.compile(rb'\[\s*\{[^{}\[\]]{0,4000}?"(conversation|session|thread|chat)[._]?i?d?"\s*:', re.IGNORECASE)
_KEY = re.compile(rb'"[^"\\]{0,200}"\s*:\s*\Z')  # of a record, before it
_BY_ID = b'{"' + BY_ID.encode() + b'": {%b}}'
_HOLDS = re.compile(rb"\s*:\s*[{\[]")
_ID = re.compile(rb"[0-9]")
_QUOTE = ord('"')
_BOM = b"\xef\xbb\xbf"


class Scanner:
    """Finds the records in an array, in a list within an object (is_wrapped), or in values one after another.

    is_keyed: they stand in one object, each under its id, with which it is given.
    """

    def __init__(self, is_array: bool, is_wrapped: bool, is_keyed: bool = False) -> None:
        self._is_array = is_array
        self._is_wrapped = is_wrapped
        self._is_keyed = is_keyed
        self._id = b""  # of the record that began
        self._in_text = False  # what is held ends within a text, which goes on at `_at`
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
            if self._start >= 0 and (self._cut or len(self._held) - self._start > MAX_LINE):
                self._held = self._held[:1] + self._held[self._at :]
                self._at, self._cut = 1, True
            elif self._in_text and self._start < 0 and len(self._held) > MAX_LINE:  # it belongs to no record
                self._held, self._at = self._held[self._at :], 0
        rest = self._held.strip(b" \t\r\n,]}")
        is_open = self._is_array and self._base > 0 and self._depth > 0
        if self._start >= 0 or is_open or (rest and not self._is_wrapped):
            yield Item(self._line, CUT_OFF)

    def _scan(self) -> Iterator[Item]:
        """Give the records that end in what is held, and let go of them."""
        held = self._held
        if self._in_text:
            text = _TEXT.match(held, self._at)
            self._in_text = text is None or text["end"] != b'"'
            if text is not None:
                self._at = text.start("end") + (not self._in_text)
            if self._in_text:
                return
        for token in _TOKEN.finditer(held, self._at):
            mark = held[token.start()]
            if mark == _QUOTE:
                if token["end"] != b'"':
                    self._in_text = True
                    self._at = token.start("end")
                    break
            elif mark in b"{[":
                if self._start < 0 and not self._opens_base(held, token.start()):
                    self._id = held[self._given : token.start()] if self._is_keyed else b""
                    yield from self._between(held, token.start())
                    self._start = token.start()
                self._depth += 1
            else:
                self._depth = max(self._depth - 1, 0)
                if self._start >= 0 and self._depth == self._base:
                    value = self._with_id(held[self._start : token.end()])
                    yield Item(self._line, value if not self._cut else TOO_LONG)
                    self._let_go(held, token.end())
                    self._start, self._cut = -1, False
                elif self._depth < self._base:
                    yield from self._between(held, token.start())
                    self._base = 0
                    self._let_go(held, token.end())
            self._at = token.end()
        if self._start >= 0 or (self._in_text and not self._is_wrapped):
            pass  # it is given when it ends
        elif self._base and self._is_array:
            yield from self._between(held, self._at)
        else:  # the name of a list stands before it
            self._let_go(held, self._at - (_NAME_BYTES if self._is_wrapped or self._is_keyed else 0))
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
        if self._is_array and self._depth == 0 and held[at] == 0x5B:
            self._base = 1
            return True
        if self._is_keyed and self._depth == 0 and held[at] == 0x7B:
            self._base = 1
            return True
        if self._is_wrapped:
            if self._depth == 0:
                return True
            is_list = self._base == 0 and self._depth == 1 and held[at] == 0x5B
            if is_list and _names_list(held, at, is_large=True):
                self._base = 2
                return True
            return self._base == 0
        return False

    def _with_id(self, value: bytes) -> bytes:
        """Return a record as it stands in the object around it: under its id."""
        named = _KEY.search(self._id) if self._is_keyed else None
        return value if named is None else _BY_ID % (named[0] + value)

    def _between(self, held: bytes, start: int) -> Iterator[Item]:
        """Give what stands between records and is none."""
        odd = held[self._given : start].strip(b" \t\r\n,[")
        if odd and not self._is_wrapped and not self._is_keyed:
            yield Item(self._line, odd)
        self._let_go(held, start)


def holds_list(head: bytes, *, is_whole: bool) -> bool:
    """Say whether a first object holds a list of records under one of the usual names.

    is_whole: there is no more of the file than its head. An object that ends in its head is a record under some names.
    """
    depth, is_record, is_large = 0, False, False
    for token in _TOKEN.finditer(head):
        at = token.start()
        mark = head[at]
        if mark in b"{[":
            if depth == 1 and mark == 0x5B:
                if _names_list(head, at, is_large=False):
                    return True
                is_message = _SPEAKER.match(head, at) is not None
                is_large |= not is_record and not is_message and _names_list(head, at, is_large=True)
            depth += 1
        elif mark in b"}]":
            depth -= 1
            if depth == 0:
                return False
        elif depth == 1:
            is_record |= token[0] in _RECORD_KEYS
    return is_large and not is_whole


def are_keyed(head: bytes) -> bool:
    """Say whether a first object that is longer than its head holds records, or lists of them, under ids alone."""
    depth, keys = 0, 0
    for token in _TOKEN.finditer(head):
        mark = head[token.start()]
        if mark in b"{[":
            depth += 1
        elif mark in b"}]":
            depth -= 1
            if depth == 0:
                return False
        elif depth == 1 and token["end"] == b'"':
            if _HOLDS.match(head, token.end()) is None:
                return not head[token.end() :].strip(b" \t\r\n:")
            if _ID.search(token[0]) is None:
                return False
            keys += 1
    return keys > 0


def _names_list(held: bytes, at: int, *, is_large: bool) -> bool:
    start = max(at - _NAME_BYTES, 0)
    if (named := _WRAPPER.search(held, start, at)) is not None:
        is_of_one = named[1] == b"turns" and _SPEAKER.match(held, at) is not None and _WHOSE.match(held, at) is None
        return not is_of_one  # the turns of the conversation that the object is
    return is_large and _LARGE_WRAPPER.search(held, start, at) is not None
