"""Labelled: queries by id with the agents that each belongs to, as files of ground truth and predictions name them.

Labels are read as Waterfall's routing script reads them: a list, a text with commas, or none, in small letters. What it
would take in silence, or end by, has a reason here: an id that is missing or there twice, labels that are none.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.records.turns import MAX_ID, MAX_SHORT
from turnsignal.stream.truth.routing import in_small_letters

DIMENSIONS = ("query_type", "domain", "difficulty")
MOST_LABELS = 100  #: of one query
MOST_TEXT = 2_000  #: characters of a query that are kept
_TEXTS = ("query", "text", "question")
_LIKE = '{"id": "1", "labels": ["billing"]}'

QueryId = str | int


class Labelled(NamedTuple):
    """A query of one file.

    labels: each once, in the order of the file; text: its beginning, None where the file has none; dimensions: what is
    known of it by name, of `DIMENSIONS`.
    """

    id: QueryId
    labels: tuple[str, ...]
    text: str | None
    dimensions: Mapping[str, str]


class LabelledQueries:
    """The queries of one file: `add` each record.

    by_id: by the id as text, so that 1 and "1" are the same; unlabelled: how many have no `labels` at all; read_anew:
    how many had labels that were changed in reading, by how.
    """

    def __init__(self) -> None:
        self.by_id: dict[str, Labelled] = {}
        self.unlabelled = 0
        self.read_anew: Counter[str] = Counter()
        # What many queries have alike is kept once: a third of the memory.
        self._labels: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._dimensions: dict[frozenset[tuple[str, str]], dict[str, str]] = {}

    def __len__(self) -> int:
        return len(self.by_id)

    def add(self, record: Any) -> None:
        """Take in one record; raises Refused with the reason why it is none."""
        if not isinstance(record, dict):
            detail = f"expected an object such as {_LIKE}, got {_describe(record)}"
            raise Refused(Reason.WRONG_TYPE, detail)
        name = _read_id(record)
        if str(name) in self.by_id:
            raise Refused(Reason.CONFLICT, f"expected each id once, got {str(name)[:80]!r} again; take one of them out")
        labels = self._read_labels(record.get("labels"))
        self.unlabelled += "labels" not in record
        text = next((record[key] for key in _TEXTS if isinstance(record.get(key), str)), None)
        dimensions = {key: _dimension(record[key]) for key in DIMENSIONS if record.get(key) not in (None, "")}
        dimensions = self._dimensions.setdefault(frozenset(dimensions.items()), dimensions)
        self.by_id[str(name)] = Labelled(name, labels, None if text is None else text[:MOST_TEXT], dimensions)

    def _read_labels(self, raw: Any) -> tuple[str, ...]:
        given = _split(raw)
        labels = in_small_letters(given)
        if long := next((label for label in labels if len(label) > MAX_SHORT), None):
            raise Refused(Reason.TOO_LARGE, f"expected labels of at most {MAX_SHORT} characters, got {long[:40]!r}…")
        unique = tuple(dict.fromkeys(labels))
        if len(unique) > MOST_LABELS:
            raise Refused(Reason.TOO_LARGE, f"expected at most {MOST_LABELS} labels of a query, got {len(unique):,}")
        self.read_anew["as text with commas"] += isinstance(raw, str) and len(labels) > 1
        self.read_anew["in other case"] += any(text != text.lower() for text in given)
        self.read_anew["twice in one query"] += len(unique) < len(labels)
        return self._labels.setdefault(unique, unique)


def read_labels(typed: str) -> list[str]:
    """Read labels that were typed: small letters, several with commas between them.

    >>> read_labels("Unknown, outofscope")
    ['unknown', 'outofscope']
    """
    return in_small_letters(typed.split(","))


def _split(raw: Any) -> list[str]:
    match raw:
        case None:
            return []
        case str():
            return raw.split(",")
        case bool() | dict():
            raise Refused(Reason.WRONG_TYPE, f"labels: expected a list of texts, got {_describe(raw)}")
        case list() | tuple():
            wrong = [label for label in raw if isinstance(label, bool) or not isinstance(label, str | int)]
            if wrong:
                raise Refused(Reason.WRONG_TYPE, f"labels: expected texts in the list, got {_describe(wrong[0])}")
            return [str(label) for label in raw]
        case _:
            return [str(raw)]


def _read_id(record: Mapping[str, Any]) -> QueryId:
    name = record.get("id")
    if name is None or name == "":
        keys = ", ".join(str(key)[:40] for key in list(record)[:5]) or "nothing"
        raise Refused(Reason.MISSING_FIELD, f"expected an id, got none (the record has: {keys})")
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise Refused(Reason.BAD_ID, f"expected an id that is a text or a whole number, got {_describe(name)}")
    if len(str(name)) > MAX_ID:
        raise Refused(Reason.BAD_ID, f"expected an id of at most {MAX_ID} characters, got {len(str(name)):,}")
    return name


def _dimension(value: Any) -> str:
    return (value if isinstance(value, str) else str(value)).strip()[:MAX_SHORT]


def _describe(value: Any) -> str:
    kind = {dict: "an object", list: "a list", bool: "a truth value", str: "a text", type(None): "null"}
    return f"{kind.get(type(value), 'a number')}: {str(value)[:80]!r}"
