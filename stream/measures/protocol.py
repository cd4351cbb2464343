"""Protocol: what every ranking measure does."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from turnsignal.stream.measures.ranking_measure import On, Order


class Measure(Protocol):
    """A scorer over a ranking.

    Implemented by frozen values, so that a suite can be compared and hashed.
    """

    @property
    def name(self) -> str:
        """The canonical name, as `stream.names` writes it, without defaults."""
        ...

    @property
    def version(self) -> int:
        """The version, raised when the meaning changes; part of the suite's fingerprint."""
        ...

    @property
    def order(self) -> Order:
        """The ranking that callers must pass: in the context, or before reranking."""
        ...

    @property
    def on(self) -> On:
        """The judgments that callers must pass: the response's citations, or the turn's known relevant documents."""
        ...

    def __call__(self, ranking: Sequence[str], judgments: Mapping[str, float]) -> float:
        """Measure a ranking. Called once for each response with judgments; must not keep state between calls.

        ranking: document ids, best first, each once; judgments: gain by document id, also of documents that are not in
        the ranking; a missing or non-positive gain is not relevant. Returns 0 to 1; 0 when nothing is relevant.
        """
        ...
