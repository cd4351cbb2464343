"""Metric deltas: what one batch adds to the metrics, as plain numbers, in fields that say how each is shown.

A batch may be thrown away (fenced, revoked, retried), and a Prometheus counter cannot be turned back. So the pipeline
counts into a value of its own, and `agents.metrics.exposition` applies it once, after the commit. One dictionary entry
per turn is also far cheaper than one labelled metric call per turn.

Each field of `MetricDeltas` is one line of the table: under which name, with which labels and words it is shown. What
workers know of themselves (lag, transactions, tables) stands in `agents.metrics.families`, which joins the two.
"""

# ruff: noqa: RUF009 - what declares a field returns one of dataclasses
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import NamedTuple, TypeVar

from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.conversations.judged import Fate
from turnsignal.stream.errors import Reason
from turnsignal.stream.judging.repeats import RESULTS
from turnsignal.stream.pipeline.metric_family import (
    JUDGE,
    SCORE,
    WATCH,
    Family,
    counter,
    latched,
    newest,
    ratios,
    weights,
)
from turnsignal.stream.pipeline.truth_scoring import FAILING_STAGES
from turnsignal.stream.records.feedback import KINDS
from turnsignal.stream.records.scores import ConversationOutcome, Unscored
from turnsignal.stream.records.verdicts import Unjudged
from turnsignal.stream.records.wire import Record
from turnsignal.stream.truth.stages import Basis

Release = tuple[str, str | None]  #: assistant and version, as they came in the traffic
SeriesName = tuple[str, str | None, str]  #: assistant, version, and a third word: scorer, role, kind, …
Detail = tuple[str, str | None, str, str]  #: assistant, version, scorer or check, and its result
Gauges = dict[tuple[str | None, ...], float | None]  #: labels → value, None takes it away

K = TypeVar("K")

RELEASE = ("assistant", "version")  #: labels of what answered; the values come from traffic and pass the label guard
SCORE_BOUNDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 1.0)
ENVIRONMENT_BOUNDS = (0.5, 0.99)
RANK_BANDS = ("1", "2", "3", "4-5", "6-10", "11-20", "21+")
_BAND_OF_RANK = ("1", "1", "2", "3", "4-5", "4-5", *["6-10"] * 5, *["11-20"] * 10, "21+")
_TIERS = ("page", "ticket")
_SCOPES = ("usual", "version")  #: what a change is compared with
_DIRECTIONS = ("lower", "higher")
_ROLES = ("user", "assistant", "system", "tool")
_OUTCOMES = tuple(outcome.value for outcome in ConversationOutcome)
_LEVELS = ("high", "low", "unknown")
_VERDICTS = ("good", "bad", "unscored")
_MARKERS = ("valid", "dangling", "duplicate", "malformed")
_PAIRINGS = (
    *("followed_up", "superseded", "ended", "replaced", "gap", "orphan", "expired", "late", "reopened"),
    *("forgotten", "window_expired", "naive_timestamp", "mixed_environment", "labels_cut"),
)
_RESULTS = {
    SCORE: ("scored", "duplicate", "dead_letter", "applied_before", "forgotten"),
    JUDGE: ("queued", "dead_letter"),
    WATCH: ("watched", "applied", "unknown", "dead_letter"),
}
_UNREADABLE = (Reason.WRONG_TYPE, Reason.UNDECODABLE, Reason.POISON)
_REASONS = {
    SCORE: tuple(Reason),
    JUDGE: _UNREADABLE,
    WATCH: _UNREADABLE,
}
_JUDGED = ("judged", "cached", *tuple(Unjudged))


class LowestScore(NamedTuple):
    """The conversation of a series' lowest bad score in a batch, and that score (0–1)."""

    conversation_id: str
    value: float


def rank_band(rank: int) -> str:
    """Name the band of a 1-based rank: single places at the top, wider ones below.

    >>> rank_band(4)
    '4-5'
    """
    return _BAND_OF_RANK[min(rank, 21)]


@dataclass(slots=True)
class MetricDeltas:
    """Everything that a batch counts; the counters start empty and take `deltas.turns[key] += 1`.

    A key has a word for each label, in the order of the labels; one word may say several, with "/" between them, as the
    rows of the diagnosis do. Below the table stands what is shown beside a metric and is none.
    """

    turns: defaultdict[SeriesName, int] = counter(
        "turns_total", "Turns taken in; a user's under the version of the answer before it.", *RELEASE, role=_ROLES
    )
    scores: defaultdict[SeriesName, list[float]] = ratios(
        "score_ratio", "Scores, 0 to 1.", *RELEASE, "scorer", bounds=SCORE_BOUNDS
    )
    quality: defaultdict[Detail, int] = counter(
        "score_verdicts_total", "Scores: good, bad or unscored.", *RELEASE, "scorer", verdict=_VERDICTS
    )
    unscored: defaultdict[Detail, int] = counter(
        "unscored_total",
        "What could not be scored, by reason.",
        *RELEASE,
        "scorer",
        begun=False,
        most=6,
        reason=tuple(Unscored),
    )
    checks: defaultdict[Detail, int] = counter(
        "instruction_checks_total", "Instruction checks, by result.", *RELEASE, "check", result=tuple(Result)
    )
    diagnosis: defaultdict[SeriesName, int] = counter(
        "diagnosis_turns_total",
        "Exchanges, each quality high, low or unknown.",
        *RELEASE,
        begun=False,
        relevancy=_LEVELS,
        followups=_LEVELS,
        instructions=_LEVELS,
    )
    failing_stages: defaultdict[Detail, int] = counter(
        "stage_turns_total",
        "Answers, by the first stage that was wrong; by labels, or by the diagnosis.",
        *RELEASE,
        begun=False,
        most=10,
        stage=FAILING_STAGES,
        basis=tuple(Basis),
    )
    citations: defaultdict[SeriesName, int] = counter(
        "citations_total", "Citation markers: valid, or what is wrong with them.", *RELEASE, kind=_MARKERS
    )
    retrieved: defaultdict[SeriesName, int] = counter(
        "retrieved_documents_total", "Retrieved documents, by rank in the context.", *RELEASE, rank=RANK_BANDS
    )
    cited: defaultdict[SeriesName, int] = counter(
        "cited_documents_total", "Cited documents, by rank in the context.", *RELEASE, rank=RANK_BANDS
    )
    outcomes: defaultdict[SeriesName, int] = counter(
        "conversations_closed_total",
        "Closed conversations, by outcome; resolved and silent are free of clarification.",
        *RELEASE,
        outcome=_OUTCOMES,
    )
    other_turns: defaultdict[tuple[str, str], int] = counter(
        "environment_turns_total", "Turns of other environments than production.", "environment", role=_ROLES
    )
    other_scores: defaultdict[tuple[str, str], list[float]] = ratios(
        "environment_score_ratio",
        "Scores of answers outside production, 0 to 1.",
        "environment",
        "scorer",
        bounds=ENVIRONMENT_BOUNDS,
    )
    other_unscored: defaultdict[tuple[str, str], int] = counter(
        "environment_unscored_total", "What could not be scored outside production.", "environment", "scorer"
    )
    other_failing_stages: defaultdict[tuple[str, str], int] = counter(
        "environment_stage_turns_total",
        "Labelled answers outside production, by the first wrong stage.",
        "environment",
        begun=False,
        stage=FAILING_STAGES,
    )
    other_outcomes: defaultdict[tuple[str, str], int] = counter(
        "environment_conversations_closed_total",
        "Closed conversations outside production, by outcome.",
        "environment",
        outcome=_OUTCOMES,
    )
    pairing: defaultdict[str, int] = counter(
        "pairing_total", "What became of turns on their way into exchanges.", outcome=_PAIRINGS
    )
    feedback: defaultdict[tuple[str, str], int] = counter(
        "feedback_total",
        "Feedback rows: its turn was known, came later, or is not known.",
        kind=KINDS,
        result=("known", "waited", "unknown"),
    )
    judged_weight: defaultdict[SeriesName, float] = weights(
        "judged_score_weight_total",
        "Scores that judges gave, each by the inverse of its sampling probability.",
        *RELEASE,
        "judged",
    )
    judged_sum: defaultdict[SeriesName, float] = weights(
        "judged_score_weighted_total", "Sum of the scores, 0 to 1, of judges, weighted so.", *RELEASE, "judged"
    )
    judged_unscored: defaultdict[Detail, int] = counter(
        "judged_unscored_total",
        "What judges gave no score, by reason.",
        *RELEASE,
        "judged",
        begun=False,
        most=6,
        reason=tuple(Unscored),
    )
    verdicts: defaultdict[str, int] = counter(
        "verdict_rows_total",
        "Verdicts: their exchange stands, has not come, was replaced, is past retention or to be forgotten; repeated.",
        fate=tuple(Fate),
    )
    judge_anchors: defaultdict[tuple[str, str, str], int] = counter(
        "judge_anchor_checks_total",
        "Labels of people beside verdicts, by what each finds of the answer.",
        "judge",
        human=("good", "bad"),
        verdict=("good", "bad"),
    )
    records: defaultdict[tuple[str, str], int] = counter(
        "records_total", "Records read, by what became of them.", "topic", apps=tuple(_RESULTS), result=_RESULTS
    )
    dead_letters: defaultdict[tuple[str, str], int] = counter(
        "dead_letters_total", "Records set aside, by reason.", "topic", apps=tuple(_REASONS), reason=_REASONS
    )
    redactions: defaultdict[str, int] = counter(
        "redactions_total",
        "What was taken out of texts before they were scored or judged, by kind.",
        "kind",
        apps=(SCORE, JUDGE),
    )
    assumptions: defaultdict[str, int] = counter(
        "assumptions_total",
        "Turns that deviate and were read all the same, by what was assumed.",
        "assumption",
    )
    overflow: defaultdict[str, int] = counter(
        "label_overflow_total",
        "Values counted as other; release: no room in TURNSIGNAL_METRICS_SERIES.",
        apps=(SCORE, WATCH),
        label={SCORE: ("assistant", "version", "release", "scorer", "check", "judged"), WATCH: ("series",)},
    )
    last_event: dict[str, float] = newest(
        "last_event_timestamp_seconds", "Newest event time of the last batch.", "topic"
    )

    judge_verdicts: defaultdict[tuple[str, str], int] = counter(
        "judge_verdicts_total",
        "Verdicts: judged, cached, or why there is no value.",
        "judge",
        apps=(JUDGE,),
        outcome=_JUDGED,
    )
    judge_repeats: defaultdict[tuple[str, str], int] = counter(
        "judge_repeat_checks_total",
        "Questions asked twice, by whether both answers are good or both bad.",
        "judge",
        apps=(JUDGE,),
        result=RESULTS,
    )
    judge_tokens: defaultdict[tuple[str, str], int] = counter(
        "judge_tokens_total", "Tokens, as endpoints count them.", "judge", apps=(JUDGE,), kind=("input", "output")
    )
    judge_cost: defaultdict[str, float] = counter(
        "judge_cost_total", "What judging cost, in the currency of the suite's prices.", "judge", apps=(JUDGE,)
    )

    incidents: defaultdict[tuple[str, str], int] = counter(
        "regression_incidents_total",
        "Incidents, by the tier that they opened with or were raised to.",
        "assistant",
        begun=False,
        apps=(WATCH,),
        tier=_TIERS,
    )
    regression_open: Gauges = latched(
        "regression_open",
        "1 while a change is open; version: the one seen when it was called.",
        *RELEASE,
        "scorer",
        most=2,
        scope=_SCOPES,
        tier=_TIERS,
        direction=_DIRECTIONS,
    )
    regression_change: Gauges = latched(
        "regression_change_ratio",
        "How much a value has changed, and the bounds of that, while the change is open.",
        *RELEASE,
        "scorer",
        scope=_SCOPES,
        bound=("lower", "mean", "upper"),
    )
    regression_values: Gauges = latched(
        "regression_values",
        "Values since an open change most likely began, as it was called: what the bounds of the change rest on.",
        *RELEASE,
        "scorer",
        scope=_SCOPES,
    )
    regression_since: Gauges = latched(
        "regression_since_timestamp_seconds",
        "When an open change most likely began; the first value that was watched, where it may have begun before that.",
        *RELEASE,
        "scorer",
        scope=_SCOPES,
    )
    regression_evidence: Gauges = latched(
        "regression_evidence_log10",
        "Evidence that a scorer became worse than usual, as a logarithm; of no single version.",
        *RELEASE,
        "scorer",
        most=1,
        scope=_SCOPES,
    )
    regression_threshold: Gauges = latched(
        "regression_threshold_log10",
        "Evidence at which a change is called, as a logarithm.",
        *RELEASE,
        "scorer",
        most=2,
        scope=_SCOPES,
        tier=_TIERS,
    )
    baseline: Gauges = latched(
        "baseline_mean_ratio", "What a scorer usually says, learned over 14 days.", "assistant", "scorer"
    )

    exemplars: dict[SeriesName, LowestScore] = field(default_factory=dict)
    """For a scorer with bad scores, the worst one, to be named beside the metric."""
    judged_times: list[float] = field(default_factory=list)
    """Event times of the answers that judges gave a value: how long a judged row takes is known when it is written."""

    @staticmethod
    def count(counts: dict[K, int], key: K, by: int = 1) -> None:
        """Count `by` more of a key in one of the fields."""
        counts[key] = counts.get(key, 0) + by

    def on_bad(self, series: SeriesName, conversation_id: str, value: float) -> None:
        """Remember the conversation of a bad score (0–1) if it is the worst of its series so far."""
        known = self.exemplars.get(series)
        if known is None or value < known.value:
            self.exemplars[series] = LowestScore(conversation_id, value)

    def on_dead_letter(self, record: Record, topic: str, reason: Reason) -> None:
        """Count a record that is set aside; what never had a place on the topic is none of the records read there."""
        self.dead_letters[topic, reason] += 1
        if record.offset >= 0:
            self.records[topic, "dead_letter"] += 1

    def merge(self, other: "MetricDeltas") -> None:
        """Add what another batch counted; the other deltas are left as they are."""
        for name, kind in _KINDS:
            mine, theirs = getattr(self, name), getattr(other, name)
            for key, by in theirs.items():
                if kind == "counter":
                    mine[key] += by
                elif kind == "histogram":
                    mine[key].extend(by)
                elif by is None or mine.get(key) is None:
                    mine[key] = by
                else:
                    mine[key] = max(by, mine[key])
        self.judged_times += other.judged_times
        for series, worst in other.exemplars.items():
            self.on_bad(series, *worst)


def pipeline_families() -> Iterator[tuple[str, str, Family]]:
    """Yield field, metric name without prefix, and family of everything that the pipeline counts."""
    for known in fields(MetricDeltas):
        for name, family in known.metadata.items():
            yield known.name, name, family


_KINDS = tuple((known, family.kind) for known, _, family in pipeline_families())
