"""Values in strangers' records: times, ids, and JSON within strings, each in bounded size or not at all."""

import ast
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import orjson

from turnsignal.stream.formats.streams import BEGINS, response_in
from turnsignal.stream.records.turns import MAX_ID, MAX_SHORT
from turnsignal.stream.text.loose_json import load_json
from turnsignal.stream.text.timestamps import LATEST, epoch_seconds, parse_compact, parse_time

MAX_NESTED = 8 << 20  #: characters of a string that is read as JSON
_SHORT = 4096  #: characters of such a string that is read again for each field
_LITERALS = ("[{", "{'", "['")  #: what lists and objects begin with as Python spells them
_MAX_LITERAL = 1 << 20  #: characters of a string that is read as Python spells lists
_MILLISECONDS = 1e11  #: seconds beyond this would be in the year 5138: such a number counts milliseconds,
_MICROSECONDS = 1e14  #: beyond this microseconds,
_NANOSECONDS = 1e17  #: and beyond this nanoseconds
_LONGEST_KEY = 40  #: characters of a key that may name something known
_LONGEST_TIME = 100  #: characters of a text that may be a time
_CONVERSATION_KEYS = (
    *("conversation_id", "conversationId", "conversation", "thread_id", "threadId", "session_id", "sessionId"),
    *("session.id", "chat_id", "chatId", "dialog_id", "dialogId", "dialogue_id"),
    *("conv_id", "convId", "chat_session_id", "chatSessionId", "session", "litellm_session_id"),
)
#: Names of objects beside a call that say whose it is, and of the conversation's id within them.
_CONTEXTS = (
    *("metadata", "meta", "context", "labels", "properties", "headers", "extra", "info", "trace_metadata"),
    *("request_properties", "requester_metadata", "request_headers", "requester_custom_headers"),
)
_WITHIN = ("session", "mlflow.trace.session", "Helicone-Session-Id")
#: The same as logs of .NET, columns of databases and headers of HTTP spell it: ConversationId, SESSION_ID, x-chat-id.
_FOLDED = ("conversation", "session", "chat", "dialog", "dialogue", "conv", "chatsession", "thread", "litellmsession")
_FIELD_KEYS = {
    "assistant": ("assistant", "agent", "agent_name", "assistant_name", "bot"),
    "version": ("version", "release", "prompt_version", "app_version"),
    "model": ("model", "model_name"),
    "platform": ("platform", "channel"),
    "user_id": ("user_id", "userId", "end_user", "end_user_id", "request_user_id", "user"),
    "environment": ("environment", "env"),
}
_ENVIRONMENTS = dict.fromkeys(("prod", "prd", "live", "default", "production"), "production")
_MONGO = ("$oid", "$date", "$numberLong", "$numberInt", "$uuid")
_OBJECT_ID = re.compile("[0-9a-f]{24}")
_MONGO_YEARS = range(1_230_768_000, 2_208_988_800)  #: seconds of the years 2009, its first, to 2039
_NO_IDS = frozenset(("none", "nan", "null", "undefined", "<na>", "nat"))  #: that programs write where there is none
_EMPTY: dict[str, Any] = {}
_WHAT = "content|message|text|prompt|response|answer|question|input|output|value|pii"
_BY_WHOM = r"(?:[ _-](?:by|for|due to)[ _-][\w.-]{1,24}(?: [\w.-]{1,24})?)?"
_REDACTED = re.compile(
    rf"(?:__|\[|<|\*\*)(?:(?:{_WHAT})[ _-])?(?:redacted|masked|hidden|filtered|removed){_BY_WHOM}(?:__|\]|>|\*\*)"
    rf"|redacted{_BY_WHOM}|\*{{3,40}}",  # LiteLLM's is "redacted-by-litellm"
    re.IGNORECASE,
)


def mapping(value: object) -> dict[str, Any]:
    """Return a JSON object, also one that stands in a string; an empty one for anything else."""
    value = nested(value) if isinstance(value, str) else value
    return value if isinstance(value, dict) else _EMPTY


def items(value: object) -> list[Any]:
    """Return a JSON list, also one that stands in a string; an empty one for anything else."""
    value = nested(value) if isinstance(value, str) else value
    return value if isinstance(value, list) else []


def nested(value: object) -> Any:
    """Return the JSON that a string holds, through at most three layers; anything else, and other strings, as it is.

    Cells of a table that pandas wrote hold lists and objects as Python spells them; a stream's text holds its response.
    """
    for _ in range(3):
        if not isinstance(value, str) or len(value) > MAX_NESTED:
            break
        if value.lstrip()[:1] not in ("{", "[", '"'):
            return response_in(value) if value.startswith(BEGINS) else value
        try:
            value, _ = load_json(value)
        except orjson.JSONDecodeError:
            return literal(value)
    return value


def body_of(record: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return the object under the first of these names, or the `body` in it, as logs of HTTP have; {} where none is."""
    held = mapping(first(record, *keys))
    return mapping(held.get("body")) or held


def unwrapped(value: Any) -> Any:
    """Return what MongoDB's extended JSON puts into an object of one key: {"$oid": …}; anything else as it is.

    >>> unwrapped({"$date": {"$numberLong": "60000"}})
    60000
    """
    for _ in range(2):
        if not isinstance(value, dict) or len(value) != 1 or (key := next(iter(value))) not in _MONGO:
            break
        value = value[key]
        if key != "$oid" and isinstance(value, str) and value.lstrip("-").isdigit() and len(value) < 25:
            value = int(value)
    return value


def object_id_time(text: str) -> float | None:
    """Return the second that an id of MongoDB's begins with; None for what is none of our years.

    >>> object_id_time("6743a1f05a0b1c2d3e4f5061"), object_id_time("ffffffff5a0b1c2d3e4f5061")
    (1732485616.0, None)
    """
    made = int(text[:8], 16) if _OBJECT_ID.fullmatch(text) else 0
    return float(made) if made in _MONGO_YEARS else None


def literal(value: Any) -> Any:
    """Return the list or object that a cell of CSV spells as Python does; anything else as it is.

    >>> literal("[{'id': 'd1'}]")
    [{'id': 'd1'}]
    """
    if isinstance(value, str) and value[:2] in _LITERALS and "'" in value and len(value) <= _MAX_LITERAL:
        try:
            with warnings.catch_warnings():  # of escapes in somebody's text
                warnings.simplefilter("ignore")
                return ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return value
    return value


def is_redacted(text: str) -> bool:
    """Say whether a text only stands where another was taken out, as OpenInference and masks leave one.

    >>> is_redacted("__REDACTED__"), is_redacted("redacted-by-litellm"), is_redacted("What is [REDACTED]?")
    (True, True, False)
    """
    return len(text) <= 40 and _REDACTED.fullmatch(text.strip()) is not None


def at_path(record: object, path: str) -> Any:
    """Return what stands at a dotted path; a key that holds dots itself is taken before its parts.

    >>> at_path({"meta": {"session.id": "s1"}}, "meta.session.id")
    's1'
    """
    if not isinstance(record, Mapping):
        return None
    if path in record:
        return unwrapped(record[path])
    at = path.find(".")
    while at > 0:
        inside = record.get(path[:at])
        if isinstance(inside, str):
            inside = _kept(inside) if len(inside) > _SHORT else nested(inside)
        if isinstance(inside, Mapping) and (value := at_path(inside, path[at + 1 :])) is not None:
            return value
        at = path.find(".", at + 1)
    return None


@lru_cache(2)
def _kept(text: str) -> Any:
    """Return the JSON in a text that many fields of many items are looked up in; nobody changes it."""
    return nested(text)


def each_at(record: Mapping[str, Any], path: str) -> Iterator[tuple[Any, ...]]:
    """Give the items of the list at a path, or the object there, each followed by what holds it, from the inside out.

    `*` stands for every key of an object, or every item of a list; the key is found under "*" among what holds.

    >>> list(each_at({"chats": {"c1": {"steps": [{"n": 1}]}}}, "chats.*.steps"))[0][:3]
    ({'n': 1}, {'steps': [{'n': 1}]}, {'*': 'c1'})
    """
    before, star, rest = path.partition("*")
    inside = at_path(record, before.rstrip(".")) if before else record
    if not star:
        inside = nested(inside)
        yield from ((item, record) for item in ([inside] if isinstance(inside, Mapping) else items(inside)))
        return
    inside = nested(inside)
    pairs = list(inside.items()) if isinstance(inside, Mapping) else list(enumerate(items(inside)))
    for key, value in pairs:
        if rest:
            holders = each_at(value, rest.lstrip(".")) if isinstance(value, Mapping) else iter(())
            yield from ((*where, {"*": key}, record) for where in holders)
        else:
            yield value, {"*": key}, record


def first(record: Mapping[str, Any], *keys: str) -> Any:
    """Return the first value that is there and not empty."""
    for key in keys:
        value = record.get(key)
        if value is not None and value != "":
            return value
    return None


def short_name(value: object) -> str | None:
    """Return a short name, such as a model or a version; None where there is none, cut where it is too long."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or value == "":
        return None
    return str(value)[:MAX_SHORT]


def short_names(**values: object) -> dict[str, Any]:
    """Return the fields of a turn that have a value, as short names.

    >>> short_names(model="m1", version=3, platform=None)
    {'model': 'm1', 'version': '3'}
    """
    return {key: text for key, value in values.items() if (text := short_name(value)) is not None}


def bounded_id(text: str) -> str:
    """Return an id that a turn can carry: as it is, or a digest of one that is too long or cannot be printed."""
    if 0 < len(text) <= MAX_ID and text.isprintable():
        return text
    head = text.partition(":")[0]
    head = f"{head}:" if head != text and head.isalnum() and len(head) < 40 else ""
    return head + blake2b(text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def seconds(value: object) -> float | None:
    """Read a time: as text (without a zone UTC), or a number of seconds, milli-, micro- or nanoseconds since 1970.

    None for what is no time, or not clearly one. Eight digits that are a day of our years are that day.

    >>> seconds("1970-01-01 00:01:00"), seconds(1_790_000_000_000), seconds("soon")
    (60.0, 1790000000.0, None)
    """
    if isinstance(value, dict):
        value = unwrapped(value)
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        return _seconds_of_text(value[:_LONGEST_TIME])
    if isinstance(value, int) and (day := parse_compact(str(value))) is not None:
        return epoch_seconds(day)
    return _seconds_of_number(float(value)) if isinstance(value, int | float) and abs(value) < 1e30 else None


def stamp_in(value: object) -> datetime | None:
    """Return the day and time that a text, or digits, name, with their zone if they name one; None for other numbers.

    >>> stamp_in("1970-01-01 00:01:00"), stamp_in(1_790_000_000)
    (datetime.datetime(1970, 1, 1, 0, 1), None)
    """
    if isinstance(value, dict):
        value = unwrapped(value)
    if isinstance(value, str):
        stamp = _read_text(value[:_LONGEST_TIME])
        return stamp if isinstance(stamp, datetime) else None
    return parse_compact(str(value)) if isinstance(value, int) and not isinstance(value, bool) else None


def is_zoneless(value: object) -> bool:
    """Say whether a value is a day and time without a zone.

    >>> is_zoneless("2026-11-20T14:00"), is_zoneless("2026-11-20T14:00Z"), is_zoneless(1_790_000_000)
    (True, False, False)
    """
    return (stamp := stamp_in(value)) is not None and stamp.tzinfo is None


@lru_cache(4096)
def _seconds_of_text(text: str) -> float | None:
    stamp = _read_text(text)
    try:
        return epoch_seconds(stamp) if isinstance(stamp, datetime) else stamp
    except OverflowError:
        return None


@lru_cache(4096)
def _read_text(text: str) -> datetime | float | None:
    text = text.strip()
    if (stamp := parse_compact(text)) is not None:
        return stamp
    try:
        return _seconds_of_number(float(text))
    except ValueError:
        return parse_time(text)


def _seconds_of_number(number: float) -> float | None:
    if not math.isfinite(number):
        return None
    size = abs(number)
    for limit, unit in ((_NANOSECONDS, 1e9), (_MICROSECONDS, 1e6), (_MILLISECONDS, 1e3)):
        if size >= limit:
            return number / unit
    return number


def timestamp(time: float) -> str:
    """Spell seconds since 1970 as a turn's timestamp.

    >>> timestamp(0.5)
    '1970-01-01T00:00:00.500000+00:00'
    """
    return datetime.fromtimestamp(min(max(time, 0.0), LATEST - 1), UTC).isoformat()


def conversation_of(*records: Mapping[str, Any]) -> str | None:
    """Return the first conversation id that records hold under one of its usual names, in whatever spelling.

    >>> conversation_of({"SessionId": "s1"}), conversation_of({"Conversation ID": 7}), conversation_of({"ThreadId": 7})
    ('s1', '7', None)
    """
    for record in records:
        for key in _CONVERSATION_KEYS if record else ():
            if (value := record.get(key)) is not None and (named := id_of(nested(value))) is not None:
                return named
    for record in records:
        spelled = {folded(key): key for key in record}
        for name in _FOLDED if spelled else ():
            value = record.get(spelled.get(f"{name}id", spelled.get(f"x{name}id", "")))
            given = None if value is None else id_of(nested(value))
            if given is not None and not (name == "thread" and given.isdigit()):  # a program's own thread
                return given
    return None


@lru_cache(4096)
def folded(key: str) -> str:
    """Return the letters of a key, small, without what stands between its words.

    >>> folded("ParentSpanId"), folded("parent_span_id"), folded("context.span_id")
    ('parentspanid', 'parentspanid', 'contextspanid')
    """
    return "".join(filter(str.isalnum, key[:_LONGEST_KEY])).lower()


_FOLDED_FIELDS = frozenset(folded(key) for keys in _FIELD_KEYS.values() for key in keys)  #: most records have none


def contexts_of(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the objects beside a call that say whose it is, with `session_id` where they name it by an unusual name.

    >>> contexts_of({"meta": {"session": "s1"}})
    [{'session': 's1', 'session_id': 's1'}]
    """
    held = [mapping(record[key]) for key in _CONTEXTS if record.get(key)]
    held += [mapping(each[key]) for each in held for key in _CONTEXTS if each.get(key)]
    named = [(each, conversation_of(each) or id_of(first(each, *_WITHIN))) for each in held]
    return [{**each, "session_id": conversation} if conversation else each for each, conversation in named]


def owner_of(record: Mapping[str, Any]) -> str | None:
    """Return the conversation that a record names, itself or in one of the objects that say whose it is.

    >>> owner_of({"role": "user", "metadata": '{"chatId": "c1"}'})
    'c1'
    """
    return conversation_of(record, *contexts_of(record))


def id_of(value: object) -> str | None:
    """Return an id as a turn can carry it: a text, a number, or an object that holds one; None for what is none.

    >>> id_of(1.0), id_of({"$oid": "6f"}), id_of("nan")
    ('1', '6f', None)
    """
    value = unwrapped(value)
    if isinstance(value, dict):
        value = value.get("id")
    if isinstance(value, float):  # a data frame makes numbers of this kind of a column with a gap
        value = int(value) if value.is_integer() else repr(value) if math.isfinite(value) else None
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "" or str(value).lower() in _NO_IDS:
        return None
    return bounded_id(str(value))


def fields_of(*records: Mapping[str, Any]) -> dict[str, Any]:
    """Return assistant, version, model, platform, user_id and environment as records name them, the first that do."""
    fields: dict[str, Any] = {}
    for record in records:
        spelled = {folded(key): key for key in record}
        for field in _FIELD_KEYS if not _FOLDED_FIELDS.isdisjoint(spelled) else ():
            if field in fields:
                continue
            keys = _FIELD_KEYS[field]
            value = short_name(first(record, *keys)) or short_name(record.get(spelled.get(folded(keys[0]), "")))
            if value is not None:
                fields[field] = _ENVIRONMENTS.get(value.lower(), value) if field == "environment" else value
    return fields
