"""What a rate needs grows with it, and is worked out from the highest rate that was measured."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # the bench runs as a program, so its modules lie flat

from capacity import Costs, measured, needs
from live import OURS

COSTS = Costs(worker_us=120.0, broker_us=60.0, read=3_000.0, written=2_500.0)


def row(rate: int, worker_us: float) -> dict[str, float | str]:
    return {
        "section": f"live {rate}",
        "variant": OURS,
        "cpu_us": worker_us,
        "broker_us": 60,
        "read_bytes": 1,
        "bytes": 2,
    }


def test_costs_are_those_of_the_highest_rate_that_was_measured() -> None:
    rate, costs = measured([row(500, 480), row(5_000, 130), row(5_000, 110), row(5_000, 120)])
    assert (rate, costs) == (5_000, Costs(120.0, 60.0, 1.0, 2.0))


def test_without_rows_of_live_traffic_it_says_how_to_have_them() -> None:
    with pytest.raises(ValueError, match="--only live --rate 5000"):
        measured([])


def test_a_rate_needs_processes_brokers_and_disk_in_proportion() -> None:
    need = needs(100_000, COSTS, interval=0.5, busy=0.6, dollars=0.05)
    assert (need.processes, need.partitions, need.transactions) == (20, 40, 80.0)
    assert need.brokers == 3  # twenty cores of the work, three machines for three copies
    assert need.megabytes == pytest.approx(1_650)
    assert needs(1_000_000, COSTS, interval=0.5, busy=0.6, dollars=0.05).processes == 200
