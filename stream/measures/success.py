"""success: is anything relevant at the top of the ranking?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.measures.ranking_measure import RankingMeasure


@dataclass(frozen=True, slots=True)
class Success(RankingMeasure):
    """1 when a relevant document stands among the first k, else 0 (trec_eval `success_k`)."""

    version: ClassVar[int] = 1
    trec: ClassVar[tuple[str, ...]] = ("success.{k}",)

    def __call__(self, ranking: Sequence[str], judgments: Mapping[str, float]) -> float:
        """Return 1 or 0."""
        return float(any(judgments.get(doc_id, 0.0) > 0.0 for doc_id in ranking[: self.cutoff]))
