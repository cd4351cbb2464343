"""Comparing: two replays of the same turns, or of two systems that were asked the same questions, side by side."""

import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import orjson

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import SORT_BYTES, Recording
from turnsignal.agents.process.memory import kept_memory
from turnsignal.agents.replaying.files import FILES
from turnsignal.agents.replaying.rereading import find_replayed
from turnsignal.agents.replaying.result import ReplayResult
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.scores import Unscored
from turnsignal.stream.records.wire import SCORES
from turnsignal.stream.replay import Indexer
from turnsignal.stream.reports.cases import CasePairs, ConversationRows, SystemCases, compare_cases, pair_cases
from turnsignal.stream.reports.paired import PairedScores
from turnsignal.stream.reports.paired_rows import pair_rows, replaced_rows

_CUT = orjson.dumps({"unscored": Unscored.CUT})[1:-1]
_OF_A_ROW = {"conversation_id", "id", "scores", "stage", "turn_id"}
_EVERY = 2_000  # rows between two words about progress


def compare_results(
    before: ReplayResult, after: ReplayResult, progress: Callable[[int], None] = lambda _: None
) -> PairedScores:
    """Compare two replays of the same turns row by row.

    progress: told how many bytes of both files have been read, in steps. Raises TurnsignalError with the first turn
    that only one of them has.
    """
    checks = [{row["check"] for row in result.summary["review"]} for result in (before, after)]
    scores = PairedScores(same_suite=score_alike(before, after), same_checks=checks[0] == checks[1])
    sides = [_Side(result.directory / FILES[SCORES]) for result in (before, after)]
    for number, pair in enumerate(pair_rows(*sides), 1):
        scores.add(*pair)
        if not number % _EVERY:
            progress(sum(side.take_read() for side in sides))
    if not scores.rows:
        msg = f"{before.directory}, {after.directory}: expected scores to compare, got none in either"
        raise TurnsignalError(msg)
    return scores


def compare_systems(
    before: ReplayResult,
    after: ReplayResult,
    progress: Callable[[int], None] = lambda _: None,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[PairedScores, CasePairs]:
    """Compare two systems case by case, and say how their conversations were paired.

    progress: as in `compare_results`; say: what there is to say of how the turns are read. Raises TurnsignalError where
    the turns that the replays name are gone, and where no conversations form a pair.
    """
    suites = [result.summary["suite"] for result in (before, after)]
    # What either calls a failure, or none, holds for both: the same answers are no better for another suite.
    failed, exempt = ({text for suite in suites for text in suite.get(key, ())} for key in ("failed", "exempt"))
    read = [_read_cases(result, failed, exempt, say) for result in (before, after)]
    pairs = pair_cases(*read)
    if not pairs.pairs:
        msg = (
            f"{before.directory}, {after.directory}: expected conversations of the same cases, got none among"
            f" {pairs.alone[0]:,} and {pairs.alone[1]:,}: turns name their case as case_id in `truth` or `metadata`,"
            " or begin with the same question"
        )
        raise TurnsignalError(msg)
    systems = []
    paired = ([mine for _, mine, _ in pairs.pairs], [theirs for _, _, theirs in pairs.pairs])
    same_suite = score_alike(before, after)
    checks = [row["check"] for row in before.summary["review"]] if same_suite else []
    for conversations, cases, result in zip(paired, read, (before, after), strict=True):
        known = (cases.answers.by_conversation, result.summary["relevancy"], checks)
        rows, side = ConversationRows(conversations, *known), _Side(result.directory / FILES[SCORES])
        for row in side:
            rows.add(row)
        progress(side.take_read())
        systems.append(rows)
    return compare_cases(pairs, *systems, same_suite=same_suite), pairs


def count_cut(result: ReplayResult) -> int:
    """Count the conversations of a replay that have no outcome, as they are not over at the end of the recording."""
    with (result.directory / FILES[SCORES]).open("rb") as file:
        return sum(_CUT in line for line in file)


def score_alike(before: ReplayResult, after: ReplayResult) -> bool:
    """Say whether two replays were scored by the same suite, by its fingerprint."""
    return bool(before.summary["suite"]["fingerprint"] == after.summary["suite"]["fingerprint"])


def _read_cases(
    result: ReplayResult, failed: Collection[str], exempt: Collection[str], say: Callable[[str], None]
) -> SystemCases:
    """Read the turns of a replay again, as it read them; failed, exempt: see `SystemCases`."""
    replayed = find_replayed(result.summary, result.directory)
    cases = SystemCases(failed, exempt)
    with kept_memory(), Imported(replayed.expect_all(result.directory), replayed.how, say=say) as imported:
        recording = Recording(imported.sources)
        indexer = Indexer(time.time(), mend=recording.mend)
        with recording.in_order(indexer, SORT_BYTES) as lines:
            for line in lines.placed():
                cases.add(line.value)
    return cases


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
                for number, line in enumerate(file, 1):
                    self._read += len(line)
                    if needle in line:
                        row = orjson.loads(line)
                        if not isinstance(row, dict) or not row.keys() >= _OF_A_ROW:
                            keys = ", ".join(sorted(_OF_A_ROW))
                            msg = f"{self._path}, line {number}: expected a row with {keys}; replay again"
                            raise TurnsignalError(msg)
                        yield row
        except (OSError, orjson.JSONDecodeError) as error:
            msg = f"{self._path}: expected JSON lines that `turnsignal replay` wrote, got: {error}"
            raise TurnsignalError(msg) from None
