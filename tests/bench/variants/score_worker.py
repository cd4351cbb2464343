"""Our score worker, as it is, counted at the moment when a batch is committed.

BENCH_METRICS=off leaves the metrics out: what they cost is the difference.
"""

import os
import sys

from stopwatch import Stopwatch

from agents.apps import build_app, run_app
from agents.metrics import WorkerMetrics
from agents.ownership import Ownership
from agents.score import make_plan
from agents.settings import Settings
from agents.topics import topic_names
from stream.scoring import scorer_names
from stream.suite import Suite
from stream.tallies import Tally

metrics_on = os.environ.get("BENCH_METRICS", "on") == "on"


class CountingMetrics(WorkerMetrics):
    """Metrics that tell the stopwatch what was committed."""

    watch: Stopwatch | None = None

    def apply(self, tally: Tally, now: float) -> None:
        """Count the batch."""
        if metrics_on:
            super().apply(tally, now)
        if self.watch is not None:
            self.watch.tick(sum(tally.records.values()))


settings, suite = Settings.from_env(os.environ), Suite()
topics = topic_names(settings.prefix)
metrics = CountingMetrics(
    scorers=scorer_names(suite), checks=[check.name for _, check in suite.parsed_checks], topics=[topics["turns"]]
)
if "BENCH_ROW" in os.environ:
    metrics.watch = Stopwatch.from_env()
plan = make_plan(settings, suite)
sys.exit(run_app(build_app(settings, Ownership(settings, plan, metrics))))
