"""Feedback: what somebody said or did about a turn afterwards, as it comes in on `turnsignal.feedback`.

A vote, a search that the answer should have made unnecessary, a hand-off to a person, an answer that was copied or
edited, a label that somebody gave. It comes late, in any order, and from strangers: as strict and bounded as a turn.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Annotated, Literal, cast, get_args

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.records.turns import MAX_AHEAD, MAX_SHORT, Id, check_bytes, parse_json, refuse
from turnsignal.stream.text.timestamps import epoch_seconds

MAX_RECORD = 100_000  #: bytes of one record
MAX_REASON = 1_000  #: characters of the words beside it

Kind = Literal["vote", "search", "handoff", "copied", "edited", "label"]
KINDS: tuple[str, ...] = get_args(Kind)
VOTE, LABEL = "vote", "label"

_DAY = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*")  # which pydantic takes for midnight
_Name = Annotated[str, Field(min_length=1, max_length=MAX_SHORT)]


@with_config(ConfigDict(allow_inf_nan=False))
@dataclass
class Feedback:
    """Something said or done about one turn of a conversation.

    id: unique in its conversation, the same one whenever it is sent again; conversation_id: the Kafka key; turn_id: the
    turn that it is about; timestamp: when (ISO 8601; without a zone it counts as UTC); kind: `vote` needs `vote`,
    `label` needs `scorer` and a `value` (0–1) or a `label` (a class) or both; reason: why, in words; rater: who, which
    is kept as a digest only. A later one, by time, then id, replaces an earlier one of the same kind by the same rater
    about the same turn (and of the same scorer). Unknown fields are ignored.
    """

    id: Id
    conversation_id: Id
    turn_id: Id
    kind: Kind
    timestamp: datetime
    vote: Literal[-1, 1] | None = None
    reason: Annotated[str, Field(max_length=MAX_REASON)] | None = None
    scorer: _Name | None = None
    value: Annotated[float, Field(ge=0, le=1, strict=True)] | None = None
    label: _Name | None = None
    rater: _Name | None = None
    time: float = field(init=False, repr=False, compare=False, default=0.0)

    def __post_init__(self) -> None:
        """Work out the time in seconds since 1970, once."""
        stamp = self.timestamp
        self.time = epoch_seconds(stamp)


FEEDBACK: TypeAdapter[Feedback] = TypeAdapter(Feedback)
_validate = FEEDBACK.validator.validate_python


def decode_feedback(value: bytes | None, key: bytes | None = None, broker_time: float | None = None) -> Feedback:
    """Read one record of `turnsignal.feedback`.

    key: the Kafka key, None when there is none to compare (files); broker_time: the record's Kafka timestamp in
    seconds. Raises Refused with the reason.
    """
    given = check_bytes(value, key, "feedback", MAX_RECORD)
    data = parse_json(given)
    try:
        feedback = cast("Feedback", _validate(data))
    except ValidationError as error:
        raise refuse(error) from None
    if type(stamp := data["timestamp"]) is not str:  # seconds or milliseconds? nobody can tell
        raise Refused(Reason.BAD_TIMESTAMP, "expected a timestamp in ISO 8601, got a number")
    if _DAY.fullmatch(stamp):
        raise Refused(Reason.BAD_TIMESTAMP, "expected a timestamp in ISO 8601, got a day without a time")
    if key is not None and feedback.conversation_id.encode() != key:
        detail = (
            f"expected the key to be the conversation_id {feedback.conversation_id!r}, got a key of {len(key)} bytes"
        )
        raise Refused(Reason.KEY_MISMATCH, detail)
    ids = (feedback.conversation_id, feedback.turn_id, feedback.id)
    if not all(name.isprintable() for name in ids):
        raise Refused(Reason.BAD_ID, f"expected ids of printable characters, got {' / '.join(map(repr, ids))}")
    if missing := _missing(feedback):
        raise Refused(Reason.MISSING_FIELD, f"expected the field {missing} for the kind {feedback.kind}, got none")
    if broker_time is not None and feedback.time > broker_time + MAX_AHEAD:
        detail = f"expected a timestamp at most a day ahead of the broker's, got {feedback.timestamp.isoformat()}"
        raise Refused(Reason.FUTURE_TIMESTAMP, detail)
    return feedback


def rater_digest(rater: str) -> str:
    """Return what is kept of a rater: 16 hex digits, the same in every conversation, never the name.

    There is no key in it, so that a replay gives the same: it hides a name from whoever reads, not from whoever
    guesses. Where raters have guessable names, send a keyed digest in their place, as `--hash-users` does.
    """
    return blake2b(rater.encode(), digest_size=8, person=b"rater").hexdigest()


def _missing(feedback: Feedback) -> str:
    """Name the field that a kind cannot do without; "" when all are there."""
    if feedback.kind == VOTE and feedback.vote is None:
        return "vote"
    if feedback.kind == LABEL:
        if feedback.scorer is None:
            return "scorer"
        if feedback.value is None and feedback.label is None:
            return "value or label"
    return ""
