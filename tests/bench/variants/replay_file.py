"""Replay the load from a file, as `turnsignal replay` does, in BENCH_WORKERS processes."""

import os
import resource
import tempfile
import time
from pathlib import Path

from load import read_turns
from place import Place
from stopwatch import write_row

from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.suite import Suite


def main() -> None:
    """Write the file, then time its replay from the first line to the last file written."""
    place = Place.from_env()
    with tempfile.TemporaryDirectory(dir=place.directory) as directory:
        path = Path(directory) / "turns.jsonl"
        turns = read_turns(place.load)
        path.write_bytes(b"".join(turn.value + b"\n" for turn in turns))
        count = len(turns)
        del turns
        began, spent = time.perf_counter(), _cpu_seconds()
        replay_files([path], Path(directory) / "out", Suite(), time.time(), workers=int(os.environ["BENCH_WORKERS"]))
        seconds, cpu = time.perf_counter() - began, _cpu_seconds() - spent
    write_row(Path(os.environ["BENCH_ROW"]), turns=count, seconds=seconds, cpu_seconds=cpu)


def _cpu_seconds() -> float:
    """Return what this process and the ones it has waited for have spent."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


if __name__ == "__main__":  # replay starts processes that import this file again
    main()
