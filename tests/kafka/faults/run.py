"""All fault runs, with a table: `python -m tests.kafka.faults.run` is what `make faults` does.

Every fault by itself, many side by side, then mixed runs, one per seed, with fifty thousand turns each.
"""

import argparse
import os
import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import mkdtemp

from tests.kafka.faults.cluster import Cluster
from tests.kafka.faults.lab import Result
from tests.kafka.faults.table import SCENARIOS, run

COLUMNS = {
    "turns": lambda result: result.comparison.turns,
    "rows": lambda result: result.comparison.rows,
    "missing": lambda result: result.comparison.missing + result.comparison.pairs_missing,
    "unexp.": lambda result: result.comparison.unexpected + result.comparison.pairs_unexpected,
    "twice": lambda result: result.comparison.twice + result.comparison.pairs_twice,
    "altered": lambda result: sum(result.comparison[5:9]),
    "letters": lambda result: result.comparison.letters + result.comparison.pairs_letters,
    "states": lambda result: result.comparison.states + result.comparison.watched,
    "pos.": lambda result: result.comparison.positions,
    "back s": lambda result: round(result.back or result.behind, 1),
    "run s": lambda result: round(result.seconds),
    "lines": lambda result: result.lines,
    "tracebacks": lambda result: result.tracebacks,
    "exits": lambda result: result.ended,
}
MIXED = ("mixed", "mixed_crash")


def main() -> int:
    """Run what is asked for; 1 when a count is not 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the short forms, as CI runs them")
    parser.add_argument("--seeds", type=int, default=10, help="mixed runs")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--beside", type=int, default=max(2, (os.cpu_count() or 2) // 2), help="runs at a time")
    parser.add_argument("--only", action="append", help="a fault", choices=SCENARIOS)
    wanted = parser.parse_args()
    directory = Path(mkdtemp(prefix="turnsignal-faults-"))
    print(f"logs in {directory}")
    print(f"{'fault':<30}" + "".join(f"{column:>11}" for column in COLUMNS), flush=True)
    seeds = range(wanted.first_seed, wanted.first_seed + wanted.seeds)
    names = wanted.only or [name for name in SCENARIOS if not wanted.short or SCENARIOS[name].short]
    runs = [(name, seed) for name in names for seed in (seeds if name in MIXED else (1,))]
    with Cluster(directory / "shared", steady=True) as shared, Cluster(directory / "unsteady") as unsteady:
        sites = {"shared": shared, "unsteady": unsteady, "own": None}
        # What takes a broker away is alone on it; the rest shares one.
        pools = {"shared": ThreadPoolExecutor(wanted.beside), "unsteady": ThreadPoolExecutor(1)}
        pools["own"] = pools["unsteady"]
        futures = [
            pools[SCENARIOS[name].site].submit(
                _run, name, seed, sites[SCENARIOS[name].site], directory, not wanted.short
            )
            for name, seed in runs
        ]
        clean = [future.result() for future in futures]
        return 0 if all(clean) else 1


def _run(name: str, seed: int, broker: Cluster | None, directory: Path, large: bool) -> bool:
    title = f"{name} seed {seed}" if name in MIXED else name
    own = directory / title.replace(" ", "-")
    own.mkdir()
    prefix = f"f{time.time_ns() % 10**10}-{name}-{seed}".replace("_", "-")
    try:
        result = run(name, broker, prefix, own, large=large, seed=seed)
    except Exception as error:  # a run that fails must not take the table with it
        print(f"{title:<30}  FAILED: {type(error).__name__}: {str(error).splitlines()[:1]}\n    see {own}", flush=True)
        (own / "failure.txt").write_text(traceback.format_exc(), encoding="utf-8")
        if broker is not None:
            broker.start()
        return False
    _report(title, result, own)
    return result.comparison.clean and set(result.exits) <= {0}


def _report(title: str, result: Result, own: Path) -> None:
    print(f"{title:<30}" + "".join(f"{show(result):>11}" for show in COLUMNS.values()), flush=True)
    if result.why:
        (own / "differences.txt").write_text(f"{result.comparison}\n{result.why}", encoding="utf-8")
        print(f"    see {own / 'differences.txt'}", flush=True)
    if not set(result.exits) <= {0}:
        print(f"    FAILED: exit codes {result.exits}", flush=True)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # clients of a run that failed would wait for a broker that is gone, without an end
