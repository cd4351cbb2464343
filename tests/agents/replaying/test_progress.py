"""What a replay tells while it works: how many bytes it has worked through."""

from pathlib import Path

import pytest

from turnsignal.agents.files.sample import write_sample
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.suite import Suite


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
