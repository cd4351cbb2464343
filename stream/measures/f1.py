"""F1: precision and recall at the same cutoff, as one number."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.measures.ranking_measure import RankingMeasure


@dataclass(frozen=True, slots=True)
class F1(RankingMeasure):
    """Harmonic mean of P@k and R@k, which is 2·hits ÷ (k + relevant). Source: van Rijsbergen, 1979, with β = 1."""

    version: ClassVar[int] = 1
    trec: ClassVar[tuple[str, ...]] = ()

    def __call__(self, ranking: Sequence[str], judgments: Mapping[str, float]) -> float:
        """Return 2·P·R ÷ (P + R), 0 when nothing relevant stands within k."""
        cutoff = self.cutoff or 1
        relevant = sum(gain > 0.0 for gain in judgments.values())
        hits = sum(judgments.get(doc_id, 0.0) > 0.0 for doc_id in ranking[:cutoff])
        return 2 * hits / (cutoff + relevant)
