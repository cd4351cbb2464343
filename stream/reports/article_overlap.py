"""Overlapping articles: those that are nearly alike, and those that are cited in turn for the same questions.

Where two articles say the same, whoever picks one of them is right and the labels say otherwise: such pairs are to be
merged, or both to be labelled. It takes no labels to find them. In turn: for two questions or more, each in a fifth of
their answers, as a wrong article now and then is a mistake and no overlap. Alike: the cosine of their words, weighted
by how few articles have them (TF-IDF).
"""

from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import combinations
from typing import Any

import numpy as np

from turnsignal.stream.records.turns import Document
from turnsignal.stream.text.wordplay import words_of
from turnsignal.stream.truth.passages import split_words

ALIKE = 0.8  #: cosine from which on two articles are named
MOST_ARTICLES = 2_000  #: whose texts are compared, those that come first
MOST_UNREAD = 100_000  #: further ones that are counted
MOST_QUESTIONS = 100_000  #: whose cited articles are remembered
MOST_SHOWN = 50  #: pairs of each kind

_QUESTIONS = 2  #: from which on a pair that is cited in turn is named: one question's answers may differ by chance

_TEXT = 4_000  # characters of an article
_QUESTION = 160  # characters
_CITED = 10  # different articles of one question
_OFTEN = 0.2  # of a question's answers that an article is cited in, from which on that is no mistake
_TOGETHER = 100  # articles that are compared with all at a time: where all are alike, each has a cosine with each
_NO_LIBRARY = "scikit-learn is not installed; try, in your clone: make .venv/.report"


class ArticleOverlap:
    """Articles that overlap: `add` what each answer was given and cites, then `as_json`."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._beyond: set[int] = set()  # hashes of ids whose texts are not kept
        self._cited: OrderedDict[str, dict[str, int]] = OrderedDict()  # question → article → answers that cite it alone

    def add(self, question: str, cited: Sequence[str], documents: Sequence[Document]) -> None:
        """Take in one answer."""
        for document in documents:
            if document.doc_id not in self._texts and document.text:
                if len(self._texts) < MOST_ARTICLES:
                    self._texts[document.doc_id] = f"{document.title or ''} {document.text}"[:_TEXT]
                elif len(self._beyond) < MOST_UNREAD:
                    self._beyond.add(hash(document.doc_id))
        asked = " ".join(words_of(question[:_QUESTION].casefold()))
        if asked and len(cited) == 1:
            before = self._cited.setdefault(asked, {})
            if cited[0] in before or len(before) < _CITED:
                before[cited[0]] = before.get(cited[0], 0) + 1
            if len(self._cited) > MOST_QUESTIONS:
                self._cited.popitem(last=False)

    def as_json(self) -> dict[str, Any] | None:
        """Return pairs of articles, the most alike and the most often mixed up first.

        None where no answer came with texts of articles or cites one article alone.
        """
        if not self._texts and not self._cited:
            return None
        in_turn: Counter[tuple[str, str]] = Counter()
        for answers in self._cited.values():
            least = _OFTEN * sum(answers.values())
            in_turn.update(combinations(sorted(article for article, n in answers.items() if n >= least), 2))
        alike, reason = self._alike()
        return {
            "articles": len(self._texts),
            "not_compared": len(self._beyond),
            "questions": len(self._cited),
            "alike": alike,
            **({"reason": reason} if reason else {}),
            "in_turn": [
                {"articles": list(pair), "questions": n}
                for pair, n in in_turn.most_common(MOST_SHOWN)
                if n >= _QUESTIONS
            ],
        }

    def _alike(self) -> tuple[list[dict[str, Any]], str]:
        names = sorted(name for name, text in self._texts.items() if split_words(text))
        if len(names) < 2:
            return [], ""
        try:
            from sklearn.feature_extraction.text import TfidfVectorizer
        except ImportError:
            return [], _NO_LIBRARY
        weights = TfidfVectorizer(analyzer=split_words).fit_transform([self._texts[name] for name in names])
        nearest = nsmallest(MOST_SHOWN, _close(weights))
        return [
            {"articles": [names[mine], names[other]], "cosine": round(-away, 4)} for away, mine, other in nearest
        ], ""


def _close(weights: Any) -> Iterator[tuple[float, int, int]]:
    """Give pairs of rows whose cosine is large enough, as -cosine and both numbers: the nearest ones of each part.

    weights: rows of length 1.
    """
    others = weights.T.tocsr()
    for first in range(0, weights.shape[0], _TOGETHER):
        cosines = (weights[first : first + _TOGETHER] @ others).tocoo()
        mine = cosines.row + first
        close = (mine < cosines.col) & (cosines.data >= ALIKE)
        pairs = -np.minimum(cosines.data[close], 1.0), mine[close], cosines.col[close]
        nearest = np.lexsort(pairs[::-1])[:MOST_SHOWN]
        yield from zip(*(column[nearest].tolist() for column in pairs), strict=True)
