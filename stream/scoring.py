"""Scoring: run every scorer of the suite over one response, or over one follow-up, and never fail.

What cannot be scored is unscored with its reason; a scorer that raises is `error`, counted, and stops nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from stream.checks import compliance
from stream.citations import Citations, citation_reader
from stream.diagnosis import diagnose, level
from stream.exchanges import Exchange, Response
from stream.follow_ups import FollowUpRules, Reading
from stream.instructions import Check, Finding, Result
from stream.measures import Measure
from stream.measures.bands import band, explain, wasted_context
from stream.pairing import Answer
from stream.scores import Score, Unscored
from stream.suite import Suite
from stream.turns import Document, Turn

COMPLIANCE, WASTED, FOLLOW_UP, FOLLOW_UP_PRECISION, DIAGNOSIS, CONVERSATION = (
    "compliance",
    "wasted_context",
    "follow_up",
    "follow_up(policy=precision)",
    "diagnosis",
    "conversation",
)

#: scores ready to be written: plain values, or bytes encoded once where they are always the same
Encoded = dict[str, Any] | orjson.Fragment


@dataclass(slots=True)
class Scored:
    """What came of one exchange at one stage.

    scores: ready to be written; values: scorer and value of what was scored; unscored: scorer and reason of what was not;
    findings: check and result; relevancy, compliance: what the diagnosis needs; citations: what was found in the text;
    ranks: context ranks of the documents that were passed; diagnosis: its row, for follow-ups.
    """

    scores: list[Encoded] = field(default_factory=list)
    values: list[tuple[str, float]] = field(default_factory=list)
    unscored: list[tuple[str, Unscored]] = field(default_factory=list)
    findings: list[tuple[str, Result]] = field(default_factory=list)
    relevancy: float | None = None
    compliance: float | None = None
    citations: Citations | None = None
    ranks: Sequence[int] = ()
    diagnosis: str = ""


def _constant(score: Score) -> orjson.Fragment:
    return orjson.Fragment(orjson.dumps(score.as_json()))


@dataclass(slots=True)
class _Instruction:
    """A check of the suite with its answers encoded once."""

    check: Check
    name: str
    weight: float
    passed: orjson.Fragment
    absent: orjson.Fragment


class ResponseScorer:
    """Score a response when it arrives: ranking measures on its citations, and the instructions that bind it."""

    def __init__(self, suite: Suite) -> None:
        self._measures = suite.parsed_measures
        self._good, self._moderate = suite.retrieval.good, suite.retrieval.moderate
        self._relevancy = relevancy_name(suite)
        self._before_reranking = any(measure.order == "retrieval" for measure in self._measures)
        self._checks = [
            (
                part,
                _Instruction(
                    check,
                    check.name,
                    part.weight,
                    _constant(Score(check.name, 1.0, "pass")),
                    _constant(Score(check.name, unscored=Unscored.NOT_APPLICABLE)),
                ),
            )
            for part, check in suite.parsed_checks
        ]
        self._bound: dict[tuple[str, str | None, str | None], list[_Instruction]] = {}
        part = suite.citations
        self._read = citation_reader(part.styles, part.id_pattern, part.zero_based)
        self._absent = {
            (name, reason): _constant(Score(name, unscored=reason))
            for name in [*(m.name for m in self._measures), WASTED, COMPLIANCE]
            for reason in Unscored
        }

    def score(self, turn: Turn) -> Scored:
        """Score one assistant turn."""
        relevant = turn.truth.doc_ids if turn.truth is not None else None
        response = Response(turn.text, turn.retrieved, self._read, turn.platform, relevant)
        scored = Scored()
        self._rank(response, scored)
        self._instruct(response, turn, scored)
        return scored

    def _rank(self, response: Response, scored: Scored) -> None:
        documents = response.documents
        try:
            citations = response.citations
        except Exception:  # a reader that fails is our bug, not the worker's end
            for measure in self._measures:
                self._leave(scored, measure.name, Unscored.ERROR)
            return
        scored.citations = citations
        context, ranks = in_order(documents)
        scored.ranks = ranks
        judgments = citations.judgments
        uncited = None if judgments else _why_uncited(citations)
        cited = citations.cited_ranks
        known = None if response.relevant is None else dict.fromkeys(response.relevant, 1.0)
        retrieval = in_retrieval_order(documents) if self._before_reranking else []
        for measure in self._measures:
            ranking = context if measure.order == "context" else retrieval
            gains, missing = (judgments, uncited) if measure.on == "citations" else (known, None)
            if not documents:
                missing = Unscored.NO_RETRIEVAL
            elif not gains:
                missing = missing or Unscored.NO_JUDGMENTS
            elif not ranking:
                missing = Unscored.NOT_APPLICABLE
            if missing is not None or gains is None:
                self._leave(scored, measure.name, missing or Unscored.NO_JUDGMENTS)
            else:
                self._measure(measure, ranking, gains, cited, scored)
        if documents and uncited is None:
            waste = wasted_context(cited, len(context))
            scored.scores.append({"scorer": WASTED, "value": waste})
            scored.values.append((WASTED, waste))

    def _measure(
        self,
        measure: Measure,
        ranking: Sequence[str],
        judgments: Mapping[str, float],
        cited: Sequence[int],
        scored: Scored,
    ) -> None:
        value = measure(ranking, judgments)
        label = band(value, self._good, self._moderate)
        score = {"scorer": measure.name, "value": value, "label": label}
        if measure.name == self._relevancy:
            scored.relevancy = value
            score["explanation"] = explain(label, cited)
        scored.scores.append(score)
        scored.values.append((measure.name, value))

    def _leave(self, scored: Scored, name: str, reason: Unscored) -> None:
        scored.scores.append(self._absent[name, reason])
        scored.unscored.append((name, reason))

    def _instruct(self, response: Response, turn: Turn, scored: Scored) -> None:
        binds = (turn.assistant, turn.platform, turn.version)
        instructions = self._bound.get(binds)
        if instructions is None:
            if len(self._bound) >= 1000:  # versions come from strangers
                self._bound.clear()
            instructions = self._bound[binds] = [i for part, i in self._checks if _applies(part, *binds)]
        results: list[tuple[Finding, float]] = []
        for instruction in instructions:
            name = instruction.name
            try:
                finding = instruction.check.check(response)
            except Exception as error:
                finding = Finding(Result.ERROR, f"the check failed: {type(error).__name__}")
            results.append((finding, instruction.weight))
            scored.findings.append((name, finding.result))
            if finding.result is Result.PASS:
                scored.scores.append(instruction.passed)
                scored.values.append((name, 1.0))
            elif finding.result is Result.FAIL:
                scored.scores.append(_failed(name, finding))
                scored.values.append((name, 0.0))
            elif finding.result is Result.NOT_APPLICABLE:
                scored.scores.append(instruction.absent)
                scored.unscored.append((name, Unscored.NOT_APPLICABLE))
            else:
                scored.scores.append(Score(name, None, None, Unscored.ERROR, finding.explanation).as_json())
                scored.unscored.append((name, Unscored.ERROR))
        share = compliance(results)
        if share is None:
            self._leave(scored, COMPLIANCE, Unscored.NOT_APPLICABLE)
            return
        scored.compliance = share
        scored.scores.append({"scorer": COMPLIANCE, "value": share})
        scored.values.append((COMPLIANCE, share))


class FollowUpScorer:
    """Score a response by the user's next message, and say what that means together with the rest."""

    def __init__(self, suite: Suite) -> None:
        self._rules = FollowUpRules(suite.follow_ups.strict, suite.follow_ups.precision)
        self._thresholds = suite.thresholds

    def score(self, exchange: Exchange, answer: Answer, *, gap: bool) -> tuple[Scored, Reading | None]:
        """Score one follow-up; with a gap between, nothing is judged."""
        if gap:
            return self.leave(Unscored.GAP, answer), None
        try:
            reading = self._rules.read(exchange)
        except Exception:
            return self.leave(Unscored.ERROR, answer), None
        diagnosis = self.diagnosis(answer.relevancy, reading.strict, answer.compliance)
        scored = Scored(
            scores=[
                {
                    "scorer": FOLLOW_UP,
                    "value": reading.strict,
                    "label": reading.label,
                    "explanation": reading.explanation,
                    "decided_by": reading.decided_by,
                },
                {"scorer": FOLLOW_UP_PRECISION, "value": reading.precision, "label": reading.label},
                diagnosis,
            ],
            values=[(FOLLOW_UP, reading.strict), (FOLLOW_UP_PRECISION, reading.precision)],
            diagnosis=diagnosis["label"],
        )
        return scored, reading

    def leave(self, reason: Unscored, answer: Answer, label: str | None = None) -> Scored:
        """Return the unscored form of a follow-up row."""
        diagnosis = self.diagnosis(answer.relevancy, None, answer.compliance)
        return Scored(
            scores=[Score(FOLLOW_UP, None, label, reason).as_json(), diagnosis],
            unscored=[(FOLLOW_UP, reason)],
            diagnosis=diagnosis["label"],
        )

    def diagnosis(
        self, relevancy: float | None, follow_ups: float | None, instructions: float | None
    ) -> dict[str, Any]:
        """Return the diagnosis as a score without value: its row as label, its sentence as explanation."""
        limits = self._thresholds
        found = diagnose(
            level(relevancy, limits.relevancy),
            level(follow_ups, limits.follow_ups),
            level(instructions, limits.instructions),
        )
        return {"scorer": DIAGNOSIS, "value": None, "label": found.row, "explanation": found.sentence}


def in_order(documents: Sequence[Document]) -> tuple[list[str], list[int]]:
    """Return document ids in context order, each once, and their ranks; the default rank is the place in the list."""
    ranked = [(d.rank if d.rank is not None else i, d.doc_id) for i, d in enumerate(documents, 1)]
    if any(a[0] > b[0] for a, b in zip(ranked, ranked[1:], strict=False)):
        ranked.sort(key=lambda pair: pair[0])
    first: dict[str, int] = {}
    for rank, doc_id in ranked:
        first.setdefault(doc_id, rank)
    return list(first), list(first.values())


def in_retrieval_order(documents: Sequence[Document]) -> list[str]:
    """Return document ids in the order before reranking; empty unless every document says its place."""
    ranked = [(d.retrieval_rank, d.doc_id) for d in documents if d.retrieval_rank is not None]
    if len(ranked) < len(documents):
        return []
    ranked.sort(key=lambda pair: pair[0])
    return list(dict.fromkeys(doc_id for _, doc_id in ranked))


def relevancy_name(suite: Suite) -> str:
    """Return the measure that stands for relevancy in the diagnosis: the first one on citations in context order."""
    return next((m.name for m in suite.parsed_measures if m.order == "context" and m.on == "citations"), "")


def scorer_names(suite: Suite) -> list[str]:
    """Return every scorer whose values come out of this suite, in the order of a row."""
    measures = [measure.name for measure in suite.parsed_measures]
    checks = [check.name for _, check in suite.parsed_checks]
    return [*measures, WASTED, *checks, COMPLIANCE, FOLLOW_UP, FOLLOW_UP_PRECISION]


def _why_uncited(citations: Citations) -> Unscored:
    dangling = any(fault.kind == "dangling" for fault in citations.faults)
    return Unscored.ALL_DANGLING if dangling else Unscored.NO_CITATIONS


def thresholds(suite: Suite) -> dict[str, float]:
    """Return from which value on each scorer's score is good; scorers that judge nothing (wasted context) are not there."""
    limits = suite.thresholds
    lowest = {FOLLOW_UP: limits.follow_ups, FOLLOW_UP_PRECISION: limits.follow_ups, COMPLIANCE: limits.instructions}
    lowest.update((measure.name, limits.relevancy) for measure in suite.parsed_measures)
    lowest.update((check.name, 1.0) for _, check in suite.parsed_checks)

    return lowest


def _applies(part: Any, assistant: str, platform: str | None, version: str | None) -> bool:
    return (
        (not part.assistants or assistant in part.assistants)
        and (not part.platforms or platform in part.platforms)
        and (not part.versions or version in part.versions)
    )


def _failed(name: str, finding: Finding) -> dict[str, Any]:
    span = (finding.start, finding.end) if finding.start >= 0 else None
    return Score(name, 0.0, "fail", None, finding.explanation, None, span).as_json()
