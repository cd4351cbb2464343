"""The demo ends by Ctrl-C and by SIGTERM alike, whenever they come: no process, no folder and no traceback is left."""

import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="finds processes in /proc"),
]


def processes_with(mark: str) -> list[str]:
    """The processes that have a mark in their environment, which children inherit."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


@pytest.mark.parametrize(
    ("sign", "words", "scored"),
    [(signal.SIGINT, "Topics:", False), (signal.SIGTERM, "Topics:", False), (signal.SIGTERM, "nDCG@5", True)],
)
def test_a_demo_that_is_interrupted_leaves_nothing_behind(
    tmp_path: Path, sign: signal.Signals, words: str, scored: bool
) -> None:
    mark, scratch, out = uuid.uuid4().hex, tmp_path / "scratch", tmp_path / "out"
    scratch.mkdir()
    command = [sys.executable, "-m", "turnsignal.agents.cli", "demo", "--mock", "--forever", "--directory", str(out)]
    env = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
    env |= {"TEST_MARK": mark, "TMPDIR": str(scratch), "PYTHONUNBUFFERED": "1", "TURNSIGNAL_METRICS_PORT": "0"}
    said = []
    with subprocess.Popen(
        command,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a test run in the background ignores it
    ) as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            said.append(line)
            if words in line:
                break
        demo.send_signal(sign)
        rest = demo.stdout.read()
    code = demo.returncode
    assert "Traceback" not in rest, rest
    assert code == (0 if scored else 128 + sign), "".join(said) + rest
    assert ("score rows" in rest) == scored
    assert processes_with(mark) == []
    assert [path.name for path in scratch.iterdir() if path.name.startswith("turnsignal-demo-")] == []


@pytest.mark.parametrize("given", ["simulated", "a file"])
def test_a_demo_ends_as_a_replay_does_and_what_it_prints_to_be_typed_next_shows_texts(
    given: str, tmp_path: Path
) -> None:
    """Of simulated turns, and of a log that is none of ours."""
    out = tmp_path / "out"
    log = Path(__file__).parents[1] / "data" / "formats" / "openai.jsonl"
    chosen = ["--seconds", "8"] if given == "simulated" else ["--seconds", "4", "--file", str(log)]
    env = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
    env["TURNSIGNAL_METRICS_PORT"] = "0"  # another test's demo may run beside
    command = [sys.executable, "-m", "turnsignal.agents.cli"]
    done = subprocess.run(
        [*command, "demo", "--mock", "--directory", str(out), *chosen], env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "to be started again" not in done.stderr
    assert "turns, " in done.stdout
    assert f"Rows, summary and worst exchanges: {out}" in done.stdout
    shown = [line for line in done.stdout.splitlines() if line.startswith("Next: turnsignal conversation")]
    typed = shown[0].partition("  #")[0].split()[2:] if shown else ["conversation", "c1", "--from", str(out)]
    assert len(shown) == (given == "simulated")  # of the other nothing is bad
    assert "assistant" in (told := subprocess.run([*command, *typed], env=env, capture_output=True, text=True)).stdout
    assert "not shown" not in told.stdout
