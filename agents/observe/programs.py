"""Programs: what is installed here of Prometheus, Alertmanager, Grafana and Docker, and how to install the rest."""

import platform
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from turnsignal.agents.process.loopback import open_page

READY_SECONDS = 30.0  #: for a program to answer
STOP_SECONDS = 15.0  #: to end after SIGTERM, before SIGKILL
ENGINE_SECONDS = 10.0  #: for a Docker engine to answer

#: what it is → the names that its program has; Debian calls Alertmanager by the first
NAMES = {
    "prometheus": ("prometheus",),
    "alertmanager": ("prometheus-alertmanager", "alertmanager"),
    "grafana": ("grafana", "grafana-server"),
}
#: package manager → how it installs what it has; Grafana has a repository of its own
_INSTALL = {
    "apt-get": "sudo apt-get install prometheus prometheus-alertmanager",
    "brew": "brew install prometheus alertmanager grafana",
    "pacman": "sudo pacman -S prometheus alertmanager grafana",
    "apk": "sudo apk add prometheus alertmanager grafana",
}
_ELSEWHERE = "https://prometheus.io/download"

Which = Callable[[str], str | None]


def find_programs(which: Which = shutil.which) -> dict[str, str]:
    """Return what is on the PATH: name → program."""
    paths = {name: next(filter(None, map(which, names)), None) for name, names in NAMES.items()}
    return {name: path for name, path in paths.items() if path is not None}


def engine_answers(which: Which = shutil.which) -> bool:
    """Say whether a Docker engine with compose answers on this machine."""
    docker = which("docker")
    if docker is None:
        return False
    for command in (["compose", "version"], ["info"]):
        try:
            done = subprocess.run([docker, *command], capture_output=True, timeout=ENGINE_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        if done.returncode:
            return False
    return True


def install_line(which: Which = shutil.which) -> str:
    """Say how Prometheus and Alertmanager are installed on this system."""
    line = next((line for manager, line in _INSTALL.items() if which(manager)), None)
    return line or f"{_ELSEWHERE} ({platform.system()}), and put the programs on the PATH"


class Program(NamedTuple):
    """One program to be started.

    name: for people; url: where it is looked at; probe: what answers 200 when it is ready; log: where it writes;
    variables: of its environment, beside ours; patience: seconds that it may take to answer.
    """

    name: str
    command: Sequence[str]
    url: str
    probe: str
    log: Path
    variables: Mapping[str, str]
    patience: float = READY_SECONDS


class Running:
    """A program that was started, in a session of its own: Ctrl-C in the terminal is for whoever started it."""

    def __init__(self, program: Program, env: Mapping[str, str]) -> None:
        self.program = program
        program.log.parent.mkdir(parents=True, exist_ok=True)
        with program.log.open("wb") as log:
            self._process = subprocess.Popen(
                program.command,
                env={**env, **program.variables},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def ended(self) -> int | None:
        """Its exit code, None while it runs."""
        return self._process.poll()

    def await_ready(self) -> bool:
        """Wait until it answers; say whether it does."""
        until = time.monotonic() + self.program.patience
        while time.monotonic() < until and self.ended is None:
            try:
                with open_page(self.program.probe, timeout=2.0) as answer:
                    if answer.status == 200:
                        return True
            except OSError:
                pass
            time.sleep(0.1)
        return False

    def last_words(self) -> str:
        """Return the last line of its log."""
        lines = self.program.log.read_text("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "nothing"

    def ask_to_end(self) -> None:
        """Ask it to end."""
        if self.ended is None:
            self._process.terminate()

    def end(self) -> None:
        """Wait until it has ended; kill it when it takes too long."""
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
