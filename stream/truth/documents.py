"""Documents: which labelled ones were retrieved, also where the web has moved them.

A page is the same under another spelling of its address: tracking parameters, case of the host, ports and fragments say
nothing. Where the address is another, its text may still be there: a retrieved document that holds a labelled passage
stands for a labelled document that was not retrieved, and is counted as moved.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from turnsignal.stream.records.turns import Document
from turnsignal.stream.truth.passages import MOST_CHUNKS, containment

MOST_READ = 20  #: documents that are searched for a passage whose document was moved
HELD = 0.8  #: share of a passage's words, in their order, from which on a document holds it

_PORTS = {"http": 80, "https": 443}
_TRACKING = frozenset(
    ("gclid", "dclid", "fbclid", "msclkid", "yclid", "igshid", "mc_cid", "mc_eid", "ref_src", "ref", "_ga", "_hsenc")
)
_LONGEST = 2_000  # characters of an address


class MatchedDocuments(NamedTuple):
    """Retrieved documents that are labelled ones.

    labels: id of a retrieved document → the labelled id or address that it stands for; moved: how many only by text.
    """

    labels: dict[str, str]
    moved: int

    def retrieved(self, documents: Iterable[Document]) -> int:
        """Return how many different labelled documents are among some of the retrieved ones."""
        return len({self.labels[document.doc_id] for document in documents if document.doc_id in self.labels})


def match_documents(relevant: Iterable[str], chunks: Sequence[str], documents: Sequence[Document]) -> MatchedDocuments:
    """Return which of the retrieved documents are labelled ones.

    relevant: ids or addresses; chunks: labelled passages, by which a document that has moved is known again.
    """
    wanted = dict.fromkeys(relevant)
    labels = {document.doc_id: document.doc_id for document in documents if document.doc_id in wanted}
    addresses = {plain_address(name): name for name in wanted if name not in labels and is_address(name)}
    if not addresses:
        return MatchedDocuments(labels, 0)
    for document in documents:
        for address in (document.doc_id, document.url):
            name = addresses.get(plain_address(address)) if address is not None and is_address(address) else None
            if name is not None:
                labels.setdefault(document.doc_id, name)
    known = {plain_address(name) for name in labels.values()}
    missing = iter([address for address in addresses if address not in known])
    moved = 0
    for document in documents[:MOST_READ]:
        if document.doc_id not in labels and document.text and _holds(document.text, chunks):
            if (address := next(missing, None)) is None:
                break
            labels[document.doc_id] = addresses[address]
            moved += 1
    return MatchedDocuments(labels, moved)


def _holds(text: str, chunks: Sequence[str]) -> bool:
    return any(containment(chunk, text) >= HELD for chunk in chunks[:MOST_CHUNKS])


def is_address(name: str) -> bool:
    """Say whether a name is an address on the web."""
    return name.startswith(("http://", "https://", "HTTP", "www."))


def plain_address(address: str) -> str:
    """Return an address without what says nothing about the page; itself where it cannot be read.

    >>> plain_address("HTTPS://Example.com:443/a/?utm_source=x&q=1#top")
    'example.com/a?q=1'
    """
    try:
        parts = urlsplit((address if "://" in address else f"https://{address}")[:_LONGEST])
        port = parts.port
        fields = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return address
    kept = sorted((key, value) for key, value in fields if not _tracks(key))
    host = (parts.hostname or "").removeprefix("www.").rstrip(".")
    named = "" if port in (None, _PORTS.get(parts.scheme.lower())) else f":{port}"
    query = f"?{urlencode(kept)}" if kept else ""
    return f"{host}{named}{parts.path.rstrip('/')}{query}"


def _tracks(key: str) -> bool:
    name = key.lower()
    return name.startswith("utm_") or name in _TRACKING
