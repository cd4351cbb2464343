"""Our score worker, as it is, counted at the moment when a batch is committed.

BENCH_METRICS=off leaves the metrics out: what they cost is the difference. BENCH_SUITE: a file, by default our own.
"""

import os
import sys
from pathlib import Path

from stopwatch import Stopwatch

from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.score import make_spec
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.apps import build_app, run_app
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.stream.pipeline.metric_deltas import MetricDeltas
from turnsignal.stream.pipeline.scoring import scorer_names
from turnsignal.stream.suite import Suite, parse_suite

metrics_on = os.environ.get("BENCH_METRICS", "on") == "on"


class CountingMetrics(WorkerMetrics):
    """Metrics that tell the stopwatch what was committed."""

    watch: Stopwatch | None = None

    def apply(self, deltas: MetricDeltas, now: float) -> None:
        """Count the batch."""
        if metrics_on:
            super().apply(deltas, now)
        if self.watch is not None:
            self.watch.tick(sum(deltas.records.values()))


settings = Settings.from_env(os.environ)
suite = parse_suite(Path(os.environ["BENCH_SUITE"]).read_text()) if "BENCH_SUITE" in os.environ else Suite()
topics = topic_names(settings.prefix)
metrics = CountingMetrics(
    scorers=scorer_names(suite), checks=[check.name for _, check in suite.parsed_checks], topics=[topics["turns"]]
)
if "BENCH_ROW" in os.environ:
    metrics.watch = Stopwatch.from_env()
spec = make_spec(settings, suite)
sys.exit(run_app(build_app(settings, TaskManager(settings, spec, metrics))))
