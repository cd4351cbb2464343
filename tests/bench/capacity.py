"""Capacity: what 10,000, 100,000 and 1,000,000 turns/s need, worked out from what a run of the bench measured.

    python tests/bench/capacity.py [--rows bench-rows.jsonl] [--rate N]… [--interval S] [--busy 0.6] [--dollars 0.05]

No machine of ours runs such rates; this is arithmetic, with what it assumes in its first lines. The costs of a turn are
those of live traffic at the highest rate that was measured (`make bench ARGS="--only live --rate 5000"`).
"""

import argparse
import json
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from statistics import median
from typing import NamedTuple

from live import OURS, SECTION
from tables import table

RATES = (10_000, 100_000, 1_000_000)
REPLICAS = 3  #: of each record
COPY = 0.5  #: of a broker's CPU for a record that it leads, for one that it follows (assumed, not measured)
CORES = 8  #: of one broker
SPARE = 2  #: partitions of one process at least, so that there can be more processes without more partitions
DAYS = 7  #: that turns, series and the like are kept
_MONTH = 730  #: hours


class Costs(NamedTuple):
    """What one turn costs: CPU µs of worker and broker, bytes read and written."""

    worker_us: float
    broker_us: float
    read: float
    written: float


class Needs(NamedTuple):
    """What a rate needs."""

    rate: int
    processes: int
    partitions: int
    transactions: float
    brokers: int
    megabytes: float
    terabytes: float
    dollars: float


def measured(rows: Sequence[dict[str, float | str]]) -> tuple[int, Costs]:
    """Return the highest rate that was measured, and the medians of what a turn cost then; raises ValueError."""
    ours = [row for row in rows if row["variant"] == OURS and str(row["section"]).startswith(f"{SECTION} ")]
    if not ours:
        msg = 'expected rows of live traffic, got none; try `make bench ARGS="--only live --rate 5000"` first'
        raise ValueError(msg)
    rate = max(int(str(row["section"]).split()[1]) for row in ours)
    there = [row for row in ours if row["section"] == f"{SECTION} {rate}"]
    names = ("cpu_us", "broker_us", "read_bytes", "bytes")
    return rate, Costs(*(median(float(row[name]) for row in there) for name in names))


def needs(rate: int, costs: Costs, *, interval: float, busy: float, dollars: float) -> Needs:
    """Work out what a rate needs.

    interval: seconds between two commits of a partition; busy: share of its core that a process may use on average;
    dollars: an hour of one core.
    """
    processes = ceil(rate * costs.worker_us / 1e6 / busy)
    partitions = processes * SPARE
    cores = rate * costs.broker_us / 1e6 * (1 + COPY * (REPLICAS - 1)) / busy
    brokers = max(REPLICAS, ceil(cores / CORES))
    stored = (costs.read + costs.written) * REPLICAS
    return Needs(
        rate,
        processes,
        partitions,
        partitions / interval,
        brokers,
        rate * stored / 1e6,
        rate * stored * DAYS * 86_400 / 1e12,
        (processes + brokers * CORES) * dollars * _MONTH,
    )


def report(wanted: Sequence[Needs]) -> str:
    """Return the table."""
    head = ["turns/s", "score processes", "partitions", "transactions/s", f"brokers of {CORES} cores"]
    head += ["MB/s written, with copies", f"TB in {DAYS} days", "$ a month for cores"]
    lines = [
        [
            f"{need.rate:,}",
            f"{need.processes:,}",
            f"{need.partitions:,}",
            f"{need.transactions:,.0f}",
            f"{need.brokers:,}",
            f"{need.megabytes:,.0f}",
            f"{need.terabytes:,.1f}",
            f"{need.dollars:,.0f}",
        ]
        for need in wanted
    ]
    return table(head, lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=Path, default=Path("bench-rows.jsonl"), help="what a run of the bench wrote")
    parser.add_argument("--rate", action="append", type=int, help="turns/s; may be repeated")
    parser.add_argument("--interval", type=float, default=0.5, help="seconds between two commits of a partition")
    parser.add_argument("--busy", type=float, default=0.6, help="share of a core that is used on average")
    parser.add_argument("--dollars", type=float, default=0.05, help="an hour of one core")
    given = parser.parse_args()
    try:
        rate, costs = measured([json.loads(line) for line in given.rows.read_text().splitlines()])
    except (OSError, ValueError) as error:
        parser.error(str(error))
    print(
        f"A turn as measured at {rate:,} turns/s: {costs.worker_us:.0f} µs of a worker, {costs.broker_us:.0f} µs of a "
        f"broker, {costs.read:,.0f} bytes read and {costs.written:,.0f} written. Assumed: {REPLICAS} replicas, a copy "
        f"at {COPY:g} of its leader's CPU, cores {given.busy:.0%} busy at ${given.dollars:g} an hour, a commit of each "
        f"partition every {given.interval:g} s.\n"
    )
    options = {"interval": given.interval, "busy": given.busy, "dollars": given.dollars}
    print(report([needs(rate, costs, **options) for rate in given.rate or RATES]))


if __name__ == "__main__":
    main()
