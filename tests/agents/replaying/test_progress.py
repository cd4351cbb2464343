"""What a replay tells while it works: how many bytes it has worked through."""

from pathlib import Path

import pytest
from rich.progress import Progress, Task

from turnsignal.agents.commands.options import shown_progress
from turnsignal.agents.files.converting import convert_files, size_of
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.files.sample import write_sample
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.suite import Suite


@pytest.mark.slow
@pytest.mark.parametrize("as_is", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_progress_goes_on_while_turns_are_scored_and_ends_with_all_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_is: bool
) -> None:
    monkeypatch.setattr("turnsignal.stream.replay._BATCH", 16)
    turns, steps = write_sample(tmp_path), list[int]()
    replay_files([turns], tmp_path / "out", Suite(), 1_900_000_000.0, workers=1, as_is=as_is, progress=steps.append)
    size = turns.stat().st_size
    assert size * 0.99 < sum(steps) <= size
    if not as_is:  # as a file that is read in a few blocks is told in as many steps
        assert max(steps) < size / 5


@pytest.mark.parametrize("name", ["openai.jsonl", "turns.csv", "langfuse.jsonl"])
def test_converting_a_log_tells_its_bytes_part_by_part(tmp_path: Path, name: str) -> None:
    log, steps = Path(__file__).parents[2] / "data" / "formats" / name, list[int]()
    convert_files([log], HowToRead(), None, progress=steps.append)
    size = size_of([log])
    assert size * 0.99 - 2 < sum(steps) <= size
    assert max(steps) < size


def test_how_long_a_replay_takes_is_not_told_from_the_speed_of_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Task] = []
    monkeypatch.setattr(Progress, "get_renderables", lambda progress: shown.extend(progress.tasks) or [])
    monkeypatch.setenv("FORCE_COLOR", "1")  # as if it were a terminal
    with shown_progress("replaying", 100, 0.25) as (_, on_bytes, _records):
        (task,) = {id(task): task for task in shown}.values()
        on_bytes(10)
        assert (task.description, task.completed, task.fields["is_first"]) == ("reading", 10, True)
        on_bytes(20)
        assert (task.description, task.completed, task.fields["is_first"]) == ("replaying", 30, False)
        assert task.speed is None  # nothing of what was read counts
        on_bytes(70)
    assert task.finished
