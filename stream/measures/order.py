"""Order: the documents as they were given to the model, and as they were retrieved before reranking."""

from collections.abc import Sequence
from operator import attrgetter, itemgetter

from turnsignal.stream.records.turns import MAX_DOCUMENTS, Document

_RANKS = tuple(range(1, MAX_DOCUMENTS + 1))
_FIRST = itemgetter(0)
_BEFORE = attrgetter("retrieval_rank")


def in_order(documents: Sequence[Document]) -> tuple[list[str], tuple[int, ...]]:
    """Return document ids in context order, each once, and their ranks; a missing rank is the index in the list."""
    ids = [document.doc_id for document in documents]
    ranks = tuple([document.rank for document in documents])
    count = len(ids)
    known = _RANKS[:count]
    if ranks == known and len(set(ids)) == count:
        return ids, known
    ranked = [(i if rank is None else rank, name) for i, (rank, name) in enumerate(zip(ranks, ids, strict=True), 1)]
    ranked.sort(key=_FIRST)
    first: dict[str, int] = {}
    for rank, doc_id in ranked:
        first.setdefault(doc_id, rank)
    return list(first), tuple(first.values())


def in_retrieval_order(documents: Sequence[Document]) -> list[str]:
    """Return document ids in the order before reranking; empty unless every document has a `retrieval_rank`."""
    try:
        placed = sorted(documents, key=_BEFORE)
    except TypeError:  # some have no rank
        return []
    if placed and placed[0].retrieval_rank is None:  # none has a rank
        return []
    return list(dict.fromkeys([document.doc_id for document in placed]))
