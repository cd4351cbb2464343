"""Rank scoring: what the ranking measures say of a response, from the documents that it cites or that are relevant.

Gains are 0 or 1 here, so a measure depends only on the ranks that have gain, and on how many documents have gain at
all, not on their names. Measures of one ranking by the same judgments share one pass over it, and their scores of the
same ranks are computed and encoded once.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import groupby

import orjson

from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.measures.bands import band, explain, wasted_context
from turnsignal.stream.measures.order import has_usual_ranks, in_order, in_retrieval_order
from turnsignal.stream.measures.protocol import Measure
from turnsignal.stream.pipeline.compliance import EncodedScores
from turnsignal.stream.records.scores import Score, Unscored
from turnsignal.stream.statistics.directions import WASTED
from turnsignal.stream.suite import Suite

_REMEMBERED = 1_000  #: combinations of ranks that are kept
_FEW = 50  #: documents of the longest ranking of which they are


class RankScorer:
    """Score the ranking of what a response was given; relevancy: the measure that stands for it."""

    def __init__(self, suite: Suite, relevancy: str) -> None:
        bands = suite.retrieval.good, suite.retrieval.moderate
        kinds = groupby(suite.parsed_measures, lambda measure: (measure.order, measure.on))
        self._groups = [_Group(list(measures), relevancy, *bands) for _, measures in kinds]
        self._before_reranking = any(group.order == "retrieval" for group in self._groups)

    def score(self, response: Response) -> "tuple[list[EncodedScores], float | None, tuple[int, ...], tuple[int, ...]]":
        """Return the scores in parts; relevancy among them; the context ranks of all documents and of those cited."""
        documents, citations = response.documents, response.citations
        context, ranks = in_order(documents, citations.ranks)
        usual = has_usual_ranks(ranks)
        rank_of = {citation.doc_id: citation.rank for citation in citations.all}
        cited = tuple(sorted(set(rank_of.values())))
        uncited = None if rank_of else _why_uncited(citations)
        known = None if response.relevant is None else dict.fromkeys(response.relevant, 1)
        retrieval = in_retrieval_order(documents, len(context)) if self._before_reranking else []
        parts, relevancy = list[EncodedScores](), None
        for group in self._groups:
            ranking = context if group.order == "context" else retrieval
            gains, missing = (rank_of, uncited) if group.on == "citations" else (known, None)
            if not documents:
                missing = Unscored.NO_RETRIEVAL
            elif not gains:
                missing = missing or Unscored.NO_JUDGMENTS
            elif not ranking:
                missing = Unscored.NOT_APPLICABLE
            if missing is not None or gains is None:
                parts.append(group.missing[missing or Unscored.NO_JUDGMENTS])
                continue
            # Where each document has its own rank, the ranks that are cited say which of them have gain.
            ranked = cited if usual and ranking is context and gains is rank_of else None
            scores, value = group.measure(ranking, gains, cited, ranked)
            parts.append(scores)
            relevancy = value if relevancy is None else relevancy
        if documents and uncited is None:
            parts.append(_waste(len(cited), len(context)))
        return parts, relevancy, ranks, cited


class _Group:
    """Measures of one ranking by the same judgments; missing: reason → their scores where there is no value."""

    def __init__(self, measures: Sequence[Measure], relevancy: str, good: float, moderate: float) -> None:
        self.order, self.on = measures[0].order, measures[0].on
        self.missing = {reason: _unscored(measures, reason) for reason in Unscored}
        self._measures = measures
        self._relevancy = next((at for at, measure in enumerate(measures) if measure.name == relevancy), None)
        self._good, self._moderate = good, moderate
        self._known: dict[object, tuple[EncodedScores, float | None]] = {}

    def measure(
        self, ranking: Sequence[str], gains: Collection[str], cited: tuple[int, ...], ranked: tuple[int, ...] | None
    ) -> tuple[EncodedScores, float | None]:
        """Return the scores, and relevancy if it is among them.

        gains: ids of the documents that have gain; ranked: their places in the ranking, where these are known already.
        """
        places = tuple(map(gains.__contains__, ranking)) if ranked is None else (len(ranking), ranked)
        # Only relevancy is explained, by the cited ranks.
        combination = (places, len(gains), self._relevancy is None or cited)
        measured = self._known.get(combination)
        if measured is None:
            measured = self._measure(ranking, dict.fromkeys(gains, 1.0), cited)
            if len(ranking) <= _FEW:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[combination] = measured
        return measured

    def _measure(
        self, ranking: Sequence[str], gains: Mapping[str, float], cited: Sequence[int]
    ) -> tuple[EncodedScores, float | None]:
        names = tuple(measure.name for measure in self._measures)
        values = tuple(measure(ranking, gains) for measure in self._measures)
        scores = []
        for at, (name, value) in enumerate(zip(names, values, strict=True)):
            label = band(value, self._good, self._moderate)
            why = explain(label, cited) if at == self._relevancy else None
            scores.append(Score(name, value, label, explanation=why).as_json())
        relevancy = None if self._relevancy is None else values[self._relevancy]
        return EncodedScores([orjson.Fragment(orjson.dumps(scores)[1:-1])], names, values), relevancy


@lru_cache(1_000)  # of two small numbers, nearly always
def _waste(used: int, passed: int) -> EncodedScores:
    """Return the share of documents that are not cited, as a score."""
    waste = wasted_context(range(used), passed)
    return EncodedScores([orjson.Fragment(orjson.dumps({"scorer": WASTED, "value": waste}))], (WASTED,), (waste,))


def _unscored(measures: Sequence[Measure], reason: Unscored) -> EncodedScores:
    scores = [Score(measure.name, unscored=reason).as_json() for measure in measures]
    encoded = orjson.Fragment(orjson.dumps(scores)[1:-1])
    return EncodedScores([encoded], unscored=tuple((measure.name, reason) for measure in measures))


def _why_uncited(citations: Citations) -> Unscored:
    dangling = any(fault.kind == "dangling" for fault in citations.faults)
    if citations.of_earlier:
        return Unscored.CITED_EARLIER
    return Unscored.ALL_DANGLING if dangling else Unscored.NO_CITATIONS
