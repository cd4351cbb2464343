"""Order: the documents as they were given to the model, and as they were retrieved before reranking."""

from collections.abc import Mapping, Sequence
from operator import attrgetter, itemgetter

from turnsignal.stream.records.turns import MAX_DOCUMENTS, Document

_RANKS = tuple(range(1, MAX_DOCUMENTS + 1))
_FIRST = itemgetter(0)
_BEFORE = attrgetter("retrieval_rank")


def in_order(documents: Sequence[Document], best: Mapping[str, int] | None = None) -> tuple[list[str], tuple[int, ...]]:
    """Return document ids in context order, each once, and their ranks; a missing rank is the index in the list.

    best: document id → its best rank, in the order of the list, where that is known already.
    """
    if best is None:
        best = {document.doc_id: document.rank or index for index, document in enumerate(documents, 1)}
    ranks, usual = tuple(best.values()), _RANKS[: len(documents)]
    if ranks == usual:  # each id once
        return list(best), usual
    ranked = [(index if one.rank is None else one.rank, one.doc_id) for index, one in enumerate(documents, 1)]
    ranked.sort(key=_FIRST)
    first: dict[str, int] = {}
    for rank, doc_id in ranked:
        first.setdefault(doc_id, rank)
    return list(first), tuple(first.values())


def has_usual_ranks(ranks: tuple[int, ...]) -> bool:
    """Say whether ranks are those from 1 to their number, each once, as nearly always."""
    return ranks == _RANKS[: len(ranks)]


def in_retrieval_order(documents: Sequence[Document], different: int = 0) -> list[str]:
    """Return document ids in the order before reranking; empty unless every document has a `retrieval_rank`.

    different: how many ids there are, where that is known already.
    """
    try:
        placed = sorted(documents, key=_BEFORE)
    except TypeError:  # some have no rank
        return []
    if placed and placed[0].retrieval_rank is None:  # none has a rank
        return []
    ids = [document.doc_id for document in placed]
    return ids if len(ids) == different else list(dict.fromkeys(ids))
