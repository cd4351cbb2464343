"""`turnsignal measure` as people run it: what it prints and writes, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from turnsignal.agents.cli import turnsignal

ROOT = Path(__file__).resolve().parents[3]


def measure(*arguments: object) -> Result:
    return CliRunner().invoke(turnsignal, ["measure", *map(str, arguments)])


def measure_in_a_process(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "turnsignal.agents.cli", "measure", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def write(folder: Path, label: str = "repair") -> Path:
    folder.mkdir()
    turns = [
        ("t0", "user", "How do I reset the lamp?", {}),
        ("t1", "assistant", "Hold the red button.", {}),
        ("t2", "user", "No, I meant the blue one.", {"labels": {"[bold]kind": label}}),
    ]
    lines = [
        json.dumps({"conversation_id": "a", "turn_id": turn, "role": role, "text": text, **more})[:-1]
        + f', "timestamp": "2026-03-01T10:00:0{turn[1]}Z"}}\n'
        for turn, role, text, more in turns
    ]
    (folder / "turns.jsonl").write_text("".join(lines))
    return folder


def test_it_prints_the_table_and_writes_figures_and_a_page(tmp_path: Path) -> None:
    folder = write(tmp_path / "lamps")
    (folder / "mapping.toml").write_text(
        '[[follow_ups]]\nlabel = "labels.[bold]kind"\nclarification = ["repair"]\n'
        'anchors = [{ figure = "recall", kind = "floor", value = 0.3, says = "a [keyword] rule" }]\n'
    )
    done = measure(folder, "--json", tmp_path / "out" / "m.json", "--html", tmp_path / "out" / "m.html")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "0.300 ✓" in done.stdout
    assert "floor recall 0.300: a [keyword] rule" in done.stdout
    assert json.loads((tmp_path / "out" / "m.json").read_text()) == {
        "lamps": {"recall": {"value": 1.0, "low": 1.0, "high": 1.0, "n": 1}}
    }
    assert (tmp_path / "out" / "m.html").read_text().startswith("<!doctype html>")


def test_figures_can_be_had_on_standard_output_alone(tmp_path: Path) -> None:
    folder = write(tmp_path / "lamps")
    (folder / "mapping.toml").write_text('[[follow_ups]]\nlabel = "labels.[bold]kind"\nclarification = ["repair"]\n')
    done = measure(folder, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    assert json.loads(done.stdout)["lamps"]["recall"]["value"] == 1.0
    assert not (tmp_path / "-").exists()


def test_without_labels_it_says_so_and_ends_with_1(tmp_path: Path) -> None:
    done = measure(write(tmp_path / "lamps"))
    assert done.exit_code == 1
    assert "no labels found" in done.stdout
    assert "--help" in done.stderr


@pytest.mark.slow
def test_a_wrong_mapping_and_a_folder_without_turns_end_with_2_and_one_line(tmp_path: Path) -> None:
    folder = write(tmp_path / "lamps")
    (folder / "mapping.toml").write_text("[[citations]]\nlabel = 3\n")
    (tmp_path / "empty").mkdir()
    for wrong, said in ((folder, "mapping.toml: citations.0.label"), (tmp_path / "empty", "turns*.jsonl")):
        done = measure_in_a_process(wrong)
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    code = "import sys; sys.modules['sklearn'] = None; from turnsignal.agents.cli import main; main()"
    command = [sys.executable, "-c", code, "measure", str(write(tmp_path / "lamps"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 2
    assert "in your clone: make .venv/.report" in done.stderr
