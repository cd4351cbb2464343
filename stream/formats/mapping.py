"""Any JSON or CSV, by a mapping in TOML: which path of a record holds which field of a turn.

    [turns]                                    # one record is one turn
    conversation_id = "session.id"             # a path; a key that holds dots itself is fine; or several, where ids
                                               # count anew for each: ["tenant_id", "conversation_id"]
    role = { path = "kind", human = "user" }   # values that mean a role; those that everybody knows need no word;
                                               # "*" = "user" stands for all others, as where speakers have names
    text = "body.text"                         # or several paths, of which the first that says something is read
    timestamp = "at"                           # ISO 8601, or a number of seconds or milliseconds since 1970
    turn_id = "id"                             # left out: the file and line
    date_format = "%d.%m.%Y %H:%M"             # left out; or: how times are written otherwise
    zone = "Europe/Berlin"                     # left out, UTC; or: whose times are that name no zone. Of an hour that
                                               # comes twice in autumn, the first is taken; how many is said
    documents = "context.hits"                 # a list of ids, texts, or objects with an id; or, where it is not known
                                               # { path = "context.hits", id = "ref" }, also text, title, url, score
    order = "turn_index"                       # without any times: the number by which turns of a conversation are in
                                               # order, or { value = "file" } where they stand in their order
    separator = "|"                            # left out; or: what stands between ids in one text
    version = { value = "2025-06" }            # the same for all
    truth = "labels"                           # labels of a turn, under the names that turns have for them
    hidden = "private"                         # what marks notes among staff, which are left out;
    shown = "is_public"                        # or what marks all else
    list = "events"                            # left out; or: a record holds a list, whose items are the turns;
                                               # "chats.*.events": one of each key, which is conversation_id = "*";
                                               # ["source", "events"]: what stands at several paths
    last = "current_node"                      # where the items of a list are a tree: the id of the last one that
                                               # users see, of which those that lead to it are read

    [exchanges]                                # or: one record is a question and its answer
    question = "prompt"                        # a text; or the messages of a request, with what was said before:
    answer = "completion"                      # "request.messages", and "response" for what came back

Paths within a list are looked for in the item, then in what holds it; "../id" only in what holds the list, and each
further ../ one list further out. What else a turn can carry has its own name.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from turnsignal.stream.errors import ConfigError, Reason, Refused
from turnsignal.stream.formats.bodies import messages_in
from turnsignal.stream.formats.documents import read_document, read_documents
from turnsignal.stream.formats.followed import followed
from turnsignal.stream.formats.human_scores import vote_of
from turnsignal.stream.formats.labels import read_labels
from turnsignal.stream.formats.mapped_speakers import doubt_speakers, role_at
from turnsignal.stream.formats.mapped_times import time_at, times_between
from turnsignal.stream.formats.messages import role_of, said_in, text_of
from turnsignal.stream.formats.paths import (
    DOCUMENT_KEYS,
    OPTIONAL,
    SHORT,
    ExchangePaths,
    Field,
    MappedPaths,
    TurnPaths,
    is_null,
    listed,
    lists_of,
    path_of,
    said_at,
    validate_paths,
    value_of,
)
from turnsignal.stream.formats.protocol import Assumed, Call, Message, Record, TurnFields, split_origin
from turnsignal.stream.formats.rows import is_empty_answer
from turnsignal.stream.formats.unseen import is_marked
from turnsignal.stream.formats.values import at_path, bounded_id, items, nested, short_name, timestamp
from turnsignal.stream.text.toml import parse_toml

MAX_SEPARATED = 120  #: characters of an id between separators; what is longer is a document's text
_SHOWN = 40  #: characters of a value that cannot be read
_MISSING = re.compile(r"Object missing required field `([a-z_]{1,30})` - at `\$\.([a-z]{1,20})`")
_MANY = 100  #: different things that are counted; of more no names are told
_ITEMS = "items that a mapping read"
_BETWEEN = "turns without a time of their own in a list of others that have one, put between their neighbours"
_SILENT = "items of a list that say nothing left out"
_NO_VOTES = 'votes that are neither up nor down (of stars, say what each means: "5" = 1) left out'
_NOTHING = "nothing at "
_LACKING = "records lack "
_NO_ID = "documents without a known id at "


class FormatMapping(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A mapping; one of the two is given. A `LogFormat` of the user's own."""

    turns: TurnPaths | None = None
    exchanges: ExchangePaths | None = None

    def looks_like(self, _: Sequence[Record]) -> str:
        """Recognise nothing: a mapping is always asked for."""
        return ""

    def read(self, record: Record, assumed: Assumed) -> Iterator[Call | TurnFields]:
        """Give the turns, or the exchange, of one record."""
        paths = self.turns or self.exchanges
        if paths is None:
            return
        if paths.list is None:
            if (part := self.read_item((record,), assumed)) is not None:
                yield part
            return
        refused: list[Refused] = []
        for group in lists_of(record, paths.list):
            yield from self._read_group(list(followed(paths.last, group)), assumed, refused)
        if not assumed[_ITEMS]:
            assumed[f"{_LACKING}list = {', '.join(listed(paths.list))}"] += 1
        if refused:  # one item that cannot be read keeps no other back
            assumed["items of a list that could not be read, beside the first left out"] += len(refused) - 1
            raise refused[0]

    def _read_group(
        self, group: Sequence[Sequence[Any]], assumed: Assumed, refused: list[Refused]
    ) -> Iterator[Call | TurnFields]:
        """Give the turns, or exchanges, of one list; what cannot be read is added to those that are refused.

        Turns of which none can have a time are the history of one call: their order is all that is known.
        """
        times = [None] * len(group) if self.turns is None else times_between(self.turns, group)
        histories: dict[str, list[Message]] = {}
        for where, time in zip(group, times, strict=True):
            try:
                part = self.read_item(where, assumed, time)
            except Refused as error:
                refused.append(error)
                continue
            if part is None:
                continue
            if isinstance(part, Call) or "timestamp" in part:
                assumed[_BETWEEN] += time is not None
                yield part
            else:
                histories.setdefault(part["conversation_id"], []).append(_message(part))
        for conversation, messages in histories.items():
            yield Call(origin="mapping:", conversation=conversation, inputs=messages)

    def read_item(self, where: Sequence[Any], assumed: Assumed, time: float | None = None) -> Call | TurnFields | None:
        """Read one record, or one item of a list with what holds it; None for an item that says nothing.

        time: in place of what the record or item has.
        """
        if not isinstance(where[0], dict):
            raise Refused(Reason.WRONG_TYPE, f"expected objects in the mapping's list, got {type(where[0]).__name__}")
        where = [each for each in where if isinstance(each, Mapping)]
        assumed[_ITEMS] += 1
        paths = self.turns or self.exchanges
        if paths is not None and (paths.hidden or paths.shown) and is_marked(paths, where, assumed):
            return None
        if self.exchanges is not None:
            return _exchange(self.exchanges, where, assumed)
        assert self.turns is not None, "a mapping has one of the two"
        text, role = said_at(self.turns.text, where), role_of(value_of(self.turns.role, where))
        if len(where) > 1 and text is None and (role is None or is_null(self.turns.text, where[0])):
            assumed[_SILENT] += 1
            return None
        try:
            return _turn(self.turns, where, assumed, time)
        except Refused:  # of what is for nobody's eyes nothing is missing, such as the node before the first turn
            is_blank = not text.strip() if isinstance(text, str) else isinstance(text, list) and not any(text)
            is_silent = role not in ("user", "assistant") if text is None else is_blank
            if len(where) == 1 or not is_silent:
                raise
            assumed[_SILENT] += 1
            return None

    def origin(self, turn_id: str) -> dict[str, str]:
        """Return the turn's id: it is what the mapping names."""
        return split_origin(f"mapping:{turn_id.removeprefix('mapping:')}", ("turn_id",))


def _message(turn: TurnFields) -> Message:
    """Return a turn without a time as a message of a history."""
    known = ("conversation_id", "turn_id", "role", "text", "retrieved", "metadata")
    return Message(
        turn["role"],
        turn["text"],
        turn["turn_id"] or None,
        documents=turn.get("retrieved", []),
        metadata=turn.get("metadata"),
        fields={key: value for key, value in turn.items() if key not in known},
    )


def parse_format_mapping(text: str, origin: str) -> FormatMapping:
    """Read a mapping from TOML text; raises ConfigError in one line: the key, what was expected, what came."""
    try:
        read = msgspec.convert(parse_toml(text), FormatMapping)
    except tomllib.TOMLDecodeError as error:
        msg = f"{origin}: expected TOML, got a file that does not parse: {error}"
        raise ConfigError(msg) from None
    except msgspec.ValidationError as error:
        problem = _MISSING.sub(r"expected \1 in [\2], got no line for it: name its path", str(error))
        msg = f"{origin}: {problem}; see `turnsignal convert --help`"
        raise ConfigError(msg) from None
    if (read.turns is None) == (read.exchanges is None):
        msg = f"{origin}: expected either [turns] or [exchanges], got {'neither' if read.turns is None else 'both'}"
        raise ConfigError(msg)
    paths = read.turns or read.exchanges
    if paths is not None:
        validate_paths(paths, f"{origin}: [{'turns' if read.turns is not None else 'exchanges'}]")
    return read


def _turn(paths: TurnPaths, where: Sequence[Record], assumed: Assumed, time: float | None) -> TurnFields:
    """Read a turn; one of a list without times has none, anywhere else that is refused."""
    role = value_of(paths.role, where)
    given = {
        "conversation_id": value_of(paths.conversation_id, where),
        "role": role,
        "text": said_at(paths.text, where),
    }
    if given["text"] is None and role_of(role) == "assistant" and is_empty_answer(where[0], _columns(paths.text)):
        given["text"] = ""
    for field, value in given.items():
        if value is None:
            assumed[f"{_LACKING}{field} = {path_of(getattr(paths, field))}"] += 1
            detail = f"expected the {field} at {path_of(getattr(paths, field))}, got nothing there"
            raise Refused(Reason.MISSING_FIELD, detail)
    if isinstance(given["conversation_id"], list | dict):
        detail = f"expected an id at {path_of(paths.conversation_id)}, got {type(given['conversation_id']).__name__}"
        raise Refused(Reason.WRONG_TYPE, detail)
    is_timeless = paths.list is not None and paths.timestamp is None
    time = time_at(paths, where, assumed) if time is None else time
    if time is None and not is_timeless:
        assumed[f"{_LACKING}timestamp = {path_of(paths.timestamp)}"] += 1
        raise Refused(Reason.BAD_TIMESTAMP, f"expected a time at {path_of(paths.timestamp)}, got nothing there")
    known = role_at(paths.role, role, where, assumed)
    metadata: dict[str, Any] = {}
    turn: TurnFields = {
        "conversation_id": bounded_id(str(given["conversation_id"])),
        "turn_id": _id(value_of(paths.turn_id, where)),
        "role": known,
        "text": _text(paths.text, given["text"], metadata, assumed),
        **({} if time is None else {"timestamp": timestamp(time)}),
        **_more(paths, where, assumed),
    }
    cited = items(value_of(paths.citations, where))
    metadata |= {"citations": cited} if cited else {}
    documents = _documents(paths, where, assumed)
    return turn | ({"retrieved": documents} if documents else {}) | ({"metadata": metadata} if metadata else {})


def _columns(text: Field | tuple[str, ...]) -> list[str]:
    """Return the paths that a text is looked for at."""
    return [path_of(path) for path in (text if isinstance(text, tuple) else (text,))]


def _text(field: Field | tuple[str, ...], value: Any, metadata: dict[str, Any], assumed: Assumed) -> str:
    """Return the text at a path; raises Refused for an object, or a list of such, that holds it somewhere else."""
    value = said_in(value)
    if not isinstance(value, str | list | dict):
        return "" if value is None else str(value)
    text = text_of(value, metadata, assumed)
    inside = next((item for item in value if isinstance(item, dict)), {}) if isinstance(value, list) else value
    if not text and isinstance(inside, dict) and inside and "type" not in inside:
        keys = ", ".join(describe_key(key) for key in list(inside)[:3])
        detail = f"expected a text at {path_of(field)}, got an object; try the path of the text within it"
        raise Refused(Reason.WRONG_TYPE, detail, actual=f"it has {keys}")
    return text


def _exchange(paths: ExchangePaths, where: Sequence[Record], assumed: Assumed) -> Call:
    for field in ("question", "answer", "conversation_id", "timestamp"):
        path = getattr(paths, field)
        if path is not None and value_of(path, where) is None:
            assumed[f"{_LACKING}{field} = {path_of(path)}"] += 1
    conversation, named = value_of(paths.conversation_id, where), value_of(paths.turn_id, where)
    inputs = _messages(paths.question, "user", where, assumed)
    before = messages_in(value_of(paths.history, where), assumed)
    is_in = bool(before) and (before[-1].role, before[-1].text.strip()) == ("user", inputs[-1].text.strip())
    outputs = _messages(paths.answer, "assistant", where, assumed)
    time, cited = time_at(paths, where, assumed), items(value_of(paths.citations, where))
    fields = _more(paths, where, assumed)
    of_answer: dict[str, Any] = {name: fields.pop(name) for name in ("vote", "truth") if name in fields}
    for message in outputs[:1]:
        message.metadata = {**(message.metadata or {}), "citations": cited} if cited else message.metadata
        message.fields = of_answer
    return Call(
        origin=f"mapping:{_id(named)}",
        conversation=None if conversation is None else bounded_id(str(conversation)),
        start=time,
        end=None if time is None else time,
        inputs=before if is_in else [*before, *inputs],
        outputs=outputs,
        documents=_documents(paths, where, assumed),
        fields=fields,
    )


def _messages(field: Field, role: str, where: Sequence[Record], assumed: Assumed) -> list[Message]:
    """Return what was asked or answered: a text, or the messages of a whole request or response."""
    value = value_of(field, where)
    counted: Assumed = Counter()
    if isinstance(value, str | list | dict) and (messages := messages_in(value, counted)):
        assumed.update(counted)
        return messages
    return [Message(role, _text(field, value, {}, assumed))]


def _documents(paths: MappedPaths, where: Sequence[Record], assumed: Assumed) -> list[dict[str, Any]]:
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
                assumed[f"{_NO_ID}{path_of(paths.documents)} (they have {keys})"] += 1
    return read_documents(listed)


def _renamed(item: Any, field: Field | None) -> Any:
    """Return a document under the keys that everybody knows, where the mapping names its own."""
    if not isinstance(field, dict) or not isinstance(item, dict):
        return item
    own = {known: at_path(item, str(field[key])) for key, known in DOCUMENT_KEYS.items() if key in field}
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
    return warnings + doubt_speakers(assumed)


def describe_key(key: object) -> str:
    """Return the name of a field as one short line."""
    return "".join(char if char.isprintable() else " " for char in str(key)[:_SHOWN])


def _more(paths: MappedPaths, where: Sequence[Record], assumed: Assumed) -> dict[str, Any]:
    for field in OPTIONAL:
        path = getattr(paths, field)
        if path is not None and value_of(path, where) is None:
            assumed[f"{_NOTHING}{field} = {path_of(path)}"] += 1
    values = {field: short_name(value_of(getattr(paths, field), where)) for field in SHORT}
    voted = value_of(paths.vote, where)
    vote = vote_of(voted)
    if vote is None and voted not in (None, "", "none"):
        assumed[_NO_VOTES] += 1
    truth = read_labels(value_of(paths.truth, where), assumed, paths.separator)
    return {key: value for key, value in {**values, "vote": vote, "truth": truth or None}.items() if value is not None}


def _id(value: object) -> str:
    return "" if value is None else bounded_id(str(value))
