"""Fitting: what values have to be like to be those of a field of turns."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from turnsignal.stream.formats.date_formats import date_formats_of
from turnsignal.stream.formats.documents import read_document
from turnsignal.stream.formats.hints import is_id, may_be_place
from turnsignal.stream.formats.values import is_zoneless, items, nested, seconds

SEPARATORS = ("|", ";", ",")
_MOST = 0.8  #: of the values
_FEWEST = 5  #: answers, which are not all alike, as a content's type is
_EARLIEST, _LATEST = 6e8, 4.2e9  #: seconds since 1970 of times that no name says to be one


def fits(field: str, values: Sequence[Any]) -> bool:
    """Say whether values may be those of a field of turns."""
    if field == "timestamp":
        return are_times(values) or bool(date_formats_of(values))
    if field == "documents":
        return are_lists_of_documents(values) or separator_of(values) is not None
    if field in ("text", "question", "answer"):
        is_alike = field == "answer" and len(values) >= _FEWEST and all(value == values[0] for value in values)
        return not is_alike and are_mostly(values, lambda value: isinstance(value, str | list))
    if field in ("conversation_id", "turn_id") and are_prose(values):
        return False
    if field == "conversation_id" and are_mostly(values, lambda value: value == "" or _is_date(value)):
        return False
    is_short = are_mostly(values, lambda value: isinstance(value, str | int) and len(str(value)) < 200)
    return is_short and not any(isinstance(value, bool) for value in values)


def are_times(values: Sequence[Any]) -> bool:
    """Say whether values are times that are read without a format."""
    return are_mostly(values, lambda value: seconds(value) is not None and len(str(value)) > 7)


def are_zoneless(values: Sequence[Any]) -> bool:
    """Say whether values are times of which one names no zone."""
    date_format = None if are_times(values) else next(iter(date_formats_of(values)), None)
    return any(map(is_zoneless, values)) if date_format is None else "%z" not in date_format


def _is_date(value: object) -> bool:
    return isinstance(value, str) and ("-" in value or ":" in value) and seconds(value) is not None


def are_lists_of_documents(values: Sequence[Any]) -> bool:
    """Say whether values are lists, and no texts in which ids are separated."""
    return are_mostly(values, lambda value: isinstance(value, list) or str(value).startswith("["))


def id_key(values: Sequence[Any]) -> str | None:
    """Return the key that holds the ids of documents, None where it is known or there is none."""
    documents = [item for value in values for item in items(value) if isinstance(item, dict)]
    if not documents or any(read_document(document) is not None for document in documents):
        return None
    for key in documents[0]:
        named = [document.get(key) for document in documents]
        if all(isinstance(name, str | int) and not isinstance(name, bool) and " " not in str(name) for name in named):
            return str(key)
    return None


def separator_of(values: Sequence[Any]) -> str | None:
    """Return what stands between ids in texts that hold nothing else; None where they do, or are no texts."""
    for separator in SEPARATORS:
        texts = [value for value in values if isinstance(value, str)]
        parts = [part.strip() for text in texts for part in text.split(separator)]
        are_ids = len(texts) == len(values) and all(part and not any(map(str.isspace, part)) for part in parts)
        if are_ids and len(parts) > len(texts):
            return separator
    return None


def are_mostly(values: Sequence[Any], test: Callable[[Any], object]) -> bool:
    """Say whether a test holds of most values, of which there have to be any."""
    return bool(values) and sum(map(bool, map(test, values))) >= _MOST * len(values)


def hold_json(values: Sequence[Any]) -> bool:
    """Say whether values are texts that hold an object each, so that what somebody said stands within."""
    return are_mostly(values, lambda value: isinstance(value, str) and isinstance(nested(value), dict))


def longest_texts(seen: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return the paths that hold sentences, the longest first."""
    sentences = {
        path: sum(len(value) for value in values if isinstance(value, str)) / len(values)
        for path, values in seen.items()
        if not are_times(values) and not hold_json(values) and are_mostly(values, _is_sentence)
    }
    return sorted(sentences, key=lambda path: -sentences[path])


def are_said(values: Sequence[Any]) -> bool:
    """Say whether values are texts that people wrote: most of them of several words."""
    texts = [value for value in values if isinstance(value, str)]
    return sum(" " in text for text in texts) * 2 >= len(texts) > 0


def are_prose(values: Sequence[Any]) -> bool:
    """Say whether half of the values are texts of three words or more, which no id has."""
    return bool(values) and sum(isinstance(value, str) and value.count(" ") > 1 for value in values) * 2 >= len(values)


def are_late(values: Sequence[Any]) -> bool:
    """Say whether values are times of our years, whatever their name is."""
    return are_times(values) and are_mostly(values, lambda value: _EARLIEST < (seconds(value) or 0) < _LATEST)


def repeats(values: Sequence[Any], of: int) -> int:
    """Return how many different values there are where they may tell conversations apart, otherwise 0.

    >>> repeats(["c1", "c1", "c2", "c2"], 4), repeats(["c1", "c1", "c1", "c1"], 4)
    (2, 0)
    """
    if len(values) < of or not fits("conversation_id", values) or any(" " in str(value) for value in values):
        return 0
    n = len(set(map(str, values)))
    return n if 1 < n <= of / 2 else 0


def _is_sentence(value: object) -> bool:
    return " " in value if isinstance(value, str) else isinstance(value, list)


def place_path(seen: Mapping[str, Sequence[Any]], conversation: str | None) -> str | None:
    """Return the path of the number that turns are in order by: no conversation has one of them twice."""
    of = seen.get(conversation or "", [])
    for path in sorted(seen, key=lambda path: not may_be_place(path)):
        values = seen[path]
        if path == conversation or len(values) < 2 or not (may_be_place(path) or is_id(path)):
            continue
        numbers = all(str(value).isdecimal() and not isinstance(value, bool) for value in values)
        named = map(str, of) if len(of) == len(values) else [""] * len(values)
        places = list(zip(named, map(str, values), strict=True))
        if numbers and len(set(places)) == len(places):
            return path
    return None
