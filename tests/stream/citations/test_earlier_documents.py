"""Earlier documents: what an earlier answer of the conversation retrieved may be cited, and no ranking is of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from turnsignal.stream.citations.earlier_documents import MOST, remember
from turnsignal.stream.citations.reader import Citation, Citations, citation_reader
from turnsignal.stream.records.turns import Document

OWN = [Document("doc_7"), Document("doc_9")]
EARLIER = remember(b"", [Document(name) for name in ("doc_1", "hecke_1", "17", "doc_7", "a, b")])
read = citation_reader()


def resolved(text: str, documents: list[Document] = OWN, earlier: bytes = EARLIER) -> Citations:
    return read(text, documents, None, earlier)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Open it [doc_1].", ["doc_1"]),
        ("Cut it [hecke_1].", ["hecke_1"]),
        ("Cut it [doc_7, hecke_1].", ["hecke_1"]),
        ("Cut it [doc_7][doc_1][hecke_1].", ["doc_1", "hecke_1"]),
        ("Cut it [ID: 17].", ["17"]),
        ("Cut it [17].", ["17"]),
        ("Cut it 【doc_1】.", ["doc_1"]),
        ("Cut it [ID: doc_1].", ["doc_1"]),
        ("Cut it [doc_1 ].", ["doc_1"]),
        ("Cut it [doc_1, p. 12].", ["doc_1"]),
        ("Cut it [doc_1 and doc_7].", ["doc_1"]),
        ("Cut it [^doc_1].", ["doc_1"]),
        ("Cut it [Source 17].", ["17"]),
        ("Cut it [#17].", ["17"]),
        ("Cut it [17-19].", []),
        ("Cut it [15-18].", []),
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
    assert len(remember(earlier, [Document(f"doc_{3 * MOST - 1}")])) == 4 * MOST
    assert resolved(f"See [doc_{3 * MOST - 1}].", earlier=earlier).of_earlier
    assert not resolved("See [doc_0].", earlier=earlier).of_earlier


def test_a_document_that_comes_again_is_one_of_the_latest() -> None:
    earlier = remember(b"", [Document(f"id_{number}x") for number in range(MOST)])
    again = remember(earlier, [Document("id_0x"), Document("new")])
    assert [one.doc_id for one in resolved("See [id_0x]. Or [id_1x].", earlier=again).of_earlier] == ["id_0x"]


@pytest.mark.parametrize("ids", [["1", "2", "3", "4"], ["doc_1", "doc_2"], ["0", "1", "2"], ["s-01", "s-02"]])
def test_ids_that_are_places_among_their_answers_documents_name_nothing_later(ids: list[str]) -> None:
    assert remember(EARLIER, [Document(name) for name in ids]) == EARLIER
    assert remember(EARLIER, [Document(name) for name in reversed(ids)]) != EARLIER
    assert remember(EARLIER, [Document("1")]) == EARLIER


def test_ids_of_digits_give_no_number_that_names_nothing_a_rank() -> None:
    own = [Document(name) for name in ("1201", "1302", "1403")]
    before, after = read("See [doc_1]. And [ID: 3].", own), resolved("See [doc_1]. And [ID: 3].", own)
    assert before.all == after.all == []
    assert [fault.text for fault in after.faults] == ["[ID: 3]"]


def test_a_range_counts_places_and_stays_what_it_is() -> None:
    earlier = remember(b"", [Document("3"), Document("17")])
    for styles in (("doc_id",), ("doc_id", "numeric")):
        of_places = citation_reader(styles)
        for text in ("See [1-4].", "See [15-18].", "See [3-2]."):
            assert of_places(text, OWN, None, earlier) == of_places(text, OWN)


def test_an_answers_own_document_is_no_earlier_one() -> None:
    own, of_ids = [Document(name) for name in ("1", "2", "3")], citation_reader(["doc_id"])
    earlier = remember(b"", [Document("3"), Document("9")])
    assert of_ids("See [#3].", own, None, earlier) == of_ids("See [#3].", own)


def test_an_annotation_may_name_what_an_earlier_answer_retrieved() -> None:
    beside = {"citations": [{"doc_id": "hecke_1"}, {"doc_id": "hecke_2"}, {"doc_id": "doc_7"}]}
    citations = read("Cut it.", OWN, beside, EARLIER)
    assert citations.cited_ids == ["doc_7", "hecke_1"]
    assert [fault.text for fault in citations.faults] == ["hecke_2"]


def test_an_annotation_decides_what_a_marker_names_in_an_earlier_answers_documents() -> None:
    beside = {"citations": [{"doc_id": "hecke_1", "start": 7, "end": 10}]}
    citations = read("Cut it [1].", OWN, beside, EARLIER)
    assert (citations.cited_ids, citations.faults) == (["hecke_1"], [])


def test_an_annotation_on_the_marker_of_an_earlier_document_decides_what_it_names() -> None:
    def named(doc_id: str) -> Citations:
        return read("Cut [doc_1].", OWN, {"citations": [{"doc_id": doc_id, "start": 4, "end": 11}]}, EARLIER)

    assert (named("doc_7").cited_ids, named("hecke_1").cited_ids) == (["doc_7"], ["hecke_1"])
    assert (named("zzz").cited_ids, named("zzz").faults) == (["doc_1"], [])


@given(st.text(st.sampled_from("[]【】(),;: doc_1279`\n\\"), max_size=60))
@examples(300)
def test_whatever_the_text_citations_of_an_answers_own_documents_stay_as_they_are(text: str) -> None:
    before, after = read(text, OWN), resolved(text)
    assert all(citation in after.all for citation in before.all)
    assert {citation.doc_id for citation in after.all} <= {document.doc_id for document in OWN}
    assert {fault.kind for fault in before.faults if fault not in after.faults} <= {"dangling"}
    assert set(before.markers) <= set(after.markers)
    assert after.markers == sorted(after.markers)
