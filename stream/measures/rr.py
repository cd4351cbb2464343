"""RR: how far down is the first relevant document?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.measures.ranking_measure import RankingMeasure


@dataclass(frozen=True, slots=True)
class ReciprocalRank(RankingMeasure):
    """One over the rank of the first relevant document, 0 when there is none within the cutoff.

    Source: trec_eval `recip_rank`; Voorhees, TREC-8 Question Answering Track, 1999. Its mean over turns is MRR.
    """

    version: ClassVar[int] = 1
    trec: ClassVar[tuple[str, ...]] = ("recip_rank",)
    needs_cutoff: ClassVar[bool] = False

    def __call__(self, ranking: Sequence[str], judgments: Mapping[str, float]) -> float:
        """Return 1/rank of the first relevant document."""
        for rank, doc_id in enumerate(ranking[: self.cutoff], 1):
            if judgments.get(doc_id, 0.0) > 0.0:
                return 1 / rank
        return 0.0
