"""Scoring by truth: what is known of a turn against what the answer did, where a turn says it; nothing elsewhere."""

from functools import cache
from itertools import takewhile
from typing import NamedTuple

from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.diagnosis import Level
from turnsignal.stream.pipeline.compliance import EncodedScores
from turnsignal.stream.records.scores import CITED_ARTICLE, ROUTING, STAGE, Score, Unscored
from turnsignal.stream.records.turns import Truth, Turn
from turnsignal.stream.truth.articles import compare_article
from turnsignal.stream.truth.routing import compare_routing
from turnsignal.stream.truth.stages import (
    AnswerStage,
    Basis,
    Findings,
    Signals,
    SystemOutput,
    find_stages,
    first_failing,
    top_documents,
)

#: scorers with values that only turns with truth have, in the order of a row
TRUTH_SCORERS = (ROUTING, CITED_ARTICLE)
#: what a row of a turn with truth has besides; the last one has a label and no value
OF_TRUTH = (*TRUTH_SCORERS, STAGE)
NONE_FAILS = "none"  #: label of an answer of which no stage that is known was wrong
FAILING_STAGES = (*(stage.value for stage in AnswerStage), NONE_FAILS)

_TOP = 20  #: retrieved documents that are compared with labelled ones
_MOST_READ = 100  #: chunks of them


class TruthScores(NamedTuple):
    """Scores of a turn with truth; failing_stage: the first one that was wrong, "" where nothing is known."""

    part: EncodedScores
    failing_stage: str


def score_truth(turn: Turn, truth: Truth, citations: Citations, signals: Signals) -> TruthScores:
    """Score an answer by what is known of its turn, and never fail.

    citations: that it was read to have; signals: what is known of it without labels.
    """
    part = EncodedScores()
    try:
        scores = [_score_routing(turn.routed_to, truth), _score_article(citations, truth)]
        scores.append(_score_stage(turn, truth, citations, signals))
    except Exception:  # as with other scorers: our bug, and not the end of the worker
        scores = [Score(name, unscored=Unscored.ERROR) for name in OF_TRUTH]
    for score in scores:
        part.take(score)
    return TruthScores(part, scores[-1].label or "")


@cache
def failing_stage_of(row: str) -> str:
    """Return the label of the first stage that a row of the diagnosis calls wrong; "" where it knows of none.

    row: `relevancy/follow_ups/instructions`; there are 27.

    >>> failing_stage_of("high/low/unknown")
    'generation'
    """
    relevancy, follow_ups, instructions = map(Level, row.split("/"))
    return _label(find_stages(None, SystemOutput(), Signals(relevancy, follow_ups, instructions)))


def _score_stage(turn: Turn, truth: Truth, citations: Citations, signals: Signals) -> Score:
    documents = top_documents(turn.retrieved, _TOP)[:_MOST_READ]
    findings = find_stages(truth, SystemOutput(turn.routed_to, documents, citations.cited_ids), signals)
    if not any(finding.basis is Basis.TRUTH for finding in findings.values()):
        return Score(STAGE, unscored=Unscored.NO_JUDGMENTS)
    return Score(STAGE, None, _label(findings), explanation=_explain(findings))


def _label(findings: Findings) -> str:
    failing = first_failing(findings)
    return failing.value if failing is not None else NONE_FAILS if findings else ""


def _explain(findings: Findings) -> str:
    """Say which stages were right; what comes after the first wrong one was skipped, and did not fail."""
    failing = first_failing(findings)
    before = list(takewhile(lambda stage: stage is not failing, AnswerStage))
    right = ", ".join(stage for stage in before if stage in findings)
    unknown = ", ".join(stage for stage in before if stage not in findings)
    parts = [f"{failing} is the first to fail" if failing is not None else "none fails"]
    parts += [f"right: {right}"] if right else []
    parts += [f"not known: {unknown}"] if unknown else []
    return "; ".join(parts)


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
