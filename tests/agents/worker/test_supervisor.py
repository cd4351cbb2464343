"""The supervisor: processes that end or fall silent are started again; one that refuses leaves the others at work."""

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from turnsignal.agents.worker.supervisor import SUPERVISOR_PIPE, Supervisor, worker_command

FIRST_TIME = "import os, pathlib, sys, time; mark = pathlib.Path('started'); again = mark.exists(); mark.touch()\n"
ALIVE = f"os.write(int(os.environ['{SUPERVISOR_PIPE}']), b'.')\n"
REFUSING = [sys.executable, "-c", "import sys; sys.exit(2)"]
UNTIL_SPOKEN = "import pathlib, time\nwhile not pathlib.Path('spoken').exists(): time.sleep(0.02)\n"
SAY = "open('said', 'w').write({}); time.sleep(600)\n"


def run_until_said(tmp_path: Path, code: str, stall: float) -> tuple[str, int]:
    """Supervise `python -c code` in a directory until it writes to the FIFO `said`; return what, and the exit code."""
    os.mkfifo(tmp_path / "said")
    command = [sys.executable, "-c", f"import os; os.chdir({str(tmp_path)!r})\n{code}"]
    supervisor = Supervisor({"score": command}, stall)
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(supervisor.run()))
    thread.start()
    said = (tmp_path / "said").read_text()
    supervisor.stop()
    thread.join()
    return said, codes[0]


def test_a_process_that_ends_is_started_again(tmp_path: Path) -> None:
    code = FIRST_TIME + "if not again: sys.exit(70)\n" + SAY.format("'back'")
    assert run_until_said(tmp_path, code, 60.0) == ("back", 0)


@pytest.mark.slow
def test_a_process_that_commits_something_before_it_ends_is_not_kept_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    count = "import os, pathlib, sys; mark = pathlib.Path(f'{len(os.listdir())}'); mark.touch()\n"
    code = count + ALIVE.replace("b'.'", "b'+'") + "if len(os.listdir()) < 6: sys.exit(70)\n" + SAY.format("'back'")
    assert run_until_said(tmp_path, "import time\n" + code, 60.0) == ("back", 0)
    ends = [line for line in caplog.messages if "ended with 70" in line]
    assert ends == ["worker score ended with 70, to be started again in 0.5 s"] * 4


@pytest.mark.slow
def test_a_process_that_is_killed_again_and_again_is_not_kept_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    counting = (
        "import os, pathlib; tries = pathlib.Path('tries'); n = len(tries.read_text()) if tries.exists() else 0\n"
        "tries.write_text('x' * (n + 1))\nif n < 3: os.kill(os.getpid(), 9)\n"
    )
    code = "import time\n" + counting + SAY.format("'back'")
    assert run_until_said(tmp_path, code, 60.0) == ("back", 0)
    waits = [record.getMessage() for record in caplog.records if "to be started again" in record.getMessage()]
    assert waits == ["worker score ended with -9, to be started again in 0.5 s"] * 3


@pytest.mark.slow
def test_a_process_that_falls_silent_is_killed_and_started_again(tmp_path: Path) -> None:
    code = FIRST_TIME + ALIVE + "if not again: time.sleep(600)\n" + SAY.format("'back'")
    assert run_until_said(tmp_path, code, 0.5) == ("back", 0)


def test_a_process_has_a_session_of_its_own_so_that_ctrl_c_reaches_only_the_supervisor(tmp_path: Path) -> None:
    said, _ = run_until_said(tmp_path, FIRST_TIME + SAY.format("str(os.getsid(0))"), 60.0)
    assert int(said) != os.getsid(0)


@pytest.mark.parametrize(
    ("app", "own"), [("score", "EXEMPLAR_SECRET"), ("judge", "JUDGE_X_KEY"), ("watch", "NOTIFY_FILE")]
)
def test_a_process_holds_no_secret_that_another_app_alone_needs(tmp_path: Path, app: str, own: str) -> None:
    secrets = {
        f"TURNSIGNAL_{name}": "marker" for name in ("EXEMPLAR_SECRET", "JUDGE_X_KEY", "NOTIFY_FILE", "SASL_PASSWORD")
    }
    code = "import os, sys; print(*sorted(n for n, v in os.environ.items() if v == 'marker')); sys.exit(2)"
    with (tmp_path / "log").open("wb") as log:
        Supervisor({app: [sys.executable, "-c", code]}, 60.0, dict(os.environ) | secrets, log).run()
    assert (tmp_path / "log").read_text().split() == sorted([f"TURNSIGNAL_{own}", "TURNSIGNAL_SASL_PASSWORD"])


def run_a_refusal_beside(tmp_path: Path, code: str, remind: float) -> tuple[str, int]:
    """Supervise a process that refuses and `python -c code`, until the latter writes to `said`; return both's ends."""
    os.mkfifo(tmp_path / "said")
    other = [sys.executable, "-c", f"import os; os.chdir({str(tmp_path)!r})\n{code}"]
    supervisor = Supervisor({"score": other, "watch": REFUSING}, 60.0, remind=remind)
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(supervisor.run()))
    thread.start()
    said = (tmp_path / "said").read_text()
    supervisor.stop()
    thread.join()
    return said, codes[0]


def test_a_refusal_of_one_app_does_not_stop_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    # score waits until the supervisor has spoken of watch, which it can see only while it is left at work
    marker = tmp_path / "spoken"
    watching = threading.Thread(target=lambda: touch_when_said(caplog, "watch refused", marker))
    watching.start()
    said, code = run_a_refusal_beside(tmp_path, UNTIL_SPOKEN + SAY.format("'at work'"), remind=3600.0)
    watching.join()
    assert (said, code) == ("at work", 2)
    (line,) = [record.getMessage() for record in caplog.records if "refused" in record.getMessage()]
    assert line.endswith("still at work: score")


def touch_when_said(caplog: pytest.LogCaptureFixture, words: str, marker: Path, times: int = 1) -> None:
    while sum(words in record.getMessage() for record in list(caplog.records)) < times:
        time.sleep(0.02)
    marker.touch()


def test_a_refusal_is_said_again_until_an_operator_comes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", logger="turnsignal.supervisor")
    watching = threading.Thread(target=lambda: touch_when_said(caplog, "watch refused", tmp_path / "spoken", 3))
    watching.start()
    assert run_a_refusal_beside(tmp_path, UNTIL_SPOKEN + SAY.format("'said'"), remind=0.1) == ("said", 2)
    watching.join()
    assert sum("worker watch started" in record.getMessage() for record in caplog.records) == 1


def test_the_supervisor_ends_when_every_app_has_refused() -> None:
    assert Supervisor({"score": REFUSING, "watch": REFUSING}, 60.0).run() == 2


def test_what_processes_say_goes_to_the_log(tmp_path: Path) -> None:
    speaking = [sys.executable, "-c", "import sys; print('a word', file=sys.stderr); sys.exit(2)"]
    with (tmp_path / "log").open("wb") as log:
        Supervisor({"score": speaking}, 60.0, log=log).run()
    assert (tmp_path / "log").read_text() == "a word\n"


def test_a_worker_process_runs_without_a_supervisor_of_its_own() -> None:
    assert worker_command("watch")[1:] == ["-P", "-m", "turnsignal.agents.cli", "worker", "watch", "--no-supervisor"]
