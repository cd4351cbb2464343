"""Figures beside labels: what counts as a document."""

import pytest

from turnsignal.stream.records.turns import Document, Truth
from turnsignal.stream.reports.labelled_figures import LabelledFigures


def test_chunks_of_one_document_are_one_document_of_the_first() -> None:
    figures = LabelledFigures(5)
    figures.add(0, Truth(doc_ids=["d9"]), [*[Document("d1")] * 5, Document("d9")], "")
    done = figures.as_json()["figures"]
    assert done["documents: R@5"]["value"] == 1.0
    assert done["documents: P@5"]["value"] == pytest.approx(0.5)
