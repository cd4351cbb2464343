"""All fault runs, with a table: `python -m tests.kafka.faults.run` is what `make faults` does.

Every fault by itself, then mixed runs, one per seed, each with fifty thousand turns or more over a minute or more.
"""

import argparse
import os
import sys
import time
from pathlib import Path
from tempfile import mkdtemp

from agents.brokers import Broker, find_broker
from tests.kafka.faults.comparison import Comparison
from tests.kafka.faults.play import Result, play
from tests.kafka.faults.scenarios import FAULTS, mixed

COLUMNS = ("fault", *Comparison._fields, "behind s", "run s")
MISCHIEF = ("hang_await", "hang_cpu", "slow")  #: what the three workers of a mixed run do on SIGHUP


def main() -> int:
    """Run what is asked for; 1 when a count is not 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=50_000)
    parser.add_argument("--seconds", type=float, default=60.0, help="that the turns are spread over")
    parser.add_argument("--seeds", type=int, default=10, help="mixed runs")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--outage", type=float, default=60.0, help="seconds without a broker")
    parser.add_argument("--only", action="append", help="a fault, or mixed", choices=[*FAULTS, "mixed"])
    wanted = parser.parse_args()
    directory = Path(mkdtemp(prefix="turnsignal-faults-"))
    print(f"logs in {directory}")
    print("".join(f"{column:>12}" if column != "fault" else f"{column:<18}" for column in COLUMNS), flush=True)
    clean = True
    with find_broker(os.environ, directory=directory / "kafka", say=print) as broker:
        for name in wanted.only or [*FAULTS, "mixed"]:
            runs = range(wanted.first_seed, wanted.first_seed + wanted.seeds) if name == "mixed" else (0,)
            for seed in runs:
                clean &= _run(name, seed, broker, directory, wanted)
    return 0 if clean else 1


def _run(name: str, seed: int, broker: Broker, directory: Path, wanted: argparse.Namespace) -> bool:
    title = f"mixed seed {seed}" if name == "mixed" else name
    own = directory / title.replace(" ", "-")
    script, kind = (mixed(seed), "") if name == "mixed" else FAULTS[name]
    try:
        result = play(
            script,
            broker,
            f"faults-{name}-{seed}-{time.time_ns()}".replace("_", "-"),
            own,
            turns=wanted.turns,
            seconds=wanted.seconds,
            seed=seed,
            workers=3 if name in ("mixed", "join_and_leave") else 2,
            mischief=MISCHIEF if name == "mixed" else (kind,),
            outage=wanted.outage,
        )
    except (TimeoutError, AssertionError) as error:
        print(f"{title:<18}  FAILED: {str(error)[:2000]}", flush=True)
        broker.start()
        return False
    _report(title, result, own)
    if kind and f"mischief: {kind}" not in result.logs["worker-0"]:
        print("    FAILED: the worker was asked too late, and did nothing wrong", flush=True)
        return False
    return result.comparison.clean


def _report(title: str, result: Result, own: Path) -> None:
    counts = "".join(f"{count:>12}" for count in result.comparison)
    print(f"{title:<18}{counts}{result.behind:>12.1f}{result.seconds:>12.1f}", flush=True)
    if result.why:
        (own / "differences.txt").write_text(result.why, encoding="utf-8")
        print(f"    see {own / 'differences.txt'}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
