"""Scoring by truth: what is known of a turn against what the answer did, where a turn says it; nothing elsewhere."""

from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.pipeline.compliance import EncodedScores
from turnsignal.stream.records.scores import CITED_ARTICLE, ROUTING, Score, Unscored
from turnsignal.stream.records.turns import Truth, Turn
from turnsignal.stream.truth.articles import compare_article
from turnsignal.stream.truth.routing import compare_routing

#: scorers with values that only turns with truth have, in the order of a row
TRUTH_SCORERS = (ROUTING, CITED_ARTICLE)


def score_truth(turn: Turn, truth: Truth, citations: Citations) -> EncodedScores:
    """Score an answer by what is known of its turn; citations: that it was read to have."""
    part = EncodedScores()
    part.take(_score_routing(turn.routed_to, truth))
    part.take(_score_article(citations, truth))
    return part


def _score_routing(routed: list[str] | None, truth: Truth) -> Score:
    if truth.agents is None:
        return Score(ROUTING, unscored=Unscored.NO_JUDGMENTS)
    if routed is None:
        return Score(ROUTING, unscored=Unscored.NOT_APPLICABLE)
    compared = compare_routing(truth.agents, routed)
    return Score(ROUTING, float(compared.is_exact), compared.label, explanation=compared.sentence)


def _score_article(citations: Citations, truth: Truth) -> Score:
    relevant = list(filter(None, truth.doc_ids or ()))
    if not relevant:
        return Score(CITED_ARTICLE, unscored=Unscored.NO_JUDGMENTS)
    dangling = any(fault.kind == "dangling" for fault in citations.faults)
    compared = compare_article(relevant, citations.cited_ids, dangling=dangling)
    return Score(CITED_ARTICLE, float(compared.is_right), compared.label, explanation=compared.sentence)
