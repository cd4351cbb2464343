"""Labels that name documents by ids which a release does not have are told from a search that misses."""

import pytest

from turnsignal.stream.reports.label_ids import LabelIds


def found(after: str, misses: int) -> list[str]:
    """Give 40 answers each of two releases; after: what ids of the second begin with; misses: of 10, those of it."""
    labels = LabelIds()
    for version, prefix, missed in (("v1", "", 1), ("v2", after, misses)):
        for number in range(40):
            place = number + 1 if number % 10 < missed else number
            labels.add(version, [f"d{number}"], [f"{prefix}d{place % 40}", f"{prefix}x{number}"])
    return list(labels.notes())


def test_a_release_whose_documents_have_other_ids_is_asked_about() -> None:
    (note,) = found("new-", 1)
    assert note.startswith("Of the documents that labels name, 0% ever came in v2, whatever was asked")


@pytest.mark.parametrize("misses", [1, 5, 10])
def test_a_search_that_misses_finds_what_others_asked_for(misses: int) -> None:
    assert found("", misses) == []


def test_where_labels_fit_no_release_they_may_be_of_something_else() -> None:
    labels = LabelIds()
    for number in range(40):
        labels.add("v1", [f"d{number}"], ["x"])
    assert list(labels.notes()) == []
