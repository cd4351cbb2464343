"""Earlier documents: what an earlier answer of the conversation retrieved may be cited, and no ranking is of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from turnsignal.stream.citations.earlier_documents import MOST, remember, resolve
from turnsignal.stream.citations.reader import Citation, Citations, citation_reader
from turnsignal.stream.records.turns import Document

OWN = [Document("doc_7"), Document("doc_9")]
EARLIER = remember(b"", [Document(name) for name in ("doc_1", "hecke_1", "17", "doc_7", "a, b")])
read = citation_reader()


def resolved(text: str, documents: list[Document] = OWN, earlier: bytes = EARLIER) -> Citations:
    return resolve(text, documents, read(text, documents), earlier, read)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Open it [doc_1].", ["doc_1"]),
        ("Cut it [hecke_1].", ["hecke_1"]),
        ("Cut it [doc_7, hecke_1].", ["hecke_1"]),
        ("Cut it [doc_7][doc_1][hecke_1].", ["doc_1", "hecke_1"]),
        ("Cut it [ID: 17].", ["17"]),
        ("Cut it [17].", ["17"]),
        ("Cut it 【doc_1】.", []),
        ("Open it [doc_7].", []),
        ("Open it [2].", []),
        ("Open it [doc_2].", []),
        ("Open it [hecke_2].", []),
        ("Call `f[hecke_1]` there.", []),
        ("Open [hecke_1](https://example.com).", []),
        ("Open it (doc_1).", []),
    ],
)
def test_a_marker_may_name_what_an_earlier_answer_retrieved(text: str, names: list[str]) -> None:
    citations = resolved(text)
    assert [one.doc_id for one in citations.of_earlier] == names
    assert all(one.rank == 0 and (one.start, one.end) in citations.markers for one in citations.of_earlier)


def test_such_a_marker_is_no_fault_and_others_beside_it_still_are() -> None:
    assert [fault.text for fault in read("Open it [doc_1]. Wait [doc_2].", OWN).faults] == ["[doc_1]", "[doc_2]"]
    assert [fault.text for fault in resolved("Open it [doc_1]. Wait [doc_2].").faults] == ["[doc_2]"]
    assert [fault.text for fault in resolved("Open it [doc_1, doc_2].").faults] == ["doc_2"]


def test_a_list_of_an_own_and_an_earlier_document_cites_both() -> None:
    assert read("Cut it [doc_7, hecke_1].", OWN).all == []
    assert resolved("Cut it [doc_7, hecke_1].").all == [Citation("doc_7", 1, 7, 23, "doc_id")]


def test_a_place_among_the_answers_own_documents_comes_before_an_earlier_id() -> None:
    numbered = remember(b"", [Document("2"), Document("4")])
    citations = resolved("Open it [2]. Wait [4].", earlier=numbered)
    assert [one.doc_id for one in citations.all] == ["doc_9"]
    assert citations.of_earlier == [Citation("4", 0, 18, 21, "doc_id")]
    assert citations.faults == []


def test_the_latest_documents_are_remembered_each_once() -> None:
    earlier = b""
    for number in range(3 * MOST):
        earlier = remember(earlier, [Document(f"doc_{number}"), Document("always")])
    assert len(earlier) == 4 * MOST
    assert remember(earlier, [Document(f"doc_{3 * MOST - 1}")]) == earlier
    assert resolved(f"See [doc_{3 * MOST - 1}].", earlier=earlier).of_earlier
    assert not resolved("See [doc_0].", earlier=earlier).of_earlier


@given(st.text(st.sampled_from("[]【】(),;: doc_1279`\n\\"), max_size=60))
@examples(300)
def test_whatever_the_text_citations_of_an_answers_own_documents_stay_as_they_are(text: str) -> None:
    before, after = read(text, OWN), resolved(text)
    assert all(citation in after.all for citation in before.all)
    assert {citation.doc_id for citation in after.all} <= {document.doc_id for document in OWN}
    assert {fault.kind for fault in before.faults if fault not in after.faults} <= {"dangling"}
    assert set(before.markers) <= set(after.markers)
    assert after.markers == sorted(after.markers)
