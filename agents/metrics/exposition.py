"""Metrics: what one worker shows to Prometheus.

A worker counts whole batches, so it keeps plain numbers of its own and turns them into metric families when scraped.
Against one prometheus_client object per series, this takes a vector of scores in one step, shows a batch wholly or not
at all, drops the series of a forgotten version at once, and has no `_created` series, whatever the environment says.
One process, one registry, one scrape target; sums over workers are PromQL.
"""

import hmac
import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, product
from math import isfinite
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST as CONTENT_TYPE_OPENMETRICS
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.registry import Collector
from prometheus_client.samples import Exemplar

from turnsignal.agents.metrics.families import FAMILIES, JUDGED, PREFIX
from turnsignal.agents.metrics.latched_gauges import LatchedGauges
from turnsignal.agents.metrics.negotiation import wants_openmetrics
from turnsignal.agents.metrics.room import Room
from turnsignal.agents.settings import METRICS_SERIES
from turnsignal.stream.pipeline.bounded_labels import OTHER, name_label
from turnsignal.stream.pipeline.metric_deltas import (
    RELEASE,
    SCORE_BOUNDS,
    LowestScore,
    MetricDeltas,
    Release,
    pipeline_families,
)
from turnsignal.stream.pipeline.metric_family import SCORE, Family
from turnsignal.stream.pipeline.release_guard import ReleaseGuard
from turnsignal.stream.pipeline.scoring import ScorerFacts
from turnsignal.stream.records.scores import Unscored

_PIPELINE = tuple(pipeline_families())
DIGEST_LENGTH = 16  #: hex digits of a conversation's digest
_NAMES = frozenset(("topic", "table"))  #: labels whose values are names from the configuration

Labels = tuple[str, ...]


class _Histogram:
    """Counts per bucket (the last one up to +Inf), their sum, and the latest exemplar of each bucket."""

    __slots__ = ("counts", "exemplars", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0
        self.exemplars: dict[int, Exemplar] = {}

    def observe(self, values: Sequence[float], bounds: Sequence[float]) -> None:
        """Take finite values in; a value on a bound belongs to the bucket below it, as `le` says."""
        counts = self.counts  # a batch has a handful for each series: numpy would take ten times as long
        for value in values:
            counts[bisect_left(bounds, value)] += 1
        self.total += sum(values)

    def buckets(self, bounds: Sequence[float]) -> list[tuple[str, float] | tuple[str, float, Exemplar]]:
        """Return cumulative counts as the exposition wants them."""
        names = [*map(str, bounds), "+Inf"]
        cumulative = accumulate(self.counts)
        return [
            (name, count, self.exemplars[place]) if place in self.exemplars else (name, count)
            for place, (name, count) in enumerate(zip(names, cumulative, strict=True))
        ]

    def copy(self) -> "_Histogram":
        """Copy what a scrape reads while the next batch is counted."""
        twin = _Histogram(())
        twin.counts, twin.total, twin.exemplars = self.counts.copy(), self.total, dict(self.exemplars)
        return twin


class WorkerMetrics(Collector):
    """All metrics of one worker, fed once per committed batch and scraped from another thread.

    app: whose page it is; version, revision: of turnsignal itself. scorers, checks, topics, judges, endpoints: what the
    configuration declares; their series exist from the start, at 0. judged: scorers that are judges. Scorers, checks
    and judged ones that are not declared, and values that the label guard refuses, are shown as "other" and counted.
    secret: keys the digests of conversation ids in exemplars; without it there are none. max_series: bound for the
    whole page; it decides how many releases (assistant and version) are told apart at a time, as `Room` has it.
    seldom: scorers that only turns with labels have; they are shown once they say something, and come on top of the
    bound.
    """

    def __init__(
        self,
        *,
        app: str = SCORE,
        version: str = "unknown",
        revision: str = "unknown",
        scorers: Iterable[str] = (),
        checks: Iterable[str] = (),
        topics: Iterable[str] = (),
        judged: Iterable[str] = (),
        judges: Iterable[str] = (),
        endpoints: Iterable[str] = (),
        secret: str = "",
        max_series: int = METRICS_SERIES,
        seldom: Collection[str] = (),
    ) -> None:
        self.registry = CollectorRegistry()
        self._app = app
        self._lock = threading.Lock()
        self._numbers: dict[str, dict[Labels, float]] = {n: {} for n, f in FAMILIES.items() if f.kind != "histogram"}
        self._histograms: dict[str, dict[Labels, _Histogram]] = {n: {} for n in FAMILIES if n not in self._numbers}
        self._formatted: dict[str, dict[str | Labels, Labels]] = {name: {} for name in FAMILIES}
        self._secret = secret.encode()
        usual = {name: name_label(name) for name in scorers}
        self._scorers = usual | {name: name_label(name) for name in seldom}
        self._usual_scorers = tuple(usual.values())
        self._checks = {name: name_label(name) for name in checks}
        self._declares = {"scorer": self._scorers, "check": self._checks, "judged": {name: name for name in judged}}
        self._topics = tuple(name_label(topic) for topic in topics)
        self._judges, self._endpoints = tuple(judges), tuple(endpoints)
        room = Room(max(len(usual), 1), len(self._checks), len(self._declares["judged"]), app)
        self._releases = ReleaseGuard(room.count_releases(max_series))
        self._begun: dict[Labels, bool] = {}  # release → whether it has answered, so that all its series are shown
        self._environments: set[str] = set()
        self._latched = defaultdict[str, LatchedGauges](LatchedGauges)  # by the name of the family
        self._now = 0.0
        self._add("build_info", (name_label(version), name_label(revision), app), 1)
        for name, family in FAMILIES.items():
            if not {*RELEASE, "environment"} & set(family.labels):
                self._begin(name, family)
        self.registry.register(self)

    def apply(self, deltas: MetricDeltas, now: float) -> None:
        """Count what a committed batch did; now: seconds since 1970, for the label guard and the exemplars."""
        with self._lock:
            self._now = now
            answered = {(assistant, version) for assistant, version, role in deltas.turns if role == "assistant"}
            releases: dict[Release, Labels] = {}

            def release(key: Release) -> Labels:
                labels = releases.get(key)
                if labels is None:
                    labels = releases[key] = self._admit(key, now)
                return labels

            def release_of_turns(key: Release) -> Labels:
                # Before its first answer nobody knows which version a user talks to: that is no release to show.
                if key[1] is None and key not in answered and key not in releases:
                    return self._admit(key, now, opening=True)
                return release(key)

            for field, name, family in _PIPELINE:
                if moved := getattr(deltas, field):
                    self._apply_family(name, family, moved, release_of_turns if name == "turns_total" else release)
            if self._secret:
                for (assistant, version, scorer), worst in deltas.exemplars.items():
                    self._keep_exemplar(release((assistant, version)), scorer, worst, now)
            if deltas.judged_times:
                seconds = [max(now - time, 0.0) for time in _finite(deltas.judged_times)]
                self._observe("end_to_end_latency_seconds", (JUDGED,), seconds)
            self._remove_evicted()

    def count(self, name: str, *labels: str, by: float = 1) -> None:
        """Count what a worker did; labels: in the order of the family's."""
        with self._lock:
            self._add(name, self._guarded(FAMILIES[name].labels, labels), by)

    def observe(self, name: str, values: Sequence[float], *labels: str) -> None:
        """Take values into a histogram; what is no number is left out, and nothing takes less than no time."""
        with self._lock:
            guarded = self._guarded(FAMILIES[name].labels, labels)
            self._observe(name, guarded, [max(value, 0.0) for value in _finite(values)])

    def declare(self, scorers: Iterable[ScorerFacts]) -> None:
        """Show what panels and rules have to know of each scorer of the suite."""
        for scorer in scorers:
            self.set("scorer_info", 1, scorer.name, scorer.quality, scorer.better)
            if scorer.good_from is not None:
                self.set("scorer_good_from_ratio", scorer.good_from, scorer.name)
            if scorer.bad_budget is not None:
                self.set("slo_bad_budget_ratio", scorer.bad_budget, scorer.name)

    def set(self, name: str, value: float, *labels: str) -> None:
        """Show a value of a gauge; labels: in the order of the family's."""
        with self._lock:
            self._numbers[name][self._guarded(FAMILIES[name].labels, labels)] = value

    def remove_series(self, label: str, value: str) -> None:
        """Stop showing the gauges of a partition or a table that is another worker's now, or both would show them."""
        with self._lock:
            for name, family in FAMILIES.items():
                if family.kind == "gauge" and label in family.labels:
                    at, (shown,) = family.labels.index(label), self._guarded((label,), (value,))
                    self._numbers[name] = {k: v for k, v in self._numbers[name].items() if k[at] != shown}

    def collect(self) -> Iterator[Metric]:
        """Give prometheus_client every family that has series, all as of the same moment."""
        with self._lock:
            numbers = {name: dict(children) for name, children in self._numbers.items()}
            histograms = {
                name: {labels: child.copy() for labels, child in children.items()}
                for name, children in self._histograms.items()
            }
        for name, family in FAMILIES.items():
            if numbers.get(name):
                yield _show_numbers(name, family, numbers[name])
            elif histograms.get(name):
                yield _show_histograms(name, family, histograms[name])

    def render(self, accept: str | None = None) -> tuple[bytes, str]:
        """Write the page and name its content type: OpenMetrics (with exemplars) where the Accept header asks for it.

        Takes milliseconds for a full page: call it outside the event loop.
        """
        if wants_openmetrics(accept or ""):
            page: bytes = generate_openmetrics(self.registry)  # type: ignore[no-untyped-call]
            return page, CONTENT_TYPE_OPENMETRICS
        return generate_latest(self.registry), CONTENT_TYPE_PLAIN_0_0_4

    # -- counting; all of it under the lock --------------------------------------------------------------------

    def _apply_family(
        self, name: str, family: Family, moved: Mapping[Any, Any], release: Callable[[Release], Labels]
    ) -> None:
        """Count what a batch says of one metric: hundreds of keys, so that each costs two look-ups."""
        counts = self._numbers[name] if family.kind == "counter" else None
        formatted, fixed = self._formatted[name], 2 if family.labels[:2] == RELEASE else 0
        for key, by in moved.items():
            words = key[2:] if fixed else key
            labels = formatted.get(words) or self._format_labels(name, family.labels[fixed:], words)
            if fixed:
                labels = release(key[:2]) + labels
            if counts is not None:
                counts[labels] = counts.get(labels, 0) + by
            elif family.kind == "gauge":
                self._latched[name].latch(key, labels, by, self._numbers[name])
            else:
                self._apply_one(name, labels, by)

    def _apply_one(self, name: str, labels: Labels, by: Any) -> None:
        finite = _finite(by)
        self._observe(name, labels, [min(max(value, 0.0), 1.0) for value in finite])
        if len(finite) < len(by) and name == "score_ratio":
            # One NaN would make the sum NaN until the worker restarts.
            self._add("unscored_total", (*labels, Unscored.ERROR), len(by) - len(finite))

    def _keep_exemplar(self, release: Labels, scorer: str, worst: LowestScore, now: float) -> None:
        """Name the conversation beside its bucket."""
        histogram = self._histograms["score_ratio"].get((*release, self._declared("scorer", scorer)))
        if histogram is None or not isfinite(worst.value):
            return
        value = min(max(worst.value, 0.0), 1.0)
        place = bisect_left(SCORE_BOUNDS, value)
        if histogram.counts[place]:
            digest = conversation_digest(self._secret, worst.conversation_id)
            histogram.exemplars[place] = Exemplar({"conversation": digest}, value, now)

    def _add(self, name: str, labels: Labels, by: float) -> None:
        children = self._numbers[name]
        children[labels] = children.get(labels, 0) + by

    def _observe(self, name: str, labels: Labels, values: Sequence[float]) -> None:
        children, bounds = self._histograms[name], FAMILIES[name].bounds
        child = children.get(labels)
        if child is None:
            child = children[labels] = _Histogram(bounds)
        child.observe(values, bounds)

    # -- labels ------------------------------------------------------------------------------------------------

    def _format_labels(self, name: str, labels: Sequence[str], words: str | Labels) -> Labels:
        """Give the words of a key as labels, and remember them; not what is other, which is counted each time."""
        guarded = self._guarded(labels, words if isinstance(words, tuple) else (words,))
        if OTHER not in guarded and "assistant" not in labels:
            self._formatted[name][words] = guarded
        return guarded

    def _guarded(self, names: Sequence[str], words: Sequence[str]) -> Labels:
        """Give words as labels: names of the configuration shortened, what is not declared as other, and counted."""
        if len(words) < len(names):
            parts = words[-1].split("/") if words else []
            expected = len(names) - len(words) + 1
            words = (*words[:-1], *(parts if len(parts) == expected else ["unknown"] * expected))
        return tuple(self._guard(name, word) for name, word in zip(names, words, strict=True))

    def _guard(self, name: str, word: str) -> str:
        if name in self._declares:
            return self._declared(name, word)
        if name == "assistant":
            return self._releases.admit_assistant(word, self._now)
        if name == "environment" and word not in self._environments:
            self._environments.add(word)
            for begun, family in FAMILIES.items():
                if name in family.labels:
                    self._begin(begun, family, (word,))
        return name_label(word) if name in _NAMES else word

    def _declared(self, kind: str, name: str) -> str:
        label = self._declares[kind].get(name)
        if label is None:
            self._add("label_overflow_total", (kind,), 1)
            return OTHER
        return label

    def _admit(self, key: Release, now: float, *, opening: bool = False) -> Labels:
        """Give assistant and version as labels, with all series of a release from its first answer on."""
        release = self._releases.admit(*key, now, opening=opening)
        if not opening and not self._begun.get(release):
            for name, family in FAMILIES.items():
                if family.labels[:2] == RELEASE:
                    self._begin(name, family, release)
        self._begun[release] = not opening or self._begun.get(release, False)
        return release

    def _remove_evicted(self) -> None:
        gone, assistants, versions = self._releases.take_evicted()
        gone |= {release for release in self._begun if release[0] in assistants or release[1] in versions}
        for label, refused in self._releases.overflow.items():
            if refused:
                self._numbers["label_overflow_total"][(label,)] = refused
        for release in gone:
            self._releases.drop(release)
            self._begun.pop(release, None)
        for name, family in FAMILIES.items() if gone or assistants else ():
            if "assistant" in family.labels:
                evicted, size = (gone, 2) if family.labels[:2] == RELEASE else ({(name,) for name in assistants}, 1)
                children: dict[Labels, Any] = self._numbers.get(name) or self._histograms.get(name) or {}
                for labels in [labels for labels in children if labels[:size] in evicted]:
                    del children[labels]

    # -- series that exist from the start ----------------------------------------------------------------------

    def _begin(self, name: str, family: Family, fixed: Labels = ()) -> None:
        """Create the series of what a family can count, at 0: "none so far" and "not looked at" are two answers."""
        if not family.begun or (family.apps and self._app not in family.apps):
            return
        declared = {"scorer": self._usual_scorers, "check": self._checks.values(), "topic": self._topics}
        declared |= {"judge": self._judges, "endpoint": self._endpoints}
        words = [declared.get(label) or family.words_of(label, self._app) for label in family.labels[len(fixed) :]]
        for labels in product(*words):
            if family.kind == "histogram":
                self._observe(name, (*fixed, *labels), ())
            else:
                self._add(name, (*fixed, *labels), 0)


def conversation_digest(secret: bytes, conversation_id: str) -> str:
    """Return what an exemplar names a conversation by: a keyed digest of fixed length, never the id."""
    return hmac.digest(secret, conversation_id.encode("utf-8", "surrogatepass"), "sha256").hex()[:DIGEST_LENGTH]


def _finite(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and isfinite(value)]


def _show_numbers(name: str, family: Family, children: Mapping[Labels, float]) -> Metric:
    kind = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
    metric = kind(f"{PREFIX}{name}", family.help, labels=family.labels)
    for labels, value in children.items():
        metric.add_metric(labels, value)
    return metric


def _show_histograms(name: str, family: Family, children: Mapping[Labels, _Histogram]) -> Metric:
    metric = HistogramMetricFamily(f"{PREFIX}{name}", family.help, labels=family.labels)
    for labels, child in children.items():
        metric.add_metric(labels, child.buckets(family.bounds), child.total)
    return metric
