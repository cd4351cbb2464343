"""Turns: one message by one speaker, as it comes in on `turnsignal.turns`.

Read in one step by msgspec, which takes nearly every record in a fifth of pydantic's time, into Structs of the same
fields; whatever it does not take goes to pydantic, which is lenient where that is harmless and says why where it
refuses. What msgspec takes, pydantic would have taken too, with the same values (a test compares them; only a time's
seventh decimal is rounded, not cut).
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from typing import Annotated, Any, Literal, cast, get_type_hints

import msgspec
import orjson
from msgspec import Meta
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.records.environments import PRODUCTION, Environment
from turnsignal.stream.text.timestamps import epoch_seconds

MAX_RECORD = 4_000_000  #: bytes of one record; a text of the longest takes 2.4 million even if all of it is escaped
MAX_TEXT = 200_000  #: characters of one turn's text
MAX_DOCUMENTS = 1_000  #: retrieved documents of one turn
DEFAULT_ASSISTANT = "default"  #: of turns that name none
MAX_ID = 200  #: characters of a conversation or turn id
MAX_KEY = 4 * MAX_ID  #: bytes of the longest conversation id
MAX_SHORT = 200  #: characters of any other name
MAX_DOC_ID = 500  #: characters of a document's id
MAX_KNOWN = 10_000  #: items of one kind that are known of a turn: relevant documents, chunks
MAX_RANK = 1_000_000  #: a greater rank is no place in a list, and one beyond 64 bits could not be written out again
MAX_ROLE = 20  #: letters of a word in the place of a role or an environment that a refusal repeats
MAX_AHEAD = 86_400.0  #: seconds that an event time may be ahead of the broker's own

Id = Annotated[str, Field(min_length=1, max_length=MAX_ID), Meta(min_length=1, max_length=MAX_ID)]
Short = Annotated[str, Field(max_length=MAX_SHORT), Meta(max_length=MAX_SHORT)]
Assistant = Annotated[str, Field(min_length=1, max_length=MAX_SHORT), Meta(min_length=1, max_length=MAX_SHORT)]
DocumentId = Annotated[str, Field(min_length=1, max_length=MAX_DOC_ID), Meta(min_length=1, max_length=MAX_DOC_ID)]
Text = Annotated[str, Field(max_length=MAX_TEXT), Meta(max_length=MAX_TEXT)]
Role = Literal["user", "assistant", "system", "tool"]
Rank = Annotated[int, Field(ge=1, le=MAX_RANK), Meta(ge=1, le=MAX_RANK)]


@with_config(ConfigDict(coerce_numbers_to_str=True, allow_inf_nan=False))
@dataclass
class Document:
    """A retrieved document.

    rank: 1-based place in the context, default its place in the list; retrieval_rank: the place before reranking.
    """

    doc_id: DocumentId
    rank: Rank | None = None
    retrieval_rank: Rank | None = None
    score: float | None = None
    title: str | None = None
    url: str | None = None
    text: str | None = None


Documents = Annotated[list[Document], Field(max_length=MAX_DOCUMENTS, fail_fast=True), Meta(max_length=MAX_DOCUMENTS)]


#: One complaint is enough: a million wrong items would otherwise be a million errors of a kilobyte each.
_KNOWN = (Field(max_length=MAX_KNOWN, fail_fast=True), Meta(max_length=MAX_KNOWN))
_KnownId = Annotated[str, Field(max_length=MAX_DOC_ID), Meta(max_length=MAX_DOC_ID)]


@with_config(ConfigDict(allow_inf_nan=False))
@dataclass
class Truth:
    """Labels known for a turn; measured against, never read by a scorer that judges.

    agents: who should have been asked; doc_ids: relevant documents; chunks: passages that should have been retrieved;
    reference: a right answer.
    """

    agents: Annotated[list[Short], *_KNOWN] | None = None
    doc_ids: Annotated[list[_KnownId], *_KNOWN] | None = None
    chunks: Annotated[list[Text], *_KNOWN] | None = None
    reference: Text | None = None
    query_type: Short | None = None
    domain: Short | None = None
    difficulty: Short | None = None


LABELS = tuple(field.name for field in fields(Truth))  #: names of the labels that a turn may carry


class Metadata(TypedDict, total=False):
    """What is read of a turn's metadata (see annotations.py); the rest is passed over and never takes up memory."""

    citations: Any
    annotations: Any
    inlineCitations: Any
    citedChunks: Any


@with_config(ConfigDict(allow_inf_nan=False))
@dataclass
class Turn:
    """One message by one speaker.

    conversation_id is the Kafka key; turn_id is unique in its conversation; timestamp is the event time (ISO 8601;
    without a zone it counts as UTC); assistant, version, model, platform say who answered; routed_to: agents that were
    asked; vote: −1 or 1 by the user; environment: what it was said for, None (or left out) is production, also in a
    canary release; truth: labels known for this turn, of a question for its answer. Unknown fields are ignored.
    """

    conversation_id: Id
    turn_id: Id
    role: Role
    text: Text
    timestamp: datetime
    retrieved: Documents = field(default_factory=list)
    assistant: Assistant = DEFAULT_ASSISTANT
    version: Short | None = None
    model: Short | None = None
    platform: Short | None = None
    routed_to: Annotated[list[Short], Field(fail_fast=True)] | None = None
    vote: Literal[-1, 1] | None = None
    user_id: Short | None = None
    environment: Environment | None = None
    truth: Truth | None = None
    metadata: Metadata | None = None
    time: float = field(init=False, repr=False, compare=False, default=0.0)

    def __post_init__(self) -> None:
        """Work out the event time in seconds since 1970, once, and spell production in one way."""
        stamp = self.timestamp
        self.time = epoch_seconds(stamp)
        if self.environment == PRODUCTION:
            self.environment = None


def struct_of(kind: type[Any], **types: Any) -> Any:
    """Make a Struct of a dataclass's fields, which msgspec reads in half the time; types: of fields that differ."""
    types = get_type_hints(kind, include_extras=True) | types
    made: list[Any] = []
    for one in fields(kind):
        factory = msgspec.NODEFAULT if one.default_factory is MISSING else one.default_factory
        default = msgspec.NODEFAULT if one.default is MISSING else one.default
        made.append((one.name, types[one.name], msgspec.field(default=default, default_factory=factory)))  # type: ignore[call-overload]
    methods = {name: value for name, value in vars(kind).items() if name == "__post_init__"}
    return msgspec.defstruct(kind.__name__, made, namespace=methods, omit_defaults=True, gc=False)


TURNS: TypeAdapter[Turn] = TypeAdapter(Turn)
_documents: Any = Annotated[list[struct_of(Document)], Meta(max_length=MAX_DOCUMENTS)]  # type: ignore[misc]
#: what takes nearly every record; raises what msgspec raises
read_at_once: Callable[[bytes], Turn] = msgspec.json.Decoder(struct_of(Turn, retrieved=_documents)).decode
_validate = TURNS.validator.validate_python


def decode_turn(value: bytes | None, key: bytes | None = None, broker_time: float | None = None) -> Turn:
    """Read one record of `turnsignal.turns`.

    key: the Kafka key, None when there is none to compare (files); broker_time: the record's Kafka timestamp in
    seconds. Raises Refused with the reason; where conversation and role could be read all the same, it carries them.
    Sizes are looked at before anything is parsed: a small compressed batch may hold a record of any size.
    """
    given = check_bytes(value, key, "a turn", MAX_RECORD)
    try:
        turn = read_at_once(given)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        turn = _decode(given, key)
    if key is not None and turn.conversation_id.encode() != key:
        detail = f"expected the key to be the conversation_id {turn.conversation_id!r}, got {_show(key)}"
        raise Refused(Reason.KEY_MISMATCH, detail)
    if not (turn.conversation_id.isprintable() and turn.turn_id.isprintable()):
        detail = f"expected ids of printable characters, got {turn.conversation_id!r} / {turn.turn_id!r}"
        raise Refused(Reason.BAD_ID, detail, conversation_id=turn.conversation_id, role=turn.role)
    if broker_time is not None and turn.time > broker_time + MAX_AHEAD:
        detail = f"expected a timestamp at most a day ahead of the broker's, got {turn.timestamp.isoformat()}"
        raise Refused(Reason.FUTURE_TIMESTAMP, detail, conversation_id=turn.conversation_id, role=turn.role)
    return turn


def check_bytes(value: bytes | None, key: bytes | None, what: str, most: int) -> bytes:
    """Return a record's value when it and its key are worth parsing: there, and not too large.

    what: was expected; most: bytes. Raises Refused with the reason.
    """
    if key is not None and len(key) > MAX_KEY:
        raise _unfit(key)
    if value is None:
        raise Refused(Reason.TOMBSTONE, f"expected {what}, got a record without a value")
    if key is not None and not key:
        raise _unfit(key)
    if len(value) > most:
        raise Refused(Reason.TOO_LARGE, f"expected a record of at most {most} bytes, got {len(value)}")
    return value


def check_key(key: bytes | None) -> None:
    """Make sure that a key could be a conversation id at all, where no turn beside it says so.

    Raises Refused with the reason.
    """
    if not key or len(key) > MAX_KEY:
        raise _unfit(key or b"")
    try:
        name = key.decode()
    except UnicodeDecodeError:
        name = ""
    if not (0 < len(name) <= MAX_ID and name.isprintable()):
        detail = f"expected a conversation id of 1 to {MAX_ID} printable characters as key, got {_show(key)}"
        raise Refused(Reason.BAD_ID, detail)


def _unfit(key: bytes) -> Refused:
    """Refuse a key by its length alone."""
    if not key:
        return Refused(Reason.EMPTY_KEY, "expected the conversation id as key, got an empty key")
    return Refused(Reason.BAD_ID, f"expected a conversation id of at most {MAX_KEY} bytes as key, got {len(key)} bytes")


def _decode(value: bytes, key: bytes | None) -> Turn:
    """Read what msgspec does not take: numbers as ids, a day as a time; or find the reason to refuse it."""
    data = parse_json(value)
    try:
        turn = _validate(data)
    except ValidationError as error:
        raise _refuse(error, data, key) from None
    if type(data["timestamp"]) is not str:  # seconds or milliseconds? nobody can tell
        detail, actual = "expected a timestamp in ISO 8601, got a number", _show(data["timestamp"])
        raise Refused(Reason.BAD_TIMESTAMP, detail, actual=actual, conversation_id=turn.conversation_id, role=turn.role)
    return cast("Turn", turn)


def parse_json(value: bytes) -> Any:
    """Parse a record's bytes; raises Refused where they are no JSON.

    By orjson, also where pydantic could: its parser takes 1.5 kB for each empty list, so that a record of 1 MB costs
    seconds and half a gigabyte.
    """
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError as error:
        deep = "depth" in str(error).lower() or "recursion" in str(error).lower()
        detail = f"expected one JSON object in UTF-8, got {len(value)} bytes that do not parse: {error}"
        raise Refused(Reason.TOO_DEEP if deep else Reason.NOT_JSON, detail) from None


def _refusal(error: ValidationError) -> tuple[Reason, str, str]:
    """Turn pydantic's first complaint into our reason, a line that says what was expected, and what came."""
    first = error.errors(include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"]) or "the record"
    given = first["input"]
    detail, actual = f"{place}: {first['msg']}, got {_describe(given)}", _show(given)
    kind, top = first["type"], first["loc"][0] if first["loc"] else ""
    if kind == "missing":
        reason = Reason.MISSING_FIELD
        detail, actual = f"expected the field {place}, got none", ""
    elif top == "role":
        reason = Reason.UNKNOWN_ROLE
    elif top == "timestamp":
        reason = Reason.BAD_TIMESTAMP
    elif top in ("id", "conversation_id", "turn_id") and kind in ("string_too_long", "string_too_short"):
        reason = Reason.BAD_ID
    elif top == "retrieved" and kind == "too_long":
        reason = Reason.TOO_MANY_DOCUMENTS
    elif kind == "string_too_long":
        reason = Reason.TOO_LARGE
    else:
        reason = Reason.WRONG_TYPE
    if top in ("role", "environment") and isinstance(given, str) and given.isalpha() and len(given) <= MAX_ROLE:
        detail = f"{place}: {first['msg']}, got {given!r}"
    return reason, detail, actual


def refuse(error: ValidationError) -> Refused:
    """Turn pydantic's first complaint about a record into the refusal of it."""
    reason, detail, actual = _refusal(error)
    return Refused(reason, detail, actual=actual)


def _refuse(error: ValidationError, data: object, key: bytes | None) -> Refused:
    """Refuse what pydantic complains of, and say whose conversation now has a gap."""
    reason, detail, actual = _refusal(error)
    conversation = role = None
    if isinstance(data, dict):
        named = data.get("conversation_id")
        if isinstance(named, str) and 0 < len(named) <= MAX_ID and (key is None or named.encode() == key):
            conversation = named
        if data.get("role") in ("user", "assistant"):
            role = str(data["role"])
    return Refused(reason, detail, actual=actual, conversation_id=conversation if role else None, role=role)


def _describe(value: object) -> str:
    """Say what kind of value came, and how large: a wrong field may hold what somebody said."""
    if isinstance(value, str):
        return f"a text of {len(value)} characters"
    if isinstance(value, list | dict):
        return _show(value)
    return "a number" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _show(value: object) -> str:
    """Show what came; a list or an object only by its size, because it may be nested deeper than `repr` takes."""
    if isinstance(value, list | dict):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}… ({len(text)} characters)"
