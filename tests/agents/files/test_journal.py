"""A run's journal notes how far it came: after so many records, or where few come, after some seconds."""

from pathlib import Path

import orjson

from turnsignal.agents.files.journal import EVERY, SECONDS, Journal


def noted(path: Path) -> int | None:
    return orjson.loads(path.read_bytes())["done"] if path.exists() else None


def test_a_run_that_sends_little_notes_by_time_and_one_that_sends_much_by_number(tmp_path: Path) -> None:
    now, path = [100.0], tmp_path / "pos.json"
    journal = Journal(path, (), "topic", clock=lambda: now[0])
    for line in range(3):
        journal.begin(line)
    journal.finish(0)
    assert noted(path) is None
    now[0] += SECONDS
    journal.finish(2)
    assert noted(path) == 1, "the second is on its way"
    journal.finish(1)
    for line in range(3, EVERY + 10):
        journal.begin(line)
        journal.finish(line)
    assert noted(path) == EVERY + 1
