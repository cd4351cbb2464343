"""turnsignal's own turns, with small deviations: other names of roles and ids, times as numbers, `content` for `text`,
texts as blocks, `created_at` and the like for the time, documents as strings or {id}, no turn_id. What has more than
one reading is left to a mapping.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import orjson

from turnsignal.stream.errors import Refused
from turnsignal.stream.formats.documents import read_document
from turnsignal.stream.formats.messages import ROLES, role_of, text_of
from turnsignal.stream.formats.protocol import Assumed, Record, TurnFields
from turnsignal.stream.formats.values import conversation_of, first, nested, seconds, timestamp
from turnsignal.stream.records.turns import decode_turn

_NESTED = ("retrieved", "routed_to", "truth", "metadata")
_NUMBER = re.compile(r"[0-9]{9,19}(\.[0-9]{1,9})?")  #: since 1970
_UNITS = {"seconds": 1e2, "milliseconds": 1e5, "microseconds": 1e8, "nanoseconds": 1e99}  # less than, a second
_TIMES = ("created_at", "createdAt", "time", "ts", "date")  #: names of the time, where it is not called timestamp
_EARLIEST = 1e8  #: a smaller number under one of them is a duration, or counted from elsewhere
_OWN_ROLES = ("user", "assistant", "system", "tool")


class Turns:
    """Files of turns, as `turnsignal schema turn` has them."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise records that have the id of a conversation, a role and a text."""
        is_turn = any("role" in one and {"text", "content"} & one.keys() and conversation_of(one) for one in sample)
        return "the id of a conversation, a role and a text in a record" if is_turn else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[TurnFields]:
        """Give the turn, in the spelling that a topic takes."""
        turn = {key: nested(value) if key in _NESTED else value for key, value in record.items()}
        if isinstance(turn.get("vote"), str):  # CSV knows texts alone
            turn["vote"] = {"1": 1, "-1": -1}.get(turn["vote"], turn["vote"])
        yield read_leniently(turn, assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the turn's id: it is the origin's own."""
        return {"turn_id": turn_id}


def mend_line(line: bytes, default_id: str | None, assumed: Assumed) -> bytes | None:
    """Spell a line as a topic takes it, where it has one obvious reading; None where it is right, or has none.

    One that is wrong all the same is spelled, too, to be refused for that; default_id: for a turn without an id, None
    refuses it.
    """
    with suppress(Refused):
        decode_turn(line)
        return None  # pydantic's leniency, the same as a topic's
    mended = Assumed()
    try:
        if not isinstance(data := orjson.loads(line), dict):
            return None
        spelled = orjson.dumps(read_leniently(data, mended, default_id))
    except (Refused, orjson.JSONDecodeError, orjson.JSONEncodeError, RecursionError):
        return None
    try:
        decode_turn(spelled)
        assumed.update(mended)
    except Refused:
        return spelled if any(mended.values()) else None
    return spelled


def read_leniently(record: Record, assumed: Assumed, default_id: str | None = None) -> TurnFields:
    """Return a turn's fields in the spelling that a topic takes; what has no obvious reading stays as it is."""
    turn = dict(record)
    _mend_text(turn, assumed)
    role = turn.get("role")
    if role not in _OWN_ROLES and (known := role_of(role)) is not None:
        turn["role"] = known
        spelled = str(role).strip().lower()
        assumed[f"role {spelled} is {known}" if spelled in ROLES and spelled != known else "roles in capitals"] += 1
    if "conversation_id" not in turn and (conversation := conversation_of(turn)):
        turn["conversation_id"] = conversation
        assumed["the id of a session, chat or thread is conversation_id"] += 1
    for key in ("conversation_id", "turn_id"):
        if type(turn.get(key)) is int:
            turn[key] = str(turn[key])
            assumed[f"a number as {key} is a text"] += 1
    if turn.get("turn_id") in (None, "") and default_id is not None:
        turn["turn_id"] = default_id
        assumed["turn_id is the file and line, where there is none"] += 1
    _mend_time(turn, assumed)
    stamp = turn.get("timestamp")
    if isinstance(stamp, str) and _NUMBER.fullmatch(stamp.strip()):
        stamp = float(stamp)
    if isinstance(stamp, int | float) and (time := seconds(stamp)) is not None:
        turn["timestamp"] = timestamp(time)
        unit = next(unit for unit, most in _UNITS.items() if abs(stamp) <= most * max(abs(time), 1e-9))
        assumed[f"a number as timestamp counts {unit} since 1970"] += 1
    _mend_documents(turn, assumed)
    return turn


def _mend_text(turn: dict[str, Any], assumed: Assumed) -> None:
    if "text" not in turn and "content" in turn:
        turn["text"] = turn.pop("content")
        assumed["content is text"] += 1
    if isinstance(turn.get("text"), list | dict):
        metadata = dict(turn["metadata"]) if isinstance(turn.get("metadata"), dict) else {}
        turn["text"] = text_of(turn["text"], metadata, assumed)
        assumed["text is that of its blocks"] += 1
        if metadata:
            turn["metadata"] = metadata


def _mend_time(turn: dict[str, Any], assumed: Assumed) -> None:
    """Take the time by another of its names, where it is one to the minute at least: days alone put turns in no order.

    An object with $date is what exports of MongoDB have.
    """
    if turn.get("timestamp") not in (None, ""):
        return
    for name in _TIMES:
        given = turn.get(name)
        value = first(given, "$date") if isinstance(given, dict) else given
        if (time := seconds(value)) is None:
            continue
        text = value if isinstance(value, str) and not _NUMBER.fullmatch(value.strip()) else None
        if abs(time) >= _EARLIEST if text is None else ":" in text:
            turn["timestamp"] = timestamp(time) if text is not None and text.endswith(" UTC") else value
            assumed[f"{name} is timestamp"] += 1
            return


def _mend_documents(turn: dict[str, Any], assumed: Assumed) -> None:
    if turn.get("retrieved", []) is None:
        del turn["retrieved"]
    if not isinstance(turn.get("retrieved"), list):
        return
    documents = turn["retrieved"] = list(turn["retrieved"])
    for number, document in enumerate(documents):
        if not (isinstance(document, dict) and "doc_id" in document) and (read := read_document(document)) is not None:
            documents[number] = read
            assumed["a text is a document's id" if isinstance(document, str) else "id is doc_id"] += 1
