"""A replay that is interrupted and resumed gives the very bytes of one that went through."""

import os
import pickle
import select
import subprocess
import sys
from pathlib import Path

import pytest

from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.files.simulating import write_simulation
from turnsignal.agents.replaying import checkpoints, jobs, run
from turnsignal.agents.replaying.checkpoints import ReplayCheckpoints
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream import replay as batches
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.simulation import Traffic
from turnsignal.stream.suite import load_suite

NOW = 1_790_000_000.0


class Interrupted(Exception):
    """What a user's Ctrl-C is here."""


@pytest.fixture
def turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(run, "EVERY", 300)
    monkeypatch.setattr(batches, "_BATCH", 16)  # or a sample's partitions would work only at its end
    path = tmp_path / "turns.jsonl"
    write_simulation(Traffic(seed=11, turns=1_500, rate=0.15, day_night=False), path)
    return path


def replay(turns: Path, out: Path, **how: object) -> dict[str, bytes]:
    replay_files([turns], out, load_suite(None), NOW, workers=1, alerts=True, **how)  # type: ignore[arg-type]
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def interrupt_after(checkpoints: int, monkeypatch: pytest.MonkeyPatch) -> None:
    written = ReplayCheckpoints.write
    left = checkpoints

    def write(self, number, checkpoint):  # type: ignore[no-untyped-def]
        nonlocal left
        written(self, number, checkpoint)
        left -= 1
        if left == 0:
            raise Interrupted

    monkeypatch.setattr(ReplayCheckpoints, "write", write)


def interrupt(
    turns: Path, out: Path, monkeypatch: pytest.MonkeyPatch, checkpoints: int = 1, *, as_is: bool = False
) -> None:
    """Begin a replay, and end it after so many checkpoints."""
    with monkeypatch.context() as patch:
        interrupt_after(checkpoints, patch)
        with pytest.raises(Interrupted):
            replay(turns, out, resume=True, as_is=as_is)


@pytest.mark.parametrize("as_is", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("checkpoints", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_a_resumed_replay_gives_the_bytes_of_one_that_went_through(
    turns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoints: int, as_is: bool
) -> None:
    whole = replay(turns, tmp_path / "whole", as_is=as_is)
    interrupt(turns, tmp_path / "out", monkeypatch, checkpoints, as_is=as_is)
    assert (tmp_path / "out" / ".unfinished" / "00.checkpoint").is_file()
    assert not (tmp_path / "out" / "summary.json").exists()

    assert replay(turns, tmp_path / "out", resume=True, as_is=as_is) == whole


@pytest.mark.slow
def test_a_process_that_was_done_is_not_worked_again(
    turns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = replay(turns, tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(run, "back_test_parts", lambda *_: (_ for _ in ()).throw(Interrupted))
        with pytest.raises(Interrupted):
            replay(turns, tmp_path / "out", resume=True)
    with monkeypatch.context() as patch:
        patch.setattr(jobs.Replay, "feed", lambda *_: pytest.fail("it was worked again"))
        assert replay(turns, tmp_path / "out", resume=True) == whole


def test_another_replay_does_not_go_on_there(turns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt(turns, tmp_path / "out", monkeypatch)
    with pytest.raises(ConfigError, match="expected the parts of the same replay"):
        replay(turns, tmp_path / "out", resume=True, as_is=True)
    with pytest.raises(ConfigError, match="expected the parts of the same replay"):
        replay(turns, tmp_path / "out", resume=True, read_as=HowToRead(strict=True))
    os.utime(turns, (1, 1))
    with pytest.raises(ConfigError, match="the files have changed since"):
        replay(turns, tmp_path / "out", resume=True)


def test_a_checkpoint_that_somebody_else_wrote_is_not_unpickled(
    turns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt(turns, tmp_path / "out", monkeypatch)
    (tmp_path / "out" / ".unfinished" / "00.checkpoint").write_bytes(bytes(32) + pickle.dumps("anything"))
    with pytest.raises(ConfigError, match="expected a checkpoint of this user's"):
        replay(turns, tmp_path / "out", resume=True)


def test_what_other_code_counted_is_not_gone_on_from(
    turns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = tmp_path / "code"
    code.mkdir()
    monkeypatch.setattr(checkpoints, "_CODE", code)
    (code / "counting.py").write_text("version = 1\n")
    interrupt(turns, tmp_path / "out", monkeypatch)
    (code / "counting.py").write_text("version = 2\n")
    with pytest.raises(ConfigError, match=r"\.unfinished: expected .* this very code.* delete it to begin anew"):
        replay(turns, tmp_path / "out", resume=True)


def test_parts_that_were_cut_since_are_not_filled_up(
    turns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        interrupt_after(2, patch)
        with pytest.raises(Interrupted):
            replay(turns, tmp_path / "out", resume=True)
    for part in (tmp_path / "out" / ".unfinished").glob("*-scores.jsonl"):
        part.write_bytes(b"")
    with pytest.raises(ConfigError, match=r"bytes of scores\.jsonl"):
        replay(turns, tmp_path / "out", resume=True)


@pytest.mark.slow
def test_nothing_runs_on_when_a_replay_is_killed(turns: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "turnsignal.agents.cli",
        "replay",
        str(turns),
        "--out",
        str(tmp_path / "out"),
        "--workers",
        "2",
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as replaying_process:
        children: list[int] = []
        while len(children) < 3 and replaying_process.poll() is None:  # two workers, and Python's own
            children = read_children(replaying_process.pid)
        descriptors = [os.pidfd_open(child) for child in children]
        replaying_process.kill()
    assert len(descriptors) == 3
    for descriptor in descriptors:
        assert select.select([descriptor], [], [], 60.0)[0], "it is still there a minute later"
        os.close(descriptor)


def read_children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []
