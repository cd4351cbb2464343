"""Articles: the document that an answer cites, against those that are known to answer the question.

An answer that cites is a classifier of articles: the cited one is the class that it chose (RAG+C). To cite none, or
several, is a class of its own, and no right one, whatever is among them.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from typing import NamedTuple

from turnsignal.stream.text.visible import visible

_LONGEST = 60  #: characters of an id that a sentence names


class ArticleLabel(StrEnum):
    """Say what an answer cites."""

    RIGHT = "right"  #: one document, and a relevant one
    WRONG = "wrong"  #: one document, and not a relevant one
    NO_CITATION = "no_citation"
    SEVERAL_CITATIONS = "several_citations"


class CitedArticle(NamedTuple):
    """What an answer cites, and a sentence that names it."""

    label: ArticleLabel
    sentence: str

    @property
    def is_right(self) -> bool:
        """Whether the one document that it cites is relevant."""
        return self.label is ArticleLabel.RIGHT


def compare_article(relevant: Collection[str], cited: Sequence[str], *, dangling: bool = False) -> CitedArticle:
    """Compare what an answer cites with the known relevant documents.

    relevant: their ids, at least one; cited: ids of the retrieved documents that it cites, each once; dangling: whether
    it names something that was not retrieved.

    >>> compare_article(["doc_2", "doc_7"], ["doc_7"]).label
    <ArticleLabel.RIGHT: 'right'>
    """
    if len(cited) > 1:
        known = len(set(cited).intersection(relevant))
        return CitedArticle(ArticleLabel.SEVERAL_CITATIONS, f"cites {len(cited)} documents, {known} of them relevant")
    if cited:
        if cited[0] in relevant:
            return CitedArticle(ArticleLabel.RIGHT, f"cites {_name(cited[0])}, which is relevant")
        return CitedArticle(ArticleLabel.WRONG, f"cites {_name(cited[0])}; {_name_relevant(relevant)}")
    if dangling:
        return CitedArticle(ArticleLabel.WRONG, f"cites what was not retrieved; {_name_relevant(relevant)}")
    return CitedArticle(ArticleLabel.NO_CITATION, f"cites nothing; {_name_relevant(relevant)}")


def _name_relevant(relevant: Collection[str]) -> str:
    more = f" and {len(relevant) - 1} more" if len(relevant) > 1 else ""
    return f"relevant would be {_name(next(iter(relevant)))}{more}"


def _name(doc_id: str) -> str:
    """Name a document, whose id comes from strangers: cut, and with nothing hidden in it."""
    return visible(doc_id if len(doc_id) <= _LONGEST else f"{doc_id[:_LONGEST]}…")
