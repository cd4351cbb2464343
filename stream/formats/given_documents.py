"""Documents that the messages of one request hold: those of the turn that it answers, and those of turns before.

    user: "How do I pay?"     tool_result: a1, a2     assistant: "By card."
    user: "And by post?"      tool_result: b1         gets: "Yes.", which cites search result 2

A request repeats the documents of the turns before it, and citations count all of them: 2 is b1. A turn's own are
those that came with what its user typed last, or after it: b1. A turn that has none has those that were given with the
first message, where none came since. What else an answer cites of earlier turns stands behind its own.
"""

from collections.abc import Iterator, Sequence
from itertools import count, groupby
from typing import Any, NamedTuple

from turnsignal.stream.formats.documents import once, read_document
from turnsignal.stream.formats.messages import role_of
from turnsignal.stream.formats.protocol import Assumed, Record
from turnsignal.stream.formats.values import first, items, mapping

ANSWERING = 1_000_000  #: the turn of what came with the question, or after it
_READ = ("search_result", "document", "web_search_result")  #: blocks that are documents
_RESULTS = ("tool_result", "web_search_tool_result")
_EARLIER = "documents of earlier turns that an answer cites, put behind those of its own"


def blocks_of(request: Record) -> list[dict[str, Any]]:
    """Return the blocks of all messages, those within results of tools and searches in their places."""
    return [part for message in items(request.get("messages")) for part, _ in _parts(mapping(message))]


def _parts(message: Record) -> Iterator[tuple[dict[str, Any], bool]]:
    """Give the blocks of a message, and whether each stands in the result of a tool or a search."""
    content = message.get("content")
    for part in [{"type": "text", "text": content}] if isinstance(content, str) else items(content):
        if isinstance(part, dict):
            yield part, False
            if part.get("type") in _RESULTS:
                yield from ((inner, True) for inner in items(part.get("content")) if isinstance(inner, dict))


def _is_user(message: Record) -> bool:
    return role_of(message.get("role")) == "user"


def _is_typed(part: Record) -> bool:
    text = part.get("text")
    return part.get("type", "text") == "text" and isinstance(text, str) and bool(text.strip())


class GivenDocument(NamedTuple):
    """A document that came with a message.

    turn: how many messages a user had typed by then; lasting: given with a message, and not as a tool's result.
    """

    kind: str
    document: dict[str, Any] | None
    turn: int
    lasting: bool


def placed_in(request: Record, turn: int = 0) -> list[GivenDocument]:
    """Return the documents of all messages, in their order, and those that are none in their places.

    turn: the first message's; the documents of the last turn are in the end of turn ANSWERING.
    """
    placed: list[GivenDocument] = []
    numbers = count()
    for is_user, messages in groupby(map(mapping, items(request.get("messages"))), key=_is_user):  # several are one
        parts = [part for message in messages for part in _parts(message)]
        turn += is_user and any(_is_typed(part) for part, is_result in parts if not is_result)
        for part, is_result in parts:
            kind = part.get("type")
            if kind in _READ:
                document = _document(part, next(numbers)) if kind == "document" else read_document(part)
                placed.append(GivenDocument(str(kind), document, turn, not is_result))
    return [each._replace(turn=ANSWERING) if each.turn == turn else each for each in placed]


def documents_of(placed: Sequence[GivenDocument], content: Sequence[Any], assumed: Assumed) -> list[dict[str, Any]]:
    """Return the documents of the turn that is answered, with what its answer cites of those before, behind them."""
    chosen = [each for each in placed if each.turn == ANSWERING]
    if not chosen and all(each.turn <= 1 and each.lasting for each in placed):
        chosen = list(placed)
    citations = [mapping(item) for part in content for item in items(mapping(part).get("citations"))]
    cited = {named for item in citations if isinstance(named := first(item, "doc_id", "source", "url"), str)}
    own = once(each.document for each in chosen if each.document is not None)
    documents = once((*own, *(each.document for each in placed if each.document and each.document["doc_id"] in cited)))
    assumed[_EARLIER] += len(documents) - len(own)
    return documents


def _document(part: Record, number: int) -> dict[str, Any]:
    source = mapping(part.get("source"))
    named = first(part, "title") or first(source, "file_id", "url") or f"document-{number}"
    text = source.get("data") if source.get("type") == "text" else None
    read = read_document({"id": named, "title": part.get("title"), "text": text})
    return read or {"doc_id": f"document-{number}"}


def resolved(part: Any, searched: Sequence[Any], given: Sequence[Any]) -> Any:
    """Return a block whose citations name documents by id: indices count the request's documents, not a turn's."""
    if not isinstance(part, dict) or not isinstance(part.get("citations"), list):
        return part
    cited: list[Any] = []
    for item in part["citations"]:
        item = mapping(item)
        by_search = item.get("type") == "search_result_location"
        index, among = (
            item.get("search_result_index" if by_search else "document_index"),
            searched if by_search else given,
        )
        document = among[index] if type(index) is int and 0 <= index < len(among) else None
        kept = {key: value for key, value in item.items() if not key.endswith("_index")}
        cited.append(kept if document is None else {**kept, "doc_id": document["doc_id"]})
    return {**part, "citations": cited}
