"""Recognising: by its first records, what format a file is in; or the way out where nobody can tell."""

import re
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from turnsignal.agents.files.blocks import read_blocks
from turnsignal.agents.files.containers import SAMPLED_BYTES, Kind, kind_of, piped, read_items, sample_of, why_unread
from turnsignal.agents.files.keyed_records import is_id, keyed_records
from turnsignal.agents.files.rewriting import refuse_rewritable
from turnsignal.stream.errors import ConfigError, Reason, Refused, TurnsignalError, describe_unreadable
from turnsignal.stream.formats import FORMATS, OWN, reader_of, recognise
from turnsignal.stream.formats.agent_messages import is_agent_message
from turnsignal.stream.formats.envelopes import Opened, holds_history, open_envelopes, read_whole
from turnsignal.stream.formats.mapping import parse_format_mapping
from turnsignal.stream.formats.messages import role_of
from turnsignal.stream.formats.protocol import LogFormat
from turnsignal.stream.formats.times import BEGAN
from turnsignal.stream.formats.values import conversation_of, first, nested, owner_of
from turnsignal.stream.formats.vendors import VENDORS
from turnsignal.stream.text.loose_json import load_json
from turnsignal.stream.text.visible import one_line

_LINES = 20  #: that are looked at to say what a file is not
_LINE_BYTES = 400  #: of each of them
_TEXT_LINE = re.compile(rb"[^\s{\[\"0-9-]|[0-9][^,;\t]*[^\W\d]|\[[^\]{\"]*\]\s*[^\s,\]]|-")
_FROM_THE_BRACE = "sed -n 's/^[^{]*{/{/p'"
_LETTER = re.compile(rb"[^\W\d]{2}")
_KEY_CHARACTERS = 60  #: of a name that is told
_OF_SPANS = {"otel", "adk", "openinference", "openllmetry"}  #: formats of spans, never loose messages
_LOOKED_AT = 20_000  #: records among which the first of a model is looked for in logs of everything
_LATER = 50  #: records that may be of a model, by which such a log is recognised
_OF_MODELS = re.compile(rb'messages|choices|gen_ai|llm|openinference|traceloop|langfuse|role\\*"')
_SHOWN_KEYS = 8  #: names of fields that are told of a file that nobody knows
_LISTS = ("runs", "data", "traces", "observations", "items", "results", "turns", "conversations", "scores")
_TURN = '{"conversation_id": "c1", "turn_id": "1", "role": "user", "text": "Hi", "timestamp": "2026-11-18T09:00:00Z"}'


class HowToRead(NamedTuple):
    """What the user says of the files. format: a name of `FORMATS`, None to find out; mapping: a format of his own.

    strict: files of turns, one a line, exactly as a topic takes them; mapping_file: where the mapping stands;
    user_key: secret with which user ids become digests, None leaves them as they are; keeps_asides: calls whose answers
    come back in no history are turns, too; mapping_text: what the mapping says.
    """

    format: str | None = None
    mapping: LogFormat | None = None
    strict: bool = False
    mapping_file: Path | None = None
    user_key: bytes | None = None
    keeps_asides: bool = False
    mapping_text: str | None = None

    @property
    def identity(self) -> tuple[object, ...]:
        """What is equal where the same files are read in the same way, wherever the mapping stands."""
        return self.format, self.mapping_text, self.strict, self.user_key, self.keeps_asides

    def as_json(self) -> dict[str, str]:
        """Return what `from_json` takes to read the same files the same way again; nothing where nothing was said."""
        described = {
            "format": self.format,
            "mapping": None if self.mapping_file is None else str(self.mapping_file),
            "mapping_text": self.mapping_text,
        }
        return {key: value for key, value in described.items() if value is not None}

    @classmethod
    def from_json(cls, described: Mapping[str, str]) -> "HowToRead":
        """Put together how files were read, whatever has become of the mapping since.

        Raises ConfigError where that is not known.
        """
        mapping, text = described.get("mapping"), described.get("mapping_text")
        if mapping is None or text is None:  # results of earlier versions name the mapping alone
            return read_how(described.get("format"), None if mapping is None else Path(mapping))
        return cls(mapping=parse_format_mapping(text, mapping), mapping_file=Path(mapping), mapping_text=text)


def read_how(format_name: str | None, mapping: Path | None, *, strict: bool = False) -> HowToRead:
    """Put together what the user said of files; raises ConfigError when it does not go together."""
    if sum((format_name is not None, mapping is not None, strict)) > 1:
        raise ConfigError("a format, a mapping and strict reading exclude each other: give one of them")
    if format_name is not None and format_name not in FORMATS:
        msg = f"format: expected one of {', '.join(FORMATS)}; got {format_name!r}"
        raise ConfigError(msg)
    if mapping is None:
        return HowToRead(format_name, None, strict)
    try:
        text = mapping.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{mapping}: expected a mapping in TOML, got {describe_unreadable(error)}"
        raise ConfigError(msg) from None
    return HowToRead(None, parse_format_mapping(text, str(mapping)), strict, mapping, mapping_text=text)


def choose_format(path: Path, how: HowToRead) -> tuple[Kind, str, LogFormat, str]:
    """Say how a file holds its records, the name of its format, the format, and by what it was recognised.

    Raises ConfigError when several formats fit, TurnsignalError when none does and no line could be one of ours.
    """
    kind = kind_of(path)
    if how.mapping is not None:
        return kind, "the mapping", how.mapping, f"--mapping; {kind.value}"
    if how.format is not None:
        return kind, *_open_as(how.format, sample_of(path, kind, as_records)), f"--format; {kind.value}"
    if how.strict:
        if kind is not Kind.LINES:
            msg = f"{path}: expected JSON lines, got {kind.value}; leave --strict out, or convert the file first"
            raise ConfigError(msg)
        return kind, OWN, FORMATS[OWN], "--strict"
    sample = sample_of(path, kind, as_records)
    refuse_rewritable(path, kind, sample)
    fitting = recognise(sample)
    if not fitting and sample and all(map(is_bare_message, sample)):
        fitting = recognise([{"messages": sample}])
    chosen, since = reader_of(list(fitting)), ""
    opened = open_envelopes(sample) if _may_be_enveloped(chosen, fitting, sample) else None
    if not fitting and opened is None and sample:
        fitting, chosen, opened, since = _recognise_later(path, kind)
    if opened is not None:
        return kind, opened.name, opened.format, f"{opened.why}{since}; {kind.value}"
    if chosen is not None:
        why = "; ".join(fitting.values()) + _share_of(chosen, fitting, sample)
        return kind, ", ".join(fitting), chosen, f"{why}{since}; {kind.value}"
    if fitting:
        names = ", ".join(f"{name} ({why})" for name, why in fitting.items())
        msg = f"{path}: expected records of one format, got what fits {names}; choose one with --format"
        raise ConfigError(msg)
    if not sample:
        refuse_nothing(path, path, kind)
        _refuse_too_large(path, kind)
    if not sample and kind is not Kind.CSV and _is_plain_text(path):
        way = _json_behind_text(path) or f"which is not read; a turn is a line such as {_TURN}"
        msg = f"{path}: expected JSON or CSV, got plain text, {way}"
        raise TurnsignalError(msg)
    if kind is Kind.LINES and not _is_foreign(sample):
        return kind, OWN, FORMATS[OWN], "nothing else"  # what is wrong with its lines, each line says
    if not sample and (unread := why_unread(path, kind)) is not None:
        msg = f"{path}, {unread}; {kind.value} with no record that can be read"
        raise TurnsignalError(msg)
    named = islice(dict.fromkeys(key for record in sample for key in record), _SHOWN_KEYS)
    keys = ", ".join(one_line(str(key), _KEY_CHARACTERS) for key in named)
    if not keys:
        msg = (
            f"{path}: expected objects with names of fields, got {kind.value} without any; export it with them, as "
            'pandas does with orient="records"'
        )
        raise TurnsignalError(msg)
    msg = (
        f"{path}: expected one of the formats that --format names, got {kind.value} with {keys}; write a mapping with "
        f"`turnsignal convert {shlex.quote(str(path))} --propose mapping.toml`, and give it with --mapping"
    )
    raise TurnsignalError(msg)


def _open_as(name: str, sample: Sequence[Mapping[str, Any]]) -> tuple[str, LogFormat]:
    """Return a format that was asked for, and its name; where its records stand in others, what reads them there."""
    opened = open_envelopes(sample) if not FORMATS[name].looks_like(sample) else None
    return (opened.name, opened.format) if opened is not None and opened.names == [name] else (name, FORMATS[name])


def _may_be_enveloped(
    chosen: LogFormat | None, fitting: Mapping[str, str], sample: Sequence[Mapping[str, Any]]
) -> bool:
    """Say whether records have no format, or one that reads no more than half of what is said in most of them."""
    if chosen is None:
        return not fitting
    if not _OF_SPANS.isdisjoint(fitting):
        return False
    if OWN not in fitting and holds_history(sample):
        return True
    return set(fitting) <= set(VENDORS) and read_whole(chosen, sample) == 0


def _share_of(chosen: LogFormat, fitting: Mapping[str, str], sample: Sequence[Mapping[str, Any]]) -> str:
    """Say of how many of the first records a vendor's format has anything, where it is less than half of them."""
    known = sum(bool(chosen.looks_like([record])) for record in sample) if set(fitting) <= set(VENDORS) else len(sample)
    return f" in {known:,} of the first {len(sample):,} records" if known * 2 < len(sample) else ""


def _recognise_later(path: Path, kind: Kind) -> tuple[dict[str, str], LogFormat | None, Opened | None, str]:
    """Recognise a log in which a service's other records stand before the first one of a model."""
    records: list[dict[str, Any]] = []
    line = size = 0
    for item in islice(read_items(path, kind), _LOOKED_AT):
        if isinstance(item.value, bytes) and _OF_MODELS.search(item.value) is None:
            continue
        try:
            later = as_records(item.load(Counter()))
        except Refused:
            continue
        line = line or item.line
        records += later[:_LATER]
        size += len(item.value) if isinstance(item.value, bytes) else 0
        if len(records) >= _LATER or size > SAMPLED_BYTES:
            break
    fitting = recognise(records)
    chosen = reader_of(list(fitting))
    opened = open_envelopes(records) if _may_be_enveloped(chosen, fitting, records) else None
    return fitting, chosen, opened, f" from line {line:,} on"


def doubt_format(path: Path, kind: Kind, name: str) -> str | None:
    """Say what a file looks like that was said to be of a format and has nothing of it; None where that may be."""
    fitting = recognise(sample_of(path, kind, as_records))
    if not fitting or name in fitting:
        return None
    other, why = next(iter(fitting.items()))
    return f"these do not look like {name}, but like {other}, by {why}: leave --format out"


def as_records(value: Any) -> list[dict[str, Any]]:
    """Return the records that a value is: itself, those of the list that it wraps, or a list of messages as one.

    Raises Refused for what is no object.
    """
    if isinstance(value, dict) and value.keys() <= _CONTAINER_KEYS and {"log", "stream"} <= value.keys():
        value = _logged(value)
    if isinstance(value, list) and value and (all(map(is_bare_message, value)) or all(map(is_agent_message, value))):
        return [{"messages": value}]
    if isinstance(value, list) and all(isinstance(part, dict) for part in value):
        return value
    if isinstance(value, dict) and value and all(_is_conversation(*pair) for pair in value.items()):
        return [{"session_id": named, "messages": messages} for named, messages in value.items()]
    if not isinstance(value, dict):
        raise Refused(Reason.WRONG_TYPE, f"expected a JSON object, got {type(value).__name__}")
    if keyed := keyed_records(value):
        return [{"messages": keyed}] if all(map(is_bare_message, keyed)) else keyed
    if nodes := _nodes_in(value):
        return nodes
    is_record = bool(value.keys() & _RECORD_KEYS) and value.get("object") != "list"
    if is_record or len(value) > _WRAPPER_KEYS:
        return [value]
    return [part for key in _LISTS if _holds_records(value, key) for part in value[key]] or [value]


def _nodes_in(value: Any, depth: int = 0) -> list[dict[str, Any]]:
    """Return what GraphQL has in its connections: {data: {project: {spans: {edges: [{node: …}, …]}}}}."""
    if not isinstance(value, dict) or depth > _NODE_DEPTH or len(value) > _WRAPPER_KEYS:
        return []
    edges = value.get("edges")
    if isinstance(edges, list):
        nodes = [
            next((inner for inner in edge.values() if isinstance(inner, dict)), None)
            for edge in edges
            if isinstance(edge, dict)
        ]
        return [node for node in nodes if node is not None]
    inner = (_nodes_in(inside, depth + 1) for inside in value.values())
    return next(filter(None, inner), [])


def _is_conversation(named: str, messages: Any) -> bool:
    """Say whether a key is an id, and no field's name, and messages stand under it."""
    return is_id(named) and isinstance(messages, list) and bool(messages) and all(map(_is_message, messages))


def _is_message(value: Any) -> bool:
    """Say whether a value is a message: with a role, or as LangChain serialises it with its class."""
    is_serialised = isinstance(value, dict) and "lc" in value and "kwargs" in value
    return is_serialised or is_bare_message(value) or is_agent_message(value)


def _holds_records(value: Mapping[str, Any], key: str) -> bool:
    """Say whether a list stands under a key that is none of messages of the conversation that the record is."""
    parts = value.get(key)
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        return False
    if key == "turns" and any(_speaks(part) and conversation_of(part) is None for part in parts):
        return False
    return key != "conversations" or not any(map(_speaks, parts))


def _speaks(part: Mapping[str, Any]) -> bool:
    """Say whether a part of a list names who says it, so that the list is a conversation."""
    return role_of(first(part, "role", "from", "speaker", "sender", "author")) is not None


def _logged(value: Mapping[str, Any]) -> Any:
    """Return the JSON that a line of a container's log holds, with the line's time where it has none of its own.

    Raises Refused for text, which a program says beside its records.
    """
    inner = nested(value["log"])
    if not isinstance(inner, dict):
        raise Refused(Reason.NOT_JSON, "expected JSON in the log line of a container, got text")
    has_time = not inner.keys().isdisjoint(("created", *BEGAN))
    return inner if has_time or "time" not in value else {**inner, "timestamp": value["time"]}


def holds_lists(path: Path) -> bool:
    """Say whether the first lines of a file are lists of records, or objects around one, so that none is a record."""
    unwrapped: list[bool] = []
    for item in islice(read_items(path, Kind.LINES), _LINES):
        try:
            value = item.load(Counter())
            records = as_records(value)
        except Refused:
            continue
        unwrapped.append(bool(records) and records[0] is not value)
    return bool(unwrapped) and all(unwrapped)


def refuse_nothing(named: Path, path: Path, kind: Kind) -> None:
    """Raise TurnsignalError where an array, or a table, holds no record. named: the file as a person knows it."""
    if kind is not Kind.LINES and next(read_items(path, kind), None) is None:
        what = "CSV with a header alone" if kind is Kind.CSV else f"{kind.value} that is empty"
        what = what if any(block.strip() for block in islice(read_blocks(path), 1)) else "a file that is empty"
        msg = f"{named}: expected records, got {what}: there is nothing to read"
        raise TurnsignalError(msg)


def _refuse_too_large(path: Path, kind: Kind) -> None:
    """Raise TurnsignalError where the first record of a file is larger, or deeper, than any that is read."""
    for item in islice(read_items(path, kind), 1):
        try:
            item.load(Counter())
        except Refused as error:
            if kind is not Kind.LINES and error.reason in (Reason.TOO_LARGE, Reason.TOO_DEEP):
                msg = f"{path}, line {item.line}: {error.reason}: {error.shown}"
                raise TurnsignalError(msg) from None


def _is_plain_text(path: Path) -> bool:
    """Say whether a file holds lines that people wrote: none begins with a quote, a brace or an open bracket."""
    lines = [line[:_LINE_BYTES].strip() for line in _first_lines(path)]
    return any(map(_LETTER.search, lines)) and all(map(_TEXT_LINE.match, lines))


def _json_behind_text(path: Path) -> str | None:
    """Return how to take off what a logger writes before each record; None where half of the lines hold no object."""
    lines = _first_lines(path)
    behind = 0
    for line in lines:
        with suppress(ValueError):
            behind += isinstance(load_json(line[line.index(b"{") :])[0], dict)
    if not behind or 2 * behind < len(lines):
        return None
    return f"with JSON behind it; try: {piped(path, _FROM_THE_BRACE)} > records.jsonl"


def _first_lines(path: Path) -> list[bytes]:
    return [item.value for item in islice(read_items(path, Kind.LINES), _LINES) if isinstance(item.value, bytes)]


def repeated_key(messages: Sequence[Mapping[str, Any]]) -> str | None:
    """Return a field by which messages may belong together; without any they are one conversation."""
    for key in sorted({key for message in messages for key in message} - _SAME_FOR_MANY):
        values = [message.get(key) for message in messages]
        if all(isinstance(value, str | int) for value in values) and 1 < len(set(values)) <= len(values) / 2:
            return key
    return None


#: fields of messages that repeat and tell no conversations apart
_SAME_FOR_MANY = frozenset(
    [
        "role",
        "type",
        "name",
        "model",
        "model_name",
        "version",
        "release",
        "platform",
        "channel",
        "assistant",
        "agent",
        "environment",
        "env",
        "lang",
        "language",
        "status",
        "vote",
        "rating",
        "tokens",
        "finish_reason",
        "content",
        "text",
    ]
)
_CONTAINER_KEYS = {"log", "stream", "time", "attrs"}  #: of Docker's lines
_NODE_DEPTH = 5  #: of objects within objects, in which lists of GraphQL stand
_WRAPPER_KEYS = 6  #: of an object that only holds a list
_RECORD_KEYS = {"id", "trace_id", "traceId", "run_type", "conversation_id", "role", "object", "messages"}


def is_bare_message(value: Any) -> bool:
    """Say whether a record is a message alone, without a word of whose it is."""
    if not isinstance(value, dict) or owner_of(value) is not None or _is_turn_of_none(value):
        return False
    if is_agent_message(value):
        return True
    speaks = role_of(value.get("role", value.get("type")))
    return speaks is not None and ("content" in value or "data" in value or "text" in value)


def _is_turn_of_none(value: dict[str, Any]) -> bool:
    """Say whether a record is a turn of our own without its conversation, of which a file may hold many."""
    return "turn_id" in value or {"text", "timestamp"} <= value.keys()


def _is_foreign(sample: Sequence[dict[str, Any]]) -> bool:
    """Say whether records are whole, and none has a word of our own."""
    own = {"conversation_id", "turn_id", "role", "text"}
    return len(sample) > 0 and not any(own & record.keys() for record in sample)
