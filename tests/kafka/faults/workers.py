"""Worker processes of a fault run: started, killed and stopped from outside, as an operator or a kernel would."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from agents.settings import Settings

ROOT = Path(__file__).resolve().parents[3]


class FaultyWorker:
    """One `turnsignal worker`: a supervisor and its child, with a log.

    mischief: what the child does on SIGHUP (`tests.kafka.faults.worker`).
    """

    def __init__(self, name: str, settings: Settings, directory: Path, mischief: str = "") -> None:
        self.name = name
        self.log = directory / f"{name}.log"
        self._settings = settings
        self._directory = directory
        self._mischief = mischief
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, again if need be."""
        variables = {f"TURNSIGNAL_{name.upper()}": str(value) for name, value in _told(self._settings).items()}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
        env = {**kept, **variables, "FAULTS_MISCHIEF": self._mischief, "TMPDIR": str(self._directory)}
        env["PYTHONPATH"] = str(ROOT)
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", "tests.kafka.faults.worker"]
            self._process = subprocess.Popen(command, env=env, cwd=ROOT, stdout=log, stderr=log)

    @property
    def running(self) -> bool:
        """Whether the supervisor runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def working(self) -> bool:
        """Whether it ever had partitions, by its own word."""
        return "working on" in self.log_text()

    @property
    def child(self) -> int | None:
        """The process id of the child, None while there is none."""
        if self._process is None or not self.running:
            return None
        found = subprocess.run(
            ["pgrep", "-P", str(self._process.pid)], capture_output=True, text=True, check=False
        ).stdout.split()
        return int(found[0]) if found else None

    def send(self, sign: signal.Signals) -> bool:
        """Send a signal to the child; False when there is none."""
        child = self.child
        if child is None:
            return False
        try:
            os.kill(child, sign)
        except ProcessLookupError:
            return False
        return True

    def kill(self) -> None:
        """Kill the supervisor and its child, as the death of a machine does."""
        child = self.child
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if child is not None:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                return

    def terminate(self) -> None:
        """Ask it to finish (SIGTERM to the supervisor)."""
        if self._process is not None and self.running:
            self._process.terminate()

    def join(self, timeout: float = 60.0) -> int | None:
        """Wait until it has ended, kill it when it does not; return its exit code."""
        if self._process is None:
            return None
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGCONT)
            self.kill()
            return None

    def log_text(self) -> str:
        """Return what it said."""
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""


def _told(settings: Settings) -> dict[str, object]:
    """Return the settings that differ from their defaults, as they are told to a process."""
    return settings.model_dump(exclude_defaults=True, exclude_none=True)
