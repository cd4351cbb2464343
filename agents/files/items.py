"""An item: one record of a file as it stands, before anybody says what it means."""

import json
from typing import Any, NamedTuple

import orjson

from turnsignal.agents.files.reading import MAX_LINE
from turnsignal.stream.errors import Reason, Refused

MAX_OBJECTS = 500_000  #: in one record; in memory each takes a hundred times what `{}` takes in a file

_LARGE = 1 << 20  #: bytes of a record whose objects are counted before it is read
_NOT_A_NUMBER = "NaN or Infinity, which JSON does not have, read as null"
TOO_LONG = Refused(Reason.TOO_LARGE, f"expected a record of less than {MAX_LINE} bytes, got a longer one")


class Item(NamedTuple):
    """One record as it stands: its line, from 1, and its bytes, or the fields of a line of CSV.

    notes: what was assumed to read it.
    """

    line: int
    value: bytes | dict[str, Any] | Refused
    notes: tuple[str, ...] = ()

    def load(self) -> Any:
        """Return the JSON that it is; raises Refused with the reason when it is none."""
        if isinstance(self.value, Refused):
            raise self.value
        if isinstance(self.value, dict):
            return self.value
        size = len(self.value)
        if size >= MAX_LINE:
            raise TOO_LONG
        if size > _LARGE and (objects := self.value.count(b"{")) > MAX_OBJECTS:
            detail = f"expected a record of at most {MAX_OBJECTS:,} objects, got {objects:,}"
            raise Refused(Reason.TOO_LARGE, detail)
        try:
            return load_json(self.value)
        except orjson.JSONDecodeError as error:
            deep = "recursion" in str(error).lower() or "depth" in str(error).lower()
            detail = f"expected JSON in UTF-8, got {size} bytes that do not parse: {error}"
            if self.value.lstrip()[:2] in (b"{'", b"['"):
                detail = f"expected JSON, got what Python prints, with ' for \": write it with json.dumps; {error}"
            raise Refused(Reason.TOO_DEEP if deep else Reason.NOT_JSON, detail) from None

    def assumed(self) -> tuple[str, ...]:
        """Return what was assumed to read it; for one that was loaded."""
        if isinstance(self.value, bytes) and holds_no_number(self.value) and not is_json(self.value):
            return (*self.notes, _NOT_A_NUMBER)
        return self.notes


def load_json(value: bytes) -> Any:
    """Return JSON, also such as Python writes with NaN or Infinity in it, which are None then.

    Raises orjson.JSONDecodeError for anything else.
    """
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        if not holds_no_number(value):
            raise
        try:
            return json.loads(value, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            pass
        raise


def is_json(value: bytes) -> bool:
    """Say whether bytes are JSON, strictly."""
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        return False
    return True


def holds_no_number(value: bytes) -> bool:
    """Say whether the words stand in a record with which Python writes floats that JSON does not have."""
    return b"NaN" in value or b"Infinity" in value
