"""Proposing: a first mapping for records of an unknown kind, every guess under the values that it saw."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from turnsignal.stream.errors import ConfigError, Refused
from turnsignal.stream.formats.documents import read_document
from turnsignal.stream.formats.mapping import FormatMapping, parse_format_mapping, read_date
from turnsignal.stream.formats.messages import role_of
from turnsignal.stream.formats.protocol import Call, TurnFields
from turnsignal.stream.formats.values import each_at, items, nested, seconds
from turnsignal.stream.text.toml import write_value as toml
from turnsignal.stream.text.visible import one_line

_DEPTH = 5
_SPEAKERS = 6  #: words for who speaks, beyond which a column is not one of roles
_SEPARATORS = ("|", ";", ",")
#: How dates are written that are neither ISO 8601 nor numbers, the likeliest first; each also with a time behind it.
_DATES = ("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d/%m/%y", "%m/%d/%y")
_CLOCKS = ("", " %H:%M:%S", " %H:%M", ", %H:%M:%S", ", %H:%M", " %I:%M:%S %p", " %I:%M %p", ", %I:%M %p")
DATE_FORMATS = (*(date + clock for date in _DATES for clock in _CLOCKS), "%d/%b/%Y:%H:%M:%S %z", "%d %b %Y %H:%M:%S")
DATE_FORMATS += ("%a, %d %b %Y %H:%M:%S %z", "%a %b %d %H:%M:%S %Y")
#: Words for who speaks that logs use beside those that are read without a mapping; guesses, to be read before use.
_SPEAKER_WORDS = {
    **dict.fromkeys(("kunde", "kundin", "nutzer", "nutzerin", "benutzer", "anwender", "besucher", "frager"), "user"),
    **dict.fromkeys(("cliente", "usuario", "utilisateur", "visiteur", "caller", "requester", "q"), "user"),
    **dict.fromkeys(("assistent", "berater", "beraterin", "mitarbeiter", "asistente", "conseiller", "a"), "assistant"),
    **dict.fromkeys(("support", "helpdesk", "chat bot", "robot", "virtual assistant", "copilot"), "assistant"),
    **dict.fromkeys(("in", "inbound", "incoming", "received"), "user"),
    **dict.fromkeys(("out", "outbound", "outgoing"), "assistant"),
}
_SEEN = 3  #: values that are shown of a path
_TRIED = 10  #: records in which lists are looked for, and lists that are tried
_ENOUGH = 0.8  #: of the records that a mapping should read
_OF_ITEMS = ("role", "text", "question", "answer", "documents", "turn_id")  #: that stand in the items of a list
_HINTS = {
    "conversation_id": (
        *("conversation", "session", "thread", "chat", "dialog", "dlg", "ticket", "case", "conv", "gespräch"),
        "gespraech",
        *("konversation", "sitzung", "vorgang", "unterhaltung", "conversación", "conversacion", "sesión", "sesion"),
    ),
    "turn_id": ("turn_id", "message_id", "messageid", "event_id", "id", "uuid"),
    "timestamp": (
        *("timestamp", "time", "created", "date", "ts", "at", "when", "datetime", "sent", "zeit", "zeitstempel"),
        *("datum", "zeitpunkt", "uhrzeit", "fecha", "hora", "heure", "quand"),
    ),
    "question": (
        *("question", "prompt", "query", "input", "user_message", "request", "asked", "frage", "anfrage"),
        *("pregunta", "requête"),
    ),
    "answer": (
        *("answer", "completion", "response", "output", "reply", "bot_message", "generated", "antwort"),
        *("respuesta", "réponse", "reponse"),
    ),
    "text": (
        *("text", "content", "message", "body", "utterance", "msg", "nachricht", "inhalt", "mensaje", "texto"),
        *("texte", "contenu"),
    ),
    "role": (
        *(
            "role",
            "speaker",
            "sender",
            "author",
            "from",
            "who",
            "by",
            "type",
            "kind",
            "direction",
            "rolle",
            "wer",
            "von",
            "absender",
        ),
        *("sprecher", "quién", "quien", "autor", "rol", "qui", "auteur"),
    ),
    "documents": (
        *("documents", "retrieved", "context", "sources", "hits", "chunks", "passages", "docs", "doc_ids"),
        *("dokumente", "quellen", "treffer", "fuentes", "documentos"),
    ),
    "version": ("version", "release"),
    "model": ("model",),
    "assistant": ("assistant", "agent", "bot_name", "app"),
    "platform": ("platform", "channel"),
    "user_id": ("user_id", "userid", "customer_id", "user"),
}


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


def propose_mapping(sample: Sequence[Mapping[str, Any]], origin: str) -> ProposedMapping:
    """Write a mapping as commented TOML for the first records of a file; what nothing was recognised for says so.

    Turns may stand in a list of each record: of all lists, and the records themselves, what can be read best is taken.
    """
    lists = sorted({path for record in sample[:_TRIED] for path in _lists(record)})
    proposed = [_propose(sample, origin, path) for path in (None, *lists[:_TRIED])]
    return max(proposed, key=lambda each: (not each.is_poor, each.read))


def _propose(sample: Sequence[Mapping[str, Any]], origin: str, listed: str | None) -> ProposedMapping:
    """Write a mapping for records, or for the items of a list in each."""
    wheres = [where for record in sample for where in ([(record,)] if listed is None else each_at(record, listed))]
    inner, outer = _columns([where[:1] for where in wheres]), _columns([where[1:] for where in wheres], listed or "")
    seen = {**outer, **inner}
    taken: dict[str, str] = {}
    role = next((path for path in _by_hint(inner, "role") if _is_speaker(inner[path])), None)
    wanted = ["role", "text"] if role else ["question", "answer"]
    for field in ("conversation_id", "timestamp", *wanted, "documents", "turn_id", *list(_HINTS)[8:]):
        among = _by_hint(inner, field) + ([] if field in _OF_ITEMS else _by_hint(outer, field))
        if field == "conversation_id" and listed is not None:
            among = [*_by_hint(outer, field), "*", "id", *_ids_of_records(outer, len(wheres)), *_by_hint(inner, field)]
        elif field == "text" and not among:
            among = _longest_texts(inner)
        for path in [role] if field == "role" and role else among:
            if path not in seen or path in taken.values() or not _fits(field, seen[path]):
                continue
            is_unique = _is_unique(seen[path], len(wheres))
            if is_unique if path == "*" else field == "turn_id" and not is_unique:
                continue
            taken[field] = path
            break
    lines = [
        f"# Proposed by `turnsignal convert --propose` for {one_line(origin, 120)}: read it before you use it.",
        "# Above each line stand values that were seen there.",
        "[turns]" if role else "[exchanges]",
        *([] if listed is None else [f"list = {toml(listed)}"]),
    ]
    for field in ("conversation_id", *wanted, "timestamp", "turn_id", "documents", *list(_HINTS)[8:]):
        if field in taken:
            lines += [f"# {_examples(seen[taken[field]])}", *_lines_of(field, taken[field], seen[taken[field]])]
        elif field in ("conversation_id", "timestamp", *wanted):
            lines.append(f'# {field} = "…"   # not recognised')
    rest = [path for path in seen if path not in taken.values()]
    lines += ["", "# Not used:", *(f"# {one_line(path, 120)}: {_examples(seen[path])}" for path in rest[:50])]
    text = "\n".join(lines) + "\n"
    return ProposedMapping(text, _count_read(text, sample), len(wheres), list(_doubts(taken, seen)))


def _columns(wheres: Sequence[Sequence[Any]], listed: str = "") -> dict[str, list[Any]]:
    """Return path → values over many records; listed: a list whose own parts are left out."""
    inside = [part.strip(".") for part in listed.split("*") if part.strip(".")]
    seen: dict[str, list[Any]] = {}
    for where in wheres:
        for holder in where:
            for path, value in _flat(holder) if isinstance(holder, Mapping) else ():
                if not any(path == part or path.startswith(f"{part}.") for part in inside):
                    seen.setdefault(path, []).append(value)
    return seen


def _lists(record: Mapping[str, Any], before: str = "", depth: int = 0) -> Iterator[str]:
    """Give the paths of lists of objects within a record; an object whose values are all alike is one, too."""
    for key, given in record.items():
        value, path = nested(given), f"{before}{key}"
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            yield path
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


def _ids_of_records(outer: Mapping[str, Sequence[Any]], of: int) -> list[str]:
    """Return paths with a value in each record, by which most records differ."""
    counts = {path: len(set(map(str, values))) for path, values in outer.items() if len(values) == of}
    return [path for path in sorted(counts, key=lambda path: -counts[path]) if counts[path] > 1]


def _longest_texts(seen: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the paths that hold sentences, the longest first."""
    sentences = {
        path: sum(len(str(value)) for value in values) / len(values)
        for path, values in seen.items()
        if not _are_times(values) and _share(values, lambda value: " " in str(value) and not isinstance(value, dict))
    }
    return sorted(sentences, key=lambda path: -sentences[path])


def _count_read(text: str, sample: Sequence[Mapping[str, Any]]) -> int:
    """Return how many turns or exchanges a mapping reads whole, each id once."""
    try:
        mapping = parse_format_mapping(text, "proposed")
    except ConfigError:
        return 0
    ids = [_id_of(part) or f"\0{number}" for number, part in enumerate(_read_all(mapping, sample)) if _is_whole(part)]
    return len(set(ids))


def _read_all(mapping: FormatMapping, sample: Sequence[Mapping[str, Any]]) -> Iterator[Call | TurnFields]:
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


def _doubts(taken: Mapping[str, str], seen: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    values = seen[taken["timestamp"]] if "timestamp" in taken else []
    if values and not _are_times(values) and len(formats := _date_formats(values)) > 1:
        yield (
            f"days and months cannot be told apart in {one_line(str(values[0]), 40)!r}: it was taken for "
            f"{formats[0]}, and could be {formats[1]}; see date_format in the mapping"
        )


def _lines_of(field: str, path: str, values: Sequence[Any]) -> Iterator[str]:
    """Give the line of a field, and what the mapping has to know beside it."""
    if field == "role":
        yield from _role_lines(path, list(dict.fromkeys(map(str, values))))
        return
    key = _id_key(values) if field == "documents" else None
    yield f"{field} = {toml(path)}" if key is None else f"{field} = {{ path = {toml(path)}, id = {toml(key)} }}"
    if field == "timestamp" and not _are_times(values):
        chosen, *others = _date_formats(values)
        if others:
            yield f"# Days and months cannot be told apart in these values; it could also be {toml(others[0])}."
        yield f"date_format = {toml(chosen)}"
    if field == "documents" and not _are_lists(values):
        yield f"separator = {toml(_separator(values) or _SEPARATORS[0])}"


def _role_lines(path: str, words: Sequence[str]) -> Iterator[str]:
    guesses = {word: _SPEAKER_WORDS.get(word.strip().lower()) for word in words if role_of(word) is None}
    unknown = [word for word, role in guesses.items() if role is None]
    if unknown:
        shown = ", ".join(toml(word) for word in unknown)
        example = f'role = {{ path = {toml(path)}, {toml(unknown[0])} = "user" }}'
        yield f"# Not known: {shown}. Say what each is: {example}"
    known = "".join(f", {toml(word)} = {toml(role)}" for word, role in guesses.items() if role is not None)
    yield f"role = {{ path = {toml(path)}{known} }}" if known else f"role = {toml(path)}"


def _is_speaker(values: Sequence[Any]) -> bool:
    """Say whether values are a few words, of which one at least names a user or an assistant."""
    words = {value.strip().lower() for value in values if isinstance(value, str)}
    is_few = 0 < len(words) <= _SPEAKERS and len(words) < len(values)
    return is_few and any(role_of(word) or word in _SPEAKER_WORDS for word in words)


def _flat(record: Mapping[str, Any], before: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        path = f"{before}{key}"
        if isinstance(value, dict) and depth < _DEPTH:
            yield from _flat(value, f"{path}.", depth + 1)
        elif value is not None:
            yield path, value


def _by_hint(seen: Mapping[str, Any], field: str) -> list[str]:
    """Return the paths whose last part is like a hint of the field, the likest first."""
    ranked = []
    for path in seen:
        last = path.rpartition(".")[2].lower()
        whole = path.lower()
        for number, hint in enumerate(_HINTS[field]):
            if last == hint or hint in last.split("_") or (len(hint) > 4 and hint in whole):
                ranked.append((number + (0 if last == hint else len(_HINTS[field])), len(path), path))
                break
    return [path for _, _, path in sorted(ranked)]


def _fits(field: str, values: Sequence[Any]) -> bool:
    if field == "timestamp":
        return _are_times(values) or bool(_date_formats(values))
    if field == "documents":
        return _are_lists(values) or _separator(values) is not None
    if field in ("text", "question", "answer"):
        return _share(values, lambda value: isinstance(value, str | list))
    return _share(values, lambda value: isinstance(value, str | int) and len(str(value)) < 200)


def _are_times(values: Sequence[Any]) -> bool:
    return _share(values, lambda value: seconds(value) is not None and len(str(value)) > 7)


def _date_formats(values: Sequence[Any]) -> list[str]:
    """Return the formats in which all values are dates, the likeliest first."""
    return [
        each
        for each in DATE_FORMATS
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
