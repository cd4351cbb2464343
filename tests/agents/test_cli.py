"""The command line: every command has help with an example, errors are one line, and exit codes say which kind."""

import gzip
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import orjson
import pytest
from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.commands.schemas import schema_of
from turnsignal.agents.commands.topics import _target
from turnsignal.agents.files.produce import parse_speed
from turnsignal.agents.files.simulating import make_traffic
from turnsignal.agents.process import exits
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.records.summaries import SUMMARIES
from turnsignal.stream.simulation import Regression
from turnsignal.stream.suite import Suite, load_suite, parse_suite
from turnsignal.stream.text.toml import write_toml

ROOT = Path(__file__).resolve().parents[2]


def call(*arguments: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does, without any TURNSIGNAL_ variable but those given."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
    return subprocess.run(
        [sys.executable, "-m", "turnsignal.agents.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd or ROOT,
        env={**clean, "PYTHONPATH": str(ROOT), **env},
        stdin=subprocess.DEVNULL,
    )


def commands(
    group: click.Group = turnsignal, path: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], click.Command]]:
    found = []
    for name, command in group.commands.items():
        found.append(((*path, name), command))
        if isinstance(command, click.Group):
            found += commands(command, (*path, name))
    return found


@pytest.mark.parametrize(
    ("path", "command"), commands(), ids=lambda part: " ".join(part) if type(part) is tuple else ""
)
def test_every_command_has_help_with_an_example(path: tuple[str, ...], command: click.Command) -> None:
    shown = command.get_help(click.Context(command, info_name=path[-1]))
    assert command.help
    assert "Example: " in shown
    assert "turnsignal " in shown


def test_the_commands_of_the_readme_are_there() -> None:
    names = {" ".join(path) for path, _ in commands()}
    assert names >= {"worker", "demo", "produce", "replay", "conversation", "simulate", "schema", "forget"}
    assert names >= {"topics create", "topics show", "topics repair", "suite check", "suite show"}
    assert names >= {"kafka start", "kafka stop", "kafka status", "kafka crash", "kafka restart"}


def test_the_workers_help_lists_the_variables() -> None:
    shown = call("worker", "--help").stdout
    assert "TURNSIGNAL_BROKERS" in shown
    assert "TURNSIGNAL_METRICS_PORT" in shown


def test_a_missing_setting_is_one_line_and_exit_code_2() -> None:
    done = call("worker", "score", "--no-supervisor")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "TURNSIGNAL_BROKERS: expected host:port,host:port,…, got nothing" in done.stderr


def test_an_unknown_variable_is_refused_by_a_worker_but_the_supervisors_own_is_none() -> None:
    done = call("topics", "create", TURNSIGNAL_BROKERS="localhost:1", TURNSIGNAL_BROKER="x")
    assert done.returncode == 2
    assert "TURNSIGNAL_BROKER: " in done.stderr
    from turnsignal.agents.worker.supervisor import SUPERVISOR_PIPE

    assert not SUPERVISOR_PIPE.startswith("TURNSIGNAL_")


def test_a_misspelt_variable_is_refused_by_commands_that_do_not_read_it_and_hides_no_help() -> None:
    done = call("schema", "turn", TURNSIGNAL_REDACTOIN="rules.toml")
    assert done.returncode == exits.EXIT_REFUSED
    (line,) = done.stderr.splitlines()
    assert line.startswith("turnsignal: TURNSIGNAL_REDACTOIN: expected a variable that turnsignal knows")
    assert line.endswith("did you mean TURNSIGNAL_REDACTION?")
    assert call("schema", "--help", TURNSIGNAL_REDACTOIN="rules.toml").returncode == 0


def test_a_replay_that_can_read_no_answer_has_failed(tmp_path: Path) -> None:
    turns = [{"conversation_id": "c", "turn_id": f"{i}", "timestamp": i, "text": "How?"} for i in range(6)]
    path = tmp_path / "turns.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(t | {"role": ("user", "Copilot")[i % 2]}) for i, t in enumerate(turns)))
    done = call("replay", str(path), "--out", str(tmp_path / "out"))
    assert done.returncode == exits.EXIT_FAILED
    assert done.stderr.endswith("turnsignal: no answer of an assistant could be read, so nothing is scored\n")


def test_a_broker_that_does_not_answer_is_one_line_and_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "turns.jsonl").write_text("{}\n")
    done = call("kafka", "status", "--dir", str(tmp_path / "kafka"))
    assert done.returncode == 1
    assert "Does not run" in done.stdout


def test_wrong_usage_is_exit_code_2() -> None:
    assert call("worker", "everything").returncode == 2
    assert call("replay", "/no/such/file.jsonl").returncode == 2
    assert call("demo", "--speed", "fast").returncode == 2
    assert call("worker", "all", "--no-supervisor", TURNSIGNAL_BROKERS="localhost:1").returncode == 2


@pytest.mark.parametrize(
    "path",
    [(), *(path for path, command in commands() if isinstance(command, click.Group))],
    ids=lambda path: " ".join(path) or "turnsignal",
)
def test_help_says_of_every_command_in_one_whole_line_of_80_columns_what_it_does(path: tuple[str, ...]) -> None:
    shown = call(*path, "--help", COLUMNS="80").stdout
    listed = shown.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    names = [command[-1] for command, _ in commands() if command[:-1] == path]
    assert [line.split()[0] for line in listed] == sorted(names)
    assert all(line.endswith(".") and not line.endswith("...") for line in listed), listed
    assert max(map(len, listed)) <= 80


def test_help_names_every_exit_code() -> None:
    said = " ".join(call("--help").stdout.split())
    codes = said.partition("Exit codes: ")[2].partition(". ")[0]
    known = {value for name, value in vars(exits).items() if name.startswith("EXIT_")}
    assert {int(code) for code in re.findall(r"(?:^|, )(\d+) ", codes)} == known | {0}


def test_a_version_is_told() -> None:
    assert call("--version").stdout.startswith("turnsignal")


@pytest.mark.parametrize(("text", "speed"), [("60x", 60.0), ("1", 1.0), ("0.5x", 0.5), ("max", None)])
def test_a_speed_is_times_or_max(text: str, speed: float | None) -> None:
    assert parse_speed(text) == speed


@pytest.mark.parametrize("text", ["", "fast", "-1x", "0x", "60xx", "1e5x"])
def test_a_speed_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="--speed: expected"):
        parse_speed(text)


def test_the_shipped_suite_is_the_built_in_one() -> None:
    shipped = load_suite(ROOT / "deploy" / "suite.toml")
    assert shipped == Suite()
    assert shipped.fingerprint == Suite().fingerprint


def test_the_shipped_suite_names_every_key_there_is() -> None:
    text = (ROOT / "deploy" / "suite.toml").read_text()
    for section, part in Suite().model_dump().items():
        for key in part if isinstance(part, dict) else part[0] if part and isinstance(part, tuple) else [section]:
            assert key in text


def test_a_suite_that_is_shown_reads_back_as_the_same() -> None:
    shown = call("suite", "show")
    assert parse_suite(shown.stdout) == Suite()
    odd = Suite.model_validate_json(
        b'{"name": "a\\"b\\u007f\\\\", "citations": {"id_pattern": "doc_\\\\d+"}, "windows": []}'
    )
    assert parse_suite(write_toml(odd.model_dump(mode="json", exclude_none=True))) == odd
    judge = {"rubric": "follow_up", "model": "m", "cascade": {"small": "s"}, "jury": {"beside": ["a", "b"]}}
    judged = Suite.model_validate({"judges": [judge, judge | {"name": "second"}]}, strict=False)
    assert parse_suite(write_toml(judged.model_dump(mode="json", exclude_none=True))) == judged


@pytest.mark.slow
def test_a_suite_is_checked_with_the_key_that_is_wrong(tmp_path: Path) -> None:
    assert "deploy/suite.toml: OK. Suite default, " in call("suite", "check", "deploy/suite.toml").stdout
    (tmp_path / "wrong.toml").write_text("[retrieval]\ngood = 7\n")
    done = call("suite", "check", str(tmp_path / "wrong.toml"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "retrieval.good" in done.stderr


@pytest.mark.parametrize("record", ["turn", "score", "exchange", "conversation", "suite"])
def test_every_record_has_a_json_schema(record: str) -> None:
    assert schema_of(record)["properties"]


def test_a_schema_is_printed() -> None:
    assert orjson.loads(call("schema", "turn").stdout)["required"] == [
        "conversation_id",
        "turn_id",
        "role",
        "text",
        "timestamp",
    ]


def test_positions_are_repaired_to_a_word_or_to_an_offset_in_one_partition() -> None:
    assert _target("earliest", None) == "earliest"
    assert _target("1200", "turnsignal.turns-3") == {("turnsignal.turns", 3): 1200}
    with pytest.raises(ConfigError, match="together with --in"):
        _target("1200", None)


@pytest.mark.slow
def test_simulated_turns_are_the_same_for_the_same_seed_and_can_be_replayed(tmp_path: Path) -> None:
    knobs = ("--turns", "300", "--seed", "3", "--set", "malformed=0.02", "--set", "versions=v1,v2")
    for name in ("one.jsonl.gz", "two.jsonl.gz"):
        done = call("simulate", *knobs, "--worse", "1:v2:breaks_format", "--out", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()
    lines = gzip.decompress((tmp_path / "one.jsonl.gz").read_bytes()).splitlines()
    assert 290 < len(lines) <= 300
    done = call("replay", str(tmp_path / "one.jsonl.gz"), "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    summary = orjson.loads((tmp_path / "out" / "summary.json").read_bytes())
    assert sum(summary["turns"].values()) + sum(summary["dead_letters"].values()) == len(lines)
    for line in (tmp_path / "out" / "conversations.jsonl").read_bytes().splitlines():
        SUMMARIES.validate_json(line, strict=True)


def test_a_knob_that_is_none_is_named() -> None:
    done = call("simulate", "--set", "speed=3")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "disorder" in done.stderr
    for planted in ("soon:v2:bad", "3:v2:retrieves_worse:2"):
        with pytest.raises(ConfigError):
            make_traffic(10, 0, (), planted)


@pytest.mark.parametrize(
    ("text", "minute", "version", "kind", "share"),
    [
        ("10:v2:retrieves_worse", 10.0, "v2", "retrieves_worse", 1.0),
        ("0.5:v2:answers_worse:0.3", 0.5, "v2", "answers_worse", 0.3),
        ("3:registry:5000/support:v9:breaks_format:0", 3.0, "registry:5000/support:v9", "breaks_format", 0.0),
    ],
)
def test_a_planted_regression_is_read_with_its_share(
    text: str, minute: float, version: str, kind: str, share: float
) -> None:
    planted = make_traffic(10, 0, (), text).regression
    assert planted == Regression(minute=minute, version=version, kind=kind, share=share)  # type: ignore[arg-type]


def test_a_suite_of_ones_own_begins_as_the_built_in_one_and_is_never_overwritten(tmp_path: Path) -> None:
    runner = CliRunner()
    file = tmp_path / "mine.toml"
    assert "turnsignal suite check" in runner.invoke(turnsignal, ["suite", "init", str(file)]).output
    assert load_suite(file).fingerprint == Suite().fingerprint
    assert "# " in file.read_text()
    again = runner.invoke(turnsignal, ["suite", "init", str(file)])
    assert "expected a file that is not there yet" in str(again.exception)


def test_what_is_printed_as_json_can_be_read(tmp_path: Path) -> None:
    runner = CliRunner()

    def read(*arguments: str, code: int = 0) -> Any:
        done = runner.invoke(turnsignal, [*arguments, "--json"])
        assert done.exit_code == code, done.output
        return orjson.loads(done.stdout)

    out = str(tmp_path / "out")
    replayed = read("replay", "tests/data/golden.jsonl", "--out", out, "--workers", "1")
    assert (replayed["directory"], replayed["turns"]["assistant"] > 10, len(replayed["worst"]) > 3) == (out, True, True)
    assert {finding["change"] for finding in replayed["findings"]} == {"note"}
    assert {row["check"] for row in read("review", out)} >= {"citation.format"}
    shown = read("conversation", "ranked", "--from", out)
    assert (shown["conversation_id"], shown["turns"][0]["role"]) == ("ranked", "user")
    assert shown == read("conversation", "ranked", "--from", "tests/data/golden.jsonl")
    assert read("conversation", "nobody", "--from", out, code=1)["rows"] == []
    checked = read("suite", "check", "deploy/suite.toml")
    assert (checked["fingerprint"], checked["python"]) == (Suite().fingerprint, [])
    assert read("suite", "show")["aggregates"]["minimum_n"] == 30
    (tmp_path / "prompt.md").write_text("Write at most 100 words.")
    proposed = read("suite", "from-prompt", str(tmp_path / "prompt.md"))
    assert proposed["proposals"][0]["sentences"] == ["Write at most 100 words."]
    assert parse_suite(proposed["suite"]).checks[0].check == proposed["proposals"][0]["check"]
    assert read("kafka", "status", "--dir", str(tmp_path / "kafka"), code=1)["runs"] is False


def test_a_replay_takes_files_or_the_sample(tmp_path: Path) -> None:
    runner = CliRunner()
    assert "--sample needs none" in runner.invoke(turnsignal, ["replay"]).output
    assert "got both" in runner.invoke(turnsignal, ["replay", "--sample", "tests/data/golden.jsonl"]).output


def test_a_conversation_is_shown_from_a_replay_with_the_reasons(tmp_path: Path) -> None:
    replay = ["replay", str(ROOT / "tests/data/golden.jsonl"), "--out", str(tmp_path)]
    assert CliRunner().invoke(turnsignal, replay).exit_code == 0
    shown = CliRunner().invoke(turnsignal, ["conversation", "ranked", "--from", str(tmp_path)])
    assert shown.exit_code == 0
    for word in ("ranked", "response", "nDCG@5", "0.651", "moderate", "Summary"):
        assert word in shown.stdout
    unknown = CliRunner().invoke(turnsignal, ["conversation", "nobody", "--from", str(tmp_path)])
    assert unknown.exit_code == 1
    assert "Nothing is known" in unknown.stdout
    assert call("conversation", "ranked", "--from", "/nonexistent").returncode == 2
