"""What alerts and metrics cost beside scoring: CPU per turn of watch, of counting and of a scrape, without Kafka.

    python tests/bench/watching.py [--rounds 9] [--turns 20000]

One processor scores turns of three assistants batch by batch, the metrics of a worker count each batch, and watch takes
in what comes of a second of 500 turns, as it commits no more often; CPU time of each while the detectors are armed
(a day, and a thousand values of each, have gone before), the median over the rounds of the ratio within a round, with
its interval. Then the page of eight assistants in three versions each is written beside one of prometheus_client's own
objects with as many series, by turns.
"""

import argparse
import gc
import sys
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # run as a file, like its neighbours

from load import Turn
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from tables import Measured, Target, table, target_table

from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.stream.pipeline.metric_deltas import SCORE_BOUNDS, MetricDeltas
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.scoring import describe_scorers, policy_of
from turnsignal.stream.pipeline.series import SeriesProcessor
from turnsignal.stream.records.wire import SERIES
from turnsignal.stream.simulation import Traffic, simulate
from turnsignal.stream.suite import Suite

ASSISTANTS = tuple(f"assistant-{number}" for number in range(8))
BATCHES = (500, 4)  #: turns of a batch: under load, and at 500 turns/s on four partitions
SECOND = 500  #: turns, for which series gather between two commits of watch
RATE = 0.1  #: turns/s of event time, so that half of 20,000 turns are more than a day
SECRET = "of-the-bench"
SUITE = Suite()
VERSIONS = ("v1", "v2", "v3")  #: of each assistant, on the page that is scraped


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--turns", type=int, default=20_000, help="turns a round; half of them only warm up")
    options = parser.parse_args()
    traffic = Traffic(seed=1, turns=options.turns, assistants=ASSISTANTS[:3], day_night=False, rate=RATE)
    turns = [Turn(offset, record.key, record.value, 0) for offset, record in enumerate(simulate(traffic))]
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # as a worker does
    lines, targets = [], list[Target]()
    for size in BATCHES:
        rounds = [work(turns, size) for _ in range(options.rounds)]
        name = f"batches of {size} turns"
        lines.append(
            [name, *(Measured.over([one[part] for one in rounds]).show(1) for part in ("score", "watch", "count"))]
        )
        watch = Measured.over([one["watch"] / one["score"] for one in rounds])
        count = Measured.over([one["count"] / one["score"] * 100 for one in rounds])
        targets.append(Target(f"watch beside the score app, {name}", watch, 0.25))
        targets.append(Target(f"counting beside scoring, {name}", count, 5, unit=" %"))
        targets.append(Target(f"series records per turn, {name}", Measured.over([rounds[0]["records"]]), 1.2, unit=""))
        targets.append(Target(f"bytes kept of a series, {name}", Measured.over([rounds[0]["state"]]), 20_000, unit=""))
    print(table(["CPU µs per turn", "score", "watch", "count"], lines), end="\n\n")
    targets.append(Target("a scrape of 24 releases, beside prometheus_client's own", scrape(options.rounds), 1.2))
    print(target_table(targets))


def work(turns: list[Turn], size: int) -> dict[str, float]:
    """Return CPU µs per turn of each part, of the second half, and what is written and kept."""
    score, watch = PartitionProcessor(SUITE), SeriesProcessor({}, "turnsignal.series", 0, policy=policy_of(SUITE))
    metrics, watched = make_metrics("score"), make_metrics("watch")
    spent, observed, records, warm = dict.fromkeys(("score", "watch", "count"), 0.0), list[Turn](), 0, len(turns) // 2
    for at in range(0, len(turns), size):
        began = time.process_time()
        done = score.process(turns[at : at + size], 0.0)
        score.accept(done)
        scored = time.process_time()
        metrics.apply(done.deltas, 0.0)
        counted = time.process_time()
        for output in done.outputs:
            if output.topic == SERIES:
                observed.append(Turn(records, output.key or b"", output.value or b"", 0))
                records += 1
        between = time.process_time()
        if (at + size) % SECOND == 0:
            result = watch.process(observed)
            watch.accept(result)
            watched.apply(result.deltas, 0.0)
            observed = []
        if at >= warm:
            spent["score"] += scored - began
            spent["count"] += counted - scored
            spent["watch"] += time.process_time() - between
    us = {part: seconds / (len(turns) - warm) * 1e6 for part, seconds in spent.items()}
    kept = max(map(len, watch.store.values()))
    return us | {"records": records / len(turns), "state": float(kept)}


def make_metrics(app: str) -> WorkerMetrics:
    """Return the metrics of a worker of the built-in suite."""
    checks = [check.name for _, check in SUITE.parsed_checks]
    return WorkerMetrics(app=app, scorers=[one.name for one in describe_scorers(SUITE)], checks=checks, secret=SECRET)


def scrape(rounds: int) -> Measured:
    """Return how long our page takes beside one of the library's own objects, as many series of the same kinds."""
    metrics, deltas = make_metrics("score"), MetricDeltas()
    scorers = [one.name for one in describe_scorers(SUITE)]
    for release in product(ASSISTANTS, VERSIONS):
        for scorer in scorers:
            deltas.scores[*release, scorer] = [0.25, 0.5, 1.0]
        deltas.turns[*release, "assistant"] += 3
    metrics.apply(deltas, 1.0)
    page = generate_latest(metrics.registry).decode()
    lines = [line for line in page.splitlines() if not line.startswith("#")]
    buckets = sum("_bucket{" in line for line in lines) // (len(SCORE_BOUNDS) + 1)
    others = len(lines) - buckets * (len(SCORE_BOUNDS) + 3)
    registry = CollectorRegistry()
    histogram = Histogram(
        "score_ratio", "Scores.", ("assistant", "version", "scorer"), registry=registry, buckets=SCORE_BOUNDS
    )
    for number in range(buckets):
        histogram.labels(f"assistant-{number // 10}", "v1", f"scorer-{number % 10}").observe(0.5)
    counter = Counter("turns", "Turns.", ("assistant", "version", "role"), registry=registry)
    for number in range(others):
        counter.labels(f"assistant-{number // 10}", "v1", f"role-{number % 10}").inc()
    print(f"page of {len(lines):,} series, {buckets} histograms among them", file=sys.stderr)
    ratios = []
    for number in range(max(rounds, 1)):
        pages: list[tuple[str, Callable[[], bytes]]] = [
            ("ours", lambda: metrics.render()[0]),
            ("theirs", lambda: generate_latest(registry)),
        ]
        took = {name: _seconds(write) for name, write in pages[:: 1 if number % 2 else -1]}
        ratios.append(took["ours"] / took["theirs"])
    return Measured.over(ratios)


def _seconds(write: Callable[[], bytes], times: int = 10) -> float:
    began = time.process_time()
    for _ in range(times):
        write()
    return time.process_time() - began


if __name__ == "__main__":
    main()
