"""Citations: markers in a response → the retrieved documents that it cites, their spans, and the faults of markers.

nDCG, placement and format checks all read the same answer, so a response is read once.

Where two readings of a marker are possible:
- A retrieved id comes first, then a rank. Of duplicate ids in the retrieved list, the best rank counts.
- `[ID: 17]` names an id; it falls back to a rank only where the retrieved ids are not numbers themselves.
- A number glued to a word is a citation (`tests[1]`) unless that looks like code: `a[1]`, `argv[1]`, `word[2].name`.
- Numbers that are data, code or mathematics by their context are not citations: see `markup.is_literal`.
- A list of sources at the end defines its markers, so they are neither citations nor faults (source_lists.py).
- `[2019]`, `[2019-21]`, `[2024-05]`, `[3.7]`, `[0, 1)` are years, dates, decimals and intervals, unless retrieved ids.
- Code, link text, link definitions (`[1]: https://…`), images, `[x]` boxes and words in brackets are never citations.
- Dangling: well-formed, but no retrieved document has that id or rank. Without `id_pattern`, an unknown id is known by
  its shape: `[doc_99]` beside a retrieved `doc_1`.
- Malformed: a marker of a style that is not declared (`[1]` under `doc_id`), `[doc_1`, `(doc_1)`, `[doc 1]`. A list
  with a stray or missing comma (`[1, 2 3,]`) is malformed and still cites, because people understand it.
- Beside the text (`structured`, see annotations.py): an annotation with the exact span of a marker decides what the
  marker names. Any other annotation adds its document unless a marker cites it; without a span it counts once; if it
  names no retrieved document, it is dangling. Annotations are never malformed.
- Duplicate: the same document again within one run of markers, `[1][1]` or `[1, 1]`. It stays among the citations.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Protocol

import msgspec

from turnsignal.stream.citations.annotations import KEYS, Annotation, annotations
from turnsignal.stream.citations.markers import MAX_MARKER, STYLES, Grammar, MarkerItem, Names
from turnsignal.stream.citations.source_lists import source_lists
from turnsignal.stream.records.turns import Document
from turnsignal.stream.text.markup import (
    Spans,
    code_spans,
    covers,
    is_definition,
    is_index,
    is_literal,
    join_spans,
    link_destination,
)

DEFAULT_STYLES = STYLES
MAX_BRACKETS = 10_000  #: brackets of one kind that are read in one text

_FULL_WIDTH = re.compile(r"【([^【】\n]*+)】")
_FULL_WIDTH_UNCLOSED = re.compile(r"【(\d{1,4}†[^\s【】]{0,40}+)(?!】)")
_ROUND = re.compile(r"\((?=[^()\[\]\s\d]*+\d)([^()\[\]\n]{2,200}+)\)")
_INTERVAL = re.compile(r"\[[-\d.,\s]{1,40}+\)")
_START = attrgetter("start")
_DASHES = "-–—"
_LINKING = frozenset(f"(:]{_DASHES}")  #: characters after a bracket that may be a link's text or begin a range
_MARKER_RANGE = re.compile(r"\[(\d{1,4})\][-–—]\[(\d{1,4})\]")
_ESCAPED = re.compile(r"\d[\d,;\s–-]{0,200}")
_OTHER_BRACKETS = re.compile(r"［([^［］\n]{1,200}+)］|〔([^〔〕\n]{1,200}+)〕")
_RAISED = re.compile(r"<sup>\s?(\d{1,3}(?:\s?[,;–-]\s?\d{1,3}){0,20})\s?</sup>", re.IGNORECASE)
_RAISED_AFTER = re.compile(r"(?:[^\W\d_]{2,}[*_\"”’»)]{0,3}|[.!?,;:\"”’»]|</sup>)$")  #: "m<sup>2</sup>" is no citation
_POWERS = re.compile(
    r"(?:\d\s?[A-Za-zµμ]{1,3}|\b(?:[cdkmnµμ]m|ft|yd|mi|ha|kg|mg|[A-Z]{2}|sin|cos|tan|log|exp|lim|max|min|det|mol|sec))$"
)
_SUSPECT = frozenset("=:∈")  #: before the space before a bracket
_CODE = frozenset("+{$^\\")  #: after a bracket


class Citation(msgspec.Struct, gc=False):
    """One document cited by one marker.

    rank: its 1-based rank in the context; start, end: the marker's span in the response (characters, end exclusive; −1
    for a structured citation without a span); style: one of `STYLES`.
    """

    doc_id: str
    rank: int
    start: int
    end: int
    style: str


class Fault(msgspec.Struct, gc=False):
    """One fault of one marker.

    kind: dangling, malformed or duplicate; text: the marker, or the item at fault in a list; start, end: the marker's
    span; style: the style in which it is written, declared or not.
    """

    kind: str
    text: str
    start: int
    end: int
    style: str


class Citations(msgspec.Struct, gc=False):
    """The citations of a response, in order of appearance.

    markers: the spans of all markers, also dangling and malformed ones, one for each bracket; beside: citations
    in `all` that were delivered beside the text without one; ranks: document id → its best rank, None if not needed;
    of_earlier: citations of documents that an earlier answer of the conversation retrieved, of rank 0 and not in `all`.
    """

    all: list[Citation] = []
    faults: list[Fault] = []
    markers: list[tuple[int, int]] = []
    beside: tuple[Citation, ...] = ()
    ranks: dict[str, int] | None = None
    of_earlier: list[Citation] = []

    @property
    def with_earlier(self) -> list[Citation]:
        """Return all citations, those of earlier answers' documents last."""
        return [*self.all, *self.of_earlier] if self.of_earlier else self.all

    @property
    def cited_ids(self) -> list[str]:
        """Return the cited document ids, each once, in order of appearance, those of earlier answers last."""
        return list(dict.fromkeys([citation.doc_id for citation in self.with_earlier]))

    @property
    def cited_ranks(self) -> list[int]:
        """Return the context ranks of the cited documents, each once, ascending."""
        return sorted({citation.rank for citation in self.all})

    @property
    def judgments(self) -> dict[str, float]:
        """Return binary judgments for the measures: 1 for each cited document, in order of appearance."""
        return dict.fromkeys([citation.doc_id for citation in self.all], 1.0)


class CitationReader(Protocol):
    """Turns a response, its retrieved documents and, where there is any, its metadata into Citations."""

    def __call__(
        self,
        text: str,
        documents: Sequence[Document],
        metadata: Mapping[str, Any] | None = None,
        earlier: bytes = b"",
        /,
    ) -> Citations:
        """Read one response. Called once for each response; must not raise, whatever the text or metadata holds.

        earlier: what earlier answers retrieved, as `earlier_documents.remember` returns it.
        """
        ...


def citation_reader(
    styles: Sequence[str] = DEFAULT_STYLES, id_pattern: str | None = None, zero_based: bool = False
) -> CitationReader:
    """Compile how a suite reads citations.

    styles: some of `STYLES`; id_pattern: RE2 expression for well-formed ids (`doc_\\d+`), whole id; zero_based: numbers
    in markers count from 0. Linear in the text. Raises ConfigError for an unknown style or a pattern that RE2 refuses.

    >>> read = citation_reader()
    >>> read("Open Settings [2].", [Document("doc_7"), Document("doc_9")]).cited_ids
    ['doc_9']
    """
    return _Reader(Grammar(styles, id_pattern, zero_based)).read


class _Reader:
    """Walks a text from bracket to bracket and records each marker."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.shift = 1 - grammar.first
        self.numeric = "numeric" in grammar.styles
        self.linked = "link" in grammar.styles
        self.plain = "doc_id" in grammar.styles
        self.stepped = "step_item" in grammar.styles
        self.structured = "structured" in grammar.styles

    def read(
        self,
        text: str,
        documents: Sequence[Document],
        metadata: Mapping[str, Any] | None = None,
        earlier: bytes = b"",
        /,
    ) -> Citations:
        """Read all markers of a text, then what was delivered beside it."""
        out = Citations([], [], [], of_earlier=[])
        square = "[" in text
        wide = not text.isascii() and ("【" in text or "［" in text or "〔" in text)
        raised = "<" in text and "<sup>" in text
        rounded = "(" in text and (self.plain or self.stepped)
        annotated = metadata and self.structured and not metadata.keys().isdisjoint(KEYS)
        if not (square or wide or raised or rounded or annotated):
            return out
        names = Names(documents, earlier)
        out.ranks = names.ids or None
        hidden = code_spans(text) if "`" in text or "~~~" in text else []
        if (square or wide) and (lists := source_lists(text)):
            hidden = join_spans(hidden, lists)
        if square:
            self._square(text, names, out, hidden)
        ordered = len(out.markers)
        if wide:
            self._read_all(_FULL_WIDTH, text, names, out, hidden)
            self._read_all(_OTHER_BRACKETS, text, names, out, hidden)
            self._unclosed_full_width(text, out, hidden)
        if raised:
            self._read_all(_RAISED, text, names, out, hidden)
        if rounded:
            self._round(text, names, out, hidden)
        if len(out.markers) > ordered:
            out.all.sort(key=_START)
            out.faults.sort(key=_START)
            out.markers.sort()
            out.of_earlier.sort(key=_START)
        if metadata and annotated:
            _add(annotations(metadata, text, names), names, out)
        return out

    def _square(self, text: str, names: Names, out: Citations, hidden: Spans) -> None:
        """Read `[…]`: the two most common forms here, all others by the grammar."""
        ids, citations, markers = names.ids, out.all, out.markers
        at, plain, stepped, shift = names.at, self.plain, self.stepped, self.shift if self.numeric else -1
        past = last = index_end = 0
        run: set[str] = set()  # documents cited by the markers that stand together
        parts = text.split("[", MAX_BRACKETS)
        offset = len(parts[0])
        for part in parts[1:]:
            start = offset
            offset += len(part) + 1
            if start < past or (hidden and covers(hidden, start)):
                continue
            inside, closed, behind = part.partition("]")
            if not (inside and closed):
                if not closed:
                    self._unclosed(text, start, names, out)
                continue
            end = start + len(inside) + 2
            if behind and behind[0] in _LINKING and (past := self._link(text, start, end, names, out)):
                continue
            digits = not "A" <= inside < "{" and inside[0].isdecimal()  # most begin with a letter
            if digits and (
                not start
                or text[start - 1] != " "
                or text[start - 2] in _SUSPECT
                or not inside.isdecimal()
                or behind[:1] in _CODE
            ):
                if start and self._is_index(text, start, end, index_end):
                    index_end = end
                    continue
                if is_literal(text, start, end, zero_based=self.grammar.first == 0):
                    past = text.find("]]", end, end + MAX_MARKER) + 2 if text[start - 1] == "[" else 0
                    continue
            if run and (start - last > 2 or text[last:start].strip(" ,;")):
                run.clear()
            doc_id: str | None = None
            style = "doc_id"
            if inside in ids:
                if plain and not (stepped and "-" in inside):
                    doc_id = inside
            elif digits and shift >= 0 and len(inside) < 4 and inside.isdecimal():
                doc_id, style = at(int(inside) + shift), "numeric"
            if doc_id is not None and doc_id not in run:
                citations.append(Citation(doc_id, ids[doc_id], start, end, style))
                run.add(doc_id)
            elif "\n" in inside:
                self._unclosed(text, start, names, out)
                continue
            elif readings := self._readings(text, start, inside, names):
                start -= inside[-1] == "\\"
                _note(readings, text, (start, end), names, out, run)
                if len(citations) + len(out.faults) > MAX_BRACKETS:  # ranges multiply: `[1-50]` all over
                    break
            else:
                continue
            markers.append((start, end))
            last = end

    def _readings(self, text: str, start: int, inside: str, names: Names) -> Sequence[MarkerItem]:
        r"""Read a bracket by the grammar; an escaped one, `\[1\]`, only if its inside is not a formula."""
        if inside[-1] == "\\":
            inside = inside[:-1]
            if text[start - 1 : start] != "\\" or not (inside in names.ids or _ESCAPED.fullmatch(inside)):
                return []
        return self.grammar.read(inside, names)

    def _link(self, text: str, start: int, end: int, names: Names, out: Citations) -> int:
        """Return the end of the link, link definition or range that begins with `text[start:end]`, 0 if none does."""
        if text[end] == ":":
            return end if is_definition(text, start) else 0
        if text[end] in _DASHES:
            return self._range(text, start, names, out)
        if text[end] == "]":
            if text[start - 1 : start] != "[" or text[end + 1 : end + 2] != "(":
                return 0
            start, end = start - 1, end + 1
        destination = link_destination(text, end)
        if destination is None:
            return 0
        url, past = destination
        if self.linked and text[start - 1 : start] != "!" and (doc_id := names.linked(url)) is not None:
            out.all.append(Citation(doc_id, names.ids[doc_id], start, past, "link"))
            out.markers.append((start, past))
        return past

    def _read_all(self, pattern: re.Pattern[str], text: str, names: Names, out: Citations, hidden: Spans) -> None:
        """Read other brackets: full-width brackets by their own grammar, all others as square brackets."""
        read = self.grammar.read_full_width if pattern is _FULL_WIDTH else self.grammar.read
        run: set[str] = set()
        last = 0
        for match in islice(pattern.finditer(text), MAX_BRACKETS):
            start, end = match.span()
            if covers(hidden, start) or (pattern is _RAISED and not _is_reference(text, start)):
                continue
            if not (readings := read(match[match.lastindex or 1], names)):
                continue
            if start - last > 2 or text[last:start].strip(" ,;"):
                run.clear()
            _note(readings, text, (start, end), names, out, run)
            out.markers.append((start, end))
            last = end

    def _range(self, text: str, start: int, names: Names, out: Citations) -> int:
        """Read `[1]-[3]`; return its end, 0 if it is not a range."""
        match = _MARKER_RANGE.match(text, start)
        if (
            match is None
            or not int(match[1]) < int(match[2])
            or (start and self._is_index(text, start, match.end(1) + 1, 0))
        ):
            return 0
        readings = self.grammar.read_range(match[0], int(match[1]), int(match[2]), names)
        if readings:
            _note(readings, text, match.span(), names, out, set())
            out.markers.append(match.span())
        return match.end() if readings else 0

    def _is_index(self, text: str, start: int, end: int, index_end: int) -> bool:
        before = text[start - 1]
        if before == "]":
            return start == index_end
        return (before.isalnum() or before == "_") and is_index(text, start, end)

    def _unclosed(self, text: str, start: int, names: Names, out: Citations) -> None:
        """Note `[doc_1` and `[3.`: a bracket that begins as a marker and does not close on its line."""
        head = self.grammar.leading_id(text, start + 1, names)
        if head is None or text[start - 1 : start] == "\\" or _INTERVAL.match(text, start):
            return
        style, end = head
        out.faults.append(Fault("malformed", text[start:end], start, end, style))
        out.markers.append((start, end))

    def _unclosed_full_width(self, text: str, out: Citations, hidden: Spans) -> None:
        """Note `【1†source`: a full-width bracket that does not close on its line."""
        for match in islice(_FULL_WIDTH_UNCLOSED.finditer(text), MAX_BRACKETS):
            start, end = match.span()
            if not covers(hidden, start):
                out.faults.append(Fault("malformed", match[0], start, end, "full_width"))
                out.markers.append((start, end))

    def _round(self, text: str, names: Names, out: Citations, hidden: Spans) -> None:
        """Find ids in round brackets: `(doc_1)`."""
        for match in islice(_ROUND.finditer(text), MAX_BRACKETS):
            start, end = match.span()
            if text[start - 1 : start] == "]" or covers(hidden, start):
                continue
            if all(self.grammar.is_id(item.strip(), names) for item in match[1].split(",")):
                out.faults.append(Fault("malformed", match[0], start, end, "doc_id"))
                out.markers.append((start, end))


def _is_reference(text: str, start: int) -> bool:
    """Return whether a raised number at `start` follows a word, as a reference does, and not a unit or a formula."""
    before = text[max(0, start - 24) : start]
    return _RAISED_AFTER.search(before) is not None and _POWERS.search(before) is None


def _note(
    readings: Sequence[MarkerItem], text: str, span: tuple[int, int], names: Names, out: Citations, run: set[str]
) -> None:
    """Record the citations and the faults of one marker."""
    start, end = span
    for fault, style, item in readings:
        if fault == "earlier":
            out.of_earlier.append(Citation(item, 0, start, end, style))
        elif fault != "cites":
            shown = text[start:end] if len(readings) == 1 else item
            out.faults.append(Fault(fault, shown, start, end, style))
            continue
        else:
            out.all.append(Citation(item, names.ids[item], start, end, style))
        if item in run:
            out.faults.append(Fault("duplicate", text[start:end] if len(readings) == 1 else item, start, end, style))
        run.add(item)


def _add(delivered: Sequence[Annotation], names: Names, out: Citations) -> None:
    """Add annotations: on the span of a marker they decide what it names, elsewhere each adds its document once."""
    styles = {(c.start, c.end): c.style for c in out.all}
    styles.update(((f.start, f.end), f.style) for f in out.faults if f.kind == "dangling")
    styles.update({(c.start, c.end): c.style for c in out.of_earlier})
    marked: dict[tuple[str, int, int], Citation] = {}
    beside: dict[tuple[str, int, int], Citation] = {}
    earlier: list[Citation] = []
    for doc_id, named, start, end, came_earlier in delivered:
        style = styles.get((start, end))
        if came_earlier:
            earlier.append(Citation(named, 0, start, end, style or "structured"))
        elif doc_id is None:
            if style is None:
                out.faults.append(Fault("dangling", named, start, end, "structured"))
        elif style is None:
            beside[doc_id, start, end] = Citation(doc_id, names.ids[doc_id], start, end, "structured")
        else:
            marked[doc_id, start, end] = Citation(doc_id, names.ids[doc_id], start, end, style)
    decided = {(c.start, c.end) for c in (*marked.values(), *earlier) if c.start >= 0}
    out.of_earlier = [c for c in out.of_earlier if (c.start, c.end) not in decided]
    written = {c.doc_id for c in out.of_earlier}
    out.of_earlier += [c for c in earlier if c.doc_id not in written]
    out.of_earlier.sort(key=by_start)
    out.all = [c for c in out.all if (c.start, c.end) not in decided] + list(marked.values())
    out.faults = [f for f in out.faults if f.kind != "dangling" or (f.start, f.end) not in decided]
    written = {c.doc_id for c in out.all}
    placed = {c.doc_id for c in beside.values() if c.start >= 0}
    out.beside = tuple(
        c for c in beside.values() if c.doc_id not in written and (c.start >= 0 or c.doc_id not in placed)
    )
    out.all += out.beside
    out.all.sort(key=by_start)
    out.faults.sort(key=by_start)


def by_start(item: Citation | Fault) -> tuple[bool, int]:
    """Return what to sort citations and faults by: where they stand; those without a span come last."""
    return item.start < 0, item.start
