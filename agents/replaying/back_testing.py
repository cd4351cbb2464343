"""Back-testing: what a replay wrote of its series, through the detectors, and what operators decided meanwhile."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from turnsignal.agents.files.reading import read_lines
from turnsignal.stream.detection.backtest import back_test
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.pipeline.scoring import policy_of
from turnsignal.stream.records.decisions import Decision, read_decision
from turnsignal.stream.suite import Suite

SERIES_FILE = "series.jsonl"  #: between the partitions and the back-test


def back_test_parts(directory: Path, suite: Suite, decisions: Sequence[Decision] = ()) -> dict[str, Any]:
    """Say which alerts would have fired on the series that the partitions have written.

    decisions: what operators said meanwhile, by time.
    """
    with ExitStack() as opened:
        parts = sorted(directory.glob(f"[0-9][0-9]-{SERIES_FILE}"))
        sources = [opened.enter_context(part.open("rb")) for part in parts]
        return back_test(map(read_batches, sources), policy_of(suite), decisions).as_json()


def read_batches(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Give the records of each batch that a partition wrote, behind which an empty line stands."""
    batch: list[bytes] = []
    for line in lines:
        if line.strip():
            batch.append(line)
        else:
            yield batch
            batch = []
    yield batch


def read_decisions(path: Path) -> list[Decision]:
    """Read decisions, one a line as `turnsignal export decisions` writes them, and sort them by time.

    Raises ConfigError that names the line which is none.
    """
    decisions, number = [], 0
    for block in read_lines(path):
        for line in block.lines:
            number += 1
            if not line.strip():
                continue
            try:
                decisions.append(read_decision(line))
            except ValueError as error:
                msg = f"{path}:{number}: expected a decision as `turnsignal export decisions` writes it, got: {error}"
                raise ConfigError(msg) from None
    return sorted(decisions, key=lambda decision: decision.time)
