"""A replay of turns and verdicts writes the rows that a worker wrote, byte for byte, however many processes it has."""

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from tests.stream.judging.judged import JUDGES, record, verdicts
from turnsignal import replay
from turnsignal.agents.cli import turnsignal
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.wire import CONVERSATIONS, SCORES
from turnsignal.stream.simulation import steady
from turnsignal.stream.suite import parse_suite
from turnsignal.stream.testing import FakeRecord

SUITE = parse_suite(JUDGES)


def is_verdict_row(value: bytes) -> bool:
    return b'"stage":"verdict"' in value


def live() -> tuple[list[bytes], list[FakeRecord], set[bytes], dict[bytes, bytes]]:
    """Turns, verdicts on them, and what a worker writes of both: rows of verdicts, and each newest summary."""
    processor = PartitionProcessor(SUITE)
    turns = [FakeRecord(at, key, value, -1) for at, (key, value) in enumerate(steady(240, 12, seed=5))]
    outputs = []
    for work in (lambda: processor.process(turns, 0.0), processor.close_all):
        batch = work()
        processor.accept(batch)
        outputs += batch.outputs
    spoken = [record(verdict, at) for at, verdict in enumerate(verdicts(outputs, SUITE))]
    batch = processor.process((), 0.0, verdicts=spoken)
    outputs += batch.outputs
    rows = {out.value for out in outputs if out.topic == SCORES and is_verdict_row(out.value or b"")}
    summaries = {out.key or b"": out.value or b"" for out in outputs if out.topic == CONVERSATIONS}
    return [turn.value or b"" for turn in turns], spoken, {row for row in rows if row}, summaries


@pytest.mark.slow
def test_rows_and_last_summaries_of_a_replay_with_verdicts_are_those_of_the_worker(tmp_path: Path) -> None:
    turns, spoken, rows, summaries = live()
    (tmp_path / "turns.jsonl").write_bytes(b"\n".join(turns))
    (tmp_path / "verdicts.jsonl").write_bytes(b"\n".join(said.value or b"" for said in reversed(spoken)))
    for workers in (1, 2):
        out = tmp_path / str(workers)
        files, whole = [tmp_path / "turns.jsonl"], parse_suite(JUDGES + "[aggregates]\nwhole = true")
        replay_files(files, out, whole, 2e9, verdicts=[tmp_path / "verdicts.jsonl"], workers=workers)
        written = (out / "scores.jsonl").read_bytes().splitlines()
        assert sorted(filter(is_verdict_row, written)) == sorted(rows)
        assert set((out / "conversations.jsonl").read_bytes().splitlines()) == set(summaries.values())
    assert (tmp_path / "1" / "scores.jsonl").read_bytes() == (tmp_path / "2" / "scores.jsonl").read_bytes()


def test_the_command_takes_a_file_of_verdicts_and_sets_unreadable_ones_aside(tmp_path: Path) -> None:
    turns, spoken, rows, _ = live()
    (tmp_path / "turns.jsonl").write_bytes(b"\n".join(turns))
    (tmp_path / "suite.toml").write_text(JUDGES)
    damaged = orjson.dumps(orjson.loads(spoken[0].value or b"") | {"value": "good"})
    (tmp_path / "verdicts.jsonl").write_bytes(b"\n".join([*(said.value or b"" for said in spoken), damaged]))
    given = [str(tmp_path / "turns.jsonl"), "--verdicts", str(tmp_path / "verdicts.jsonl")]
    options = ["--suite", str(tmp_path / "suite.toml"), "--out", str(tmp_path / "out")]
    result = CliRunner(env={"COLUMNS": "140"}).invoke(turnsignal, ["replay", *given, *options])
    assert result.exit_code == 0, result.output
    assert "What judges say" in result.output
    assert "groundedness(by=groundedness)" in result.output
    written = (tmp_path / "out" / "scores.jsonl").read_bytes().splitlines()
    assert sum(map(is_verdict_row, written)) == len(rows)
    (letter,) = (tmp_path / "out" / "dead-letters.jsonl").read_bytes().splitlines()
    about = orjson.loads(letter)
    assert (about["file"], about["line"], about["reason"]) == (given[2], len(spoken) + 1, "wrong_type")


def test_a_rubric_that_cannot_be_read_here_is_told_of(tmp_path: Path) -> None:
    turns, spoken, _, _ = live()
    (tmp_path / "turns.jsonl").write_bytes(b"\n".join(turns))
    (tmp_path / "verdicts.jsonl").write_bytes(b"\n".join(said.value or b"" for said in spoken))
    (tmp_path / "suite.toml").write_text('[[judges]]\nrubric = "elsewhere/tone.toml"\nmodel = "m"\n', encoding="utf-8")
    given = [
        "replay",
        str(tmp_path / "turns.jsonl"),
        "--suite",
        str(tmp_path / "suite.toml"),
        "--out",
        str(tmp_path / "out"),
    ]
    warning = "expected to read its rubric elsewhere/tone.toml"
    assert warning not in CliRunner().invoke(turnsignal, given).stderr
    done = CliRunner().invoke(turnsignal, [*given, "--verdicts", str(tmp_path / "verdicts.jsonl")])
    assert (done.exit_code, warning in done.stderr) == (0, True)


def test_python_gives_what_judges_said_by_release(tmp_path: Path) -> None:
    turns, spoken, rows, _ = live()
    suite = tmp_path / "suite.toml"
    suite.write_text(JUDGES, encoding="utf-8")
    said = [orjson.loads(each.value or b"") for each in spoken]
    result = replay([orjson.loads(turn) for turn in turns], suite=suite, verdicts=said, as_is=True)
    scores = [score for row in rows for score in orjson.loads(row)["scores"] if score["value"] is not None]
    judged = result.judged()
    assert {row["scorer"] for row in judged} == {score["scorer"] for score in scores}
    assert sum(row["n"] for row in judged) == len(scores)
    assert all(0 <= row["mean"] <= 1 and 0 < row["coverage"] < 1 for row in judged)
