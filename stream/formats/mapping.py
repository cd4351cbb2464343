"""Any JSON or CSV, by a mapping in TOML: which path of a record holds which field of a turn.

    [turns]                                    # one record is one turn
    conversation_id = "session.id"             # a path; a key that holds dots itself is fine
    role = { path = "kind", human = "user" }   # values that mean a role; those that everybody knows need no word
    text = "body.text"
    timestamp = "at"                           # ISO 8601, or a number of seconds or milliseconds since 1970
    turn_id = "id"                             # left out: the file and line
    date_format = "%d.%m.%Y %H:%M"             # left out; or: how times are written otherwise (UTC without %z)
    documents = "context.hits"                 # a list of ids, texts, or objects with an id; or, where it is not known
                                               # { path = "context.hits", id = "ref" }, also text, title, url, score
    separator = "|"                            # left out; or: what stands between ids in one text
    version = { value = "2025-06" }            # the same for all
    list = "events"                            # left out; or: a record holds a list, whose items are the turns;
                                               # "chats.*.events": one of each key, which is conversation_id = "*";
                                               # ["source", "events"]: what stands at several paths

    [exchanges]                                # or: one record is a question and its answer
    question = "prompt"
    answer = "completion"

Paths within a list are looked for in the item, then in what holds it; "../id" only in what holds the list, and each
further ../ one list further out. What else a turn can carry has its own name.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from turnsignal.stream.errors import ConfigError, Reason, Refused
from turnsignal.stream.formats.documents import read_document, read_documents
from turnsignal.stream.formats.messages import role_of, text_of
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, TurnFields, split_origin
from turnsignal.stream.formats.values import at_path, bounded_id, each_at, items, nested, seconds, short_name, timestamp
from turnsignal.stream.text.timestamps import epoch_seconds

Field = str | dict[str, str | int | float]
MAX_SEPARATED = 120  #: characters of an id between separators; what is longer is a document's text
MAX_DATE_FORMAT = 60  #: characters
_SHOWN = 40  #: characters of a value that cannot be read
_DIRECTIVE = re.compile("%(.?)")
_DIRECTIVES = frozenset("YymdbBjaAHIpMSfz%")  #: of dates that mean the same on every machine
_TRIED = datetime(2024, 12, 31, 23, 45, 59, tzinfo=UTC)  #: what a date format is tried on
_SHORT = ("assistant", "version", "model", "platform", "user_id", "environment")
_OPTIONAL = (*_SHORT, "vote", "citations", "documents", "turn_id")
_NEEDED = ("conversation_id", "timestamp", "role", "text", "question", "answer")
_OUTSIDE = "../"  #: before a path that is looked for in what holds the list, and not in its item
_KEYS = {"id": "doc_id", "text": "text", "title": "title", "url": "url", "score": "score"}  #: that a mapping can name
_MANY = 100  #: different things that are counted; of more no names are told
_ITEMS = "items that a mapping read"
_NOTHING = "nothing at "
_LACKING = "records lack "
_NO_ID = "documents without a known id at "


class _Fields(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    conversation_id: Field | None = None
    turn_id: Field | None = None
    timestamp: Field | None = None
    documents: Field | None = None
    assistant: Field | None = None
    version: Field | None = None
    model: Field | None = None
    platform: Field | None = None
    user_id: Field | None = None
    environment: Field | None = None
    vote: Field | None = None
    citations: Field | None = None
    list: str | tuple[str, ...] | None = None
    separator: str | None = None
    date_format: str | None = None


class _TurnPaths(_Fields, kw_only=True, frozen=True):
    role: Field
    text: Field
    conversation_id: Field


class _ExchangePaths(_Fields, kw_only=True, frozen=True):
    question: Field
    answer: Field


class FormatMapping(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A mapping; one of the two is given. A `LogFormat` of the user's own."""

    turns: _TurnPaths | None = None
    exchanges: _ExchangePaths | None = None

    def looks_like(self, _: Sequence[Record]) -> str:
        """Recognise nothing: a mapping is always asked for."""
        return ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call | TurnFields]:
        """Give the turns, or the exchange, of one record."""
        paths = self.turns or self.exchanges
        if paths is None:
            return
        refused: list[Refused] = []
        for where in [(record,)] if paths.list is None else items_of(record, paths.list):
            try:
                part = self._part(where, assumed)
            except Refused as error:
                if paths.list is None:
                    raise
                refused.append(error)
            else:
                if part is not None:
                    yield part
        if paths.list is not None and not assumed[_ITEMS]:
            assumed[f"{_LACKING}list = {', '.join(_listed(paths.list))}"] += 1
        if refused:  # one item that cannot be read keeps no other back
            assumed["items of a list that could not be read, beside the first left out"] += len(refused) - 1
            raise refused[0]

    def _part(self, where: Sequence[Any], assumed: Assumed) -> Call | TurnFields | None:
        if not isinstance(where[0], dict):
            raise Refused(Reason.WRONG_TYPE, f"expected objects in the mapping's list, got {type(where[0]).__name__}")
        where = [each for each in where if isinstance(each, Mapping)]
        assumed[_ITEMS] += 1
        if self.exchanges is not None:
            return _exchange(self.exchanges, where, assumed)
        assert self.turns is not None, "a mapping has one of the two"
        if len(where) > 1 and all(value_of(field, where) is None for field in (self.turns.role, self.turns.text)):
            assumed["items of a list that say nothing left out"] += 1
            return None
        return _turn(self.turns, where, assumed)

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the turn's id: it is what the mapping names."""
        return split_origin(f"mapping:{turn_id.removeprefix('mapping:')}", ("turn_id",))


def _listed(given: str | Sequence[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) else given


def items_of(record: Record, given: str | Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Give what stands at the paths of a mapping's list, each item followed by what holds it."""
    return (where for path in _listed(given) for where in each_at(record, path))


def parse_format_mapping(text: str, origin: str) -> FormatMapping:
    """Read a mapping from TOML text; raises ConfigError in one line: the key, what was expected, what came."""
    try:
        read = msgspec.convert(tomllib.loads(text), FormatMapping)
    except tomllib.TOMLDecodeError as error:
        msg = f"{origin}: expected TOML, got a file that does not parse: {error}"
        raise ConfigError(msg) from None
    except msgspec.ValidationError as error:
        msg = f"{origin}: {error}; see `turnsignal convert --help`"
        raise ConfigError(msg) from None
    if (read.turns is None) == (read.exchanges is None):
        msg = f"{origin}: expected either [turns] or [exchanges], got {'neither' if read.turns is None else 'both'}"
        raise ConfigError(msg)
    paths = read.turns or read.exchanges
    if paths is not None:
        _validate(paths, f"{origin}: [{'turns' if read.turns is not None else 'exchanges'}]")
    return read


def read_date(text: str, date_format: str) -> float | None:
    """Read a time that is written in a format of `strptime`, without a zone UTC; None for what is written otherwise.

    >>> read_date("02.01.1970", "%d.%m.%Y")
    86400.0
    """
    stamp = _parsed(text.strip()[:MAX_DATE_FORMAT], date_format)
    return None if stamp is None else epoch_seconds(stamp)


@lru_cache(4096)
def _parsed(text: str, date_format: str) -> datetime | None:
    try:
        return datetime.strptime(text, date_format)  # noqa: DTZ007 - read_date gives it a zone
    except (ValueError, OverflowError, re.error):
        return None


def _validate(paths: _Fields, where: str) -> None:
    for field in paths.__struct_fields__:
        given = getattr(paths, field)
        if isinstance(given, dict) and not given.keys() & {"path", "value"}:
            msg = (
                f'{where} {field}: expected {{ path = "…" }} or {{ value = "…" }}; got {", ".join(given) or "neither"}'
            )
            raise ConfigError(msg)
    outside = [name for name in (*_OPTIONAL, *_NEEDED) if _path(getattr(paths, name, None)).startswith(_OUTSIDE)]
    if outside and paths.list is None:
        msg = f"{where} {outside[0]}: expected {_OUTSIDE} with a list alone: it leads out of it; got no list"
        raise ConfigError(msg)
    if paths.separator is not None and not (paths.separator.strip() or paths.separator == "\t"):
        msg = f'{where} separator: expected what stands between ids, such as "|", got {paths.separator!r}'
        raise ConfigError(msg)
    if isinstance(paths.documents, dict) and (unknown := paths.documents.keys() - {"path", "value", *_KEYS}):
        wanted = f"path, and {', '.join(_KEYS)} where their keys are not known"
        msg = f"{where} documents: expected {wanted}; got {', '.join(map(repr, sorted(unknown)))}"
        raise ConfigError(msg)
    if paths.date_format is not None and (wrong := _wrong_date_format(paths.date_format)):
        msg = f'{where} date_format: expected how a whole date is written, such as "%d.%m.%Y %H:%M:%S"; {wrong}'
        raise ConfigError(msg)


def _wrong_date_format(text: str) -> str:
    """Say what is wrong with a date format; empty for one that gives back the day that it was written from."""
    if len(text) > MAX_DATE_FORMAT:
        return f"got {len(text)} characters"
    unknown = [part[1] for part in _DIRECTIVE.finditer(text) if part[1] not in _DIRECTIVES or not part[1]]
    if unknown:
        return f"got {text!r}, in which %{unknown[0]} means nothing; there are %{' %'.join(sorted(_DIRECTIVES))}"
    read = _parsed(_TRIED.strftime(text), text)
    if read is None or read.date() != _TRIED.date():
        return f"got {text!r}, which does not name day, month and year once each"
    return ""


def _turn(paths: _TurnPaths, where: Sequence[Record], assumed: Assumed) -> TurnFields:
    role = value_of(paths.role, where)
    given = {
        "conversation_id": value_of(paths.conversation_id, where),
        "role": role,
        "text": value_of(paths.text, where),
    }
    for field, value in given.items():
        if value is None:
            assumed[f"{_LACKING}{field} = {_path(getattr(paths, field))}"] += 1
            detail = f"expected the {field} at {_path(getattr(paths, field))}, got nothing there"
            raise Refused(Reason.MISSING_FIELD, detail)
    time = _time(paths, where)
    if time is None:
        assumed[f"{_LACKING}timestamp = {_path(paths.timestamp)}"] += 1
        raise Refused(Reason.BAD_TIMESTAMP, f"expected a time at {_path(paths.timestamp)}, got nothing there")
    known = role_of(role)
    if known is None:
        raise _unknown_role(paths.role, role)
    metadata: dict[str, Any] = {}
    turn: TurnFields = {
        "conversation_id": bounded_id(str(given["conversation_id"])),
        "turn_id": _id(value_of(paths.turn_id, where)),
        "role": known,
        "text": text_of(_blocks(given["text"]), metadata, assumed),
        "timestamp": timestamp(time),
        **_more(paths, where, assumed),
    }
    cited = items(value_of(paths.citations, where))
    metadata |= {"citations": cited} if cited else {}
    documents = _documents(paths, where, assumed)
    return turn | ({"retrieved": documents} if documents else {}) | ({"metadata": metadata} if metadata else {})


def _blocks(value: Any) -> Any:
    """Return the blocks of a text that a database keeps as JSON in a string; any other text as it is."""
    read = nested(value) if isinstance(value, str) and value.startswith("[{") else None
    are_blocks = isinstance(read, list) and all(isinstance(part, dict) and "type" in part for part in read)
    return read if are_blocks else value


def _exchange(paths: _ExchangePaths, where: Sequence[Record], assumed: Assumed) -> Call:
    for field in ("question", "answer", "conversation_id", "timestamp"):
        path = getattr(paths, field)
        if path is not None and value_of(path, where) is None:
            assumed[f"{_LACKING}{field} = {_path(path)}"] += 1
    conversation, named = value_of(paths.conversation_id, where), value_of(paths.turn_id, where)
    texts = [text_of(value_of(path, where) or "", {}, assumed) for path in (paths.question, paths.answer)]
    time, cited = _time(paths, where), items(value_of(paths.citations, where))
    metadata = {"citations": cited} if cited else None
    fields = _more(paths, where, assumed)
    vote = fields.pop("vote", None)
    beside = {} if vote is None else {"vote": vote}
    return Call(
        origin=f"mapping:{_id(named)}",
        conversation=None if conversation is None else bounded_id(str(conversation)),
        start=time,
        end=None if time is None else time,
        inputs=[Message("user", texts[0])],
        outputs=[Message("assistant", texts[1], metadata=metadata, fields=beside)],
        documents=_documents(paths, where, assumed),
        fields=fields,
    )


def _time(paths: _Fields, where: Sequence[Record]) -> float | None:
    """Return the time, None where there is nothing; raises Refused for what is written otherwise."""
    value = value_of(paths.timestamp, where)
    if value is None or value == "":
        return None
    written = paths.date_format
    time = seconds(value) if written is None else read_date(value, written) if isinstance(value, str) else None
    if time is None:
        wanted = "in ISO 8601, or as a number" if written is None else f"written as {written}"
        hint = '; try date_format = "%d.%m.%Y %H:%M:%S", or how it is written here' if written is None else ""
        detail = f"expected a time at {_path(paths.timestamp)} {wanted}, got another"
        raise Refused(Reason.BAD_TIMESTAMP, detail, actual=f"{str(value)[:_SHOWN]!r}{hint}")
    return time


def _documents(paths: _Fields, where: Sequence[Record], assumed: Assumed) -> list[dict[str, Any]]:
    value = value_of(paths.documents, where)
    if paths.separator is not None and isinstance(value, str) and not isinstance(nested(value), list | dict):
        parts = (part.strip() for part in value.split(paths.separator))
        value = [{"doc_id": part} if len(part) <= MAX_SEPARATED else part for part in parts if part]
    value = nested(value)
    listed = [_renamed(item, paths.documents) for item in value] if isinstance(value, list) else value
    if isinstance(listed, list):
        for item in listed:
            if isinstance(item, dict) and item and read_document(item) is None:
                keys = ", ".join(describe_key(key) for key in list(item)[:3]) if len(assumed) < _MANY else "…"
                assumed[f"{_NO_ID}{_path(paths.documents)} (they have {keys})"] += 1
    return read_documents(listed)


def _renamed(item: Any, field: Field | None) -> Any:
    """Return a document under the keys that everybody knows, where the mapping names its own."""
    if not isinstance(field, dict) or not isinstance(item, dict):
        return item
    own = {known: at_path(item, str(field[key])) for key, known in _KEYS.items() if key in field}
    return {**item, **{known: value for known, value in own.items() if value is not None}}


def take_missing(assumed: Assumed) -> list[str]:
    """Subtract from the counts what a mapping cannot do without and no record has, as `field = path`."""
    total = assumed[_ITEMS]
    counted = {what: assumed.pop(what) for what in list(assumed) if what.startswith(_LACKING)}
    absent = {what.removeprefix(_LACKING): n for what, n in counted.items()}
    return [what for what, n in absent.items() if (not total if what.startswith("list = ") else n >= total)]


def take_warnings(assumed: Assumed) -> list[str]:
    """Subtract from the counts what a mapping names in vain: paths to nothing, documents without an id."""
    total, warnings = assumed.pop(_ITEMS, 0), []
    for what, n in list(assumed.items()):
        if what.startswith(_NOTHING):
            del assumed[what]
            if n == total:
                warnings.append(f"{what} in any of {total:,} records; is the mapping's path right?")
        elif what.startswith(_NO_ID):
            del assumed[what]
            path = what.removeprefix(_NO_ID).partition(" (")[0]
            say = f'documents = {{ path = "{path}", id = "…" }}'
            warnings.append(f"{n:,} {what}: left out; say in the mapping which key holds it, {say}")
    return warnings


def _path(field: Field | None) -> str:
    if field is None:
        return "a path; the mapping names none for it"
    return field if isinstance(field, str) else str(field.get("path"))


def _unknown_role(field: Field, role: object) -> Refused:
    """Refuse a role that is none of ours, and say how the mapping gives it a meaning."""
    word = str(role)[:_SHOWN]
    quoted = word if word.isalnum() and word.isascii() else f'"{word}"'
    detail = f"expected a role at {_path(field)} that is known, got one that is not"
    way_out = f'{word!r}; if it is the user: role = {{ path = "{_path(field)}", {quoted} = "user" }}'
    return Refused(Reason.UNKNOWN_ROLE, detail, actual=way_out)


def describe_key(key: object) -> str:
    """Return the name of a field as one short line."""
    return "".join(char if char.isprintable() else " " for char in str(key)[:_SHOWN])


def _more(paths: _Fields, where: Sequence[Record], assumed: Assumed) -> dict[str, Any]:
    for field in _OPTIONAL:
        path = getattr(paths, field)
        if path is not None and value_of(path, where) is None:
            assumed[f"{_NOTHING}{field} = {_path(path)}"] += 1
    values = {field: short_name(value_of(getattr(paths, field), where)) for field in _SHORT}
    vote = value_of(paths.vote, where)
    vote = {"1": 1, "up": 1, "true": 1, "-1": -1, "0": -1, "down": -1, "false": -1}.get(str(vote).lower())
    return {key: value for key, value in {**values, "vote": vote}.items() if value is not None}


def value_of(field: Field | None, where: Sequence[Record]) -> Any:
    """Return what a field's path leads to, in the words of the mapping where it has some."""
    if field is None:
        return None
    words: Mapping[str, Any] = {} if isinstance(field, str) else field
    if "value" in words:
        return words["value"]
    path = field if isinstance(field, str) else str(words.get("path", ""))
    if path.startswith(_OUTSIDE):
        path, where = _outside(path, where)
    value = next((value for record in where if (value := at_path(record, path)) is not None), None)
    return words.get(str(value), value) if words and not isinstance(value, list | dict) else value


def _outside(path: str, where: Sequence[Record]) -> tuple[str, Sequence[Record]]:
    """Return a path without its ../, and what holds the list; each further one leads out of a list that holds that."""
    path, where = path.removeprefix(_OUTSIDE), where[1:]
    while path.startswith(_OUTSIDE):
        star = next((at for at, record in enumerate(where) if record.keys() == {"*"}), len(where))
        path, where = path.removeprefix(_OUTSIDE), where[star + 1 :]
    return path, where


def _id(value: object) -> str:
    return "" if value is None else bounded_id(str(value))
