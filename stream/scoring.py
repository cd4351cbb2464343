"""Scoring: run every scorer of the suite over one response, or over one follow-up, and never fail.

What cannot be scored is unscored with its reason; a scorer that raises is `error`, counted, and stops nothing.

What a response may cost is bounded by what scorers look at, which is the same wherever it is scored: tests/bench/
dearest_turn.py looks for the dearest. Processor time is only the last resort, for suites whose checks are many or slow:
a long response has a budget of it, far above what the dearest takes, and checks that come after its end are `error`.
"""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, cast

import msgspec
import orjson

from stream.checks import compliance
from stream.checks.named import Named, is_blank
from stream.citations import Citations, citation_reader
from stream.clocks import alarm
from stream.exchanges import Response
from stream.instructions import NOT_APPLICABLE, PASSED, Check, Finding, Result
from stream.measures import Measure
from stream.measures.bands import band, explain, wasted_context
from stream.scores import Score, Unscored
from stream.suite import CheckPart, Suite
from stream.turns import MAX_DOCUMENTS, Document, Turn

COMPLIANCE, WASTED, FOLLOW_UP, FOLLOW_UP_PRECISION, CLARIFICATION_FREE, DIAGNOSIS, CONVERSATION = (
    "compliance",
    "wasted_context",
    "follow_up",
    "follow_up(policy=precision)",
    "clarification_free",
    "diagnosis",
    "conversation",
)

#: what comes of a follow-up that is recognised, in the order of its row
FOLLOW_UPS = (FOLLOW_UP, FOLLOW_UP_PRECISION, CLARIFICATION_FREE)
_RANKS = tuple(range(1, MAX_DOCUMENTS + 1))
_FIRST = itemgetter(0)
BUDGET = 2.0  #: seconds of processor time after which no further check looks at a response
_SHORT = 4_000  #: characters of a response that no suite spends a budget on; asking the time is not free
_SPENT = Finding(Result.ERROR, "this response had used up its processor time before the check's turn came")
_REMEMBERED = 1000  #: combinations that are kept of what traffic decides

#: scores ready to be written: plain values, or bytes encoded once where they are always the same
Encoded = dict[str, Any] | orjson.Fragment

#: check and result, in the suite's order
Results = tuple[tuple[str, Result], ...]


class Scored(msgspec.Struct, gc=False):
    """What came of one exchange at one stage.

    scores: ready to be written; scorers, values: names and values of what was scored, side by side; unscored: scorer
    and reason of what was not; findings: check and result; relevancy, compliance: what the diagnosis needs; ranks,
    cited: context ranks of the documents that were passed, and of those that were cited; faults: kinds of what is
    wrong with the markers; markers: how many are well-formed; diagnosis: its row, for follow-ups.
    """

    scores: list[Encoded] = []
    scorers: tuple[str, ...] = ()
    values: tuple[float, ...] = ()
    unscored: tuple[tuple[str, Unscored], ...] = ()
    findings: Results = ()
    relevancy: float | None = None
    compliance: float | None = None
    ranks: tuple[int, ...] = ()
    cited: tuple[int, ...] = ()
    faults: tuple[str, ...] = ()
    markers: int = 0
    diagnosis: str = ""


class Part(msgspec.Struct, gc=False):
    """Some of a row's scores: encoded, by name and value, or with the reason why there is none."""

    scores: list[Encoded] = []
    scorers: list[str] = []
    values: list[float] = []
    unscored: list[tuple[str, Unscored]] = []

    def take(self, score: Score) -> None:
        """Add one score."""
        self.scores.append(score.as_json())
        if score.unscored is not None:
            self.unscored.append((score.scorer, score.unscored))
        elif score.value is not None:
            self.scorers.append(score.scorer)
            self.values.append(score.value)


class InstructionScorer:
    """Check a response against the instructions that bind its assistant, platform and version."""

    def __init__(self, parts: Sequence[tuple[CheckPart, Check]]) -> None:
        self._checks = [check for _, check in parts]
        # Of ours, what follows the question whether there is anything to look at, which is asked once here.
        self._looks = [check.look if isinstance(check, Named) else check.check for check in self._checks]
        self._names = [check.name for check in self._checks]
        self._weights = [part.weight for part, _ in parts]
        self._usual: dict[int, tuple[Part, Results, float | None]] = {}

    def score(
        self, response: Response, is_over: Callable[[], bool] | None = None
    ) -> tuple[Part, Results, float | None]:
        """Return the scores, compliance last among them; the result of every check; and compliance.

        is_over: asked before every check whether the response has used up its time.
        """
        try:
            if is_over is not None:
                findings = [_SPENT if is_over() else _check(check, response) for check in self._checks]
            elif is_blank(response):
                findings = [check.check(response) for check in self._checks]
            else:
                findings = [look(response) for look in self._looks]
        except Exception:  # one of them: find out which
            findings = [_check(check, response) for check in self._checks]
        # What only passes or does not apply is always the same: encoded once per combination.
        combination = 1
        for finding in findings:
            if finding is PASSED:
                combination = combination * 2 + 1
            elif finding is NOT_APPLICABLE:
                combination *= 2
            else:
                return self._spell(findings)
        usual = self._usual.get(combination)
        if usual is None:
            if len(self._usual) >= _REMEMBERED:
                self._usual.clear()
            part, results, share = self._spell(findings)
            part.scores = [orjson.Fragment(orjson.dumps(part.scores)[1:-1])]
            usual = self._usual[combination] = (part, results, share)
        return usual

    def _spell(self, findings: Sequence[Finding]) -> tuple[Part, Results, float | None]:
        part = Part()
        for name, finding in zip(self._names, findings, strict=True):
            part.take(_as_score(name, finding))
        share = compliance(list(zip(findings, self._weights, strict=True)))
        part.take(Score(COMPLIANCE, share, unscored=Unscored.NOT_APPLICABLE if share is None else None))
        return part, tuple((n, f.result) for n, f in zip(self._names, findings, strict=True)), share


class ResponseScorer:
    """Score a response when it arrives: ranking measures on its citations, and the instructions that bind it.

    processor: tells seconds of processor time; without it there is no budget.
    """

    def __init__(self, suite: Suite, processor: Callable[[], float] | None = None) -> None:
        self._processor = processor
        self._measures = suite.parsed_measures
        self._good, self._moderate = suite.retrieval.good, suite.retrieval.moderate
        self._relevancy = relevancy_name(suite)
        self._before_reranking = any(measure.order == "retrieval" for measure in self._measures)
        self._checks = suite.parsed_checks
        self._bound: dict[tuple[str, str | None, str | None], InstructionScorer] = {}
        part = suite.citations
        self._read = citation_reader(part.styles, part.id_pattern, part.zero_based)
        self._missing = {
            (measure.name, reason): orjson.Fragment(orjson.dumps(Score(measure.name, unscored=reason).as_json()))
            for measure in self._measures
            for reason in Unscored
        }

    def score(self, turn: Turn) -> Scored:
        """Score one assistant turn."""
        relevant = turn.truth.doc_ids if turn.truth is not None else None
        timed = self._processor is not None and len(turn.text) > _SHORT
        is_over = alarm(self._processor, BUDGET) if timed else None
        response = Response(turn.text, turn.retrieved, self._read, turn.platform, relevant, turn.metadata)
        scored = Scored()
        part = Part()
        try:
            self._rank(response, part, scored)
        except Exception:  # a reader or measure that fails is our bug, and not the end of the worker
            part = Part()
            for measure in self._measures:
                part.take(Score(measure.name, unscored=Unscored.ERROR))
        instructed, scored.findings, scored.compliance = self._instructions(turn).score(response, is_over)
        scored.scores = part.scores + instructed.scores
        scored.scorers = (*part.scorers, *instructed.scorers)
        scored.values = (*part.values, *instructed.values)
        scored.unscored = (*part.unscored, *instructed.unscored)
        return scored

    def _instructions(self, turn: Turn) -> InstructionScorer:
        binds = (turn.assistant, turn.platform, turn.version)
        scorer = self._bound.get(binds)
        if scorer is None:
            if len(self._bound) >= _REMEMBERED:  # versions come from strangers
                self._bound.clear()
            scorer = self._bound[binds] = InstructionScorer([p for p in self._checks if _applies(p[0], *binds)])
        return scorer

    def _rank(self, response: Response, part: Part, scored: Scored) -> None:
        documents, citations = response.documents, response.citations
        context, ranks = in_order(documents)
        judgments, cited = citations.judgments, citations.cited_ranks
        scored.ranks, scored.cited, scored.markers = ranks, tuple(cited), len(citations.found)
        if citations.faults:
            scored.faults = tuple(fault.kind for fault in citations.faults)
        uncited = None if judgments else _why_uncited(citations)
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
                reason = missing or Unscored.NO_JUDGMENTS
                part.scores.append(self._missing[measure.name, reason])
                part.unscored.append((measure.name, reason))
            else:
                self._measure(measure, ranking, gains, cited, part, scored)
        if documents and uncited is None:
            waste = wasted_context(cited, len(context))
            part.scores.append({"scorer": WASTED, "value": waste})
            part.scorers.append(WASTED)
            part.values.append(waste)

    def _measure(
        self,
        measure: Measure,
        ranking: Sequence[str],
        gains: Mapping[str, float],
        cited: Sequence[int],
        part: Part,
        scored: Scored,
    ) -> None:
        value = measure(ranking, gains)
        label = band(value, self._good, self._moderate)
        score = {"scorer": measure.name, "value": value, "label": label}
        if measure.name == self._relevancy:
            scored.relevancy = value
            score["explanation"] = explain(label, cited)
        part.scores.append(score)
        part.scorers.append(measure.name)
        part.values.append(value)


def in_order(documents: Sequence[Document]) -> tuple[list[str], tuple[int, ...]]:
    """Return document ids in context order, each once, and their ranks; the default rank is the place in the list."""
    ids = [document.doc_id for document in documents]
    ranks = tuple([document.rank for document in documents])
    count = len(ids)
    if ranks == _RANKS[:count] and len(set(ids)) == count:
        return ids, _RANKS[:count]
    ranked = [(i if rank is None else rank, name) for i, (rank, name) in enumerate(zip(ranks, ids, strict=True), 1)]
    ranked.sort(key=_FIRST)
    first: dict[str, int] = {}
    for rank, doc_id in ranked:
        first.setdefault(doc_id, rank)
    return list(first), tuple(first.values())


def in_retrieval_order(documents: Sequence[Document]) -> list[str]:
    """Return document ids in the order before reranking; empty unless every document says its place."""
    ranks = [document.retrieval_rank for document in documents]
    if None in ranks:
        return []
    placed = sorted(zip(cast("list[int]", ranks), documents, strict=True), key=_FIRST)
    return list(dict.fromkeys([document.doc_id for _, document in placed]))


def relevancy_name(suite: Suite) -> str:
    """Return the measure that stands for relevancy in the diagnosis: the first one on citations in context order."""
    return next((m.name for m in suite.parsed_measures if m.order == "context" and m.on == "citations"), "")


def scorer_names(suite: Suite) -> list[str]:
    """Return every scorer whose values come out of this suite, in the order of a row."""
    measures = [measure.name for measure in suite.parsed_measures]
    checks = [check.name for _, check in suite.parsed_checks]
    return [*measures, WASTED, *checks, COMPLIANCE, *FOLLOW_UPS]


def _why_uncited(citations: Citations) -> Unscored:
    dangling = any(fault.kind == "dangling" for fault in citations.faults)
    return Unscored.ALL_DANGLING if dangling else Unscored.NO_CITATIONS


def thresholds(suite: Suite) -> dict[str, float]:
    """Return from which value on a score is good, by scorer; those that judge nothing (wasted context) are left out."""
    limits = suite.thresholds
    lowest = {FOLLOW_UP: limits.follow_ups, FOLLOW_UP_PRECISION: limits.follow_ups, COMPLIANCE: limits.instructions}
    lowest[CLARIFICATION_FREE] = 1.0
    lowest.update((measure.name, limits.relevancy) for measure in suite.parsed_measures)
    lowest.update((check.name, 1.0) for _, check in suite.parsed_checks)
    return lowest


def _applies(part: CheckPart, assistant: str, platform: str | None, version: str | None) -> bool:
    return (
        (not part.assistants or assistant in part.assistants)
        and (not part.platforms or platform in part.platforms)
        and (not part.versions or version in part.versions)
    )


def _check(check: Check, response: Response) -> Finding:
    try:
        return check.check(response)
    except Exception as error:
        return Finding(Result.ERROR, f"the check failed: {type(error).__name__}")


def _as_score(name: str, finding: Finding) -> Score:
    if finding.result is Result.PASS:
        return Score(name, 1.0, "pass")
    if finding.result is Result.NOT_APPLICABLE:
        return Score(name, unscored=Unscored.NOT_APPLICABLE)
    if finding.result is Result.ERROR:
        return Score(name, unscored=Unscored.ERROR, explanation=finding.explanation)
    span = (finding.start, finding.end) if finding.start >= 0 else None
    return Score(name, 0.0, "fail", None, finding.explanation, None, span)
