"""Ranking measure: what its name holds, and what each class of measures says of itself."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

Order = Literal["context", "retrieval"]
On = Literal["citations", "truth"]


@dataclass(frozen=True, slots=True)
class RankingMeasure(ABC):
    """A measure by its parsed name.

    name: canonical; cutoff: how many ranks count, None for all; order: the ranking that is measured, in the context or
    before reranking; on: the source of the judgments, the response's citations or the turn's known `truth.doc_ids`.
    A class says further: version, raised when its meaning changes; trec: its names in trec_eval, with {k} for the
    cutoff or for the whole ranking, () where that has none; needs_cutoff: whether it cannot read the whole ranking.
    """

    version: ClassVar[int]
    trec: ClassVar[tuple[str, ...]]
    needs_cutoff: ClassVar[bool] = True

    name: str
    cutoff: int | None = None
    order: Order = "context"
    on: On = "citations"

    @abstractmethod
    def __call__(self, ranking: Sequence[str], judgments: Mapping[str, float]) -> float:
        """Measure a ranking, as the protocol `Measure` says."""
