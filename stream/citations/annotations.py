"""Annotations: citations that an API delivers beside the text, in any vendor's format.

Each vendor has its own fields; reader.py needs only the retrieved document and the span in the text.
Formats: OpenAI annotations, Anthropic citations, LangChain's, Google's `inlineCitations` over `citedChunks`, and plain
{doc_id, start, end}.

Where two readings are possible:
- A document is looked up by id, then URL, then title, then the item's own `id`, then the 0-based `document_index`.
  Anthropic's `search_result_index` counts over the whole conversation, so it is not an index into this turn's list.
- Offsets count characters; only Google's `startIndex` and `endIndex` count bytes of UTF-8, where a byte inside a
  character counts as its first byte. Anthropic's `start_char_index` is an offset in the document, not in the text.
- `annotations` may hold anything (people's remarks, generated files), so an item there that names no retrieved document
  is a citation only if its type says so. Under `citations`, every item that names something is a citation.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import Any, NamedTuple, TypeGuard

from turnsignal.stream.citations.markers import Names

MAX_ANNOTATIONS = 10_000  #: annotations read in one turn
KEYS = ("citations", "annotations", "inlineCitations")  #: of a turn's metadata

_DOCUMENT_KEYS = ("doc_id", "document_id", "file_id", "source", "filename")
_URL_KEYS = ("url", "uri", "source")
_TITLE_KEYS = ("title", "document_title", "filename")
_PLACES = (("start_index", "end_index"), ("start", "end"), ("startIndex", "endIndex"))

Item = Mapping[str, Any]


class Annotation(NamedTuple):
    """One citation delivered beside the text.

    doc_id: the retrieved document, None if the named document was not retrieved; named: the name that it gives; start,
    end: its span in the text (characters, end exclusive), −1 without a span; came_earlier: whether `named` is the id of
    a document that an earlier answer retrieved.
    """

    doc_id: str | None
    named: str
    start: int
    end: int
    came_earlier: bool = False


def annotations(metadata: Item, text: str, names: Names) -> list[Annotation]:
    """Read the annotations in a turn's metadata, each once, in the order of delivery.

    Linear in metadata and text. Must not raise, because metadata comes from strangers: unreadable items are left out.
    """
    offsets = _CharacterOffsets(text)
    meant: dict[int, tuple[str | None, str, bool]] = {}  # Google's items share their chunks, and a chunk may be long
    unique: dict[Annotation, None] = {}
    for item, placed, surely in islice(_delivered(metadata), MAX_ANNOTATIONS):
        if id(item) not in meant:
            meant[id(item)] = _document_of(item, names)
        doc_id, named, came_earlier = meant[id(item)]
        if doc_id is not None or came_earlier or (surely and named):
            start, end = offsets.of(item)
            if start < 0 and placed is not item:
                start, end = offsets.of(placed)
            unique[Annotation(doc_id, named, start, end, came_earlier)] = None
    return list(unique)


def move_annotations(metadata: Item, text: str, moves: Sequence[tuple[int, int, int]]) -> None:
    """Update the spans of annotations, in place, after parts of the text were replaced.

    text: before; moves: (start, end, new length) of each part, ascending, in bytes of UTF-8; replacements are ASCII.
    A span that begins or ends within a part is widened to the whole part.
    """
    in_bytes = _Moved([start for start, _, _ in moves], [end for _, end, _ in moves], [now for _, _, now in moves])
    in_characters = in_bytes if text.isascii() else in_bytes.counted_in(text)
    done: set[int] = set()
    for given in islice(_delivered(metadata), MAX_ANNOTATIONS):
        for item in given[:2]:
            if id(item) in done or not isinstance(item, dict):
                continue
            done.add(id(item))
            for first, last in _PLACES:
                moved = in_bytes if first == "startIndex" else in_characters
                start, end = item.get(first), item.get(last)
                if _is_count(start):
                    item[first] = moved.shift(start, within=0)
                if _is_count(end):
                    item[last] = moved.shift(end, within=1)


class _Moved:
    """Maps offsets in a text to offsets after parts of it were replaced."""

    def __init__(self, starts: list[int], ends: list[int], lengths: list[int]) -> None:
        self._starts = starts
        self._ends = ends
        self._lengths = lengths
        self._shifts = list(
            accumulate(now + start - end for start, end, now in zip(starts, ends, lengths, strict=True))
        )

    def counted_in(self, text: str) -> "_Moved":
        """Return the same map for offsets in characters instead of bytes."""
        data, sizes, at, characters = text.encode("utf-8", "replace"), [], 0, 0
        for offset in sorted([*self._starts, *self._ends]):  # start, end, start, end, …
            characters += len(data[at:offset].decode("utf-8", "replace"))
            sizes.append(characters)
            at = offset
        return _Moved(sizes[::2], sizes[1::2], self._lengths)

    def shift(self, at: int, within: int) -> int:
        """Return the new offset; within: 0 if an offset inside a part becomes the part's start, 1 if its end."""
        before = bisect_right(self._starts, at - 1)  # parts that begin before the offset
        if not before:
            return at
        if at < self._ends[before - 1]:
            shift = self._shifts[before - 2] if before > 1 else 0
            return self._starts[before - 1] + shift + within * self._lengths[before - 1]
        return at + self._shifts[before - 1]


def _delivered(metadata: Item) -> Iterator[tuple[Item, Item, bool]]:
    """Yield the item that names a document, the item that may hold its span, and whether it must be a citation."""
    yield from _google(metadata)
    for key in ("citations", "annotations"):
        given = metadata.get(key)
        if isinstance(given, Mapping):
            yield from _google(given)
        for item in given if isinstance(given, list) else ():
            if isinstance(item, Mapping):
                kind = item.get("type")
                kind = kind if isinstance(kind, str) else ""
                inner = item.get(kind)  # OpenAI's chat completions put the fields under the type's own name
                surely = key == "citations" or "citation" in kind or kind.endswith("_location")
                yield inner if isinstance(inner, Mapping) else item, item, surely


def _google(given: Item) -> Iterator[tuple[Item, Item, bool]]:
    chunks, inline = given.get("citedChunks"), given.get("inlineCitations")
    if not isinstance(chunks, list) or not isinstance(inline, list):
        return
    for item in inline:
        indices = item.get("citedChunkIndices") if isinstance(item, Mapping) else None
        for index in indices if isinstance(indices, list) else ():
            if _is_count(index) and index < len(chunks) and isinstance(chunks[index], Mapping):
                yield chunks[index], item, True


def _document_of(item: Item, names: Names) -> tuple[str | None, str, bool]:
    """Return the id of the retrieved document that an item names, or None; its name; and whether it came earlier."""
    ids = names.ids
    given = earlier = ""
    for keys, find in (
        (_DOCUMENT_KEYS, lambda name: name if name in ids else None),
        (_URL_KEYS, names.linked),
        (_TITLE_KEYS, names.titled),
        (("id",), lambda name: name if name in ids else None),
    ):
        for key in keys:
            value = item.get(key)
            if isinstance(value, str | int) and value != "":
                name = str(value)
                if (doc_id := find(name)) is not None:
                    return doc_id, name, False
                given = given or name
                if not earlier and keys in (_DOCUMENT_KEYS, ("id",)) and names.came_earlier(name):
                    earlier = name
    index = item.get("document_index")
    doc_id = names.at(index + 1) if _is_count(index) else None
    return doc_id, earlier or given, doc_id is None and earlier != ""


class _CharacterOffsets:
    """Converts a delivered span to characters of the text; counts bytes once, at the first byte offset."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ends: list[int] = []

    def of(self, item: Item) -> tuple[int, int]:
        """Return an item's span in characters, (-1, -1) if it has none or the span lies outside the text."""
        for first, last in _PLACES:
            start, end = item.get(first), item.get(last)
            if first == "startIndex" and start is None and _is_count(end):
                start = 0  # protobuf leaves zeros out
            if _is_count(start) and _is_count(end):
                if first == "startIndex" and not self._text.isascii():
                    start, end = self._characters(start), self._characters(end)
                return (start, end) if start <= end <= len(self._text) else (-1, -1)
        return -1, -1

    def _characters(self, byte: int) -> int:
        if not self._ends:
            self._ends = list(accumulate(len(char.encode("utf-8", "surrogatepass")) for char in self._text))
        if byte > self._ends[-1]:
            return len(self._text) + 1
        return bisect_right(self._ends, byte)


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1_000_000_000
