"""nDCG: are the documents with gain at the top of the ranking?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import log2
from operator import mul
from typing import ClassVar

from turnsignal.stream.measures.ranking_measure import RankingMeasure

_DISCOUNTS = tuple(1 / log2(rank + 1) for rank in range(1, 1_001))
_IDEALS = (0.0, *accumulate(_DISCOUNTS))  # of n documents with gain 1


@dataclass(frozen=True, slots=True)
class NDCG(RankingMeasure):
    """Normalised discounted cumulative gain, cut at k.

    DCG@k = Σ gain_i / log2(i + 1), the ideal over all judged documents, cut at k too. Source: Järvelin and Kekäläinen,
    TOIS 20(4), 2002, with gains and discounts as in trec_eval `ndcg_cut`. Looks at the first 1,000 ranks.
    """

    version: ClassVar[int] = 1
    trec: ClassVar[tuple[str, ...]] = ("ndcg_cut.{k}", "ndcg")
    needs_cutoff: ClassVar[bool] = False

    def __call__(self, ranking: Sequence[str], judgments: Mapping[str, float]) -> float:
        """Return DCG ÷ ideal DCG."""
        cutoff = self.cutoff or 1_000
        gained = 0.0
        for index, doc_id in enumerate(ranking[:cutoff]):
            if doc_id in judgments and (gain := judgments[doc_id]) > 0.0:
                gained += gain * _DISCOUNTS[index]
        return gained / _ideal(judgments, cutoff) if gained else 0.0


def _ideal(judgments: Mapping[str, float], cutoff: int) -> float:
    """Return the DCG of the best possible ranking; for citations, all of gain 1, it is looked up."""
    for gain in judgments.values():
        if gain != 1.0:
            break
    else:
        count = len(judgments)
        return _IDEALS[count if count < cutoff else cutoff]
    best = sorted((gain for gain in judgments.values() if gain > 0.0), reverse=True)
    return float(sum(map(mul, best[:cutoff], _DISCOUNTS)))
