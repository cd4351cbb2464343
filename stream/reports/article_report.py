"""Articles: answers that cite one document, read as a classifier of articles (RAG+C).

The cited article is the predicted class, the labelled one the right class; to cite none, or several, is a class of its
own, and never right. Where a question has several labelled articles, each of them is right. Beside it stands how often
the retriever brought a right one at all, so that the picker, which is charged only where the one article that it chose
is wrong, is told from the retriever; and, where answers are known to
be right or wrong, how often the right citation goes with the right answer, which is what RAG+C relies on.
"""

from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from turnsignal.stream.records.turns import Document
from turnsignal.stream.reports.answers import CountedNames, clusters
from turnsignal.stream.reports.classification import classify
from turnsignal.stream.statistics.intervals import Estimate, adjust_family, difference, mean_over_turns, wilson
from turnsignal.stream.statistics.promise import PROMISE
from turnsignal.stream.truth.articles import ArticleLabel, compare_article
from turnsignal.stream.truth.documents import match_documents
from turnsignal.stream.truth.stages import top_documents

MOST_ARTICLES = 100_000  #: different ones that are told apart
MOST_SHOWN = 100  #: articles and models that are given, those with most errors first
NONE, SEVERAL = f"({ArticleLabel.NO_CITATION})", f"({ArticleLabel.SEVERAL_CITATIONS})"
DANGLING = "(not retrieved)"  #: class of an answer whose marker names nothing that was retrieved

#: what became of answers that are not right; the last two are no choice of an article, and so nobody's wrong one
_BLAMED = ("retriever", "picker", ArticleLabel.NO_CITATION.value, ArticleLabel.SEVERAL_CITATIONS.value)
_SEVERAL = ("only_labelled", "some_labelled", "none_labelled")


class ModelRank(NamedTuple):
    """One model on the leaderboard; rank: shared with those that it does not differ from."""

    model: str
    rank: int
    accuracy: Estimate
    answers: int

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        accuracy = self.accuracy.interval.as_json()
        return {"model": self.model, "rank": self.rank, "accuracy": accuracy, "answers": self.answers}


class ArticleReport:
    """What answers cite, beside what they should: `add` each answer with labelled documents; cutoff: of recall."""

    def __init__(self, cutoff: int, minimum: int) -> None:
        self._cutoff = cutoff
        self._minimum = minimum
        self._models = CountedNames()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._articles = CountedNames(MOST_ARTICLES)
        self._labels: Counter[str] = Counter()
        self._beside: Counter[tuple[bool, bool]] = Counter()
        self._missed: Counter[str] = Counter()  # labels of answers that are not right, by who is to blame
        self._several: Counter[str] = Counter()
        self._columns = array("I"), array("H"), array("B"), array("B")  # conversation, model, right, retrieved

    def add(
        self,
        conversation: int,
        model: str | None,
        relevant: Sequence[str],
        documents: Sequence[Document],
        cited: Sequence[str],
        *,
        approved: bool | None = None,
        dangling: bool = False,
    ) -> ArticleLabel:
        """Take in one answer and say what it cites; approved: whether it is known to be right, None where not known."""
        matched = match_documents(relevant, (), documents)
        named = [matched.labels.get(name, name) for name in cited]
        compared = compare_article(relevant, list(dict.fromkeys(named)), dangling=dangling)
        expected = named[0] if compared.is_right else relevant[0]
        predicted = {ArticleLabel.NO_CITATION: NONE, ArticleLabel.SEVERAL_CITATIONS: SEVERAL}.get(compared.label)
        if predicted is None:
            predicted = named[0] if named else DANGLING
        self._labels[compared.label.value] += 1
        self._pairs[self._known(expected), self._known(predicted)] += 1
        retrieved = matched.retrieved(top_documents(documents, self._cutoff)) > 0
        values = conversation, self._models.number(model or "(no model)"), compared.is_right, retrieved
        for column, value in zip(self._columns, values, strict=True):
            column.append(value)
        if not compared.is_right:
            self._missed[_blamed(compared.label) if retrieved else "retriever"] += 1
        if compared.label is ArticleLabel.SEVERAL_CITATIONS:
            self._count_several(set(named), set(relevant))
        if approved is not None:
            self._beside[compared.is_right, approved] += 1
        return compared.label

    def _count_several(self, named: set[str], relevant: set[str]) -> None:
        """Count an answer with several articles by how many of them are labelled."""
        known = len(named & relevant)
        self._several["only_labelled" if known == len(named) else "some_labelled" if known else "none_labelled"] += 1

    def _known(self, article: str) -> str:
        return self._articles.all[self._articles.number(article)]

    def __len__(self) -> int:
        return len(self._columns[0])

    def as_json(self) -> dict[str, Any] | None:
        """Return the report; None where no answer has labelled documents."""
        if not len(self):
            return None
        conversations, models = (np.frombuffer(column, dtype=column.typecode) for column in self._columns[:2])
        right, retrieved = (np.frombuffer(column, dtype=np.uint8).astype(np.float64) for column in self._columns[2:])
        everything = np.ones(len(right))
        return {
            "answers": len(self),
            "accuracy": _mean(conversations, everything, right).interval.as_json(),
            f"recall@{self._cutoff}": _mean(conversations, everything, retrieved).interval.as_json(),
            "labels": dict(sorted(self._labels.items())),
            "blame": {who: self._missed[who] for who in _BLAMED},
            "several": {which: self._several[which] for which in _SEVERAL},
            **self._by_article(),
            "models": [model.as_json() for model in self._leaderboard(conversations, models, right)],
            "citation_and_answer": self._citation_and_answer(),
        }

    def _by_article(self) -> dict[str, Any]:
        """Return precision, recall and F1 of each article, those with most errors first; sums, however many answers."""
        classes = list(dict.fromkeys(name for pair in self._pairs for name in pair))
        classified = classify(
            [((mine,), (theirs,)) for (mine, theirs), n in self._pairs.items() for _ in range(n)], classes
        )
        errors: Counter[str] = Counter()
        instead: dict[str, Counter[str]] = {}
        for (expected, predicted), n in self._pairs.items():
            if expected != predicted:
                errors[expected] += n
                instead.setdefault(expected, Counter())[predicted] += n
        worst = sorted(classified.classes, key=lambda name: (-errors[name], name))
        rows = []
        for name in worst[:MOST_SHOWN]:
            row: dict[str, Any] = {"article": name, **classified.classes[name].as_json(), "errors": errors[name]}
            if name in instead:
                row["instead"], row["instead_n"] = instead[name].most_common(1)[0]
            rows.append(row)
        averages = {name: figures.as_json() for name, figures in classified.averages.items()}
        return {"averages": averages, "articles": rows, "left_out": max(0, len(worst) - MOST_SHOWN)}

    def _leaderboard(
        self, conversations: npt.NDArray[Any], models: npt.NDArray[Any], right: npt.NDArray[np.float64]
    ) -> list[ModelRank]:
        """Rank models by accuracy; a model shares the rank of the one before if it differs from none of that rank.

        Which is the best is not known beforehand, so any two may come to be compared: all pairs are a family.
        """
        measured = []
        for number, model in enumerate(self._models.all):
            chosen = models == number
            accuracy = _mean(conversations[chosen], np.ones(int(chosen.sum())), right[chosen])
            if accuracy.n >= self._minimum:
                measured.append(ModelRank(model, 1, accuracy, int(chosen.sum())))
        measured.sort(key=lambda one: (-one.accuracy.value, one.model))
        apart = differing_pairs([one.accuracy for one in measured[:MOST_SHOWN]], len(measured))
        ranked: list[ModelRank] = []
        head = 0
        for place, one in enumerate(measured[:MOST_SHOWN]):
            if any((better, place) in apart for better in range(head, place)):
                head = place
            ranked.append(one._replace(rank=head + 1))
        return ranked

    def _citation_and_answer(self) -> dict[str, Any] | None:
        """Return the 2 × 2 table of right citations and right answers; None where no answer is known to be either."""
        n = self._beside.total()
        if not n:
            return None
        both, cited_wrongly = self._beside[True, True], self._beside[False, True]
        right = both + self._beside[True, False]
        wrong = n - right
        return {
            "n": n,
            "right_citation": {"right_answer": both, "wrong_answer": right - both},
            "wrong_citation": {"right_answer": cited_wrongly, "wrong_answer": wrong - cited_wrongly},
            "right_answer_given_right_citation": wilson(both, right).as_json() if right else None,
            "right_answer_given_wrong_citation": wilson(cited_wrongly, wrong).as_json() if wrong else None,
        }


def differing_pairs(best: Sequence[Estimate], models: int) -> set[tuple[int, int]]:
    """Return the pairs of places that differ; best: the first of so many models."""
    pairs = list(combinations(range(len(best)), 2))
    values = [difference(best[place], best[other]).p for place, other in pairs]
    adjusted = adjust_family(values, models * (models - 1) // 2)
    return {pair for pair, p in zip(pairs, adjusted, strict=True) if p <= PROMISE}


def _blamed(label: ArticleLabel) -> str:
    """Say what is to blame for an answer that is not right although a right article was retrieved."""
    return "picker" if label is ArticleLabel.WRONG else label.value


def _mean(conversations: npt.NDArray[Any], turns: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> Estimate:
    _, places = np.unique(conversations, return_inverse=True)
    return mean_over_turns(clusters(np.bincount(places, weights=turns), np.bincount(places, weights=right)))
