"""P: how much of the top of the ranking is relevant?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.measures.ranking_measure import RankingMeasure


@dataclass(frozen=True, slots=True)
class Precision(RankingMeasure):
    """Share of relevant documents among the first k; divided by k also when fewer were retrieved (trec_eval `P_k`)."""

    version: ClassVar[int] = 1
    trec: ClassVar[tuple[str, ...]] = ("P.{k}",)

    def __call__(self, ranking: Sequence[str], judgments: Mapping[str, float]) -> float:
        """Return relevant documents within k ÷ k."""
        cutoff = self.cutoff or 1
        return sum(judgments.get(doc_id, 0.0) > 0.0 for doc_id in ranking[:cutoff]) / cutoff
