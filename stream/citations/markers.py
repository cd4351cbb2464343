"""Markers: which documents the inside of one bracket names.

A grammar is compiled once per suite; it turns the inside of one bracket into items. Each item cites a retrieved
document, names a document that was not retrieved (dangling), or has a style that is not declared (malformed).
Our own patterns are linear (bounded, or nothing to backtrack into); the suite's `id_pattern` runs on RE2.
"""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import re2

from turnsignal.stream.citations.earlier_documents import is_remembered
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.records.turns import Document

STYLES = ("doc_id", "numeric", "footnote", "full_width", "labelled", "step_item", "link", "structured")
MAX_MARKER = 2_000  #: characters inside one bracket; anything longer is prose
_MAX_JOINED = 100  #: characters of an item that may name several documents: `doc_1 and doc_2`
MAX_RANGE = 50  #: documents named by one range: `[1-50]`
_MAX_NAMED = 500  #: items of one bracket, after which a further range in it is malformed: `[1-50, 1-50, …]`


_NUMBERS = re.compile(r"\d+(?:[,;\s]+\d+)+")  # the commonest list, and never an id
_ONE_WORD = re.compile(r"\w*")
_SEPARATOR = re.compile(r"[,;]")
_AND = re.compile(r"\s*(?:&|\b(?:and|und|et|y|e|en)\b)\s*")
_LOCATOR = re.compile(
    r"(?i)(?:(?:pp?|pgs?|pages?|paras?|par|sections?|sec|chapters?|ch|figs?|figures?|tables?|lines?|ll?|vol|no|s|seite|cl|art|eq"
    r"|appendix|footnote|n|col|slide)\b\.?|§{1,2}|¶)\s?[\dIVXivxA-Z][\w.–-]{0,20}+(?:\s?ff?\.?)?"
)
_RANGE = re.compile(r"(\d{1,4})\s*[-–—]\s*(\d{1,4})")
_STEP_ITEM = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+-(?=[A-Za-z_]*\d)[A-Za-z0-9_]+")
_LABEL = re.compile(
    r"(?i)(id|doc|document|source|ref|reference|passage|article|chunk|citation)(?:[\s_-]?id)?s?(\s*[:#=]\s*|\s+)([^\s,;]+)"
)
_HEAD = re.compile(r"[\w.#:@/]*[\w#]")
_VARYING = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8,}|\d+")
_LOOSE = re.compile(r"[\s_\-.:#/]+")


class MarkerItem(NamedTuple):
    """One item of a marker, as it was read.

    fault: cites, earlier (cites what an earlier answer retrieved), dangling or malformed; style: how it is written;
    text: the document id if it cites, else the item.
    """

    fault: str
    style: str
    text: str


class Names:
    """What the markers of one response can name: ids, ranks, URLs and the shapes of the retrieved ids.

    earlier: documents of earlier answers, as `earlier_documents.remember` returns them; these are named by their ids.
    """

    _ranked: dict[int, str] | None = None

    def __init__(self, documents: Sequence[Document], earlier: bytes = b"") -> None:
        ids = {document.doc_id: document.rank or number for number, document in enumerate(documents, 1)}
        if len(ids) < len(documents):
            for number, document in enumerate(documents, 1):
                ids[document.doc_id] = min(ids[document.doc_id], document.rank or number)
        self.ids = ids  #: document id → its best rank in the context, 1-based
        self.read: dict[str, MarkerItem | None] = {}  #: token → its item, cached
        self.brackets: dict[str, list[MarkerItem]] = {}  #: inside of a square bracket → its items, cached
        self._documents = documents
        self._earlier = earlier

    def came_earlier(self, name: str) -> bool:
        """Return whether a name that is no document of the response is one of an earlier answer."""
        return name not in self.ids and is_remembered(self._earlier, name)

    def at(self, rank: int) -> str | None:
        """Return the id of the document at a 1-based rank; if two share the rank, the first."""
        ranked = self._ranked
        if ranked is None:
            ranked = {number: doc_id for doc_id, number in self.ids.items()}
            if len(ranked) < len(self._documents):
                ranked = {}
                for number, document in enumerate(self._documents, 1):
                    ranked.setdefault(document.rank or number, document.doc_id)
            self._ranked = ranked
        return ranked.get(rank)

    def linked(self, url: str) -> str | None:
        """Return the id of the document with this URL; scheme, `www.`, fragment and closing slash do not count."""
        return self._urls.get(url) or self._urls.get(_plain_url(url))

    def titled(self, title: str) -> str | None:
        """Return the id of the document with exactly this title; if two have it, the first."""
        return self._titles.get(title)

    @cached_property
    def are_numbers(self) -> bool:
        """Return whether the retrieved ids are themselves bare numbers."""
        return bool(self.ids) and all(doc_id.isdecimal() for doc_id in self.ids)

    @cached_property
    def numbers(self) -> frozenset[int]:
        """Return the numbers that may name a document, as an id or as a rank counted from 1 or from 0."""
        ids = [int(doc_id) for doc_id in self.ids if len(doc_id) < 5 and doc_id.isdecimal()]
        ranks = {document.rank or number for number, document in enumerate(self._documents, 1)}
        return frozenset([*ids, *ranks, *(rank - 1 for rank in ranks)])

    def like(self, token: str) -> bool:
        """Return whether a token has the shape of a retrieved id: `doc_9` beside `doc_1`."""
        return _shape(token) in self._shapes

    def nearly(self, token: str) -> bool:
        """Return whether a token has that shape except for case, spaces or punctuation: `doc 9`, `Doc-9`."""
        return _loosened(token) in self._loose_shapes

    @cached_property
    def _urls(self) -> dict[str, str]:
        known: dict[str, str] = {}
        linked = [(document.url, document.doc_id) for document in self._documents if document.url]
        for url, doc_id in [*linked, *((_plain_url(url), doc_id) for url, doc_id in linked)]:
            known.setdefault(url, doc_id)
        return known

    @cached_property
    def _titles(self) -> dict[str, str]:
        known: dict[str, str] = {}
        for document in self._documents:
            if document.title:
                known.setdefault(document.title, document.doc_id)
        return known

    @cached_property
    def _varying(self) -> list[str]:
        return [doc_id for doc_id in self.ids if not doc_id.isdecimal() and _VARYING.search(doc_id)]

    @cached_property
    def _shapes(self) -> frozenset[str]:
        return frozenset(map(_shape, self._varying))

    @cached_property
    def _loose_shapes(self) -> frozenset[str]:
        return frozenset(map(_loosened, self._varying))


class Grammar:
    """How one suite's assistants write citations; reads the inside of brackets."""

    def __init__(self, styles: Sequence[str], id_pattern: str | None, zero_based: bool) -> None:
        unknown = [style for style in styles if style not in STYLES]
        if unknown or not styles:
            msg = f"citation styles must be some of {', '.join(STYLES)}; got {', '.join(unknown) or 'none'}"
            raise ConfigError(msg)
        self.styles = frozenset(styles)
        self.first = 0 if zero_based else 1
        self._pattern = None if id_pattern is None else _compile(id_pattern)

    def read(self, inside: str, names: Names) -> Sequence[MarkerItem]:
        """Read the inside of one square bracket; returns no items if it is not a marker.

        A response repeats its brackets, and what one says depends on nothing around it: each is read once.
        """
        if (items := names.brackets.get(inside)) is None:
            items = names.brackets[inside] = self._read(inside, names)
        return items

    def _read(self, inside: str, names: Names) -> list[MarkerItem]:
        inside = inside.strip()
        if not inside or len(inside) > MAX_MARKER:
            return []
        if _NUMBERS.fullmatch(inside):
            return self._list(inside, names)
        whole = self.item(inside, names)
        if whole is not None:
            return [whole]
        return [] if _ONE_WORD.fullmatch(inside) else self._list(inside, names, no_item=inside)

    def read_full_width(self, inside: str, names: Names) -> list[MarkerItem]:
        """Read the inside of `【1†source】`; in `【4:0†source】` the second number is a 0-based index."""
        readings = []
        for part in inside[:MAX_MARKER].split(","):
            token, dagger, _ = part.strip().partition("†")
            message, colon, source = token.partition(":")
            if token not in names.ids and colon and message.isdecimal() and source.isdecimal() and len(source) < 5:
                doc_id = names.at(int(source) + 1)
            else:
                doc_id = self._named(token, names)
            if doc_id is None and not (dagger or token.isdecimal() or self._is_id(token, names)):
                return []
            readings.append(self._as("full_width", doc_id, part.strip(), names, token))
        return readings

    def item(self, token: str, names: Names) -> MarkerItem | None:
        """Read one item of a marker, each but once; None if it names nothing and does not look like a marker."""
        if token not in names.read:
            names.read[token] = self._item(token, names)
        return names.read[token]

    def _item(self, token: str, names: Names) -> MarkerItem | None:
        styles = self.styles
        if token in names.ids:
            if "step_item" in styles and "-" in token and _STEP_ITEM.fullmatch(token):
                return MarkerItem("cites", "step_item", token)
            if "doc_id" in styles:
                return MarkerItem("cites", "doc_id", token)
            return self._as("numeric" if token.isdecimal() else "doc_id", token, token, names)
        if token.isdecimal():
            return self._number(token, names)
        is_step = "step_item" in styles and _STEP_ITEM.fullmatch(token)
        if ("doc_id" in styles or is_step) and names.came_earlier(token):
            return MarkerItem("earlier", "step_item" if is_step else "doc_id", token)
        if token[0] == "^":
            return self._footnote(token, names)
        if token[0] == "#" and len(token) < 4 and token[1:].isdecimal():  # a longer number is an issue's
            return self._number(token[1:], names)
        if is_step:
            return MarkerItem("dangling", "step_item", token)
        if self._is_id(token, names):
            return self._as("doc_id", None, token, names)
        return self._labelled_or_near(token, names)

    def is_id(self, token: str, names: Names) -> bool:
        """Return whether a token is a retrieved id or has the form of one; bare numbers never count."""
        return not token.isdecimal() and (
            (token in names.ids and _VARYING.search(token) is not None)
            or self._is_id(token, names)
            or ("step_item" in self.styles and _STEP_ITEM.fullmatch(token) is not None)
        )

    def leading_id(self, text: str, start: int, names: Names) -> tuple[str, int] | None:
        """Return the style and the end of the id or number that begins at `start`, after an open bracket."""
        head = _HEAD.match(text, start + 1 if text.startswith("^", start) else start)
        if head is None or head.end() - start > MAX_MARKER:
            return None
        if head[0].isdecimal():
            return None if is_year(head[0]) else ("numeric", head.end())
        return ("doc_id", head.end()) if self.is_id(head[0], names) else None

    def _list(self, inside: str, names: Names, no_item: str = "") -> list[MarkerItem]:
        """Read `1, 2`, `1-3`, `doc_1; doc_2`; a list with a stray or missing comma is read and also malformed.

        no_item: a text that the caller has already tried, and which is not a single item.
        """
        readings: list[MarkerItem] = []
        sloppy = junk = False
        for part in map(str.strip, _SEPARATOR.split(inside)):
            if not part:
                sloppy = True
            elif part != no_item and (reading := self.item(part, names)) is not None:
                readings.append(reading)
            elif (span := _RANGE.fullmatch(part)) is not None:
                if len(readings) < _MAX_NAMED:
                    readings += self.read_range(part, int(span[1]), int(span[2]), names)
                else:
                    readings.append(MarkerItem("malformed", "numeric", part))
            elif (joined := self._joined(part, names, bool(readings))) is not None:
                readings += joined
            elif all(map(str.isdecimal, words := part.split())):
                sloppy = sloppy or len(words) > 1
                readings += [reading for word in words if (reading := self.item(word, names)) is not None]
            else:
                junk = True
        if junk:
            head = self.leading_id(inside, 0, names)
            return [MarkerItem("malformed", "doc_id", inside)] if head is not None and head[0] == "doc_id" else []
        if sloppy and readings:
            readings.append(MarkerItem("malformed", readings[0].style, inside))
        return readings

    def _joined(self, part: str, names: Names, begun: bool) -> list[MarkerItem] | None:
        """Read `1 and 2`, `1 & 2`, and a locator such as `p. 12` after its document; None for anything else."""
        if len(part) > _MAX_JOINED:
            return None
        if begun and _LOCATOR.fullmatch(part):
            return []
        words = [word for word in _AND.split(part) if word]
        if len(words) == 1 and begun and part != words[0]:
            words = [words[0]]  # "1, 2, and 3"
        elif len(words) < 2:
            head, _, rest = part.partition(" ")
            words = [head] if rest and _LOCATOR.fullmatch(rest.strip()) else []
        readings = [self.item(word, names) for word in words]
        return [reading for reading in readings if reading is not None] if words and None not in readings else None

    def read_range(self, part: str, low: int, high: int, names: Names) -> list[MarkerItem]:
        """Read a range of numbers; part: the range as written."""
        if is_period(low, high):
            return []
        if not low < high <= low + MAX_RANGE:
            return [MarkerItem("malformed", "numeric", part)]
        # One item for all numbers that name nothing is enough: a text may be full of ranges.
        known = names.numbers.intersection(range(low, high + 1))
        unknown = low
        while unknown in known:
            unknown += 1
        readings = []
        missing: MarkerItem | None = None
        for number in sorted(known | {unknown}) if known else (low,):
            reading = self.item(str(number), names) if number <= high else None
            if reading is not None and reading.fault == "cites":
                readings.append(reading)
            elif missing is None:
                # A range counts places, and no ids of earlier answers.
                is_earlier = reading is not None and reading.fault == "earlier"
                fault = "dangling" if "numeric" in self.styles else "malformed"
                missing = MarkerItem(fault, "numeric", part) if is_earlier else reading
        if missing is not None:
            readings.append(MarkerItem(missing.fault, missing.style, part))
        return readings

    def _number(self, token: str, names: Names) -> MarkerItem | None:
        if is_year(token):
            return None
        doc_id = self._ranked(token, names) if "numeric" in self.styles else None
        if doc_id is None and "doc_id" in self.styles and names.came_earlier(token):
            return MarkerItem("earlier", "doc_id", token)
        if "numeric" in self.styles:
            return self._as("numeric", doc_id, token, names)
        if "doc_id" in self.styles and (names.are_numbers or self._matches(token)):
            return MarkerItem("dangling", "doc_id", token)
        return MarkerItem("malformed", "numeric", token)

    def _footnote(self, token: str, names: Names) -> MarkerItem | None:
        inner = token.strip("^")
        doc_id = self._named(inner, names)
        came_earlier = doc_id is None and "footnote" in self.styles and names.came_earlier(inner)
        if doc_id is None and not (inner.isdecimal() or self._is_id(inner, names) or came_earlier):
            return None
        return self._as("footnote", doc_id, token, names, inner)

    def _labelled_or_near(self, token: str, names: Names) -> MarkerItem | None:
        label = _LABEL.fullmatch(token)
        if label is None or not label[2].strip():
            if self._nearly(token, names):
                return MarkerItem("malformed", "doc_id", token)
            if label is None:
                return None
        inner = label[3]
        # If ids are numbers, a label gives an id: an unknown id is dangling, never the document at that rank.
        numbered = inner not in names.ids and names.are_numbers
        doc_id = None if numbered else self._named(inner, names)
        explicit = label[1].lower() == "id" and label[2].strip()
        came_earlier = doc_id is None and "labelled" in self.styles and names.came_earlier(inner)
        if doc_id is None and not (explicit or came_earlier or inner.isdecimal() or self._is_id(inner, names)):
            return None
        return self._as("labelled", doc_id, token, names, inner)

    def _as(self, style: str, doc_id: str | None, token: str, names: Names, named: str = "") -> MarkerItem:
        """Return an item; named: what it names, where that is not the whole token."""
        if style not in self.styles:
            return MarkerItem("malformed", style, token)
        if doc_id is not None:
            return MarkerItem("cites", style, doc_id)
        named = named or token
        return (
            MarkerItem("earlier", style, named) if names.came_earlier(named) else MarkerItem("dangling", style, token)
        )

    def _named(self, token: str, names: Names) -> str | None:
        return token if token in names.ids else self._ranked(token, names)

    def _ranked(self, token: str, names: Names) -> str | None:
        """Resolve a number to the document at that rank; ranks have at most four digits."""
        return names.at(int(token) + 1 - self.first) if len(token) < 5 and token.isdecimal() else None

    def _is_id(self, token: str, names: Names) -> bool:
        return self._matches(token) or (_VARYING.search(token) is not None and names.like(token))

    def _matches(self, token: str) -> bool:
        try:
            return self._pattern is not None and self._pattern.fullmatch(token) is not None
        except UnicodeEncodeError:  # RE2 works on UTF-8, which has no lone surrogates
            return False

    def _nearly(self, token: str, names: Names) -> bool:
        if _VARYING.search(token) is None:
            return False
        if names.nearly(token):
            return True
        return self._pattern is not None and any(
            self._matches(_LOOSE.sub(joint, token.lower())) for joint in ("_", "-", "")
        )


def is_year(token: str) -> bool:
    """Return whether a number that is not an id reads as a year; no context has 1,500 documents."""
    return len(token) == 4 and "1500" <= token <= "2100"


def is_labelled(item: str) -> bool:
    """Return whether an item is a label and what it names, as `Source 1`, `ID: 17`."""
    return _LABEL.fullmatch(item) is not None


def is_period(low: int, high: int) -> bool:
    """Return whether two numbers with a dash between are a date, not ranks: `2019-2021`, `2019-21`, `2024-05`."""
    return is_year(str(low)) or is_year(str(high))


def _plain_url(url: str) -> str:
    plain = url.partition("#")[0].rstrip("/")
    return plain.removeprefix("https://").removeprefix("http://").removeprefix("www.")


def _shape(token: str) -> str:
    return _VARYING.sub("0", token)


def _loosened(token: str) -> str:
    return _LOOSE.sub("", _VARYING.sub("0", token.lower()))


def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        why = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else error
        msg = f"id_pattern must be a regular expression that RE2 reads (no look-around); got {pattern!r}: {why}"
        raise ConfigError(msg) from None
