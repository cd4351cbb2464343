"""R: how many of the relevant documents are at the top of the ranking?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.measures.ranking_measure import RankingMeasure


@dataclass(frozen=True, slots=True)
class Recall(RankingMeasure):
    """Share of all relevant documents that stand among the first k (trec_eval `recall_k`)."""

    version: ClassVar[int] = 1
    trec: ClassVar[tuple[str, ...]] = ("recall.{k}",)

    def __call__(self, ranking: Sequence[str], judgments: Mapping[str, float]) -> float:
        """Return relevant documents within k ÷ all relevant documents, 0 when nothing is relevant."""
        relevant = sum(gain > 0.0 for gain in judgments.values())
        if not relevant:
            return 0.0
        return sum(judgments.get(doc_id, 0.0) > 0.0 for doc_id in ranking[: self.cutoff]) / relevant
