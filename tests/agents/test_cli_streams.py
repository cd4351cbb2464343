"""What a shell sees of a command: its exit code after Ctrl-C, what it leaves behind, and lines as they are piped."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from tests.agents.test_cli import ROOT, call
from turnsignal.agents.replaying.checkpoints import locked
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.suite import Suite

GOLDEN = ROOT / "tests" / "data" / "golden.jsonl"


def golden_times(n: int) -> bytes:
    """The golden conversations so many times, each time with ids of their own."""
    lines = GOLDEN.read_bytes()
    return b"".join(lines.replace(b'"conversation_id":"', b'"conversation_id":"%d-' % k) for k in range(n))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sign", "code", "workers"),
    [
        (signal.SIGINT, 130, "2"),
        (signal.SIGTERM, 143, "2"),
        (signal.SIGHUP, 129, "1"),  # with two, Python's own process that counts resources speaks up
    ],
)
def test_a_replay_that_is_interrupted_ends_with_the_code_of_the_signal_and_leaves_nothing(
    sign: signal.Signals, code: int, workers: str, tmp_path: Path
) -> None:
    turns, out = tmp_path / "turns.jsonl", tmp_path / "results" / "out"
    turns.write_bytes(golden_times(2_000))
    command = [sys.executable, "-m", "turnsignal.agents.cli", "replay", turns, "--out", out, "--workers", workers]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
        preexec_fn=lambda: signal.signal(sign, signal.SIG_DFL),  # a test run in the background ignores some
    ) as replay:
        while not list(out.glob(".parts-*/*.jsonl")) and replay.poll() is None:
            time.sleep(0.01)
        os.killpg(replay.pid, sign)  # as a terminal does: the children, too
        stdout, stderr = replay.communicate(timeout=60)
    hint = "turnsignal: begun with --resume, it could go on from here; the same command begins anew\n"
    assert (replay.returncode, stdout, stderr) == (code, "", f"{hint}turnsignal: interrupted\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["turns.jsonl"]


@pytest.mark.parametrize(
    "command",
    [
        ["replay", "--out", "out"],
        pytest.param(["convert", "--out", "out.jsonl"], marks=pytest.mark.slow),
        pytest.param(["convert", "--check"], marks=pytest.mark.slow),
    ],
)
def test_a_full_disk_is_said_in_one_line(command: list[str], tmp_path: Path) -> None:
    exchange = {"messages": [{"role": "user", "content": "a" * 9_000}, {"role": "assistant", "content": "b"}]}
    (tmp_path / "log.jsonl").write_bytes(b"".join(orjson.dumps(exchange | {"id": f"c{n}"}) + b"\n" for n in range(200)))
    done = subprocess.run(
        [sys.executable, "-m", "turnsignal.agents.cli", command[0], "log.jsonl", *command[1:]],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000)),
    )
    assert done.returncode == 1
    assert "turnsignal: expected room on the disk" in done.stderr
    assert "TMPDIR" in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name != "log.jsonl"] == []


def test_parts_that_a_killed_replay_left_go_with_the_next_and_those_of_one_that_works_stay(tmp_path: Path) -> None:
    killed, working = tmp_path / ".parts-killed", tmp_path / ".parts-working"
    for left in (killed, working):
        left.mkdir()
        (left / "00-scores.jsonl").write_bytes(b"{}\n")
    with locked(working):
        replay_files([GOLDEN], tmp_path, Suite(), 1_900_000_000.0, workers=1)
    assert [path.name for path in tmp_path.glob(".parts-*")] == [".parts-working"]


@pytest.mark.slow
def test_a_directory_that_was_there_before_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "turns.jsonl.gz").write_bytes(b"\x1f\x8b\x08 damaged")
    assert call("replay", str(tmp_path / "turns.jsonl.gz"), "--out", str(out)).returncode == 1
    assert list(out.iterdir()) == []
    assert call("replay", str(tmp_path / "turns.jsonl.gz"), "--out", str(tmp_path / "a" / "b")).returncode == 1
    assert not (tmp_path / "a").exists()


@pytest.mark.slow
def test_a_terminal_that_knows_ascii_alone_is_told_everything_in_it_in_lines_that_end_without_blanks(
    tmp_path: Path,
) -> None:
    done = call("replay", "--sample", "--out", str(tmp_path), PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "v v3 retrieves worse in all three assistants: nDCG@5 -0." in done.stdout
    assert len(done.stdout.splitlines()) > 40
    assert [line for line in done.stdout.splitlines() if line != line.rstrip()] == []  # lines that are piped


@pytest.mark.slow
def test_json_is_utf_8_whatever_the_terminal_knows(tmp_path: Path) -> None:
    turns = tmp_path / "turns.jsonl"
    turn = {"conversation_id": "café", "turn_id": "t", "role": "user", "text": "é", "timestamp": "2025-06-15T12:00:00Z"}
    turns.write_bytes(orjson.dumps(turn))
    done = subprocess.run(
        [sys.executable, "-m", "turnsignal.agents.cli", "conversation", "café", "--from", turns, "--json"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=True,
    )
    assert orjson.loads(done.stdout)["conversation_id"] == "café"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--suite", "nope.toml"), "nope.toml: expected a suite in TOML, got no such file; `turnsignal suite init`"),
        pytest.param(
            ("--suite", "u16.toml"),
            "u16.toml: expected a suite in TOML, got bytes that are no UTF-8; was it saved as",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ("--redaction", "nope.toml"),
            "nope.toml: expected a redaction file in TOML, got no such file",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ("u16.jsonl",),
            "u16.jsonl: expected text in UTF-8, got UTF-16, as Excel and PowerShell write it; try: iconv",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_files_that_are_not_there_or_in_another_encoding_are_named_in_words(
    arguments: tuple[str, ...], told: str, tmp_path: Path
) -> None:
    for name in ("u16.toml", "u16.jsonl"):
        (tmp_path / name).write_text('{"a": 1}\n{"a": 2}\n', encoding="utf-16")
    done = call("replay", str(GOLDEN), *arguments, "--out", str(tmp_path / "out"), cwd=tmp_path)
    assert done.returncode != 0
    assert told in done.stderr
    assert "Errno" not in done.stderr
    assert not (tmp_path / "out").exists()
