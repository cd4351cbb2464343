"""Scoring: run every scorer of the suite over one response, and never fail.

What cannot be scored is unscored with its reason; a scorer that raises is `error`, counted, and stops nothing.

What a response may cost is bounded by how much of it scorers read, so that it is the same wherever it is scored;
tests/bench/dearest_turn.py searches for the dearest response. Processor time is only the last resort, for suites with
many or slow checks: a long response has a budget of it, far above what the dearest takes, and checks that come after
its end are `error`.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from turnsignal.stream.citations.reader import Citations
from turnsignal.stream.conversations.clock import deadline
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.detection.policy import AlertPolicy
from turnsignal.stream.diagnosis import level
from turnsignal.stream.follow_ups.failures import asks_back
from turnsignal.stream.follow_ups.rules import FollowUp
from turnsignal.stream.pipeline.cited import CitedScores, score_cited
from turnsignal.stream.pipeline.compliance import COMPLIANCE, Encoded, EncodedScores, InstructionScorer, Results
from turnsignal.stream.pipeline.rank_scoring import RankScorer
from turnsignal.stream.pipeline.truth_scoring import TRUTH_SCORERS, score_truth
from turnsignal.stream.records.feedback import VOTE
from turnsignal.stream.records.scores import (
    CITED,
    CITED_ARTICLE,
    CLARIFICATION_FREE,
    DANGLING,
    FOLLOW_UP,
    FOLLOW_UP_PRECISION,
    Score,
    Unscored,
)
from turnsignal.stream.records.turns import Truth, Turn
from turnsignal.stream.statistics.directions import DIRECTIONS, LOW, WASTED
from turnsignal.stream.suite import CheckPart, Suite
from turnsignal.stream.truth.stages import Signals

DIAGNOSIS, CONVERSATION = "diagnosis", "conversation"

#: what comes of a follow-up that is recognised, in the order of its row
FOLLOW_UPS = (FOLLOW_UP, FOLLOW_UP_PRECISION, CLARIFICATION_FREE)
BUDGET = 2.0  #: seconds of processor time after which no further check looks at a response
_SHORT = 4_000  #: characters of a response that no suite spends a budget on; asking the time is not free
_REMEMBERED = 1000  #: combinations that are kept of what traffic decides


class Scored(msgspec.Struct, gc=False):
    """The scores of one exchange at one stage.

    scores: ready to be written; scorers, values: names and values of what was scored, side by side; unscored: scorer
    and reason of what was not; findings: check and result; relevancy, compliance: what the diagnosis needs; ranks,
    cited: context ranks of the documents that were passed, and of those that were cited; faults: kinds of what is
    wrong with the markers; markers: how many are well-formed; diagnosis: its row, for follow-ups; failing_stage: the
    first one that was wrong, "" where no truth says so; bare: whether a follow-up is no more than a reply to what the
    answer asked last, where it did; label: what rules read a follow-up as, None where they read nothing; wants_person:
    whether that is that the user asks for a person.
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
    failing_stage: str = ""
    bare: bool = False
    label: FollowUp | None = None
    wants_person: bool = False

    @property
    def complains(self) -> bool:
        """Whether a follow-up asks to clarify."""
        return CLARIFICATION_FREE in self.scorers and not self.values[self.scorers.index(CLARIFICATION_FREE)]


class ResponseScorer:
    """Score a response when it arrives: ranking measures on its citations, and the instructions that bind it.

    cpu_clock: seconds of processor time; without it there is no budget.
    """

    def __init__(self, suite: Suite, cpu_clock: Callable[[], float] | None = None) -> None:
        self._cpu_clock = cpu_clock
        self._measures = suite.parsed_measures
        self._ranks = RankScorer(suite, relevancy_name(suite))
        self._checks = suite.parsed_checks
        self._bound: dict[tuple[str, str | None, str | None], InstructionScorer] = {}
        self._read = suite.citations.reader()
        self._kept_from = suite.thresholds.instructions
        self._failures = suite.follow_up_rules.failures

    def score(self, turn: Turn, earlier: bytes = b"") -> Scored:
        """Score one assistant turn; earlier: of its conversation, as `Response` has it."""
        relevant = turn.truth.doc_ids if turn.truth is not None else None
        timed = self._cpu_clock is not None and len(turn.text) > _SHORT
        is_over = deadline(self._cpu_clock, BUDGET) if timed else None
        response = Response(turn.text, turn.retrieved, self._read, turn.platform, relevant, turn.metadata, earlier)
        exempt = self._failures.exempts(turn.text)
        read = response.citations
        parts: list[EncodedScores | CitedScores] = []
        try:
            ranked, relevancy, ranks, cited = self._ranks.score(response)
            parts += ranked
            given = bool(response.documents)
            uncited = given and not (read.with_earlier or read.faults)
            parts.append(score_cited(read, given=given, exempt=exempt or (uncited and asks_back(turn.text))))
        except Exception:  # a measure that fails is our bug, and not the end of the worker
            relevancy, ranks, cited, read = None, (), (), Citations()
            failed = EncodedScores()
            for measure in self._measures:
                failed.take(Score(measure.name, unscored=Unscored.ERROR))
            parts = [failed]
        instructions = self._instructions(turn)
        instructed, findings, share = instructions.exempt() if exempt else instructions.score(response, is_over)
        parts.append(instructed)
        scores: list[Encoded] = []
        scorers: tuple[str, ...] = ()
        values: tuple[float, ...] = ()
        unscored: tuple[tuple[str, Unscored], ...] = ()
        for part in parts:
            scores += part.scores
            scorers += part.scorers
            values += part.values
            unscored += part.unscored
        faults = tuple([fault.kind for fault in read.faults]) if read.faults else ()
        facts = (relevancy, share, ranks, cited, faults, len(read.all))
        scored = Scored(scores, scorers, values, unscored, findings, *facts)
        if turn.truth is not None:
            self._add_truth(scored, turn, turn.truth, response)
        return scored

    def _add_truth(self, scored: Scored, turn: Turn, truth: Truth, response: Response) -> None:
        """Add what is known of the turn. Ranks of citations are not asked: labels say what should have come."""
        instructions = level(scored.compliance, self._kept_from)
        signals = Signals(instructions=instructions, failed=self._failures.is_failing(turn.text))
        known, scored.failing_stage = score_truth(turn, truth, response.citations, signals)
        scored.scores = scored.scores + known.scores
        scored.scorers += known.scorers
        scored.values += known.values
        scored.unscored += known.unscored

    def _instructions(self, turn: Turn) -> InstructionScorer:
        binds = (turn.assistant, turn.platform, turn.version)
        scorer = self._bound.get(binds)
        if scorer is None:
            if len(self._bound) >= _REMEMBERED:  # versions come from strangers
                self._bound.clear()
            scorer = self._bound[binds] = InstructionScorer([p for p in self._checks if _applies(p[0], *binds)])
        return scorer


def relevancy_name(suite: Suite) -> str:
    """Return the measure that stands for relevancy in the diagnosis: the first one on citations in context order."""
    return next((m.name for m in suite.parsed_measures if m.order == "context" and m.on == "citations"), "")


def scorer_names(suite: Suite) -> list[str]:
    """Return every scorer whose values come out of this suite, in the order of a row."""
    measures = [measure.name for measure in suite.parsed_measures]
    checks = [check.name for _, check in suite.parsed_checks]
    return [*measures, WASTED, CITED, DANGLING, *checks, COMPLIANCE, *FOLLOW_UPS, *TRUTH_SCORERS]


def thresholds(suite: Suite) -> dict[str, float]:
    """Return from which value on a score is good, by scorer; not of those that are the better the lower they are."""
    limits = suite.thresholds
    lowest = {FOLLOW_UP: limits.follow_ups, FOLLOW_UP_PRECISION: limits.follow_ups, COMPLIANCE: limits.instructions}
    lowest.update(dict.fromkeys((CITED, CLARIFICATION_FREE, VOTE, *TRUTH_SCORERS), 1.0))
    lowest.update((measure.name, limits.relevancy) for measure in suite.parsed_measures)
    lowest.update((check.name, 1.0) for _, check in suite.parsed_checks)
    return lowest


def policy_of(suite: Suite) -> AlertPolicy:
    """Return who pages: the three qualities of the diagnosis, unless the suite says otherwise."""
    return suite.alerts.policy(_qualities(suite), {scorer.name: scorer.quality for scorer in describe_scorers(suite)})


def _qualities(suite: Suite) -> list[str]:
    """Return the scorers that stand for the three qualities of the diagnosis."""
    return [name for name in (relevancy_name(suite), FOLLOW_UP, COMPLIANCE) if name]


class ScorerFacts(NamedTuple):
    """What panels and alerts have to know of a scorer, so that none of them names the scorers of one suite.

    quality: which quality of the diagnosis it is about, or `citation`, or `other`; better: `high` or `low`; good_from:
    the lowest good value (0–1), None where the suite has no threshold for it; bad_budget: share of its scores (0–1)
    that may be bad over 30 days, None where none is set.
    """

    name: str
    quality: str
    better: str
    good_from: float | None
    bad_budget: float | None


def describe_scorers(suite: Suite) -> list[ScorerFacts]:
    """Say of every scorer of a suite, and of users' votes, what it is about."""
    qualities = {
        **dict.fromkeys((measure.name for measure in suite.parsed_measures), "relevancy"),
        **dict.fromkeys((WASTED, CITED, DANGLING), "citation"),
        **dict.fromkeys([*(check.name for _, check in suite.parsed_checks), COMPLIANCE], "instructions"),
        **dict.fromkeys(FOLLOW_UPS, "follow_up"),
        **dict.fromkeys(TRUTH_SCORERS, "other"),
        CITED_ARTICLE: "citation",
        VOTE: "other",
    }
    good_from, budgets = thresholds(suite), suite.alerts.budgets(_qualities(suite))
    return [
        ScorerFacts(
            name, quality, "low" if DIRECTIONS.get(name) == LOW else "high", good_from.get(name), budgets.get(name)
        )
        for name, quality in qualities.items()
    ]


def _applies(part: CheckPart, assistant: str, platform: str | None, version: str | None) -> bool:
    return (
        (not part.assistants or assistant in part.assistants)
        and (not part.platforms or platform in part.platforms)
        and (not part.versions or version in part.versions)
    )
