"""The supervisor: processes that end or fall silent are started again; a wrong setting and a stop end it all."""

import os
import sys
import threading
from pathlib import Path

from agents.supervisor import SUPERVISOR_PIPE, Supervisor, worker_command

FIRST_TIME = "import os, pathlib, sys, time; mark = pathlib.Path('started'); again = mark.exists(); mark.touch()\n"
ALIVE = f"os.write(int(os.environ['{SUPERVISOR_PIPE}']), b'.')\n"
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


def test_a_process_that_falls_silent_is_killed_and_started_again(tmp_path: Path) -> None:
    code = FIRST_TIME + ALIVE + "if not again: time.sleep(600)\n" + SAY.format("'back'")
    assert run_until_said(tmp_path, code, 0.5) == ("back", 0)


def test_a_process_has_a_session_of_its_own_so_that_ctrl_c_reaches_only_the_supervisor(tmp_path: Path) -> None:
    said, _ = run_until_said(tmp_path, FIRST_TIME + SAY.format("str(os.getsid(0))"), 60.0)
    assert int(said) != os.getsid(0)


def test_a_wrong_setting_ends_the_supervisor_and_its_other_processes() -> None:
    refusing = [sys.executable, "-c", "import sys; sys.exit(2)"]
    waiting = [sys.executable, "-c", "import time; time.sleep(600)"]
    assert Supervisor({"score": refusing, "watch": waiting}, 60.0).run() == 2


def test_what_processes_say_goes_to_the_log(tmp_path: Path) -> None:
    speaking = [sys.executable, "-c", "import sys; print('a word', file=sys.stderr); sys.exit(2)"]
    with (tmp_path / "log").open("wb") as log:
        Supervisor({"score": speaking}, 60.0, log=log).run()
    assert (tmp_path / "log").read_text() == "a word\n"


def test_a_worker_process_runs_without_a_supervisor_of_its_own() -> None:
    assert worker_command("watch")[1:] == ["-m", "agents.cli", "worker", "watch", "--no-supervisor"]
