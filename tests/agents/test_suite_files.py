"""A redaction file is read in one line of complaint or none, and a replay with it writes nothing of what it names."""

from pathlib import Path

import orjson
import pytest
from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.replaying.run import replay_files
from turnsignal.agents.settings import Settings
from turnsignal.agents.suite_files import load_redaction, suite_in_force
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.suite import Suite

TOML = """
builtin = ["email"]
[[patterns]]
kind = "staff"
regex = '\\bE-\\d{6}\\b'
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "redaction.toml"
    path.write_text(TOML)
    return path


@pytest.fixture
def turns(tmp_path: Path) -> Path:
    path = tmp_path / "turns.jsonl"
    lines = [
        {
            "conversation_id": f"c-{number % 40}",
            "turn_id": f"t{number}",
            "role": ("user", "assistant")[number // 40 % 2],
            "text": f"I am E-12345{number % 10}, bob@example.com; no, I meant E-123456.",
            "timestamp": f"2025-06-15T15:{number // 60:02}:{number % 60:02}Z",
        }
        for number in range(400)
    ]
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return path


def test_a_file_says_which_kinds_and_no_file_leaves_texts_as_they_are(file: Path) -> None:
    found = load_redaction(file)
    assert found is not None
    assert found.redact("E-123456 of bob@example.com", {}).text == "[staff] of [email]"
    assert load_redaction(None) is None


def test_the_example_that_ships_is_right_with_its_comments_and_without(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "deploy" / "redaction.toml"
    assert load_redaction(example) == Redaction()
    given, own = example.read_text().split("# [[patterns]]")
    (tmp_path / "redaction.toml").write_text(given + "[[patterns]]" + own.replace("\n# ", "\n"))
    found = load_redaction(tmp_path / "redaction.toml")
    assert found is not None
    assert found.redact("Staff No. 123456 called", {}).text == "Staff No. [staff_number] called"


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("builtin = [", "expected a redaction file in TOML"),
        ('builtin = ["e-mail"]', "builtin.0: Input should be"),
        ("[[patterns]]\nkind = 'a'\nregex = 'x+'", "patterns.0.regex: expected bounded repetition"),
        ("[[patterns]]\nkind = 'a'", "patterns.0.regex: Field required"),
        ("builtins = []", "builtins: Extra inputs are not permitted.*known are builtin"),
    ],
)
def test_a_file_that_is_not_right_is_refused_in_one_line(tmp_path: Path, toml: str, said: str) -> None:
    path = tmp_path / "redaction.toml"
    path.write_text(toml)
    with pytest.raises(ConfigError, match=said) as error:
        load_redaction(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.slow
def test_a_replay_in_any_number_of_processes_redacts_alike(file: Path, turns: Path, tmp_path: Path) -> None:
    for workers in (1, 2):
        replay_files([turns], tmp_path / str(workers), suite_in_force(None, file), 2e9, workers=workers)
    for name in ("scores.jsonl", "conversations.jsonl", "summary.json"):
        written = (tmp_path / "1" / name).read_bytes()
        assert written == (tmp_path / "2" / name).read_bytes()
        assert b"E-12" not in written
        assert b"bob@" not in written
    summary = orjson.loads((tmp_path / "1" / "summary.json").read_bytes())
    assert summary["redactions"] == {"email": 400, "staff": 800}


def test_replay_takes_the_redaction_of_the_option_or_of_the_environment(
    file: Path, turns: Path, tmp_path: Path
) -> None:
    run = CliRunner().invoke
    option = ["replay", str(turns), "--workers", "1", "--out"]
    assert run(turnsignal, [*option, str(tmp_path / "a"), "--redaction", str(file)]).exit_code == 0
    assert run(turnsignal, [*option, str(tmp_path / "b")], env={"TURNSIGNAL_REDACTION": str(file)}).exit_code == 0
    rows = [(tmp_path / name / "scores.jsonl").read_bytes() for name in "ab"]
    assert rows[0] == rows[1]
    assert suite_in_force(None, file).fingerprint.encode() in rows[0]
    assert Suite().redacted_by(Redaction()).fingerprint != suite_in_force(None, file).fingerprint


def test_a_redaction_file_that_is_not_there_stops_the_program_before_it_starts(file: Path) -> None:
    env = {"TURNSIGNAL_BROKERS": "localhost:9092"}
    assert Settings.from_env(env | {"TURNSIGNAL_REDACTION": str(file)}).redaction == file
    with pytest.raises(ConfigError, match=r"TURNSIGNAL_REDACTION: expected a redaction file \(TOML\)"):
        Settings.from_env(env | {"TURNSIGNAL_REDACTION": "/nowhere.toml"})
