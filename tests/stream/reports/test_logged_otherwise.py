"""What tells that a log is written otherwise is found in any text, in a time that grows as the text does."""

import pytest

from turnsignal.stream.records.turns import Document
from turnsignal.stream.reports.logged_otherwise import names_a_document

RETRIEVED = [Document("doc_4", title="Bulky waste"), Document("doc_9")]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "By seven (Source: doc_4).",
            "By seven (doc_9)",
            "By seven.\n\nSource: Bulky waste",
            "By seven (Bulky waste).",
        ),
        *("By seven¹.", "By seven. ²", "By seven <sup>1</sup>", "By seven <cite>doc_4</cite>."),
    ],
)
def test_a_document_is_named_in_other_styles(text: str) -> None:
    assert names_a_document(text, RETRIEVED)


@pytest.mark.parametrize(
    "text",
    ["By seven [doc_4].", "By seven 【doc_9】", "By seven.", "It covers 30 km².", "See doc_44.", "Bulky waste is big."],
)
def test_what_is_read_as_a_citation_or_as_none_names_no_document(text: str) -> None:
    assert not names_a_document(text, RETRIEVED)


@pytest.mark.parametrize("part", ["a", "[", "【", "doc_", ". "])
def test_the_longest_text_is_read_at_once(part: str) -> None:
    text = part * (200_000 // len(part))  # a pattern that tries every word from each of its letters takes half an hour
    assert not names_a_document(text, RETRIEVED)
