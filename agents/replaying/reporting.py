"""Reporting: the rows that a replay wrote, and the turns that it read, put together."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import SORT_BYTES, Recording
from turnsignal.agents.process.memory import kept_memory
from turnsignal.agents.replaying.evaluation_data import EvaluationFolder
from turnsignal.agents.replaying.files import FILES
from turnsignal.agents.replaying.rereading import find_replayed
from turnsignal.agents.replaying.result import ReplayResult
from turnsignal.stream.errors import Refused, TurnsignalError
from turnsignal.stream.pipeline.release_times import ReleaseTimes
from turnsignal.stream.pipeline.scoring import relevancy_name
from turnsignal.stream.records.turns import Turn, decode_turn
from turnsignal.stream.records.wire import SCORES
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.replay import Indexer
from turnsignal.stream.reports.row_signals import RowSignals
from turnsignal.stream.reports.traffic_report import TrafficReport
from turnsignal.stream.reports.where_to_work import releases_without_documents, unranked_releases
from turnsignal.stream.suite import Suite
from turnsignal.stream.text.timestamps import read_given_time


def report_traffic(
    result: ReplayResult,
    turns: Sequence[Path],
    suite: Suite,
    progress: Callable[[int], None] = lambda _: None,
    evaluation_data: Path | None = None,
) -> TrafficReport:
    """Read what a replay wrote, and the turns behind it.

    turns: files of them, none for those that the replay names; suite: the one it ran under; progress: told how many
    bytes of turns were read, in steps; evaluation_data: folder for answers with labels, as Waterfall has it. Raises
    TurnsignalError when none of the turns is one of the replay's.
    """
    signals = RowSignals(relevancy_name(suite), suite.thresholds.model_dump(), result.summary["environment"])
    _read_rows(result.directory / FILES[SCORES], signals)
    replayed = find_replayed(result.summary, result.directory)
    paths = list(turns) or replayed.expect_all(result.directory, "; name them with --turns")
    with kept_memory(), Imported(paths, replayed.how) as imported, ExitStack() as stack:
        unranked, bare = unranked_releases(result.summary), releases_without_documents(result.summary)
        order = list(dict.fromkeys(row["version"] for row in result.summary["quality"]))
        report = TrafficReport(suite, signals, unranked=unranked, order=order, bare=bare)
        if evaluation_data is not None:
            writer = _writer(stack.enter_context(EvaluationFolder(evaluation_data)))
            report = TrafficReport(suite, signals, writer, unranked, order, bare)
        released = [read_given_time(text, "released") for text in result.summary.get("released", ())]
        release_times = ReleaseTimes(released, suite.limits.forgotten_after) if released else None
        _read_turns(Recording(imported.sources, progress), report, suite.redaction, release_times)
    if not len(report.answers):
        names = ", ".join(map(str, paths))
        asked = "are they of another recording?"
        if not (report.not_scored or report.unread):
            asked = "they hold no answer of an assistant, so there is nothing to say where answers fail"
        msg = f"{names}: expected turns that {result.directory} has scored, got none; {asked}"
        raise TurnsignalError(msg)
    return report


def _writer(folder: EvaluationFolder) -> Callable[[Turn, str], None]:
    return lambda turn, question: folder.add(msgspec.to_builtins(turn), question)


def _read_rows(path: Path, signals: RowSignals) -> None:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    signals.add(line)
                except msgspec.MsgspecError as error:
                    msg = f"{path}, line {number}: expected a row that `turnsignal replay` wrote, got: {error}"
                    raise TurnsignalError(msg) from None
    except OSError as error:
        msg = f"{path}: expected rows that `turnsignal replay` wrote, got: {error.strerror}"
        raise TurnsignalError(msg) from None


def _read_turns(
    recording: Recording, report: TrafficReport, redaction: Redaction | None, release_times: ReleaseTimes | None
) -> None:
    """Take in every turn by event time, as the replay did; what that set aside is passed over here, too."""
    counts: Counter[str] = Counter()
    indexer = Indexer(time.time(), mend=recording.mend)
    with recording.in_order(indexer, SORT_BYTES) as lines:
        for line in lines.placed():
            try:
                turn = decode_turn(line.value, line.key)
            except Refused:
                report.unread += 1
                continue
            if redaction is not None:
                redaction.apply(turn, counts)
            if release_times is not None:
                release_times.name(turn)
            report.add(turn)
