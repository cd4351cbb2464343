"""The plain loop of one tree's pipeline, for `before_after.py`: nothing but what every version has."""

import gc
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from load import Turn, read_turns
from sources import ORIGIN, make_processor, make_suite

BATCH = 500  #: turns at a time, about what a worker gets from a partition under load


def main(path: Path, part: str = "all") -> None:
    """Work through all turns, and print CPU µs per turn of the last three quarters.

    part: all, or warm for the first quarter alone, beside which the instructions of the rest are counted.
    """
    turns = read_turns(path)
    processor, quarter = make_processor(make_suite()), len(turns) // 4
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)  # as agents.collecting does; both trees alike
    work(processor, turns[:quarter])
    if part == "warm":
        return
    began = time.process_time()
    work(processor, turns[quarter:])
    spent = (time.process_time() - began) / (len(turns) - quarter)
    print(json.dumps({"us": spent * 1e6, "from": ORIGIN}))


def work(processor: Any, turns: Sequence[Turn]) -> None:
    """Work through turns, batch by batch."""
    for at in range(0, len(turns), BATCH):
        processor.accept(processor.process(turns[at : at + BATCH], time.time()))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
