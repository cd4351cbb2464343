import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from turnsignal.stream.citations.annotations import Annotation, annotations
from turnsignal.stream.citations.markers import Names
from turnsignal.stream.citations.reader import Citation, citation_reader
from turnsignal.stream.records.turns import Document

URL_A, URL_B = "https://example.org/a", "https://example.org/b"
DOCUMENTS = [Document("a", url=URL_A, title="Guide"), Document("b", url=URL_B), Document("kb/9", title="Tax")]
ANNOTATED = "é bcd. Efg"
read = citation_reader()


def delivered(metadata, text=ANNOTATED, documents=DOCUMENTS):
    return annotations(metadata, text, Names(documents))


def beside(metadata, text=ANNOTATED, reader=read):
    return [(c.doc_id, c.rank, c.start, c.end) for c in reader(text, DOCUMENTS, metadata).all]


def url_citation(url, start=None, end=None):
    return {"type": "url_citation", "url": url, "start_index": start, "end_index": end}


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        pytest.param(
            {"annotations": [{"type": "file_citation", "file_id": "kb/9", "filename": "a.pdf", "index": 3}]},
            ("kb/9", -1, -1),
            id="OpenAI, a file",
        ),
        pytest.param({"annotations": [url_citation(URL_B, 2, 5)]}, ("b", 2, 5), id="OpenAI, a page"),
        pytest.param(
            {
                "annotations": [
                    {
                        "type": "container_file_citation",
                        "container_id": "c",
                        "file_id": "b",
                        "start_index": 0,
                        "end_index": 1,
                    }
                ]
            },
            ("b", 0, 1),
            id="OpenAI, a container's file",
        ),
        pytest.param(
            {
                "annotations": [
                    {"type": "url_citation", "url_citation": {"url": URL_B, "start_index": 0, "end_index": 1}}
                ]
            },
            ("b", 0, 1),
            id="OpenAI chat, fields under the type's name",
        ),
        pytest.param(
            {
                "annotations": [
                    {"type": "file_citation", "start_index": 2, "end_index": 5, "file_citation": {"file_id": "b"}}
                ]
            },
            ("b", 2, 5),
            id="OpenAI threads, the place outside",
        ),
        pytest.param(
            {"citations": [{"type": "char_location", "document_index": 1, "start_char_index": 0, "end_char_index": 9}]},
            ("b", -1, -1),
            id="Anthropic, by document index",
        ),
        pytest.param(
            {"citations": [{"type": "page_location", "document_index": 7, "document_title": "Tax"}]},
            ("kb/9", -1, -1),
            id="Anthropic, by title",
        ),
        pytest.param(
            {"citations": [{"type": "search_result_location", "source": "kb/9", "search_result_index": 0}]},
            ("kb/9", -1, -1),
            id="Anthropic, by the id of a search result",
        ),
        pytest.param(
            {"citations": [{"type": "search_result_location", "source": URL_B, "search_result_index": 0}]},
            ("b", -1, -1),
            id="Anthropic, by the URL of a search result",
        ),
        pytest.param(
            {"citations": [{"type": "web_search_result_location", "url": URL_A, "title": "Tax"}]},
            ("a", -1, -1),
            id="Anthropic, the web: the URL goes before the title",
        ),
        pytest.param(
            {"annotations": [{"type": "citation", "id": "x1", "title": "Tax", "start_index": 2, "end_index": 6}]},
            ("kb/9", 2, 6),
            id="LangChain",
        ),
        pytest.param(
            {
                "citations": {
                    "citedChunks": [{"uri": URL_A}, {"uri": URL_B}],
                    "inlineCitations": [{"startIndex": 3, "endIndex": 6, "citedChunkIndices": [1]}],
                }
            },
            ("b", 2, 5),
            id="Google, bytes",
        ),
        pytest.param(
            {"citedChunks": [{"uri": URL_A}], "inlineCitations": [{"endIndex": 2, "citedChunkIndices": [0]}]},
            ("a", 0, 1),
            id="Google, at the top, a zero left out",
        ),
        pytest.param({"citations": [{"doc_id": "b", "start": 2, "end": 5}]}, ("b", 2, 5), id="plain"),
        pytest.param({"citations": [{"document_id": "b"}]}, ("b", -1, -1), id="plain, without a place"),
        pytest.param({"citations": [{"id": "a"}]}, ("a", -1, -1), id="plain, an id"),
    ],
)
def test_each_format_gives_the_document_and_the_characters(metadata, expected):
    assert [(a.doc_id, a.start, a.end) for a in delivered(metadata)] == [expected]


def test_an_id_goes_before_a_url_before_a_title_before_the_own_id():
    item = {"id": "b", "title": "Tax", "url": URL_A, "doc_id": "b"}
    found = []
    for key in ("doc_id", "url", "title", "id"):
        found.append(delivered({"citations": [dict(item)]})[0].doc_id)
        del item[key]
    assert found == ["b", "a", "kb/9", "b"]


@pytest.mark.parametrize(
    ("item", "named"),
    [
        (url_citation("https://example.org/other"), "https://example.org/other"),
        ({"type": "file_citation", "file_id": "gone"}, "gone"),
        ({"type": "search_result_location", "source": "elsewhere", "search_result_index": 0}, "elsewhere"),
    ],
)
def test_what_names_nothing_retrieved_is_dangling(item, named):
    assert delivered({"annotations": [item]}) == [Annotation(None, named, -1, -1)]
    faults = read(ANNOTATED, DOCUMENTS, {"citations": [item]}).faults
    assert [(f.kind, f.text, f.style) for f in faults] == [("dangling", named, "structured")]


@pytest.mark.parametrize(
    "item",
    [
        {"type": "file_path", "file_id": "out.csv"},
        {"label": "good", "id": "r1"},
        {"type": "remark", "title": "checked"},
        {},
        "kb/9",
        None,
        7,
    ],
)
def test_annotations_that_are_no_citations_are_left_out(item):
    assert delivered({"annotations": [item]}) == []


def test_google_names_each_chunk_of_a_place_and_skips_chunks_that_are_not_there():
    given = {
        "citedChunks": [{"uri": URL_A}, "?", {"uri": URL_B}],
        "inlineCitations": [{"startIndex": 0, "endIndex": 7, "citedChunkIndices": [0, 1, 2, 3, -1, True, "0"]}],
    }
    assert beside({"citations": given}) == [("a", 1, 0, 6), ("b", 2, 0, 6)]


def test_a_byte_inside_a_character_counts_as_the_characters_first():
    def place(first, last):
        item = {"startIndex": first, "endIndex": last, "uri": URL_A}
        (one,) = delivered({"citations": [item]}, "aé漢😀z")
        return one.start, one.end

    assert place(1, 3) == (1, 2)
    assert place(3, 6) == (2, 3)
    assert place(4, 8) == (2, 3)
    assert place(6, 10) == (3, 4)
    assert place(0, 11) == (0, 5)
    assert place(0, 12) == (-1, -1)


@pytest.mark.parametrize("span", [(5, 2), (-1, 3), (0, 11), (True, 3), ("0", 3), (0.0, 3.0), (0, 10**30)])
def test_a_place_that_is_none_counts_as_without_place(span):
    assert beside({"citations": [{"doc_id": "a", "start": span[0], "end": span[1]}]}) == [("a", 1, -1, -1)]


def test_the_same_annotation_twice_is_one():
    assert beside({"citations": [url_citation(URL_A, 0, 2)], "annotations": [url_citation(URL_A, 0, 2)]}) == [
        ("a", 1, 0, 2)
    ]


def test_one_document_cited_at_two_places_is_cited_twice_and_without_a_place_once():
    two = [url_citation(URL_A, 0, 2), url_citation(URL_A, 7, 10)]
    assert beside({"citations": [*two, {"doc_id": "a"}]}) == [("a", 1, 0, 2), ("a", 1, 7, 10)]
    assert beside({"citations": [{"doc_id": "a"}, {"id": "a"}, {"title": "Guide"}]}) == [("a", 1, -1, -1)]


def test_a_citation_both_in_the_text_and_beside_it_is_one_citation():
    text = "Open it [2]. Or wait."
    metadata = {"citations": [{"doc_id": "b"}, {"doc_id": "b", "start": 0, "end": 12}, {"doc_id": "a"}]}
    result = read(text, DOCUMENTS, metadata)
    assert result.all == [Citation("b", 2, 8, 11, "numeric"), Citation("a", 1, -1, -1, "structured")]
    assert result.beside == (Citation("a", 1, -1, -1, "structured"),)
    assert (result.markers, result.cited_ranks, result.faults) == ([(8, 11)], [1, 2], [])


def test_an_annotation_on_a_marker_decides_what_the_marker_names():
    text = "Open it【13†source】 or【1†source】."
    assert [f.kind for f in read(text, DOCUMENTS).faults] == ["dangling"]
    metadata = {
        "annotations": [
            {"type": "file_citation", "start_index": 7, "end_index": 18, "file_citation": {"file_id": "kb/9"}},
            {"type": "file_citation", "start_index": 21, "end_index": 31, "file_citation": {"file_id": "b"}},
        ]
    }
    result = read(text, DOCUMENTS, metadata)
    assert result.all == [Citation("kb/9", 3, 7, 18, "full_width"), Citation("b", 2, 21, 31, "full_width")]
    assert (result.faults, result.beside, result.markers) == ([], (), [(7, 18), (21, 31)])


def test_an_annotation_on_a_malformed_marker_cites_and_the_marker_stays_malformed():
    text = "Open it [1]."
    reader = citation_reader(["doc_id", "structured"])
    result = reader(text, DOCUMENTS, {"citations": [{"doc_id": "b", "start": 8, "end": 11}]})
    assert [c.doc_id for c in result.all] == ["b"]
    assert [(f.kind, f.text) for f in result.faults] == [("malformed", "[1]")]


def test_citations_keep_the_order_of_the_text_and_what_has_no_place_comes_last():
    metadata = {"citations": [{"doc_id": "kb/9"}, {"doc_id": "b", "start": 0, "end": 4}]}
    assert read("So it is [1].", DOCUMENTS, metadata).cited_ids == ["b", "a", "kb/9"]


def test_without_the_style_nothing_beside_the_text_counts():
    reader = citation_reader(["doc_id", "numeric"])
    assert beside({"citations": [{"doc_id": "a"}]}, reader=reader) == []


def test_metadata_without_citations_changes_nothing():
    text = "Open it [2] and [9]."
    for metadata in ({}, {"trace": "7"}, {"citations": []}, {"citations": None, "annotations": "none"}):
        assert read(text, DOCUMENTS, metadata) == read(text, DOCUMENTS)


class Counted(dict):
    reads = 0

    def get(self, key, default=None):
        self.reads += key == "uri"
        return super().get(key, default)


def test_a_chunk_is_read_once_however_often_it_is_named():
    chunk = Counted({"uri": URL_A})
    inline = [{"startIndex": n, "endIndex": n + 1, "citedChunkIndices": [0] * 100} for n in range(9)]
    assert len(beside({"citations": {"citedChunks": [chunk], "inlineCitations": inline}})) == 9
    assert chunk.reads == 1


KEYS = ["doc_id", "id", "url", "title", "type", "url_citation", "start", "end", "start_index", "end_index"]
KEYS += ["startIndex", "endIndex", "document_index", "citedChunks", "inlineCitations", "citedChunkIndices"]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["a", "url_citation", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@examples(300)
@given(JSON, JSON, JSON)
def test_garbage_never_raises_and_spans_lie_inside_the_text(citations, items, inline):
    documents = [Document("a", title="a", url="a"), Document("1")]
    metadata = {"citations": citations, "annotations": items, "inlineCitations": inline, "citedChunks": [{"id": "a"}]}
    result = read("é [1]t", documents, metadata)
    for citation in result.all:
        assert citation.doc_id in ("a", "1")
        assert -1 <= citation.start <= citation.end <= 6
    assert result == read("é [1]t", documents, metadata)
