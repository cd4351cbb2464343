"""Proposing: a first mapping for records of an unknown kind, every guess under the values that it saw."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.errors import ConfigError, Refused
from turnsignal.stream.formats.documents import read_document
from turnsignal.stream.formats.doubts import doubts_of
from turnsignal.stream.formats.hints import HINTS, are_speakers, is_id, may_be_id, paths_like, speaker_of
from turnsignal.stream.formats.mapping import FormatMapping, items_of, parse_format_mapping, read_date, value_of
from turnsignal.stream.formats.messages import role_of
from turnsignal.stream.formats.protocol import Call, Record, TurnFields
from turnsignal.stream.formats.values import items, nested, seconds
from turnsignal.stream.text.toml import write_value as toml
from turnsignal.stream.text.visible import one_line

_DEPTH = 5
_SEPARATORS = ("|", ";", ",")
#: How dates are written that are neither ISO 8601 nor numbers, the likeliest first; each also with a time behind it.
_DATES = ("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d/%m/%y", "%m/%d/%y")
_CLOCKS = ("", " %H:%M:%S", " %H:%M", ", %H:%M:%S", ", %H:%M", " %I:%M:%S %p", " %I:%M %p", ", %I:%M %p")
DATE_FORMATS = (*(date + clock for date in _DATES for clock in _CLOCKS), "%d/%b/%Y:%H:%M:%S %z", "%d %b %Y %H:%M:%S")
DATE_FORMATS += ("%a, %d %b %Y %H:%M:%S %z", "%a %b %d %H:%M:%S %Y")
_SEEN = 3  #: values that are shown of a path
_TRIED = 10  #: records in which lists are looked for
_TRIED_LISTS = 16  #: that are tried, those within fewer lists first
_ENOUGH = 0.8  #: of the records that a mapping should read
_OF_ITEMS = ("role", "text", "question", "answer", "documents", "turn_id")  #: that stand in the items of a list


class ProposedMapping(NamedTuple):
    """A mapping as TOML, and how it did on the records that it was made of.

    read: records that give what was said, or items of their list; of: how many there are; doubts: in sentences.
    """

    text: str
    read: int
    of: int
    doubts: list[str]

    @property
    def is_poor(self) -> bool:
        """Whether it leaves out so much that nobody should use it unread."""
        return self.read < _ENOUGH * self.of


def propose_mapping(sample: Sequence[Record], origin: str) -> ProposedMapping:
    """Write a mapping as commented TOML for the first records of a file; what nothing was recognised for says so.

    Turns may stand in a list of each record: of all lists, and the records themselves, what can be read best is taken.
    """
    lists = sorted({path for record in sample[:_TRIED] for path in _lists(record)}, key=_nearness)
    proposed = [_propose(sample, origin, path) for path in ((), *((path,) for path in lists[:_TRIED_LISTS]))]
    return max(proposed, key=lambda each: (not each.is_poor, each.read))


def _nearness(path: str) -> tuple[int, str]:
    return path.count("*"), path


def _propose(sample: Sequence[Record], origin: str, listed: tuple[str, ...]) -> ProposedMapping:
    """Write a mapping for records, or for the items of lists in each."""
    wheres = [where for record in sample for where in (items_of(record, listed) if listed else [(record,)])]
    inner, outer = _columns([where[:1] for where in wheres]), _columns([where[1:] for where in wheres], listed)
    outer = {f"../{path}" if path in inner else path: values for path, values in outer.items()}
    seen = {**outer, **inner}
    role = next((path for path in paths_like(inner, "role") if are_speakers(inner[path])), None)
    wanted = ["role", "text"] if role else ["question", "answer"]
    holders = len({id(where[1]) for where in wheres}) if listed else 0
    taken: dict[str, str] = {}
    for field in ("conversation_id", "timestamp", *wanted, "documents", "turn_id", *list(HINTS)[8:]):
        among = paths_like(inner, field) + ([] if field in _OF_ITEMS else paths_like(outer, field))
        if field == "conversation_id":
            among = _ids(inner, outer, len(wheres), holders, is_turn=role is not None)
        elif field == "text" and not among:
            among = _longest_texts(inner)
        for path in [role] if field == "role" and role else among:
            if path in taken.values() or not _fits(field, seen[path]):
                continue
            if field == "turn_id" and not _is_unique(seen[path], _count_speaking(wheres, role, taken.get("text"))):
                continue
            taken[field] = path
            break
    regular = [path for path, values in outer.items() if len(values) * 2 >= len(wheres) and _is_said(values)]
    if role and len(listed) == 1 and (beside := _beside(outer, regular, role, taken.get("text"))):
        keys = [path.partition(".")[0] for path in (beside, *listed)]
        is_first = next((key for key in sample[0] if key in keys), keys[0]) == keys[0]
        return _propose(sample, origin, (beside, *listed) if is_first else (*listed, beside))
    wheres = [where for where in wheres if _speaks(where, role, taken.get("text"))]
    lines = ["[turns]" if role else "[exchanges]"]
    if listed:
        lines.append(f"list = {toml(listed[0] if len(listed) == 1 else list(listed))}")
    for field in ("conversation_id", *wanted, "timestamp", "turn_id", "documents", *list(HINTS)[8:]):
        if field == "role" and role:
            lines += [f"# {_examples(seen[role])}", *_role_lines(role, wheres, taken.get("conversation_id"))]
        elif field in taken:
            lines += [f"# {_examples(seen[taken[field]])}", *_lines_of(field, taken[field], seen[taken[field]])]
        elif field in ("conversation_id", "timestamp", *wanted):
            lines.append(f'# {field} = "…"   # not recognised')
    rest = [path for path in seen if path not in taken.values()]
    lines += ["", "# Not used:", *(f"# {one_line(path, 120)}: {_examples(seen[path])}" for path in rest[:50])]
    read = _read_once("\n".join(lines), sample)
    doubts = [*_unclear_dates(taken, seen), *doubts_of(read, taken.get("conversation_id"), wheres, holders)]
    if listed and (unread := next((path for path in paths_like(outer, "text") if path in regular), None)):
        doubts.append(f"{unread.removeprefix('../')} stands beside the list and is not read; is it a turn, too?")
    head = [
        f"# Proposed by `turnsignal convert --propose` for {one_line(origin, 120)}: read it before you use it.",
        *(f"# Doubtful: {one_line(doubt, 200)}" for doubt in doubts),
        "# Above each line stand values that were seen there.",
    ]
    return ProposedMapping("\n".join((*head, *lines)) + "\n", len(read), len(wheres), doubts)


def _ids(
    inner: Mapping[str, Sequence[Any]], outer: Mapping[str, Sequence[Any]], of: int, holders: int, *, is_turn: bool
) -> list[str]:
    """Return the paths that may be the conversation's id, the likest first; of: items, holders: of their lists.

    One that is the same everywhere merges all, and one that differs everywhere tears all apart: both come last.
    """

    def how_many(seen: Mapping[str, Sequence[Any]], path: str) -> int:
        return len(set(map(str, seen[path]))) if len(seen[path]) * 2 >= of else 0

    def likest(path: str) -> int:
        n = how_many(inner, path)
        if n == 0:
            return 3
        return 0 if 1 < n < of else 2 if (n == 1) != is_turn else 1

    own = sorted(paths_like(inner, "conversation_id"), key=likest)
    if not holders:
        return own
    telling = [path for path in outer if how_many(outer, path) > (holders > 1) and may_be_id(path)]
    telling.sort(key=lambda path: -how_many(outer, path))
    hinted = [path for path in paths_like(outer, "conversation_id") if path in telling]
    named = [path for path in telling if is_id(path)]
    keys = [path for path in ("*", "../*") if path in outer]
    given = [path for path in keys if not _is_unique(outer[path], of) and isinstance(outer[path][0], str)]
    is_own = bool(own) and likest(own[0]) == 0
    rest = [path for path in telling if how_many(outer, path) * 2 >= holders and path not in keys]
    return [*hinted, *given, *(own if is_own else []), *named, *rest, *own, *keys]


def _beside(outer: Mapping[str, Any], regular: Sequence[str], role: str, text: str | None) -> str | None:
    """Return the path of an object that stands beside a list and is like its items, as what was said first may be."""
    for path in regular:
        before = path.removesuffix(f".{text}")
        if before != path and f"{before}.{role}" in outer and not path.startswith("../"):
            return before
    return None


def _is_said(values: Sequence[Any]) -> bool:
    """Say whether values are texts that people wrote, and hardly one twice."""
    texts = [value for value in values if isinstance(value, str)]
    return bool(texts) and sum(" " in text for text in texts) >= _ENOUGH * len(texts)


def _speaks(where: Sequence[Any], role: str | None, text: str | None) -> bool:
    """Say whether an item has what a mapping reads a turn by; those that have nothing of it are left out of a list."""
    holders = [part for part in where if isinstance(part, Mapping)]
    paths = [path for path in (role, text) if path is not None]
    return role is None or len(where) == 1 or any(value_of(path, holders) is not None for path in paths)


def _count_speaking(wheres: Sequence[Sequence[Any]], role: str | None, text: str | None) -> int:
    return sum(_speaks(where, role, text) for where in wheres)


def _columns(wheres: Sequence[Sequence[Any]], listed: Sequence[str] = ()) -> dict[str, list[Any]]:
    """Return path → values over many records; listed: lists whose own parts are left out."""
    inside = [part.strip(".") for path in listed for part in path.split("*") if part.strip(".")]
    seen: dict[str, list[Any]] = {}
    for where in wheres:
        nearest: dict[str, Any] = {}
        for holder in where:
            for path, value in _flat(holder) if isinstance(holder, Mapping) else ():
                if not any(path == part or path.startswith(f"{part}.") for part in inside):
                    nearest.setdefault(path, value)
        for path, value in nearest.items():
            seen.setdefault(path, []).append(value)
    return seen


def _lists(record: Mapping[str, Any], before: str = "", depth: int = 0) -> Iterator[str]:
    """Give the paths of lists of objects within a record; an object whose values are all alike is one, too."""
    for key, given in record.items():
        value, path = nested(given), f"{before}{key}"
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            yield path
            for inner in value[:_SEEN] if depth < _DEPTH else ():
                yield from _lists(inner, f"{path}.*.", depth + 1)
        elif isinstance(value, dict) and depth < _DEPTH:
            if _is_keyed(value):
                yield f"{path}.*"
                for inner in list(value.values())[:_SEEN]:
                    yield from _lists(inner, f"{path}.*.", depth + 1)
            else:
                yield from _lists(value, f"{path}.", depth + 1)


def _is_keyed(value: Mapping[str, Any]) -> bool:
    """Say whether the keys of an object are ids: two or more, whose values are objects with the same keys."""
    inner = list(value.values())
    if len(inner) < 2 or not all(isinstance(each, dict) and each for each in inner):
        return False
    shared = set(inner[0]).intersection(*inner[1:])
    return len(shared) * 2 >= max(map(len, inner))


def _is_unique(values: Sequence[Any], of: int) -> bool:
    return len({str(value) for value in values if value != ""}) == of


def _longest_texts(seen: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the paths that hold sentences, the longest first."""
    sentences = {
        path: sum(len(str(value)) for value in values) / len(values)
        for path, values in seen.items()
        if not _are_times(values) and _share(values, lambda value: " " in str(value) and not isinstance(value, dict))
    }
    return sorted(sentences, key=lambda path: -sentences[path])


def _read_once(text: str, sample: Sequence[Record]) -> list[Call | TurnFields]:
    """Return the turns or exchanges that a mapping reads whole, each id once."""
    try:
        mapping = parse_format_mapping(text, "proposed")
    except ConfigError:
        return []
    whole = (part for part in _read_all(mapping, sample) if _is_whole(part))
    return list({_id_of(part) or f"\0{number}": part for number, part in enumerate(whole)}.values())


def _read_all(mapping: FormatMapping, sample: Sequence[Record]) -> Iterator[Call | TurnFields]:
    for record in sample:
        try:
            yield from mapping.read(record, Counter())
        except Refused:
            continue


def _is_whole(part: Call | TurnFields) -> bool:
    if isinstance(part, Call):
        return all(message.text.strip() for message in (*part.inputs, *part.outputs))
    return bool(part["text"].strip())


def _id_of(part: Call | TurnFields) -> str:
    return part.origin.removeprefix("mapping:") if isinstance(part, Call) else str(part["turn_id"])


def _unclear_dates(taken: Mapping[str, str], seen: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    values = seen[taken["timestamp"]] if "timestamp" in taken else []
    if values and not _are_times(values) and len(formats := _date_formats(values)) > 1:
        yield (
            f"days and months cannot be told apart in {one_line(str(values[0]), 40)!r}: it was taken for "
            f"{formats[0]}, and could be {formats[1]}; see date_format in the mapping"
        )


def _lines_of(field: str, path: str, values: Sequence[Any]) -> Iterator[str]:
    """Give the line of a field, and what the mapping has to know beside it."""
    key = _id_key(values) if field == "documents" else None
    yield f"{field} = {toml(path)}" if key is None else f"{field} = {{ path = {toml(path)}, id = {toml(key)} }}"
    if field == "timestamp" and not _are_times(values):
        chosen, *others = _date_formats(values)
        if others:
            yield f"# Days and months cannot be told apart in these values; it could also be {toml(others[0])}."
        yield f"date_format = {toml(chosen)}"
    if field == "documents" and not _are_lists(values):
        yield f"separator = {toml(_separator(values) or _SEPARATORS[0])}"


def _role_lines(path: str, wheres: Sequence[Sequence[Any]], conversation: str | None) -> Iterator[str]:
    """Give the line of the role, with the words that mean one; the one that never begins is the assistant's."""
    words: dict[str, None] = {}
    begun: dict[object, str] = {}
    for where in wheres:
        holders = [part for part in where if isinstance(part, Mapping)]
        if (word := value_of(path, holders)) is not None:
            words[str(word)] = None
            begun.setdefault(str(value_of(conversation, holders)), str(word))
    guesses = {word: speaker_of(word) for word in words if role_of(word) is None}
    unknown = [word for word, role in guesses.items() if role is None]
    roles = {role_of(word) or guesses[word] for word in words}
    never = [word for word in unknown if word not in begun.values()]
    if unknown:
        shown = ", ".join(toml(word) for word in unknown)
        meant = "assistant" if unknown[0] in never else "user"
        example = f'role = {{ path = {toml(path)}, {toml(unknown[0])} = "{meant}" }}'
        yield f"# Not known: {shown}. Say what each is: {example}"
    if len(unknown) == 1 and never and "assistant" not in roles:
        yield f"# {toml(never[0])} never begins a conversation, and is taken for the assistant."
        guesses[never[0]] = "assistant"
    known = "".join(f", {toml(word)} = {toml(role)}" for word, role in guesses.items() if role is not None)
    yield f"role = {{ path = {toml(path)}{known} }}" if known else f"role = {toml(path)}"


def _flat(record: Mapping[str, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        path = f"{before}{key}"
        if isinstance(value, dict) and depth < _DEPTH:
            yield from _flat(value, f"{path}.", depth + 1)
        elif value is not None:
            yield path, value


def _fits(field: str, values: Sequence[Any]) -> bool:
    if field == "timestamp":
        return _are_times(values) or bool(_date_formats(values))
    if field == "documents":
        return _are_lists(values) or _separator(values) is not None
    if field in ("text", "question", "answer"):
        return _share(values, lambda value: isinstance(value, str | list))
    if field == "conversation_id" and _share(values, lambda value: value == "" or _is_date(value)):
        return False
    is_short = _share(values, lambda value: isinstance(value, str | int) and len(str(value)) < 200)
    return is_short and not any(isinstance(value, bool) for value in values)


def _are_times(values: Sequence[Any]) -> bool:
    return _share(values, lambda value: seconds(value) is not None and len(str(value)) > 7)


def _is_date(value: object) -> bool:
    return isinstance(value, str) and ("-" in value or ":" in value) and seconds(value) is not None


def _date_formats(values: Sequence[Any]) -> list[str]:
    """Return the formats in which all values are dates, the likeliest first: with AM and PM months come first."""
    formats = sorted(DATE_FORMATS, key=lambda each: "%p" in each and not each.startswith("%m"))
    return [
        each
        for each in formats
        if values and all(isinstance(value, str) and read_date(value, each) is not None for value in values)
    ]


def _are_lists(values: Sequence[Any]) -> bool:
    return _share(values, lambda value: isinstance(value, list) or str(value).startswith("["))


def _id_key(values: Sequence[Any]) -> str | None:
    """Return the key that holds the ids of documents, None where it is known or there is none."""
    documents = [item for value in values for item in items(value) if isinstance(item, dict)]
    if not documents or any(read_document(document) is not None for document in documents):
        return None
    for key in documents[0]:
        named = [document.get(key) for document in documents]
        if all(isinstance(name, str | int) and not isinstance(name, bool) and " " not in str(name) for name in named):
            return str(key)
    return None


def _separator(values: Sequence[Any]) -> str | None:
    """Return what stands between ids in texts that hold nothing else; None where they do, or are no texts."""
    for separator in _SEPARATORS:
        texts = [value for value in values if isinstance(value, str)]
        parts = [part.strip() for text in texts for part in text.split(separator)]
        are_ids = len(texts) == len(values) and all(part and not any(map(str.isspace, part)) for part in parts)
        if are_ids and len(parts) > len(texts):
            return separator
    return None


def _share(values: Sequence[Any], test: Any) -> bool:
    return bool(values) and sum(map(bool, map(test, values))) >= 0.8 * len(values)


def _examples(values: Sequence[Any]) -> str:
    return " · ".join(one_line(str(value), 40) for value in list(dict.fromkeys(map(str, values)))[:_SEEN])
