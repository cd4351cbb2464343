"""A demo's result is what a replay of the turns that it sent gives."""

from pathlib import Path

import orjson
import pytest

from turnsignal.agents.demo import ending
from turnsignal.agents.demo.ending import SENT, WORKER_LOG, SentTurns, conclude, spare_files
from turnsignal.agents.files.reading import TurnFile
from turnsignal.agents.replaying.run import replay_files
from turnsignal.agents.report.unread import describe_letter
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.suite import Suite

GOLDEN = Path(__file__).parents[2] / "data" / "golden.jsonl"
SETTINGS = Settings.from_env({"TURNSIGNAL_BROKERS": "nowhere:1"})


def sent(path: Path) -> SentTurns:
    turns = SentTurns(path)
    for line in GOLDEN.read_bytes().splitlines():
        turns.keep(line)
    turns.close()
    return turns


def test_the_figures_are_those_of_a_replay_and_the_rows_of_the_workers_stay(tmp_path: Path) -> None:
    (tmp_path / "scores.jsonl").write_bytes(b"live\n")
    result = conclude(sent(tmp_path / SENT), tmp_path, SETTINGS, (), {}, {"tombstone": 2})
    assert result is not None
    replayed = replay_files([GOLDEN], tmp_path / "replay", Suite(), 1_900_000_000.0, as_is=True)
    named = {"files": 0, "marks": 0}
    live = {**named, "dead_letters": {"tombstone": 2}}  # a line of a file cannot be a record without a value
    assert {**result.summary, **named} == {**orjson.loads(orjson.dumps(replayed)), **live}
    assert result.summary["files"] == [str(tmp_path / SENT)]
    assert (tmp_path / "scores.jsonl").read_bytes() == b"live\n"


def test_files_of_ones_own_are_named_and_not_copied(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    turns = sent(tmp_path / SENT)
    result = conclude(turns, tmp_path / "out", SETTINGS, ["log.csv"], {"mapping": "m.toml"}, {})
    assert result is not None
    assert result.summary["read_as"] == {"mapping": "m.toml", "files": ["log.csv"]}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"summary.json", "worst.jsonl"}


def test_too_much_to_be_replayed_while_somebody_waits_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending, "MOST", 10)
    turns = sent(tmp_path / SENT)
    assert conclude(turns, tmp_path, SETTINGS, (), {}, {}) is None
    assert conclude(SentTurns(tmp_path / "none"), tmp_path, SETTINGS, (), {}, {}) is None


def test_a_dead_letter_of_a_topic_is_named_by_its_offset() -> None:
    letter = {"topic": "turns", "partition": 2, "offset": 7, "detail": "expected JSON"}
    assert describe_letter(letter) == "turns, partition 2, offset 7: expected JSON"


def test_rows_of_a_demo_replace_no_file_that_is_sent_or_that_no_demo_wrote(tmp_path: Path) -> None:
    sent = tmp_path / "rejects.jsonl"
    sent.touch()
    with pytest.raises(ConfigError, match="got one of the inputs"):
        spare_files(tmp_path, [TurnFile(sent)])
    with pytest.raises(ConfigError, match=r"rejects.jsonl: expected none, or one that turnsignal wrote"):
        spare_files(tmp_path, [])
    (tmp_path / WORKER_LOG).touch()  # of a demo that was killed
    spare_files(tmp_path, [])
