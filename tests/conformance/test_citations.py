"""What reading citations promises for every marker style and every format that is delivered beside the text."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.growth import is_linear, ratio_of_times, steps
from tests.conformance.hostile import PIECES, TEXTS, repeated
from tests.examples import examples
from turnsignal.stream.citations.reader import DEFAULT_STYLES, Citations, citation_reader
from turnsignal.stream.records.turns import Document

MARKERS = {
    "doc_id": "[doc_2]",
    "numeric": "[2]",
    "footnote": "[^2]",
    "full_width": "【2†source】",
    "labelled": "[Source: doc_2]",
    "step_item": "[kb_3-12]",
    "link": "[page](https://a.example/2)",
    "structured": "",
}
DOCUMENTS = [Document(f"doc_{n}", title=f"Page {n}", url=f"https://a.example/{n}") for n in range(1, 6)]
STEPPED = [*DOCUMENTS, Document("kb_3-12")]

#: format → how n citations of the second document arrive
FORMATS: dict[str, Callable[[int], dict[str, Any]]] = {
    "OpenAI, pages": lambda n: {
        "annotations": [
            {"type": "url_citation", "url": "https://a.example/2", "start_index": at, "end_index": at + 1}
            for at in range(n)
        ]
    },
    "OpenAI, files": lambda n: {"annotations": [{"type": "file_citation", "file_id": "doc_2", "index": 0}] * n},
    "OpenAI chat": lambda n: {
        "annotations": [
            {"type": "url_citation", "url_citation": {"url": "https://a.example/2", "start_index": at, "end_index": n}}
            for at in range(n)
        ]
    },
    "Anthropic": lambda n: {
        "citations": [{"type": "page_location", "document_title": "Page 2", "start_page_number": at} for at in range(n)]
    },
    "LangChain": lambda n: {
        "annotations": [{"type": "citation", "title": "Page 2", "start_index": at, "end_index": n} for at in range(n)]
    },
    "Google, places": lambda n: {
        "citations": {
            "citedChunks": [{"uri": "https://a.example/2"}],
            "inlineCitations": [{"startIndex": at, "endIndex": n, "citedChunkIndices": [0]} for at in range(n)],
        }
    },
    "Google, chunks": lambda n: {
        "citedChunks": [{"uri": "https://a.example/2", "title": "x" * n}] * n,
        "inlineCitations": [{"startIndex": 0, "endIndex": 1, "citedChunkIndices": list(range(n))}],
    },
    "Google, one long chunk": lambda n: {
        "citedChunks": [{"uri": "https://a.example/2#" + "x" * n}],
        "inlineCitations": [{"endIndex": at, "citedChunkIndices": [0]} for at in range(n)],
    },
    "plain": lambda n: {"citations": [{"doc_id": "doc_2", "start": at, "end": n} for at in range(n)]},
}
READ = citation_reader(DEFAULT_STYLES, r"doc_\d+")


def test_every_style_has_a_marker_here() -> None:
    assert list(MARKERS) == list(DEFAULT_STYLES)


@pytest.mark.parametrize("style", [style for style in MARKERS if MARKERS[style]])
def test_a_style_alone_reads_its_own_marker_and_none_as_another_style(style: str) -> None:
    read = citation_reader([style])
    assert [one.style for one in read(f"Open it {MARKERS[style]}.", STEPPED).all] == [style]
    text = " ".join(f"Open it {marker}." for marker in MARKERS.values())
    assert {one.style for one in read(text, STEPPED).all} == {style}


@pytest.mark.parametrize("shape", FORMATS)
def test_a_format_names_the_document_whatever_else_stands_there(shape: str) -> None:
    for text in ("Open it now.", "é 漢字 😀 [1] [9] (doc_3"):
        result = READ(text, DOCUMENTS, FORMATS[shape](3))
        assert "doc_2" in result.cited_ids
        assert {one.style for one in result.beside} == {"structured"}
        is_inside(result, text)


@pytest.mark.parametrize("shape", FORMATS)
def test_nothing_delivered_or_nothing_retrieved_cites_nothing(shape: str) -> None:
    assert READ("", [], FORMATS[shape](0)) == Citations()
    assert READ("Open it.", [], FORMATS[shape](3)).all == []


@examples(200)
@given(text=TEXTS, shape=st.sampled_from(sorted(FORMATS)), count=st.integers(0, 5))
def test_any_text_is_read_and_always_the_same(text: str, shape: str, count: int) -> None:
    result = READ(text, DOCUMENTS, FORMATS[shape](count))
    assert result == READ(text, list(DOCUMENTS), FORMATS[shape](count))
    is_inside(result, text)


def is_inside(result: Citations, text: str) -> None:
    for one in (*result.all, *result.faults):
        assert -1 <= one.start <= one.end <= len(text)
    assert all(one in result.all for one in result.beside)


@pytest.mark.parametrize("piece", PIECES)
def test_steps_of_reading_grow_no_worse_than_the_text(piece: str) -> None:
    for opener in ("", "```\n", "`", "[a", "("):
        assert is_linear(lambda size: work(repeated(piece, size, opener))), opener  # noqa: B023


@examples(100)
@given(unit=st.lists(st.sampled_from(PIECES), min_size=2, max_size=4).map("".join))
def test_steps_of_reading_several_pieces_grow_no_worse_than_the_text(unit: str) -> None:
    assert is_linear(lambda size: work(repeated(unit, size)))


@pytest.mark.slow
@pytest.mark.parametrize("piece", PIECES)
def test_times_of_reading_grow_no_worse_than_the_text(piece: str) -> None:
    texts = {size: repeated(piece, size) for size in (50_000, 200_000)}
    assert ratio_of_times(lambda size: lambda: READ(texts[size], DOCUMENTS)) <= 9


@pytest.mark.parametrize("shape", FORMATS)
def test_work_grows_no_worse_than_what_is_delivered(shape: str) -> None:
    assert is_linear(lambda size: work("é" * size, FORMATS[shape](size)))


@pytest.mark.slow
@pytest.mark.parametrize("shape", [shape for shape in FORMATS if shape != "Google, chunks"])  # its size is the square
def test_times_grow_no_worse_than_what_is_delivered(shape: str) -> None:
    def timed(size: int) -> Callable[[], Citations]:
        metadata, text = FORMATS[shape](size), "é" * size
        return lambda: READ(text, DOCUMENTS, metadata)

    assert ratio_of_times(timed, 5_000, 20_000) <= 9


def work(text: str, metadata: dict[str, Any] | None = None) -> int:
    return steps(lambda: READ(text, DOCUMENTS, metadata))
