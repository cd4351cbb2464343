"""Flat rows: files that hold one turn a record; what names a message there, which way the rows stand, what came twice.

    {"id": 2, "conversation_id": "c", "role": "assistant", "content": "So.",  "created_at": "2026-11-18T09:00:00Z"}
    {"id": 1, "conversation_id": "c", "role": "user",      "content": "How?", "created_at": "2026-11-18T09:00:00Z"}

`id` names the message, as no two rows of a conversation have the same one. The rows stand newest first, so that the
question is put a thousandth of a second before its answer.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from turnsignal.agents.files.containers import Kind, sample_of
from turnsignal.agents.files.recognising import as_records, holds_lists
from turnsignal.stream.errors import Refused
from turnsignal.stream.formats.protocol import Assumed, LogFormat, Record, TurnFields
from turnsignal.stream.formats.row_order import RowOrder, TurnedRound
from turnsignal.stream.formats.rows import STATES, goes_on, is_change, is_plain
from turnsignal.stream.formats.times import DESCENDING, NEWEST_FIRST
from turnsignal.stream.formats.unseen import is_unseen
from turnsignal.stream.formats.values import first, id_of, owner_of

_NAMES = ("message_id", "messageId", "msg_id", "msgId", "uuid", "_id", "id")  #: of a message's own id
_FILES = 20  #: whose first records say which of these names it
_HASH = (1 << 64) - 1
NAMED_TWICE = "turns that came again under their id, of which a replay takes the first"
_TWICE = (
    "{:,} rows without an id say what another says in the same conversation at the same time: was a file exported "
    "twice? Each counts as a turn; export a turn_id, message_id or id with them, by which a row is known again"
)


class FlatRows:
    """The turns of some files of one format that stand one a record."""

    def __init__(self, files: Sequence[tuple[Path, Kind]], log_format: LogFormat, assumed: Assumed) -> None:
        self._format = log_format
        self._assumed = assumed
        self._order = RowOrder()
        self._turned: TurnedRound | None = None
        self._named, self._unnamed = array("Q"), array("Q")
        samples = (sample_of(*file, as_records) for file in files[:_FILES])
        self._key = message_key([turn for sample in samples for turn in self._turns_of(sample)])

    def begin(self, path: Path, kind: Kind) -> None:
        """Take the next file."""
        self._end_file()
        sample = sample_of(path, kind, as_records)
        self._order, self._turned = RowOrder(), TurnedRound() if self._stand_newest_first(sample) else None

    def take(self, turn: TurnFields, default_id: str) -> None:
        """Give a turn its id, and its time where rows stand newest first; default_id: where nothing names it."""
        is_named = turn.get("turn_id") not in (None, "")
        if not is_named and self._key is not None and (named := id_of(turn.get(self._key))) is not None:
            turn["turn_id"] = named
            self._assumed[f"{self._key} is turn_id"] += 1
            is_named = True
        words = [turn.get(key) for key in ("conversation_id", "role", "text", "timestamp")]
        if is_named:
            self._named.append(hash((str(words[0]), str(turn["turn_id"]))) & _HASH)
        elif words[-1] is not None:
            self._unnamed.append(hash(tuple(map(str, words))) & _HASH)
        if not is_named:
            turn["turn_id"] = default_id
            self._assumed["turn_id is the file and line, where there is none"] += 1
        self._order.add(turn)
        self.set_time(turn)

    def set_time(self, turn: TurnFields) -> None:
        """Give a turn, or a step on the way to one, its time where rows stand newest first."""
        if self._turned is not None:
            self._assumed[NEWEST_FIRST] += self._turned.turn(turn)

    def _stand_newest_first(self, sample: Sequence[Record]) -> bool:
        order = RowOrder()
        for turn in self._turns_of(sample):
            if turn.get("turn_id") in (None, "") and self._key is not None:
                turn["turn_id"] = turn.get(self._key)
            order.add(turn)
        order.close()
        return order.is_newest_first

    def _turns_of(self, sample: Sequence[Record]) -> Iterator[TurnFields]:
        for record in sample:
            with suppress(Refused, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
                yield from [part for part in self._format.read(record, Counter()) if isinstance(part, dict)]

    def _end_file(self) -> None:
        self._order.close()
        is_wrong = self._turned is not None and not self._order.is_newest_first
        self._assumed[DESCENDING] += is_wrong or (self._turned is None and self._order.is_doubtful)

    def end(self) -> list[str]:
        """Count what is known once all files were read, and return what the user is warned of."""
        self._end_file()
        self._assumed[NAMED_TWICE] += _repeated(self._named) - self._assumed[STATES]
        twice = _repeated(self._unnamed)
        return [_TWICE.format(twice)] if twice else []


def message_key(rows: Sequence[Record]) -> str | None:
    """Return the field that names messages: no two that differ have one of its values in a conversation.

    >>> message_key([{"id": 1, "chat_id": "c", "text": "Hi"}, {"id": 2, "chat_id": "c", "text": "Hello"}])
    'id'
    """
    return next((key for key in _NAMES if _names_messages(key, rows)), None)


def _names_messages(key: str, rows: Sequence[Record]) -> bool:
    texts: dict[tuple[str | None, str], str] = {}
    for row in rows:
        if (named := id_of(row.get(key))) is None:
            continue
        conversation, text = owner_of(row), f"{row.get('role')} {first(row, 'text', 'content', 'parts') or ''}"
        before = texts.get((conversation, named), "")
        is_state = goes_on(before, text) or goes_on(text, before) or is_change(row)
        if named == conversation or not is_state:
            return False
        texts[conversation, named] = max(before, text, key=len)
    return bool(texts)


def is_ready(path: Path) -> bool:
    """Say whether a file of turns, one a line, can be read as it stands: its first ones have ids and an order."""
    if holds_lists(path):
        return False
    order = RowOrder()
    for turn in sample_of(path, Kind.LINES, as_records):
        if "role" in turn and (turn.get("turn_id") in (None, "") or not is_plain(turn) or is_unseen(turn, Counter())):
            return False
        order.add(turn)
    order.close()
    return not (order.is_newest_first or order.is_doubtful)


def _repeated(hashes: "array[int]") -> int:
    return len(hashes) - len(np.unique(np.array(hashes, np.uint64)))
