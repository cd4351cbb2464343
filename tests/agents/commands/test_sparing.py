"""Files that a command writes: never over one that it reads, and whole or not at all."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import orjson
import pytest
from click.testing import CliRunner, Result

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.commands.sparing import OutFile, SparingCommand
from turnsignal.agents.files.writing import spare_inputs, written
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.suite import Suite

NOW = 1_900_000_000.0
TURN = {"conversation_id": "c", "turn_id": "t", "role": "user", "text": "a", "timestamp": "2025-06-15T12:00:00Z"}
LINE = orjson.dumps(TURN) + b"\n"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(turnsignal, [str(argument) for argument in arguments])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(LINE)
    return path


def refused(done: Result) -> str:
    assert isinstance(done.exception, ConfigError), done.output
    assert "\n" not in str(done.exception)
    return str(done.exception)


@pytest.mark.parametrize("option", ["--out", "--feedback", "--propose"])
@pytest.mark.parametrize("kind", ["itself", "symbolic link", "hard link", "dotted"])
def test_no_input_is_written_over_by_whatever_name(log: Path, option: str, kind: str) -> None:
    other = log.with_name("other.jsonl")
    if kind == "symbolic link":
        other.symlink_to(log)
    elif kind == "hard link":
        os.link(log, other)
    else:
        other = log if kind == "itself" else log.parent / "." / ".." / log.parent.name / log.name
    more = ["--out", log.with_name("new.jsonl")] if option == "--feedback" else []
    said = refused(run("convert", log, option, other, *more))
    assert f"{other}: expected a file that is not read, got one of the inputs ({log}); write to another file" == said
    assert log.read_bytes() == LINE


def test_the_mapping_is_an_input_and_two_outputs_are_two_files(log: Path) -> None:
    mapping = log.with_name("mapping.toml")
    mapping.write_text('[turns]\nconversation_id = "conversation_id"\nrole = "role"\ntext = "text"\n', encoding="utf-8")
    text = mapping.read_text(encoding="utf-8")
    assert "got one of the inputs" in refused(run("convert", log, "--mapping", mapping, "--out", mapping))
    assert mapping.read_text(encoding="utf-8") == text
    out = log.with_name("out.jsonl")
    assert "got one for two" in refused(run("convert", log, "--out", out, "--feedback", out))
    assert "got one for two" in refused(run("simulate", "--out", out, "--truth", out))
    assert not out.exists()


def test_rejects_under_their_usual_name_are_not_written_over_when_they_are_sent_again(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rejects = log.rename(log.with_name("rejects.jsonl"))
    monkeypatch.chdir(rejects.parent)
    assert refused(run("produce", "rejects.jsonl")).startswith("rejects.jsonl: expected a file that is not read")


def test_the_file_behind_standard_input_is_an_input(log: Path) -> None:
    kept = os.dup(0)
    try:
        with log.open("rb") as file:
            os.dup2(file.fileno(), 0)
        with pytest.raises(ConfigError, match=r"got one of the inputs \(standard input\)"):
            spare_inputs([log], [Path("-")])
    finally:
        os.dup2(kept, 0)
        os.close(kept)


def test_what_measure_and_report_find_in_folders_is_an_input(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    turns = data / "turns.jsonl"
    turns.write_bytes(LINE)
    assert "got one of the inputs" in refused(run("measure", data, "--json", turns))
    out = tmp_path / "out"
    replay_files([turns], out, Suite(), NOW, workers=1)
    for kept in (turns, out / "scores.jsonl", out / "summary.json"):
        before = kept.read_bytes()
        assert "got one of the inputs" in refused(run("report", out, "--html", kept))
        assert kept.read_bytes() == before


@pytest.mark.parametrize("option", ["--out", "--feedback"])
@pytest.mark.parametrize(
    "content", [b"# My notes\n", b'{"id": "of another tool"}\n', b"\x1f\x8bno gzip", b"[]", b"\n\n"]
)
def test_convert_leaves_files_alone_that_it_did_not_write(log: Path, option: str, content: bytes) -> None:
    other = log.with_name("mine.jsonl")
    other.write_bytes(content)
    why = refused(run("convert", log, "--check", option, other))
    assert why.startswith(f"{other}: expected no file, or one of {'turns' if option == '--out' else 'feedback'}, got")
    assert why.endswith(f"name another file, or remove it first: rm {other}")
    assert other.read_bytes() == content


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_convert_writes_over_its_own_files_and_empty_ones_and_pipes(log: Path, name: str) -> None:
    voted = log.with_name("voted.jsonl")
    asked = [{"role": "user", "content": "How?"}, {"role": "assistant", "content": "So."}]
    voted.write_bytes(orjson.dumps({"session_id": "c", "messages": asked[:1], "response": asked[1], "vote": "up"}))
    out, feedback = log.with_name(name), log.with_name(f"feedback.{name}")
    out.touch()
    for each in (log, voted, voted, log, voted):
        done = run("convert", each, "--out", out, "--feedback", feedback)
        assert done.exit_code == 0, done.output
    pipe = log.with_name("pipe")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    assert run("convert", log, "--out", pipe).exit_code == 0
    assert os.read(reader, 1000) == LINE
    os.close(reader)


def test_what_standard_output_goes_to_is_chosen_by_whoever_sends_it_there(log: Path) -> None:
    other = log.with_name("mine.txt")
    other.write_bytes(b"# My notes\n")
    command = [sys.executable, "-m", "turnsignal.agents.cli", "convert", str(log), "--out", "/dev/stdout"]
    with other.open("ab") as file:
        done = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, done.stderr


def test_a_replay_leaves_files_alone_that_no_replay_wrote(log: Path) -> None:
    out = log.parent
    scores = out / "scores.jsonl"
    scores.write_bytes(b'{"id": "of Langfuse"}\n')
    said = refused(run("replay", log, "--out", out, "--workers", "1"))
    assert said.startswith(f"{scores}: expected none, or one that turnsignal wrote, got one without a summary.json")
    assert "got one of the inputs" in refused(run("replay", log, scores, "--out", out, "--workers", "1"))
    assert scores.read_bytes() == b'{"id": "of Langfuse"}\n'
    assert sorted(path.name for path in out.iterdir()) == ["log.jsonl", "scores.jsonl"]
    (out / "summary.json").write_text('{"mine": true}', encoding="utf-8")
    assert "scores.jsonl: expected none, or one" in refused(run("replay", log, "--out", out))


def test_the_sample_leaves_turns_alone_that_it_did_not_write(tmp_path: Path) -> None:
    own = tmp_path / "turns.jsonl.gz"
    own.write_bytes(b"mine")
    assert str(own) in refused(run("replay", "--sample", "--out", tmp_path))
    assert own.read_bytes() == b"mine"


def test_a_replay_replaces_what_a_replay_wrote(log: Path) -> None:
    out = log.with_name("out")
    for _ in range(2):
        assert run("replay", log, "--out", out, "--workers", "1").exit_code == 0
    assert "got one of the inputs" in refused(run("replay", out / "scores.jsonl", "--out", out))


def test_what_stood_there_stays_until_the_new_file_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"before")
    path.chmod(0o640)

    def write_half() -> None:
        with written(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["out.jsonl"]
    link = tmp_path / "link"
    link.symlink_to(path)
    with written(link) as file:
        file.write(b"whole")
    assert (path.read_bytes(), path.stat().st_mode & 0o777, link.is_symlink()) == (b"whole", 0o640, True)


def test_an_interrupted_convert_leaves_what_stood_there(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = log.with_name("turns.jsonl")
    out.write_bytes(LINE)

    def lines(_: object) -> Iterator[tuple[bytes, int]]:
        yield LINE, 0
        raise KeyboardInterrupt

    monkeypatch.setattr("turnsignal.agents.files.reading.Recording.lines", lines)
    assert run("convert", log, "--out", out).exit_code == 130
    assert out.read_bytes() == LINE
    assert sorted(path.name for path in log.parent.iterdir()) == ["log.jsonl", "turns.jsonl"]


def test_pipes_and_devices_are_written_to_as_they_are(log: Path, tmp_path: Path) -> None:
    done = run("convert", log, "--out", os.devnull, "--feedback", os.devnull)
    assert (done.exit_code, Path(os.devnull).is_char_device()) == (0, True)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with written(pipe) as file:
            file.write(b"through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert pipe.is_fifo()


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write to everything")
def test_a_file_that_is_not_to_be_written_stays(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"before")
    path.chmod(0o444)
    with (
        pytest.raises(TurnsignalError, match="expected a file that can be written, got: Permission denied"),
        written(path),
    ):
        pass
    assert path.read_bytes() == b"before"


NEW_ALONE = {"export", "from-prompt", "init"}  #: these refuse a file that is there


def test_every_command_that_writes_a_named_file_spares_its_inputs() -> None:
    for name, command in turnsignal.commands.items():
        if name in NEW_ALONE or isinstance(command, click.Group):
            continue
        named = [param for param in command.params if isinstance(param.type, click.Path) and _is_written(param)]
        assert all(isinstance(param.type, OutFile) for param in named), name
        assert not named or isinstance(command, SparingCommand), name


def _is_written(param: click.Parameter) -> bool:
    """Say whether an option names a file that need not be there, other than a suite to read."""
    assert isinstance(param.type, click.Path)
    return (
        not param.type.exists
        and not param.type.dir_okay
        and param.name not in ("suite_file", "suite", "suites", "redaction", "rules")
    )


def test_what_is_written_has_a_name_of_its_own_until_it_is_whole(tmp_path: Path) -> None:
    neighbour, victim = tmp_path / ".out.jsonl.unfinished", tmp_path / "victim"
    victim.write_bytes(b"kept")
    neighbour.symlink_to(victim)
    with written(tmp_path / "out.jsonl") as one, written(tmp_path / "out.jsonl") as other:
        one.write(b"one")
        other.write(b"other")
    assert (tmp_path / "out.jsonl").read_bytes() == b"one"  # the last to be whole
    assert victim.read_bytes() == b"kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == [neighbour.name, "out.jsonl", "victim"]
