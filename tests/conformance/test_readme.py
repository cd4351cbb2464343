"""What the README shows is what the commands print, and what it tells people to type is what they take."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import orjson
import pytest
from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_sample_of_the_readme_is_what_replaying_it_prints(tmp_path: Path) -> None:
    (shown,) = re.findall(r"```\n(3,773 turns.*?)```", README, re.S)
    run = CliRunner(env={"COLUMNS": "140"}).invoke(turnsignal, ["replay", "--sample", "--out", str(tmp_path)])
    printed = [line.rstrip() for line in run.output.splitlines()]
    lines = [line for line in shown.splitlines() if line and line != "…" and not line.startswith("Next: ")]
    assert [line for line in lines if line not in printed] == []


def typed() -> Iterator[tuple[str, list[str]]]:
    """Give the command and the words behind it of all that the README tells people to type.

    A flag that stands alone in a row of a table belongs to the command before it there, be it by name alone; one that
    is spoken of has no value there.
    """
    for line in README.splitlines():
        words: list[str] = []
        for code in re.findall(r"`([^`]+)`", line):
            if code in turnsignal.commands:  # type: ignore[attr-defined]
                words = [code]
            if code.startswith("turnsignal ") or (code.startswith("--") and words):
                parts = shlex.split(re.sub(r"\\?\|.*", "", code), comments=True)
                words = parts[1:] if parts[0] == "turnsignal" else [words[0], *parts]
                yield line, words


def find_command(words: list[str]) -> tuple[click.Command, list[str]]:
    """Return the command that words begin with, and those behind its name."""
    command: click.Command = turnsignal
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    return command, words


TYPED = [pytest.param(words, id=" ".join(words)[:80]) for _, words in typed()]


def test_the_readme_names_flags_with_values() -> None:
    flags = {word for _, words in typed() for word in words if word.startswith("--")}
    assert {"--fail-if-worse", "--plan", "--rubric", "--remove"} <= flags
    assert len(TYPED) > 40


@pytest.mark.parametrize("words", TYPED)
def test_what_the_readme_tells_people_to_type_is_a_command_with_such_flags_and_values(words: list[str]) -> None:
    command, given = find_command(words)
    assert command is not turnsignal, words
    options = {name: option for option in command.params for name in option.opts if isinstance(option, click.Option)}
    for at, word in enumerate(given):
        if not word.startswith("--"):
            continue
        name, _, value = word.partition("=")
        assert name in options, f"{command.name} takes no {name}"
        option = options[name]
        if option.is_flag or option.name == "remove":
            continue
        value = value or (given[at + 1] if at + 1 < len(given) else "")
        if given == [name]:
            continue
        assert value, f"{name} of {command.name} takes a value"
        assert not value.startswith("--"), f"{name} of {command.name} takes a value"
        if isinstance(option.type, click.Choice | click.types.FloatParamType | click.types.IntParamType):
            option.type.convert(value, option, None)  # raises


def test_the_scores_that_the_readme_lets_a_build_fail_for_are_taken(tmp_path: Path) -> None:
    lines = []
    for number in range(40):
        about = {"conversation_id": f"c{number}", "timestamp": f"2026-01-05T10:{number:02}:00Z"}
        lines.append(about | {"turn_id": "u1", "role": "user", "text": f"Question {number}?"})
        lines.append(about | {"turn_id": "a1", "role": "assistant", "text": f"Open {number} and choose it."})
    (tmp_path / "turns.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    runner = CliRunner()
    replayed = runner.invoke(turnsignal, ["replay", str(tmp_path / "turns.jsonl"), "--out", str(tmp_path / "out")])
    assert replayed.exit_code == 0, replayed.output
    values = re.findall(r"--fail-if-worse ([^\s`]+)", README)
    assert values
    for value in values:
        done = runner.invoke(turnsignal, ["compare", *[str(tmp_path / "out")] * 2, "--fail-if-worse", value])
        assert done.exit_code == 0, done.output
