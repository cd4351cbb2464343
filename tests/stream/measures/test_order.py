"""Documents in the order of the context, and of retrieval before reranking."""

import pytest

from turnsignal.stream.measures.order import in_order, in_retrieval_order
from turnsignal.stream.records.turns import Document


@pytest.mark.parametrize("ranks", [(1, 2, 3), (None, None, None), (1, None, 3)])
def test_documents_in_their_usual_order_have_their_index_as_rank(ranks: tuple[int | None, ...]) -> None:
    documents = [Document(name, rank) for name, rank in zip("abc", ranks, strict=True)]
    assert in_order(documents) == in_order(documents, {"a": 1, "b": 2, "c": 3}) == (["a", "b", "c"], (1, 2, 3))


def test_documents_stand_by_their_ranks_each_once_whether_or_not_the_best_are_known() -> None:
    documents = [Document("a", 3), Document("b", 1), Document("a", 2)]
    assert in_order(documents) == in_order(documents, {"a": 2, "b": 1}) == (["b", "a"], (1, 2))


def test_no_documents_have_no_order() -> None:
    assert (in_order([]), in_retrieval_order([])) == (([], ()), [])


def test_documents_stood_otherwise_before_reranking() -> None:
    documents = [Document("a", 1, 2), Document("b", 2, 1), Document("b", 3, 3)]
    assert in_retrieval_order(documents) == ["b", "a"]
    assert in_retrieval_order(documents[:2], different=2) == ["b", "a"]


def test_where_one_document_has_no_rank_of_retrieval_no_order_is_known() -> None:
    assert in_retrieval_order([Document("a", 1, 1), Document("b", 2)]) == []
    assert in_retrieval_order([Document("a", 1)], different=1) == []
