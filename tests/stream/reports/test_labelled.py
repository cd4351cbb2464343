"""Queries by id with their labels, as files of several hands name them."""

from typing import Any

import pytest

from turnsignal.stream.errors import Refused
from turnsignal.stream.reports.labelled import MOST_LABELS, LabelledQueries


def read(*records: Any) -> LabelledQueries:
    queries = LabelledQueries()
    for record in records:
        queries.add(record)
    return queries


@pytest.mark.parametrize(
    ("raw", "labels"),
    [
        (["Billing", "FAQ"], ("billing", "faq")),
        ("Billing, faq", ("billing", "faq")),
        ("billing", ("billing",)),
        ("", ()),
        (None, ()),
        ([], ()),
        (["faq", " FAQ "], ("faq",)),
        ([7, "faq"], ("7", "faq")),
        (7, ("7",)),
    ],
)
def test_labels_are_read_in_small_letters_from_a_list_a_text_or_nothing(raw: Any, labels: tuple[str, ...]) -> None:
    assert read({"id": "1", "labels": raw}).by_id["1"].labels == labels


def test_what_was_read_otherwise_than_it_stands_is_counted() -> None:
    queries = read({"id": 1, "labels": "A, b"}, {"id": 2, "labels": ["a", "a"]}, {"id": 3})
    assert dict(queries.read_anew) == {"as text with commas": 1, "in other case": 1, "twice in one query": 1}
    assert queries.unlabelled == 1


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (["billing"], "expected an object such as"),
        ("billing", "got a text: 'billing'"),
        (None, "got null"),
        ({"labels": ["faq"]}, r"expected an id, got none \(the record has: labels\)"),
        ({"id": "", "labels": []}, "expected an id, got none"),
        ({"id": True}, "got a truth value: 'True'"),
        ({"id": 1.5}, "got a number: '1.5'"),
        ({"id": "x" * 201}, "at most 200 characters, got 201"),
        ({"id": "1", "labels": {"faq": 1}}, "expected a list of texts, got an object"),
        ({"id": "1", "labels": True}, "expected a list of texts, got a truth value"),
        ({"id": "1", "labels": ["faq", None]}, "expected texts in the list, got null"),
        ({"id": "1", "labels": [["faq"]]}, "expected texts in the list, got a list"),
        ({"id": "1", "labels": ["x" * 201]}, "labels of at most 200 characters"),
        ({"id": "1", "labels": list(range(MOST_LABELS + 1))}, "at most 100 labels of a query, got 101"),
    ],
)
def test_what_is_no_query_is_refused_with_the_reason(record: Any, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        read(record)


def test_an_id_that_is_there_twice_is_refused_also_as_number_and_text() -> None:
    with pytest.raises(Refused, match="expected each id once, got '1' again"):
        read({"id": 1, "labels": []}, {"id": "1", "labels": []})


def test_what_is_known_of_a_query_is_kept_and_bounded() -> None:
    query = read({"id": "1", "labels": [], "question": "why? " * 1000, "domain": "money", "difficulty": 3}).by_id["1"]
    assert len(query.text or "") == 2_000
    assert query.dimensions == {"domain": "money", "difficulty": "3"}


def test_queries_without_labels_and_without_anything_known_of_them_are_queries() -> None:
    queries = read({"id": "1", "labels": []}, {"id": "2"}, {"id": "3", "labels": [], "domain": ""})
    assert {(query.labels, query.text, tuple(query.dimensions)) for query in queries.by_id.values()} == {((), None, ())}
    assert all(query.dimensions == {} for query in queries.by_id.values())
