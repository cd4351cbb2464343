"""`turnsignal suite check` calls OK what the judge worker takes, and nothing else."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal

JUDGE = '[[judges]]\nrubric = "groundedness"\nmodel = "gpt-4o-mini"\n'


def test_a_suite_that_is_there_is_not_written_over_and_the_way_out_is_named(tmp_path: Path) -> None:
    (file := tmp_path / "mine.toml").write_text("name = 'mine'")
    again = CliRunner().invoke(turnsignal, ["suite", "init", str(file)])
    assert f"got one that may be edited; name another, or remove it first: rm {file}" in str(again.exception)
    assert file.read_text() == "name = 'mine'"


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("[judging]\nbudget = 1.0", "judging.prices: expected what gpt-4o-mini costs"),
        ('[[judges]]\nrubric = "nowhere.toml"\nmodel = "x"', "nowhere.toml: expected a rubric in TOML"),
        ("cascade = { rules = 1.0 }", "judges: groundedness: cascade.rules: expected a rubric of the stage follow_up"),
        ("", None),
    ],
)
def test_judges_that_the_worker_refuses_are_not_ok(tmp_path: Path, more: str, complaint: str | None) -> None:
    (file := tmp_path / "suite.toml").write_text(JUDGE + more, encoding="utf-8")
    checked = CliRunner().invoke(turnsignal, ["suite", "check", str(file)])
    if complaint is None:
        assert (checked.exit_code, f"{file}: OK. " in checked.stdout) == (0, True)
    else:
        assert checked.exit_code != 0
        assert f"{file}: {complaint}" in str(checked.exception)


@pytest.mark.parametrize(
    ("model", "env", "warning"),
    [
        ("gpt-4o-mini", {}, "TURNSIGNAL_JUDGE_OPENAI_KEY: expected the key"),
        ("gpt-4o-mini", {"TURNSIGNAL_JUDGE_OPENAI_KEY": "sk-1"}, None),
        ("gateway:m", {}, "TURNSIGNAL_JUDGE_GATEWAY_URL: expected the URL"),
        ("python:nowhere.at.all:make", {}, "got ModuleNotFoundError"),
        ("scripted:words", {}, None),
    ],
)
def test_what_the_worker_would_lack_here_is_a_warning(
    tmp_path: Path, model: str, env: dict[str, str], warning: str | None
) -> None:
    (file := tmp_path / "suite.toml").write_text(JUDGE.replace("gpt-4o-mini", model), encoding="utf-8")
    checked = CliRunner(env={"TURNSIGNAL_JUDGE_OPENAI_KEY": None} | env).invoke(
        turnsignal, ["suite", "check", str(file)]
    )
    assert (checked.exit_code, f"{file}: OK. " in checked.stdout) == (0, True)
    assert ("would not start" in checked.stdout) is (warning is not None)
    assert (warning or "OK") in checked.stdout


def test_an_exempt_text_that_a_failed_pattern_finds_is_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "both.toml"
    both = 'exempt = ["ACME has hit a snag.", "I only know ACME."]\n[conversations]\nfailed = ["acme has hit a snag"]\n'
    file.write_text(both)
    checked = CliRunner().invoke(turnsignal, ["suite", "check", str(file)])
    assert checked.exit_code == 0
    warned = "exempt: 'ACME has hit a snag.' is an answer although a pattern of conversations.failed finds it"
    assert warned in checked.output
    assert "I only know" not in checked.output
