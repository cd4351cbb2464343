"""Run: what came of a replay, or of one of its partitions, and the summary of it."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

from turnsignal.stream.diagnosis import DIAGNOSES, Level
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.metric_deltas import Detail, MetricDeltas, SeriesName
from turnsignal.stream.records.environments import name_environment
from turnsignal.stream.records.wire import CONVERSATIONS, SCORES
from turnsignal.stream.reports.aggregates import Aggregates
from turnsignal.stream.reports.judged_scores import JudgedScores
from turnsignal.stream.reports.release_totals import NamedReleases
from turnsignal.stream.statistics.intervals import Clusters, clustered_mean
from turnsignal.stream.suite import Suite
from turnsignal.stream.truth.stages import Basis


class Run:
    """What came of a replay, or of one of its partitions.

    conversations: how many began; closes: how often one closed; turns: by role; means: (assistant, version, scorer) →
    [n, sum] of the values (0–1) as they were first scored; quality, unscored: the same with a fourth word, good, bad
    or unscored, and the reason; feedback: (kind, what became of it); outcomes, diagnosis: (assistant, version, word),
    an outcome of `cut` where the recording ends before a conversation does; stages: the same with the stage at which
    answers with labels first fail, `none` of those that do nowhere; pairing: what became of turns;
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
        self.stages: Counter[SeriesName] = Counter()
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
            self._add_mean(series, len(values), sum(values))
        self._count_by_release(deltas)
        labelled = {key[:3]: n for key, n in deltas.failing_stages.items() if key[3] == Basis.TRUTH}
        self._add_by_release(self.stages, labelled)
        self.pairing.update(deltas.pairing)
        self.feedback.update(deltas.feedback)
        self.redactions.update(deltas.redactions)
        for (_, result), n in deltas.records.items():
            if result == "duplicate":
                self.pairing["duplicate"] += n
        for (_, reason), n in deltas.dead_letters.items():
            self.dead_letters[str(reason)] += n

    def _add_mean(self, series: SeriesName, n: float, total: float) -> None:
        mean = self.means.get(series)
        if mean is None:
            assistant, version, scorer = series
            mean = self.means.setdefault((*self._named.fold((assistant, version)), scorer), [0, 0.0])
        mean[0] += n
        mean[1] += total

    def _count_by_release(self, counted: "MetricDeltas | Run") -> None:
        for name in _BY_RELEASE:
            self._add_by_release(getattr(self, name), getattr(counted, name))

    def _add_by_release(self, counts: Counter[Any], others: Mapping[Any, int]) -> None:
        for key, n in others.items():
            counts[key if key in counts else (*self._named.fold(key[:2]), *key[2:])] += n

    @property
    def _named(self) -> NamedReleases:
        return self.aggregates.quality.named

    def merge(self, other: "Run") -> None:
        """Add another partition's run; sums of floats depend on the order, so merge in the order of the partitions."""
        self.conversations += other.conversations
        self.closes += other.closes
        self.aggregates.merge(other.aggregates)
        for series, (n, total) in other.means.items():
            self._add_mean(series, n, total)
        self._count_by_release(other)
        self._add_by_release(self.stages, other.stages)
        for name in _MERGED:
            getattr(self, name).update(getattr(other, name))
        self.elsewhere.update(other.elsewhere)
        self.judged.merge(other.judged)

    def summary(self, suite: Suite, baseline: str | None = None) -> dict[str, Any]:
        """Return the summary for `summary.json`: the same for the same input and suite, wherever it ran.

        baseline: a version that all others are compared with. Raises ConfigError where there is no such version.
        """
        sections = self.aggregates.summary(suite, baseline)
        unscored = self._unscored_series()
        series = sorted({*self.means, *unscored}, key=_order)
        return {
            "suite": {
                "name": suite.name,
                "fingerprint": suite.fingerprint,
                **suite.aggregates.model_dump(include={"primary", "least_change", "minimum_n"}),
                "idle": suite.limits.idle,
                **({"failed": list(suite.conversations.failed)} if suite.conversations.failed else {}),
                **({"exempt": list(suite.exempt)} if suite.exempt else {}),
            },
            "environment": self.environment,
            "other_environments": _counts(self.elsewhere),
            "turns": _counts(self.turns),
            "conversations": {"begun": self.conversations, "closed": self.closes},
            "pairing": _counts(self.pairing),
            "feedback": [{"kind": kind, "result": word, "n": n} for (kind, word), n in sorted(self.feedback.items())],
            "scores": [self._scores(each, unscored.get(each)) for each in series],
            "outcomes": _table(self.outcomes, "outcome"),
            "diagnosis": [row | {"meaning": _meaning(row["diagnosis"])} for row in _table(self.diagnosis, "diagnosis")],
            **({"failing_stages": stages} if (stages := _table(self.stages, "stage")) else {}),
            "dead_letters": _counts(self.dead_letters),
            **({"judged": judged} if (judged := self.judged.rows()) else {}),
            **({} if suite.redaction is None else {"redactions": _counts(self.redactions)}),
            **sections,
        }

    def _unscored_series(self) -> dict[SeriesName, dict[str, int]]:
        """Return how many were not scored by reason, for each series: looked through once, since there may be many."""
        series: defaultdict[SeriesName, dict[str, int]] = defaultdict(dict)
        for (assistant, version, scorer, reason), by in self.unscored.items():
            series[assistant, version, scorer][str(reason)] = by
        return series

    def _scores(self, series: SeriesName, unscored: Mapping[str, int] | None) -> dict[str, Any]:
        assistant, version, scorer = series
        n, total = self.means.get(series, (0, 0.0))
        row: dict[str, Any] = {"assistant": assistant, "version": version, "scorer": scorer, "n": n}
        row["mean"] = round(total / n, 6) if n else None
        row |= _spread(self.aggregates.quality.over_all((assistant, version), scorer))
        for quality in ("good", "bad"):
            if count := self.quality.get((*series, quality)):
                row[quality] = count
        return row | ({"unscored": _counts(unscored)} if unscored else {})


def _spread(sums: Clusters | None) -> dict[str, Any]:
    """Return the 95 % interval of a mean over turns, and the mean of the conversations' own means beside it."""
    if sums is None:
        return {"mean_of_conversations": None}
    interval = clustered_mean(sums).as_json()
    own = {"n": round(sums.n), "mean": round(sums.means / sums.n, 6)}
    return {"low": interval["low"], "high": interval["high"], "mean_of_conversations": own}


_MERGED = ("turns", "pairing", "feedback", "dead_letters", "redactions")
_BY_RELEASE = ("quality", "unscored", "outcomes", "diagnosis")  #: whose keys begin with assistant and version


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
