"""Labelled figures: documents, passages and answers beside those that are labelled, as means over answers.

Which documents came: precision, recall and F1 among the first ranks. Which passages they hold: ROUGE-L, containment and
coverage, so that the right document with the wrong passage is told from the wrong document. How near an answer is to a
reference: words, letters, lists, headings. Overlap with a reference says little about whether an answer is right (that
can be said in other words), so none of it is a headline.
"""

import re
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from turnsignal.stream.records.turns import Document, Truth
from turnsignal.stream.reports.answers import clusters
from turnsignal.stream.statistics.intervals import mean_over_turns
from turnsignal.stream.truth.documents import MOST_READ, match_documents
from turnsignal.stream.truth.ngrams import can_compare, compare_ngrams
from turnsignal.stream.truth.passages import MOST_CHUNKS, containment, coverage, rouge_l, split_words
from turnsignal.stream.truth.stages import top_documents

MOST_COMPARED = 2_000  #: answers whose BLEU and chrF are measured, the first ones: each takes longer than all else

_LIST = re.compile(r"^\s{0,8}(?:[-*•+]|\d{1,3}[.)])\s", re.M)
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s", re.M)
_TABLE = re.compile(r"^\s{0,3}\|.{0,2000}\|\s*$", re.M)
_READ = 20_000  # characters of an answer
_KEPT = 8_000  # of it and of its reference: models that embed read no more


class LabelledFigures:
    """Means of the measures on labels: `add` each answer that has labels; cutoff: ranks that count.

    references: reference and answer of the first MOST_COMPARED answers that have both, cut, for who compares them
    otherwise.
    """

    def __init__(self, cutoff: int) -> None:
        self.moved = 0
        self.references: list[tuple[str, str]] = []
        self._referring = array("I")
        self._cutoff = cutoff
        self._values: dict[str, tuple[array[int], array[float]]] = {}
        self._structure: dict[str, list[float]] = {}

    def add(self, conversation: int, truth: Truth, documents: Sequence[Document], answer: str) -> None:
        """Take in one answer; conversation: its number."""
        top = top_documents(documents, self._cutoff)
        if truth.doc_ids:
            matched = match_documents(truth.doc_ids, truth.chunks or (), documents)
            self.moved += matched.moved
            given = len({document.doc_id for document in top})
            self._add_documents(conversation, matched.retrieved(top), given, len(set(truth.doc_ids)))
        texts = [document.text for document in top if document.text][:MOST_READ]
        if truth.chunks and texts:
            self._add_passages(conversation, truth.chunks, texts)
        if truth.reference and answer:
            self._put("reference: ROUGE-L", conversation, rouge_l(truth.reference, answer).f1)
            self._add_structure(truth.reference, answer)
            if len(self.references) == MOST_COMPARED:
                return
            self.references.append((truth.reference[:_KEPT], answer[:_KEPT]))
            self._referring.append(conversation)
            if can_compare():
                shared = compare_ngrams(truth.reference, answer)
                self._put("reference: BLEU", conversation, shared.bleu)
                self._put("reference: chrF", conversation, shared.chrf)

    def put_similarities(self, name: str, cosines: Sequence[float]) -> None:
        """Take in how near each of `references` is to its answer, by a model called `name`."""
        for conversation, cosine in zip(self._referring, cosines, strict=True):
            self._put(f"reference: cosine by {name}", conversation, cosine)

    def _add_documents(self, conversation: int, right: int, given: int, labelled: int) -> None:
        precision, recall = right / given if given else 0.0, right / labelled
        k = self._cutoff
        self._put(f"documents: P@{k}", conversation, precision)
        self._put(f"documents: R@{k}", conversation, recall)
        both = precision + recall
        self._put(f"documents: F1@{k}", conversation, 2 * precision * recall / both if both else 0.0)

    def _add_passages(self, conversation: int, chunks: Sequence[str], texts: Sequence[str]) -> None:
        known = [chunk for chunk in chunks[:MOST_CHUNKS] if split_words(chunk)]
        if not known:
            return
        best = [max(rouge_l(chunk, text).f1 for text in texts) for chunk in known]
        held = [max(containment(chunk, text) for text in texts) for chunk in known]
        self._put("chunks: ROUGE-L", conversation, sum(best) / len(known))
        self._put("chunks: containment", conversation, sum(held) / len(known))
        self._put("chunks: coverage", conversation, coverage(known, texts))

    def _add_structure(self, reference: str, answer: str) -> None:
        for side, text in enumerate((answer, reference)):
            for name, value in _structure(text[:_READ]).items():
                self._structure.setdefault(name, [0.0, 0.0, 0.0])[side] += value
        for sums in self._structure.values():
            sums[2] += 1

    def _put(self, name: str, conversation: int, value: float) -> None:
        numbers, values = self._values.setdefault(name, (array("I"), array("f")))
        numbers.append(conversation)
        values.append(value)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it: figures by name, with intervals; structure: means of answers and references."""
        return {
            "figures": {name: self._mean(*columns) for name, columns in self._values.items()},
            "moved": self.moved,
            "structure": {
                name: {"answers": round(mine / n, 3), "references": round(theirs / n, 3), "n": int(n)}
                for name, (mine, theirs, n) in self._structure.items()
            },
        }

    @staticmethod
    def _mean(numbers: "array[int]", values: "array[float]") -> dict[str, Any]:
        _, places = np.unique(np.frombuffer(numbers, dtype=np.uint32), return_inverse=True)
        turns = np.bincount(places, weights=np.ones(len(places))).astype(np.float64)
        totals = np.bincount(places, weights=np.frombuffer(values, dtype=np.float32)).astype(np.float64)
        mean = mean_over_turns(clusters(turns, totals)).interval
        return {**mean.as_json(), "answers": len(values)}


def _structure(text: str) -> dict[str, float]:
    return {
        "words": len(split_words(text)),
        "list items": len(_LIST.findall(text)),
        "headings": len(_HEADING.findall(text)),
        "table rows": len(_TABLE.findall(text)),
    }
