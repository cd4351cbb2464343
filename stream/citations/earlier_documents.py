"""Earlier documents: those that a conversation's answers before this one retrieved, which it may cite as well.

Where search is a tool and its results stay in the history, a later answer rightly cites what an earlier search brought,
though its own turn logs other documents. Such a marker names something that was retrieved, so it is a citation and no
fault; it has no rank among the documents of its answer, so that no ranking is measured by it. Remembered are digests of
the latest ones, four bytes each: one marker in sixteen million that names nothing is taken for an earlier document.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from zlib import crc32

from turnsignal.stream.citations.reader import MAX_BRACKETS, Citation, CitationReader, Citations, by_start
from turnsignal.stream.records.turns import Document

MOST = 64  #: documents that are remembered of a conversation
_BYTES = 4
_MARKER = re.compile(r"[\[【［〔]([^\[\]【】［］〔〕\n]{1,200}+)[\]】］〕]")
_OPENING = "[【［〔"
_BY_PLACE = ("numeric", "full_width")  #: styles of markers that name a document by its place


def remember(earlier: bytes, documents: Sequence[Document]) -> bytes:
    """Add the documents of an answer to those that are remembered; the oldest are dropped."""
    digests = dict.fromkeys([_digest(document.doc_id) for document in documents[:MOST]])
    new = [digest for digest in digests if digest not in earlier]
    return (earlier + b"".join(new))[-MOST * _BYTES :] if new else earlier


def resolve(
    text: str, documents: Sequence[Document], citations: Citations, earlier: bytes, read: CitationReader
) -> Citations:
    """Return the citations of a text with those of earlier documents, which are dangling otherwise, or no markers.

    citations: of `documents`, as `read` found them; earlier: from `remember`.
    """
    brackets = text.count("[") if text.isascii() else sum(map(text.count, _OPENING))
    if brackets <= len(citations.markers) and not citations.faults:
        return citations  # as most do: all brackets are markers that name documents of its own
    own = {document.doc_id for document in documents}
    named = dict.fromkeys(name for name in _names(text) if name not in own and _digest(name) in earlier)
    if not named:
        return citations
    placed = {(one.start, one.end) for one in citations.all if one.style in _BY_PLACE}
    known = {(one.start, one.end, one.doc_id) for one in citations.all}
    new = [
        one
        for one in read(text, [*documents, *map(Document, named)]).all
        if not (one.style in _BY_PLACE or (one.start, one.end) in placed or (one.start, one.end, one.doc_id) in known)
    ]
    of_earlier = [Citation(one.doc_id, 0, one.start, one.end, one.style) for one in new if one.doc_id in named]
    resolved = {(one.start, one.end, one.doc_id) for one in of_earlier}
    return Citations(
        # A list that names an earlier document beside one of its own was no marker before.
        sorted((*citations.all, *(one for one in new if one.doc_id in own)), key=by_start),
        [
            fault
            for fault in citations.faults
            if fault.kind != "dangling" or (fault.start, fault.end, fault.text.strip("[]")) not in resolved
        ],
        sorted({*citations.markers, *((one.start, one.end) for one in new)}),
        citations.beside,
        citations.ranks,
        of_earlier,
    )


def _names(text: str) -> Iterator[str]:
    """Give what may be the id of a document in the brackets of a text: whole, item by item, and behind a label."""
    for match in islice(_MARKER.finditer(text), MAX_BRACKETS):
        inside = match[1]
        yield inside.strip()
        if "," in inside or ";" in inside:
            yield from map(str.strip, re.split("[,;]", inside))
        if ":" in inside:
            yield inside.rpartition(":")[2].strip()


def _digest(doc_id: str) -> bytes:
    return crc32(doc_id.encode("utf-8", "surrogatepass")).to_bytes(_BYTES, "big")
