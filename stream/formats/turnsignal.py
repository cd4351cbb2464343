"""turnsignal's own turns, with small deviations: other names of roles, ids, texts and times, times as numbers, texts as
blocks, documents as strings or {id}, no turn_id. What has more than one reading is left to a mapping.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import orjson

from turnsignal.stream.errors import Refused
from turnsignal.stream.formats.mending import mend_documents, mend_labels, mend_names, mend_text, mend_time
from turnsignal.stream.formats.messages import REDACTED, read_message, role_of
from turnsignal.stream.formats.protocol import Assumed, Message, Record, Row, TurnFields
from turnsignal.stream.formats.rows import FOR_NOBODY, is_between, is_empty_answer, is_plain, step_in, with_said
from turnsignal.stream.formats.times import ZONELESS
from turnsignal.stream.formats.unseen import is_unseen
from turnsignal.stream.formats.values import first, id_of, is_redacted, items, nested, owner_of
from turnsignal.stream.records.turns import decode_turn

_NESTED = ("retrieved", "routed_to", "truth", "metadata")
_SAID = {"text", "content", "parts"}
_OWN_ROLES = ("user", "assistant", "system", "tool")


class Turns:
    """Files of turns, as `turnsignal schema turn` has them."""

    def looks_like(self, sample: Sequence[Record]) -> str:
        """Recognise records that have the id of a conversation, a role and a text."""
        is_turn = any("role" in one and _SAID & one.keys() and owner_of(one) for one in sample)
        return "the id of a conversation, a role and a text in a record" if is_turn else ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[TurnFields | Row]:
        """Give the turn, in the spelling that a topic takes, or the call of a tool, or its result, that a row is."""
        if is_unseen(record, assumed):
            return
        if role_of(record.get("role")) == "assistant" and first(record, *_SAID) is None and is_empty_answer(record):
            record = {**record, "text": ""}
        message = None
        if not is_plain(record) or role_of(record.get("role")) == "tool":
            record = with_said(record)
            message = read_message(record, Assumed())
        if (step := step_in(record, message)) is not None:
            step.turn = read_leniently(step.turn, Assumed())
            yield step
            return
        if _is_for_nobody(record, message):
            assumed[FOR_NOBODY] += 1
            return
        if record.get("turn_id") in (None, "") and is_redacted(str(first(record, "text", "content"))):
            assumed[REDACTED] += 1
            return
        turn = {key: nested(value) if key in _NESTED else value for key, value in record.items()}
        if isinstance(turn.get("vote"), str):  # CSV knows texts alone
            turn["vote"] = {"1": 1, "-1": -1}.get(turn["vote"], turn["vote"])
        if message is not None and message.documents and not items(turn.get("retrieved")):
            turn["retrieved"] = message.documents
        yield read_leniently(turn, assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the turn's id: it is the origin's own."""
        return {"turn_id": turn_id}


def _is_for_nobody(record: Record, message: Message | None) -> bool:
    """Say whether a row is an item between messages, such as a thought, or none of its blocks is for the user."""
    if is_between(record):
        return True
    return message is not None and isinstance(first(record, "text", "content"), list) and not message.text.strip()


def mend_line(line: bytes, default_id: str | None, assumed: Assumed) -> bytes | None:
    """Spell a line as a topic takes it, where it has one obvious reading; None where it is right, or has none.

    One that is wrong all the same is spelled, too, to be refused for that; default_id: for a turn without an id, None
    refuses it.
    """
    with suppress(Refused):
        if decode_turn(line).timestamp.tzinfo is None:
            assumed[ZONELESS] += 1
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
        return spelled if any(n for what, n in mended.items() if what != ZONELESS) else None
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
    if "conversation_id" not in turn and (conversation := owner_of(turn)):
        turn["conversation_id"] = conversation
        assumed["the id of a session, chat or thread is conversation_id"] += 1
    for key in ("conversation_id", "turn_id"):
        if isinstance(turn.get(key), int | float | dict) and (named := id_of(turn[key])) is not None:
            turn[key] = named
            assumed[f"a number as {key} is a text"] += 1
    mend_names(turn, assumed)
    if turn.get("turn_id") in (None, "") and default_id is not None:
        turn["turn_id"] = default_id
        assumed["turn_id is the file and line, where there is none"] += 1
    mend_time(turn, assumed)
    mend_documents(turn, assumed)
    mend_labels(turn, assumed)
    return turn
