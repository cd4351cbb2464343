"""Every example in a help text runs as it stands there; those that need a broker run in tests/kafka."""

import gzip
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import orjson
import pytest

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.process.exits import EXIT_TOO_FEW

ROOT = Path(__file__).resolve().parents[2]
NEEDS_A_BROKER = ("worker", "demo", "export", "produce", "topics", "forget", "kafka", "regressions")


def examples(group: click.Group = turnsignal, path: str = "") -> Iterator[tuple[str, str]]:
    """Give (command, example), each alternative apart."""
    for name, command in group.commands.items():
        _, _, text = (command.epilog or "").partition("Example: ")
        for example in text.split(", or: "):
            yield f"{path}{name}", example
        if isinstance(command, click.Group):
            yield from examples(command, f"{path}{name} ")


WITHOUT = [
    pytest.param(text, id=name)
    for name, text in examples()
    # observe ends when it is told to (tests/agents/observe), a drill needs workers (tests/kafka/test_drill.py)
    if not name.startswith((*NEEDS_A_BROKER, "observe", "drill"))
]


def prepare(directory: Path) -> None:
    """Write the files that examples name."""
    golden = (ROOT / "tests" / "data" / "golden.jsonl").read_bytes().replace(b'"ranked"', b'"c-42"')
    turns = [orjson.loads(line) | {"user_id": "u-7"} for line in golden.splitlines()]
    lines = b"".join(orjson.dumps(turn) + b"\n" for turn in turns)
    (directory / "turns.jsonl.gz").write_bytes(gzip.compress(lines, 1))
    (directory / "traces.json").write_bytes((ROOT / "tests" / "data" / "formats" / "otel.jsonl").read_bytes())
    (directory / "prompt.md").write_text("Answer in English. Write at most 100 words. Cite every document as [doc_id].")
    for name in ("now", "next"):
        (directory / f"{name}.toml").write_text(f'name = "{name}"')
    for name in ("gt.json", "pred.json"):
        (directory / name).write_bytes((ROOT / "tests" / "data" / "routing" / "example" / name).read_bytes())
    (directory / "incidents.jsonl").write_text('{"began": "2026-01-01T00:00:00Z"}')
    series = directory / "out" / "replay" / "series" / "00.jsonl"  # what is left of `replay --alerts`
    series.parent.mkdir(parents=True)
    series.write_bytes(b"")
    (series.parents[1] / "summary.json").write_text('{"suite": {"fingerprint": ""}}')  # as a replay leaves it beside
    (directory / "my-labelled-turns").mkdir()
    labelled = b"".join(orjson.dumps(turn | {"vote": 1}) + b"\n" for turn in turns)
    (directory / "my-labelled-turns" / "turns.jsonl").write_bytes(labelled)


def run(example: str, directory: Path, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a line in a shell, in an empty directory with the files, without any TURNSIGNAL_ variable but those given."""
    prepare(directory)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
    clean["PATH"] = f"{Path(sys.executable).parent}:{clean['PATH']}"
    return subprocess.run(
        ["bash", "-c", example], cwd=directory, env=clean | env, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("example", WITHOUT)
def test_an_example_of_a_help_text_runs(example: str, tmp_path: Path) -> None:
    done = run(example, tmp_path)
    few = EXIT_TOO_FEW if "--fail-if-worse" in example else 0  # of the few conversations that it is tried on
    assert done.returncode in (0, few), done.stdout + done.stderr


@pytest.mark.slow
def test_every_command_that_needs_a_broker_names_one_that_cannot_be_reached(tmp_path: Path) -> None:
    done = run("turnsignal topics show", tmp_path, TURNSIGNAL_BROKERS="127.0.0.1:1")
    assert done.returncode == 1
    assert done.stderr.startswith("turnsignal: expected a Kafka broker at 127.0.0.1:1 (TURNSIGNAL_BROKERS)")


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "topics create",
        "topics update --dry-run",
        "topics repair score --to accept",
        "forget c-1",
        "regressions list",
        "conversation c-1",
        "produce turns.jsonl.gz",
        "demo",
    ],
)
def test_a_broker_that_cannot_be_reached_is_named_by_every_command(command: str, tmp_path: Path) -> None:
    done = run(f"turnsignal {command}", tmp_path, TURNSIGNAL_BROKERS="127.0.0.1:1")
    assert done.returncode == 1
    assert "turnsignal: expected a Kafka broker at 127.0.0.1:1 (TURNSIGNAL_BROKERS)" in done.stderr


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("relpay", "`turnsignal replay`"),
        ("check", "`turnsignal suite check`"),
        ("suite inti", "`turnsignal suite init`"),
        ("Replay", "`turnsignal replay`"),
        ("topcis", "`turnsignal topics`"),
    ],
)
def test_a_wrong_command_is_answered_with_what_may_be_meant(typed: str, meant: str, tmp_path: Path) -> None:
    from click.testing import CliRunner

    done = CliRunner().invoke(turnsignal, typed.split())
    assert done.exit_code == 2
    assert f"Did you mean {meant}" in " ".join(done.output.split())


def test_a_command_like_no_other_is_answered_without_a_guess() -> None:
    from click.testing import CliRunner

    done = CliRunner().invoke(turnsignal, ["zzzzzz"])
    assert done.exit_code == 2
    assert "Did you mean" not in done.output
    assert re.search(r"No such command 'zzzzzz'", done.output)


def test_completion_works_as_the_help_says(tmp_path: Path) -> None:
    ask = 'eval "$(_TURNSIGNAL_COMPLETE=bash_source turnsignal)" && complete -p turnsignal'
    assert "_turnsignal_completion" in run(ask, tmp_path).stdout
    asked = {"COMP_WORDS": "turnsignal suite in", "COMP_CWORD": "2", "_TURNSIGNAL_COMPLETE": "bash_complete"}
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
    told = subprocess.run(
        [Path(sys.executable).parent / "turnsignal"], env=clean | asked, capture_output=True, text=True, check=True
    )
    assert told.stdout == "plain,init\n"
