"""Run: what came of a replay, or of one of its partitions, and the summary of it."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from turnsignal.stream.diagnosis import DIAGNOSES, Level
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.metric_deltas import Detail, MetricDeltas, SeriesName
from turnsignal.stream.records.environments import name_environment
from turnsignal.stream.records.wire import CONVERSATIONS, SCORES
from turnsignal.stream.reports.aggregates import Aggregates
from turnsignal.stream.reports.judged_scores import JudgedScores
from turnsignal.stream.statistics.intervals import Clusters, clustered_mean
from turnsignal.stream.suite import Suite


class Run:
    """What came of a replay, or of one of its partitions.

    conversations: how many began; closes: how often one closed; turns: by role; means: (assistant, version, scorer) →
    [n, sum] of the values (0–1) as they were first scored; quality, unscored: the same with a fourth word, good, bad
    or unscored, and the reason; feedback: (kind, what became of it); outcomes, diagnosis: (assistant, version, word),
    an outcome of `cut` where the recording ends before a conversation does; pairing: what became of turns;
    dead_letters: by reason; redactions: by kind; aggregates: what is summed up beyond counters; judged: what judges
    said. All but dead letters, redactions and aggregates
    is of one environment; elsewhere: turns of the others.
    """

    def __init__(self, suite: Suite, environment: str | None = None) -> None:
        self.environment = name_environment(environment)
        self.elsewhere: Counter[str] = Counter()
        self.conversations = 0
        self.closes = 0
        self.turns: Counter[str] = Counter()
        self.means: dict[SeriesName, list[float]] = {}
        self.quality: Counter[Detail] = Counter()
        self.unscored: Counter[Detail] = Counter()
        self.outcomes: Counter[SeriesName] = Counter()
        self.diagnosis: Counter[SeriesName] = Counter()
        self.pairing: Counter[str] = Counter()
        self.feedback: Counter[tuple[str, str]] = Counter()
        self.dead_letters: Counter[str] = Counter()
        self.redactions: Counter[str] = Counter()
        self.aggregates = Aggregates(suite, environment)
        self.judged = JudgedScores(self.environment)
        self._of_it = f'"environment":"{self.environment}"'.encode()

    def add(self, batch: BatchResult) -> None:
        """Count a batch."""
        for topic, _, value, _ in batch.outputs:
            if topic == CONVERSATIONS and value is not None and self._of_it in value:
                self.closes += 1
                self.conversations += b'"closes":1,' in value
            elif batch.deltas.verdicts and topic == SCORES and value is not None:
                self.judged.add(value)
        self._count(batch.deltas)
        self.aggregates.add(batch)

    def _count(self, deltas: MetricDeltas) -> None:
        for (_, _, role), n in deltas.turns.items():
            self.turns[role] += n
        for (environment, _), n in deltas.other_turns.items():
            self.elsewhere[environment] += n
        for series, values in deltas.scores.items():
            mean = self.means.setdefault(series, [0, 0.0])
            mean[0] += len(values)
            mean[1] += sum(values)
        self.quality.update(deltas.quality)
        self.unscored.update(deltas.unscored)
        self.outcomes.update(deltas.outcomes)
        self.diagnosis.update(deltas.diagnosis)
        self.pairing.update(deltas.pairing)
        self.feedback.update(deltas.feedback)
        self.redactions.update(deltas.redactions)
        for (_, result), n in deltas.records.items():
            if result == "duplicate":
                self.pairing["duplicate"] += n
        for (_, reason), n in deltas.dead_letters.items():
            self.dead_letters[str(reason)] += n

    def merge(self, other: "Run") -> None:
        """Add another partition's run; sums of floats depend on the order, so merge in the order of the partitions."""
        self.conversations += other.conversations
        self.closes += other.closes
        for series, (n, total) in other.means.items():
            mean = self.means.setdefault(series, [0, 0.0])
            mean[0] += n
            mean[1] += total
        for name in _MERGED:
            getattr(self, name).update(getattr(other, name))
        self.elsewhere.update(other.elsewhere)
        self.aggregates.merge(other.aggregates)
        self.judged.merge(other.judged)

    def summary(self, suite: Suite) -> dict[str, Any]:
        """Return the summary for `summary.json`: the same for the same input and suite, wherever it ran."""
        sections = self.aggregates.summary(suite)
        return {
            "suite": {
                "name": suite.name,
                "fingerprint": suite.fingerprint,
                **suite.aggregates.model_dump(include={"primary", "least_change", "minimum_n"}),
            },
            "environment": self.environment,
            "other_environments": _counts(self.elsewhere),
            "turns": _counts(self.turns),
            "conversations": {"begun": self.conversations, "closed": self.closes},
            "pairing": _counts(self.pairing),
            "feedback": [{"kind": kind, "result": word, "n": n} for (kind, word), n in sorted(self.feedback.items())],
            "scores": [self._scores(series) for series in sorted({*self.means, *self._unscored_series()}, key=_order)],
            "outcomes": _table(self.outcomes, "outcome"),
            "diagnosis": [row | {"meaning": _meaning(row["diagnosis"])} for row in _table(self.diagnosis, "diagnosis")],
            "dead_letters": _counts(self.dead_letters),
            **({"judged": judged} if (judged := self.judged.rows()) else {}),
            **({} if suite.redaction is None else {"redactions": _counts(self.redactions)}),
            **sections,
        }

    def _unscored_series(self) -> set[SeriesName]:
        return {(assistant, version, scorer) for assistant, version, scorer, _ in self.unscored}

    def _scores(self, series: SeriesName) -> dict[str, Any]:
        assistant, version, scorer = series
        n, total = self.means.get(series, (0, 0.0))
        row: dict[str, Any] = {"assistant": assistant, "version": version, "scorer": scorer, "n": n}
        row["mean"] = round(total / n, 6) if n else None
        row |= _spread(self.aggregates.quality.over_all((assistant, version), scorer))
        for quality in ("good", "bad"):
            if count := self.quality.get((*series, quality)):
                row[quality] = count
        reasons = {str(reason): by for (*key, reason), by in self.unscored.items() if tuple(key) == series}
        return row | ({"unscored": _counts(reasons)} if reasons else {})


def _spread(sums: Clusters | None) -> dict[str, Any]:
    """Return the 95 % interval of a mean over turns, and the mean of the conversations' own means beside it."""
    if sums is None:
        return {"mean_of_conversations": None}
    interval = clustered_mean(sums).as_json()
    own = {"n": round(sums.n), "mean": round(sums.means / sums.n, 6)}
    return {"low": interval["low"], "high": interval["high"], "mean_of_conversations": own}


_MERGED = (
    *("turns", "quality", "unscored", "outcomes", "diagnosis", "pairing", "feedback", "dead_letters", "redactions"),
)


def _counts(counts: Mapping[str, int]) -> dict[str, int]:
    return {str(word): counts[word] for word in sorted(counts)}  # plain strings: orjson takes no enums as keys


def _table(counts: Counter[SeriesName], word: str) -> list[dict[str, Any]]:
    return [
        {"assistant": series[0], "version": series[1], word: series[2], "n": counts[series]}
        for series in sorted(counts, key=_order)
    ]


def _order(series: SeriesName) -> tuple[str, str, str]:
    return series[0], series[1] or "", series[2]


def _meaning(row: str) -> str:
    first, second, third = (Level(word) for word in row.split("/"))
    return DIAGNOSES[first, second, third].sentence
