"""Ranking measures: (ranking, judgments) → a number from 0 to 1, spelled as in the literature.

One file per measure, its import and one line in `MEASURES`. Gains come from citations (1 if cited) or from known
relevant documents; the measures do not care which, so the same code compares with trec_eval.
"""

from typing import cast

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.measures.f1 import F1
from turnsignal.stream.measures.ndcg import NDCG
from turnsignal.stream.measures.precision import Precision
from turnsignal.stream.measures.protocol import Measure
from turnsignal.stream.measures.ranking_measure import On, Order, RankingMeasure
from turnsignal.stream.measures.recall import Recall
from turnsignal.stream.measures.rr import ReciprocalRank
from turnsignal.stream.measures.success import Success
from turnsignal.stream.names import parse_name, write_name

MEASURES: dict[str, type[RankingMeasure]] = {
    "nDCG": NDCG,
    "RR": ReciprocalRank,
    "P": Precision,
    "R": Recall,
    "F1": F1,
    "success": Success,
}
_PARAMS = {"order": ("context", "retrieval"), "on": ("citations", "truth")}  #: values, the default first


def parse_measure(text: str) -> Measure:
    """Read a measure's name: `nDCG@5`, `nDCG(order=retrieval)@10`, `R(on=truth)@20`, `RR`.

    Raises ConfigError that says what came and which measures and parameters exist.

    >>> parse_measure("nDCG(order=context)@5").name
    'nDCG@5'
    """
    family, params, cutoff = parse_name(text)
    kind = MEASURES.get(family)
    if kind is None:
        msg = f"expected one of the measures {', '.join(MEASURES)}; got {text!r}"
        raise ConfigError(msg)
    for key, value in params.items():
        if value not in _PARAMS.get(key, ()):
            known = "; ".join(f"{name}={'|'.join(values)}" for name, values in _PARAMS.items())
            msg = f"expected the parameters {known}; got {key}={value} in {text!r}"
            raise ConfigError(msg)
    if cutoff is None and kind.needs_cutoff:
        msg = f"expected a cutoff, as in {family}@5; got {text!r}"
        raise ConfigError(msg)
    if cutoff is not None and not 1 <= cutoff <= 1_000:
        msg = f"expected a cutoff from 1 to 1000; got {text!r}"
        raise ConfigError(msg)
    name = write_name(family, {key: value for key, value in params.items() if value != _PARAMS[key][0]}, cutoff)
    return kind(name, cutoff, cast("Order", params.get("order", "context")), cast("On", params.get("on", "citations")))
