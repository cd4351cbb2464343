"""Stages: at which step an answer first went wrong: routing, retrieval, chunks, generation or format.

Each stage is judged only where those before it were right (Waterfall's gate): an answer out of the wrong documents says
nothing about the model. What is not known is passed over, neither right nor wrong. Labels decide where there are any;
else the diagnosis does: retrieval by the ranking of what was cited, generation by the follow-up, format by the checks.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from turnsignal.stream.diagnosis import Level
from turnsignal.stream.records.turns import Document, Truth
from turnsignal.stream.truth.documents import MOST_READ, match_documents
from turnsignal.stream.truth.passages import coverage
from turnsignal.stream.truth.routing import agents_of

CUTOFF = 5  #: ranks within which a labelled document has to be
ENOUGH = 0.5  #: share of labelled documents, of those that fit into so many ranks, or of labelled chunks


class AnswerStage(StrEnum):
    """Name a step of an answer, in their order."""

    ROUTING = "routing"  #: were the right agents asked?
    RETRIEVAL = "retrieval"  #: did the right documents come, and high enough?
    CHUNKS = "chunks"  #: do the documents hold the passages that matter?
    GENERATION = "generation"  #: does the answer help?
    FORMAT = "format"  #: does it keep the instructions?


class Basis(StrEnum):
    """Say how it is known whether a stage was right."""

    TRUTH = "truth"  #: by labels, or by a judge that has read them
    DIAGNOSIS = "diagnosis"  #: by what was cited, what the user said next, and which checks the answer fails


class StageFinding(NamedTuple):
    """Whether a stage was right, and how that is known."""

    is_right: bool
    basis: Basis


class Signals(NamedTuple):
    """What is known of an answer without labels; all of them unknown where nothing was scored.

    relevancy, follow_ups, instructions: as the diagnosis has them; failed: it is empty, an error or a refusal;
    approved: what people or a judge with a reference say of it, None where nobody does.
    """

    relevancy: Level = Level.UNKNOWN
    follow_ups: Level = Level.UNKNOWN
    instructions: Level = Level.UNKNOWN
    failed: bool = False
    approved: bool | None = None


class SystemOutput(NamedTuple):
    """What the system did for one answer.

    routed_to: agents that were asked, None where that was not recorded; documents: those retrieved, in their order;
    cited: ids of those that the answer cites, None where that was not read.
    """

    routed_to: Sequence[str] | None = None
    documents: Sequence[Document] = ()
    cited: Sequence[str] | None = None


Findings = Mapping[AnswerStage, StageFinding]


def first_failing(findings: Findings) -> AnswerStage | None:
    """Return the first stage that was wrong, None where none was.

    findings: of the stages of which anything is known.

    >>> wrong = StageFinding(False, Basis.TRUTH)
    >>> first_failing({AnswerStage.FORMAT: wrong, AnswerStage.RETRIEVAL: wrong}).value
    'retrieval'
    """
    return next((stage for stage in AnswerStage if stage in findings and not findings[stage].is_right), None)


def judged_stages(findings: Findings) -> Iterator[tuple[AnswerStage, StageFinding]]:
    """Give the stages that are judged: all that are known, up to the first one that was wrong."""
    for stage in AnswerStage:
        if (finding := findings.get(stage)) is not None:
            yield stage, finding
            if not finding.is_right:
                return


def find_stages(truth: Truth | None, produced: SystemOutput, signals: Signals) -> dict[AnswerStage, StageFinding]:
    """Say of each stage whether it was right; stages of which nothing is known are left out.

    truth: labels of the question or of the answer, None where it has none.
    """
    right = _by_truth(truth, produced) if truth is not None else {}
    findings = {stage: StageFinding(is_right, Basis.TRUTH) for stage, is_right in right.items()}
    if signals.approved is not None:
        findings[AnswerStage.GENERATION] = StageFinding(signals.approved, Basis.TRUTH)
    for stage, is_right in _by_diagnosis(signals).items():
        known = findings.get(stage)
        # A citation says less of an answer than its reader does.
        if known is None or (stage is AnswerStage.GENERATION and signals.approved is None):
            findings[stage] = StageFinding(is_right, Basis.DIAGNOSIS)
    return findings


def _by_truth(truth: Truth, produced: SystemOutput) -> dict[AnswerStage, bool]:
    right: dict[AnswerStage, bool] = {}
    if truth.agents is not None and produced.routed_to is not None:
        right[AnswerStage.ROUTING] = agents_of(truth.agents) == agents_of(produced.routed_to)
    if truth.doc_ids or truth.chunks:
        top = top_documents(produced.documents, CUTOFF)
        if truth.doc_ids:
            matched = match_documents(truth.doc_ids, truth.chunks or (), produced.documents)
            attainable = min(CUTOFF, len(set(truth.doc_ids)))
            right[AnswerStage.RETRIEVAL] = matched.retrieved(top) >= ENOUGH * attainable
            if produced.cited:
                right[AnswerStage.GENERATION] = not matched.labels.keys().isdisjoint(produced.cited)
        texts = [document.text for document in top if document.text][:MOST_READ]
        if truth.chunks and texts:
            right[AnswerStage.CHUNKS] = coverage(truth.chunks, texts) >= ENOUGH
    return right


def _by_diagnosis(signals: Signals) -> dict[AnswerStage, bool]:
    levels = {
        AnswerStage.RETRIEVAL: signals.relevancy,
        AnswerStage.GENERATION: Level.LOW if signals.failed else signals.follow_ups,
        AnswerStage.FORMAT: signals.instructions,
    }
    return {stage: level is Level.HIGH for stage, level in levels.items() if level is not Level.UNKNOWN}


def top_documents(documents: Sequence[Document], cutoff: int) -> list[Document]:
    """Return the documents of the first ranks, in their order; who has no rank stands where it is in the list.

    cutoff: different documents, as ranking measures count them. One that came in several chunks is among them with all
    that stand before the next document.
    """
    ranked = [(document.rank or place, place) for place, document in enumerate(documents, 1)]
    top: list[Document] = []
    names: set[str] = set()
    for _, place in sorted(ranked):
        document = documents[place - 1]
        names.add(document.doc_id)
        if len(names) > cutoff:
            break
        top.append(document)
    return top
