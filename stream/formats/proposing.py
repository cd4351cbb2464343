"""Proposing: a first mapping for records of an unknown kind, every guess under the values that it saw."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnsignal.stream.formats.mapping import read_date
from turnsignal.stream.formats.messages import role_of
from turnsignal.stream.formats.values import seconds

_DEPTH = 5
_SPEAKERS = 6  #: words for who speaks, beyond which a column is not one of roles
_SEPARATORS = ("|", ";", ",")
#: How dates are written that are neither ISO 8601 nor numbers, the likeliest first; each also with a time behind it.
_DATES = ("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%d/%m/%y", "%m/%d/%y")
_CLOCKS = ("", " %H:%M:%S", " %H:%M", ", %H:%M:%S", ", %H:%M", " %I:%M:%S %p", " %I:%M %p", ", %I:%M %p")
DATE_FORMATS = (*(date + clock for date in _DATES for clock in _CLOCKS), "%d/%b/%Y:%H:%M:%S %z", "%d %b %Y %H:%M:%S")
#: Words for who speaks that logs use beside those that are read without a mapping; guesses, to be read before use.
_SPEAKER_WORDS = {
    **dict.fromkeys(("kunde", "kundin", "nutzer", "nutzerin", "benutzer", "anwender", "besucher", "frager"), "user"),
    **dict.fromkeys(("cliente", "usuario", "utilisateur", "visiteur", "caller", "requester", "q"), "user"),
    **dict.fromkeys(("assistent", "berater", "beraterin", "mitarbeiter", "asistente", "conseiller", "a"), "assistant"),
    **dict.fromkeys(("support", "helpdesk", "chat bot", "robot", "virtual assistant", "copilot"), "assistant"),
}
_SEEN = 3  #: values that are shown of a path
_HINTS = {
    "conversation_id": (
        *("conversation", "session", "thread", "chat", "dialog", "ticket", "case", "conv", "gespräch", "gespraech"),
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


def propose_mapping(sample: Sequence[Mapping[str, Any]], origin: str) -> str:
    """Write a mapping as commented TOML for the first records of a file; what nothing was recognised for says so."""
    seen: dict[str, list[Any]] = {}
    for record in sample:
        for path, value in _flat(record):
            seen.setdefault(path, []).append(value)
    taken: dict[str, str] = {}
    role = next((path for path in _by_hint(seen, "role") if _is_speaker(seen[path])), None)
    wanted = ["role", "text"] if role else ["question", "answer"]
    for field in ("conversation_id", "timestamp", *wanted, "documents", "turn_id", *list(_HINTS)[8:]):
        for path in [role] if field == "role" and role else _by_hint(seen, field):
            if path not in taken.values() and _fits(field, seen[path]):
                taken[field] = path
                break
    lines = [
        f"# Proposed by `turnsignal convert --propose` for {_one_line(origin)}: read it before you use it.",
        "# Above each line stand values that were seen there.",
        "[turns]" if role else "[exchanges]",
    ]
    for field in ("conversation_id", *wanted, "timestamp", "turn_id", "documents", *list(_HINTS)[8:]):
        if field in taken:
            lines += [f"# {_examples(seen[taken[field]])}", *_lines_of(field, taken[field], seen[taken[field]])]
        elif field in ("conversation_id", "timestamp", *wanted):
            lines.append(f'# {field} = "…"   # not recognised')
    rest = [path for path in seen if path not in taken.values()]
    lines += ["", "# Not used:", *(f"# {_one_line(path)}: {_examples(seen[path])}" for path in rest[:50])]
    return "\n".join(lines) + "\n"


def _lines_of(field: str, path: str, values: Sequence[Any]) -> Iterator[str]:
    """Give the line of a field, and what the mapping has to know beside it."""
    if field == "role":
        yield from _role_lines(path, list(dict.fromkeys(map(str, values))))
        return
    yield f"{field} = {_quoted(path)}"
    if field == "timestamp" and not _are_times(values):
        chosen, *others = _date_formats(values)
        if others:
            yield f"# Days and months cannot be told apart in these values; it could also be {_quoted(others[0])}."
        yield f"date_format = {_quoted(chosen)}"
    if field == "documents" and not _are_lists(values):
        yield f"separator = {_quoted(_separator(values) or _SEPARATORS[0])}"


def _role_lines(path: str, words: Sequence[str]) -> Iterator[str]:
    guesses = {word: _SPEAKER_WORDS.get(word.strip().lower()) for word in words if role_of(word) is None}
    unknown = [word for word, role in guesses.items() if role is None]
    if unknown:
        shown = ", ".join(_quoted(word) for word in unknown)
        example = f'role = {{ path = {_quoted(path)}, {_quoted(unknown[0])} = "user" }}'
        yield f"# Not known: {shown}. Say what each is: {example}"
    known = "".join(f", {_quoted(word)} = {_quoted(role)}" for word, role in guesses.items() if role is not None)
    yield f"role = {{ path = {_quoted(path)}{known} }}" if known else f"role = {_quoted(path)}"


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
    return " · ".join(_one_line(str(value), 40) for value in list(dict.fromkeys(map(str, values)))[:_SEEN])


def _one_line(text: str, width: int = 120) -> str:
    shown = "".join(char if char.isprintable() else " " for char in text)
    return shown if len(shown) <= width else shown[: width - 1] + "…"


def _quoted(path: str) -> str:
    escaped = "".join(char if char.isprintable() and char not in '"\\' else f"\\U{ord(char):08x}" for char in path)
    return f'"{escaped}"'
