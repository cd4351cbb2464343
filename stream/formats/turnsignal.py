"""turnsignal's own turns, with small deviations: other names of roles and ids, times as numbers, `content` for `text`,
texts as blocks, created_at and the like for the time, documents as strings or {id}, no turn_id. What has more than
one reading is left to a mapping.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import orjson

from turnsignal.stream.errors import Refused
from turnsignal.stream.formats.mending import mend_documents, mend_text, mend_time
from turnsignal.stream.formats.messages import blocks_in, read_message, role_of
from turnsignal.stream.formats.protocol import Assumed, Record, TurnFields
from turnsignal.stream.formats.values import conversation_of, first, id_of, items, nested
from turnsignal.stream.records.turns import decode_turn

_NESTED = ("retrieved", "routed_to", "truth", "metadata")
_OWN_ROLES = ("user", "assistant", "system", "tool")


class Turns:
    """Files of turns, as `turnsignal schema turn` has them."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise records that have the id of a conversation, a role and a text."""
        is_turn = any("role" in one and {"text", "content"} & one.keys() and conversation_of(one) for one in sample)
        return "the id of a conversation, a role and a text in a record" if is_turn else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[TurnFields]:
        """Give the turn, in the spelling that a topic takes; a tool's call or result in blocks is none."""
        spoken = {key: blocks_in(record[key]) for key in ("text", "content") if has_blocks(record.get(key))}
        record = {**record, **spoken} if spoken else record
        if _is_for_nobody(record):
            assumed["messages that are for no user's eyes left out"] += 1
            return
        turn = {key: nested(value) if key in _NESTED else value for key, value in record.items()}
        if isinstance(turn.get("vote"), str):  # CSV knows texts alone
            turn["vote"] = {"1": 1, "-1": -1}.get(turn["vote"], turn["vote"])
        yield read_leniently(turn, assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the turn's id: it is the origin's own."""
        return {"turn_id": turn_id}


def has_blocks(text: object) -> bool:
    """Say whether a text is the JSON of a message's blocks, as databases keep it."""
    return isinstance(text, str) and text.startswith(("[{", "{")) and isinstance(blocks_in(text), list)


def _is_for_nobody(record: Record) -> bool:
    """Say whether a record calls a tool and says nothing, or holds blocks of which none is a text for the user."""
    text = first(record, "text", "content")
    if text in (None, "") and items(record.get("tool_calls")):
        return True
    if not isinstance(text, list):
        return False
    message = read_message(record, Assumed())
    is_remark = record.get("stop_reason") == "tool_use"
    return message is not None and (is_remark or not message.text.strip())


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
    mend_text(turn, assumed)
    role = turn.get("role")
    if role not in _OWN_ROLES and (known := role_of(role)) is not None:
        turn["role"] = known
        spelled = str(role).strip().lower()
        assumed[f"role {spelled} is {known}" if spelled != known else "roles in capitals"] += 1
    if "conversation_id" not in turn and (conversation := conversation_of(turn)):
        turn["conversation_id"] = conversation
        assumed["the id of a session, chat or thread is conversation_id"] += 1
    for key in ("conversation_id", "turn_id"):
        if isinstance(turn.get(key), int | float | dict) and (named := id_of(turn[key])) is not None:
            turn[key] = named
            assumed[f"a number as {key} is a text"] += 1
    if turn.get("turn_id") in (None, "") and default_id is not None:
        turn["turn_id"] = default_id
        assumed["turn_id is the file and line, where there is none"] += 1
    mend_time(turn, assumed)
    mend_documents(turn, assumed)
    return turn
