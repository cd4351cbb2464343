"""`turnsignal report DIRECTORY`: which stage of the answers of a replay to mend first."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from turnsignal.agents.cli import turnsignal

WORST = {"retrieves_worse": "retrieval", "answers_worse": "generation", "breaks_format": "format"}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(turnsignal, [str(argument) for argument in arguments])


def replayed(folder: Path, *options: str, turns: int = 2_000) -> tuple[Path, Path]:
    """Simulate turns and replay them; returns the replay's directory and the turns."""
    recording = folder / "turns.jsonl"
    assert run("simulate", "--turns", str(turns), "--out", recording, *options).exit_code == 0
    done = run("replay", recording, "--out", folder / "out", "--workers", "1")
    assert done.exit_code == 0, done.output
    return folder / "out", recording


def report(*arguments: str | Path) -> Any:
    done = run("report", *arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    ("kind", "labelled"),
    [
        ("retrieves_worse", "1"),
        ("answers_worse", "0"),
        pytest.param("breaks_format", "0", marks=pytest.mark.slow),
        pytest.param("retrieves_worse", "0", marks=pytest.mark.slow),
        pytest.param("answers_worse", "1", marks=pytest.mark.slow),
        pytest.param("breaks_format", "1", marks=pytest.mark.slow),
    ],
)
def test_the_planted_stage_is_to_be_mended_first(tmp_path: Path, kind: str, labelled: str) -> None:
    out, turns = replayed(tmp_path, "--set", f"labelled={labelled}", "--worse", f"0:v1:{kind}")
    made = report(out, "--turns", turns)
    assert made["waterfall"]["mend_first"] == WORST[kind]
    assert f"fail at {WORST[kind]}" in " ".join(made["says"])
    assert ("retrieval" in made["notes"][0]) == (labelled == "0"), "what is known without labels is said to be"


def test_the_version_since_which_it_fails_is_named(tmp_path: Path) -> None:
    out, turns = replayed(tmp_path, "--worse", "3:v2:breaks_format")
    made = report(out)
    assert made["says"][1].startswith("Since v2, ")
    assert [change["verdict"] for change in made["compared"]["stages"] if change["stage"] == "format"] == ["fails more"]
    text = run("report", out, "--turns", turns).stdout
    assert "Since v2, " in text
    assert "v2 against v1" in text


def test_turns_of_another_recording_are_refused(tmp_path: Path) -> None:
    out, _ = replayed(tmp_path, turns=200)
    other = tmp_path / "other.jsonl"
    run("simulate", "--turns", "100", "--set", "start=1", "--out", other)
    done = run("report", out, "--turns", other)
    assert done.exit_code == 1
    assert "are they of another recording?" in str(done.exception)


def test_of_a_recording_of_users_only_it_says_that_nobody_answers(tmp_path: Path) -> None:
    turns = tmp_path / "turns.jsonl"
    asked = {"conversation_id": "c", "turn_id": "t", "timestamp": "2026-01-01T00:00:00Z", "role": "user", "text": "Hm?"}
    turns.write_text(json.dumps(asked) + "\n")
    assert run("replay", turns, "--out", tmp_path / "out", "--workers", "1").exit_code == 0
    done = run("report", tmp_path / "out")
    assert done.exit_code == 1
    assert "they hold no answer of an assistant" in str(done.exception)
    assert "another recording" not in str(done.exception)


def test_a_replay_whose_turns_are_not_found_from_here_says_how_to_name_them(tmp_path: Path) -> None:
    out, turns = replayed(tmp_path, turns=200)
    Path(turns).rename(tmp_path / "elsewhere.jsonl")
    done = run("report", out)
    assert (done.exit_code, "name them with --turns" in str(done.exception)) == (1, True)


def test_the_two_ways_of_asking_exclude_each_other(tmp_path: Path) -> None:
    assert run("report").exit_code == 2
    (tmp_path / "gt.json").write_text("[]")
    assert run("report", tmp_path, "--gt", tmp_path / "gt.json").exit_code == 2
