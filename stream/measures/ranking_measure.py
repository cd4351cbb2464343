"""Ranking measure: the parameters that the name of a measure holds."""

from dataclasses import dataclass
from typing import Literal

Order = Literal["context", "retrieval"]
On = Literal["citations", "truth"]


@dataclass(frozen=True, slots=True)
class RankingMeasure:
    """The parsed name of a measure.

    name: canonical; cutoff: how many ranks count, None for all; order: the ranking that is measured, in the context or
    before reranking; on: the source of the judgments, the response's citations or the turn's known `truth.doc_ids`.
    """

    name: str
    cutoff: int | None = None
    order: Order = "context"
    on: On = "citations"
