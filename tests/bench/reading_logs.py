"""Reading logs: what a log of each format costs to replay beside the same turns in our own format, and in memory.

    python -m tests.bench.reading_logs [--turns 6000] [--rounds 7] [--size 1000 --only openai otel langfuse langsmith]

Without --size: CPU time of a replay of our turns beside that of a replay of the log that a tool would have made of
them, by turns. With it: a log of so many megabytes is written for each format, converted in a process of its own, and
deleted; printed is the most memory that the process held.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from tests.agents.files.logs_of_tools import WRITERS, Turn, written
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.simulation import Traffic, simulate
from turnsignal.stream.suite import Suite

sys.path.insert(0, str(Path(__file__).parent))

from tables import Measured, Target, target_table

OWN = "turns"
NOW = 1_800_000_000.0
LEAST, MOST = 0.5, 300.0  #: of the speed of our own format, and megabytes
_SHARE = 5_000  #: turns that are simulated at a time for a large log


def main() -> None:
    """Print the table that was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=6_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="+", choices=WRITERS, default=list(WRITERS))
    parser.add_argument("--size", type=int, help="megabytes of each log, to measure memory")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="turnsignal-logs-") as directory:
        if options.size:
            targets = [_memory(Path(directory), name, options.size) for name in options.only]
        else:
            targets = _speed(Path(directory), options.only, options.turns, options.rounds)
    print(target_table(targets))


def _speed(directory: Path, names: list[str], turns: int, rounds: int) -> list[Target]:
    logs = {OWN: directory / "turns.jsonl"}
    said = _turns(turns, 3)
    logs[OWN].write_bytes(b"\n".join(map(orjson.dumps, said)))
    for name in names:
        logs[name] = directory / f"{name}.jsonl"
        logs[name].write_bytes(b"\n".join(map(orjson.dumps, written(said, name))))
    whole: dict[str, list[float]] = {name: [] for name in logs}
    reading: dict[str, list[float]] = {name: [] for name in logs}
    for number in range(rounds):
        for name, log in logs.items():
            read, replayed = _cpu(log, directory / f"out-{name}-{number}")
            whole[name].append(read + replayed)
            reading[name].append(read)
    print(f"{len(said):,} turns, {rounds} rounds, CPU time\n")
    targets: list[Target] = []
    for name in names:
        ratio = Measured.of([own / other for own, other in zip(whole[OWN], whole[name], strict=True)])
        alone = Measured.of([own / other for own, other in zip(whole[OWN], reading[name], strict=True)])
        megabytes = logs[name].stat().st_size / 1e6
        what = f"{name} ({megabytes:.0f} MB beside {logs[OWN].stat().st_size / 1e6:.0f})"
        targets += [Target(f"speed of a replay of {what}", ratio, LEAST, False)]
        targets += [Target(f"{name}: speed of reading alone", alone, LEAST, False)]
    return targets


def _cpu(log: Path, out: Path) -> tuple[float, float]:
    """Return the seconds of CPU that reading a log takes, and replaying what was read."""
    began = time.process_time()
    with Imported([log], HowToRead()) as imported:
        read = time.process_time()
        replay_files(imported.sources, out, Suite(), NOW, workers=1)
    return read - began, time.process_time() - read


def _memory(directory: Path, name: str, megabytes: int) -> Target:
    """Convert a log of so many megabytes, in a process of its own; the log is gone afterwards."""
    log = directory / f"{name}.jsonl"
    try:
        with log.open("wb") as file:
            for line in _endless(name):
                file.write(line + b"\n")
                if file.tell() >= megabytes * 1e6:
                    break
        code = (
            "import resource, sys\nfrom turnsignal.agents.cli import turnsignal\n"
            "turnsignal(['convert', *sys.argv[1:]], standalone_mode=False)\n"
            "print(open('/proc/self/status').read().partition('VmHWM:')[2].split()[0])"
        )
        command = [sys.executable, "-c", code, str(log), "--out", os.devnull]
        began = time.perf_counter()
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, env={**os.environ, "TMPDIR": str(directory)}
        )
        print(f"{name}: {time.perf_counter() - began:.0f} s; " + " · ".join(done.stdout.splitlines()[:3]))
        return Target(
            f"memory of {megabytes:,} MB of {name}", Measured(int(done.stdout.split()[-1]) / 1024), MOST, unit=" MB"
        )
    finally:
        log.unlink(missing_ok=True)


def _endless(name: str) -> Iterator[bytes]:
    seed = 0
    while True:
        for record in written(_turns(_SHARE, seed), name):
            yield orjson.dumps(record)
        seed += 1


def _turns(number: int, seed: int) -> list[Turn]:
    values = (record.value for record in simulate(Traffic(seed=seed, turns=number, rate=1.0)))
    return [orjson.loads(value) for value in values if value is not None]


if __name__ == "__main__":
    main()
