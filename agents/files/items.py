"""An item: one record of a file as it stands, before anybody says what it means."""

from typing import Any, NamedTuple

import orjson

from turnsignal.agents.files.reading import MAX_LINE
from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.formats.protocol import Assumed
from turnsignal.stream.text.loose_json import load_json

MAX_OBJECTS = 500_000  #: in one record; in memory each takes a hundred times what `{}` takes in a file

_LARGE = 1 << 20  #: bytes of a record whose objects are counted before it is read
TOO_LONG = Refused(Reason.TOO_LARGE, f"expected a record of less than {MAX_LINE} bytes, got a longer one")

CUT_OFF = Refused(Reason.NOT_JSON, "expected the end of a record, got that of the file: it is cut off")


class Item(NamedTuple):
    """One record as it stands: its line, from 1, and its bytes, or the fields of a line of CSV.

    notes: what was assumed to read it.
    """

    line: int
    value: bytes | dict[str, Any] | Refused
    notes: tuple[str, ...] = ()

    def load(self, assumed: Assumed) -> Any:
        """Return the JSON that it is, and count what was assumed; raises Refused with the reason when it is none."""
        if isinstance(self.value, Refused):
            raise self.value
        assumed.update(self.notes)
        if isinstance(self.value, dict):
            return self.value
        size = len(self.value)
        if size >= MAX_LINE:
            raise TOO_LONG
        if size > _LARGE and (objects := self.value.count(b"{")) > MAX_OBJECTS:
            detail = f"expected a record of at most {MAX_OBJECTS:,} objects, got {objects:,}"
            raise Refused(Reason.TOO_LARGE, detail)
        try:
            value, note = load_json(self.value)
        except orjson.JSONDecodeError as error:
            deep = "recursion" in str(error).lower() or "depth" in str(error).lower()
            detail = f"expected JSON in UTF-8, got {size} bytes that do not parse: {error}"
            if self.value.lstrip()[:2] in (b"{'", b"['"):
                detail = f"expected JSON, got what Python prints, with ' for \": write it with json.dumps; {error}"
            raise Refused(Reason.TOO_DEEP if deep else Reason.NOT_JSON, detail) from None
        assumed.update([note] if note else ())
        return value
