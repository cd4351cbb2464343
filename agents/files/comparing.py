"""Comparing: two replays of the same turns, read side by side."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from turnsignal.agents.files.replaying import FILES
from turnsignal.agents.files.result import ReplayResult
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.wire import SCORES
from turnsignal.stream.reports.paired import PairedScores, pair_rows, replaced_rows

_EVERY = 2_000  # rows between two words about progress


def compare_results(
    before: ReplayResult, after: ReplayResult, progress: Callable[[int], None] = lambda _: None
) -> PairedScores:
    """Compare two replays of the same turns row by row.

    progress: told how many bytes of both files have been read, in steps. Raises TurnsignalError with the first turn
    that only one of them has.
    """
    scores = PairedScores()
    sides = [_Side(result.directory / FILES[SCORES]) for result in (before, after)]
    for number, pair in enumerate(pair_rows(*sides), 1):
        scores.add(*pair)
        if not number % _EVERY:
            progress(sum(side.take_read() for side in sides))
    if not scores.exchanges:
        msg = f"{before.directory}, {after.directory}: expected scores to compare, got none in either"
        raise TurnsignalError(msg)
    return scores


class _Side:
    """The rows of one replay, without those that later ones correct; read twice, so that not all are held."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        replaced = replaced_rows(self._rows(b'"replaces"'))
        self._read = 0
        return (row for row in self._rows() if row["id"] not in replaced)

    def take_read(self) -> int:
        """Return how many bytes were read since it was asked last."""
        read, self._read = self._read, 0
        return read

    def _rows(self, needle: bytes = b"") -> Iterator[dict[str, Any]]:
        try:
            with self._path.open("rb") as file:
                for line in file:
                    self._read += len(line)
                    if needle in line:
                        yield orjson.loads(line)
        except (OSError, orjson.JSONDecodeError) as error:
            msg = f"{self._path}: expected JSON lines that `turnsignal replay` wrote, got: {error}"
            raise TurnsignalError(msg) from None
