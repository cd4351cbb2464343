"""The stopwatch: counts the turns that a variant has finished, and ends the process with a row when there are enough.

The first turns are left out: imports, joins, first batches and growing states are not what is compared.
"""

import json
import os
import time
from pathlib import Path
from typing import NoReturn


class Stopwatch:
    """Count turns; measure from `warm` of them to `turns`.

    path: where the row goes: turns, seconds and CPU seconds between the two marks, and the largest resident memory.
    """

    def __init__(self, turns: int, warm: int, path: Path) -> None:
        self._turns, self._warm, self._path = turns, warm, path
        self._count = self._from = 0
        self._wall = self._cpu = 0.0

    @classmethod
    def from_env(cls) -> "Stopwatch":
        """Take the numbers from the environment that `session.py` has set."""
        env = os.environ
        return cls(int(env["BENCH_TURNS"]), int(env["BENCH_WARM"]), Path(env["BENCH_ROW"]))

    def tick(self, turns: int = 1) -> None:
        """Count finished turns."""
        self._count += turns
        if not self._from:
            if self._count >= self._warm:
                self._from, self._wall, self._cpu = self._count, time.perf_counter(), time.process_time()
        elif self._count >= self._turns:
            self.finish()

    def finish(self) -> NoReturn:
        """Write the row and end the process at once: nobody's shutdown is measured."""
        seconds, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        write_row(self._path, turns=self._count - self._from, seconds=seconds, cpu_seconds=cpu)
        os._exit(0)


def write_row(path: Path, **numbers: float) -> None:
    """Leave what a variant measured for the session to read; adds the largest resident memory in MB."""
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps({**numbers, "rss_mb": _largest_resident()}))
    temporary.replace(path)


def _largest_resident() -> float:
    """Return the most memory that this process had, in MB; the kernel's ru_maxrss counts its parent's as well."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
