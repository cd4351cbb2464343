"""Paths: where in a record, in an item of its lists, or in what holds that, a field of a mapping stands."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.formats.date_formats import describe_wrong
from turnsignal.stream.formats.messages import role_of
from turnsignal.stream.formats.protocol import Record
from turnsignal.stream.formats.values import at_path, each_at, nested
from turnsignal.stream.formats.zones import zone_of

#: A path; or { path = …, word = …, "*" = … }, the words of the log and what they, and all others, mean; or
#: { value = … }, the same for all.
Field = str | dict[str, str | int | float]
OUTSIDE = "../"  #: before a path that is looked for in what holds the list, and not in its item


OTHERS = "*"  #: among words of the log: all that are not named
BY_FILE: Field = {"value": "file"}  #: as order: records stand in the order in which they were said
SHORT = ("assistant", "version", "model", "platform", "user_id", "environment")
OPTIONAL = (*SHORT, "vote", "citations", "truth", "documents", "turn_id")
_NEEDED = ("conversation_id", "timestamp", "role", "text", "question", "answer", "history")
#: Names that a mapping can give the keys of documents.
DOCUMENT_KEYS = {
    "id": "doc_id",
    "text": "text",
    "title": "title",
    "url": "url",
    "score": "score",
}


class MappedPaths(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The fields that a mapping can name, of turns and of exchanges."""

    conversation_id: Field | tuple[str, ...] | None = None
    turn_id: Field | None = None
    timestamp: Field | None = None
    order: Field | None = None
    documents: Field | None = None
    assistant: Field | None = None
    version: Field | None = None
    model: Field | None = None
    platform: Field | None = None
    user_id: Field | None = None
    environment: Field | None = None
    vote: Field | None = None
    citations: Field | None = None
    truth: Field | None = None
    list: str | tuple[str, ...] | None = None
    last: Field | None = None
    hidden: Field | None = None
    shown: Field | None = None
    separator: str | None = None
    date_format: str | None = None
    zone: str | None = None


class TurnPaths(MappedPaths, kw_only=True, frozen=True):
    """The fields of a turn."""

    role: Field
    text: Field | tuple[str, ...]
    conversation_id: Field | tuple[str, ...]


class ExchangePaths(MappedPaths, kw_only=True, frozen=True):
    """The fields of a question and its answer."""

    question: Field
    answer: Field
    history: Field | None = None


def listed(given: str | Sequence[str]) -> Sequence[str]:
    """Return the paths of a mapping's list, which may be one."""
    return [given] if isinstance(given, str) else given


def items_of(record: Record, given: str | Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Give what stands at the paths of a mapping's list, each item followed by what holds it."""
    for path in listed(given):
        for where in each_at(record, path):
            if isinstance(inside := nested(where[0]), list):  # "chats.*", where each key has a list
                holder: dict[str, Any] = {}
                yield from ((item, holder, *where[1:]) for item in inside)
            else:
                yield where


def lists_of(record: Record, given: str | Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
    """Give the items of a mapping's list as those that one object holds, in their order."""
    group: list[tuple[Any, ...]] = []
    holder: object = None
    for where in items_of(record, given):
        inside = next((each for each in where[1:] if isinstance(each, Mapping) and each.keys() != {"*"}), None)
        if group and inside is not holder:
            yield group
            group = []
        holder = inside
        group.append(where)
    if group:
        yield group


def value_of(field: Field | tuple[str, ...] | None, where: Sequence[Record]) -> Any:
    """Return what a field's path leads to, in the words of the mapping where it has some; of several paths, all."""
    if field is None:
        return None
    if isinstance(field, tuple):
        values = [value_of(path, where) for path in field]
        return (
            None
            if any(value is None or isinstance(value, list | dict) for value in values)
            else "/".join(map(str, values))
        )
    words: Mapping[str, Any] = {} if isinstance(field, str) else field
    if "value" in words:
        return words["value"]
    path = field if isinstance(field, str) else str(words.get("path", ""))
    if path.startswith(OUTSIDE):
        path, where = _outside(path, where)
    value = next((value for record in where if (value := at_path(record, path)) is not None), None)
    if not words or value is None or isinstance(value, list | dict):
        return value
    return words.get(str(value), words.get(OTHERS, value))


def said_at(text: Field | tuple[str, ...] | None, where: Sequence[Record]) -> Any:
    """Return what a text's path leads to; of several paths, the first that leads to anything that is said."""
    if not isinstance(text, tuple):
        return value_of(text, where)
    values = [value_of(path, where) for path in text]
    return next((value for value in values if value not in (None, "", [])), values[0] if values else None)


def _outside(path: str, where: Sequence[Record]) -> tuple[str, Sequence[Record]]:
    """Return a path without its ../, and what holds the list; each further one leads out of a list that holds that."""
    path, where = path.removeprefix(OUTSIDE), where[1:]
    while path.startswith(OUTSIDE):
        star = next((at for at, record in enumerate(where) if record.keys() == {"*"}), len(where))
        path, where = path.removeprefix(OUTSIDE), where[star + 1 :]
    return path, where


def path_of(field: Field | tuple[str, ...] | None) -> str:
    """Return a field's path for a person."""
    if field is None:
        return "a path; the mapping names none for it"
    if isinstance(field, tuple):
        return " and ".join(field)
    return field if isinstance(field, str) else str(field.get("path"))


def validate_paths(paths: MappedPaths, where: str) -> None:
    """Raise ConfigError for paths that cannot be right, whatever the records hold; where: the table's name."""
    for field in paths.__struct_fields__:
        given = getattr(paths, field)
        if isinstance(given, dict) and not given.keys() & {"path", "value"}:
            msg = (
                f'{where} {field}: expected {{ path = "…" }} or {{ value = "…" }}; got {", ".join(given) or "neither"}'
            )
            raise ConfigError(msg)
    if isinstance(paths, TurnPaths) and isinstance(paths.role, dict):
        for word, role in paths.role.items():
            if word != "path" and role_of(role) is None:
                msg = f"{where} role: expected user, assistant, system or tool as what {word!r} means, got {role!r}"
                raise ConfigError(msg)
    if paths.order is not None and (other := "timestamp" if paths.timestamp is not None else paths.list and "list"):
        why = "times are an order" if other == "timestamp" else "items of a list are in the order in which they stand"
        msg = f"{where} order: expected no {other} beside it, because {why}; leave one of them out"
        raise ConfigError(msg)
    if isinstance(paths.order, dict) and "path" not in paths.order and paths.order != BY_FILE:
        msg = f'{where} order: expected a path, or {{ value = "file" }}; got {{ value = {paths.order["value"]!r} }}'
        raise ConfigError(msg)
    outside = [name for name in (*OPTIONAL, *_NEEDED) if path_of(getattr(paths, name, None)).startswith(OUTSIDE)]
    if outside and paths.list is None:
        msg = f"{where} {outside[0]}: expected {OUTSIDE} with a list alone: it leads out of it; got no list"
        raise ConfigError(msg)
    if paths.separator is not None and not (paths.separator.strip() or paths.separator == "\t"):
        msg = f'{where} separator: expected what stands between ids, such as "|", got {paths.separator!r}'
        raise ConfigError(msg)
    if isinstance(paths.documents, dict) and (unknown := paths.documents.keys() - {"path", "value", *DOCUMENT_KEYS}):
        wanted = f"path, and {', '.join(DOCUMENT_KEYS)} where their keys are not known"
        msg = f"{where} documents: expected {wanted}; got {', '.join(map(repr, sorted(unknown)))}"
        raise ConfigError(msg)
    if paths.date_format is not None and (wrong := describe_wrong(paths.date_format)):
        msg = f'{where} date_format: expected how a whole date is written, such as "%d.%m.%Y %H:%M:%S"; {wrong}'
        raise ConfigError(msg)
    try:
        zone_of(paths.zone)
    except ConfigError as error:
        msg = f"{where} zone: {error}"
        raise ConfigError(msg) from None


def is_null(text: Field | tuple[str, ...], item: Mapping[str, Any]) -> bool:
    """Say whether an item has the key of its text, and nothing there: an event, at which nobody speaks."""
    for path in text if isinstance(text, tuple) else (text,):
        before, _, key = str(path if isinstance(path, str) else path.get("path", "")).rpartition(".")
        holder = at_path(item, before) if before else item
        if not isinstance(holder, Mapping) or holder.get(key, "") is not None:
            return False
    return True
