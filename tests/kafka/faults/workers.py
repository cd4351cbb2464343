"""Worker processes of a fault run: the command that users start, killed and stopped from outside, as a kernel would."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from confluent_kafka import KafkaException
from pydantic import SecretStr

from turnsignal.agents.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
MODULE, OLD_MODULE = "turnsignal.agents.cli", "agents.cli"  #: the old one is that of `clusters.OLD`

NEWER = ("TURNSIGNAL_DRAIN_TIMEOUT",)  #: variables that it refuses, as it does not know them


class FaultyWorker:
    """One `turnsignal worker`: a supervisor and its children, with a log.

    app: score, watch or all; tree: the checkout that it runs from; env: more variables; memory: bytes of address space
    that each process may have.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        directory: Path,
        *,
        app: str = "score",
        tree: Path = ROOT,
        env: Mapping[str, str] | None = None,
        memory: int = 0,
    ) -> None:
        self.name = name
        self.app = app
        self.log = directory / f"{name}.log"
        self.tree = tree
        self.kills = 0  #: of children, by us
        self._settings = settings
        self._directory = directory
        self._env = dict(env or {})
        self._limit = ["prlimit", f"--as={memory}"] if memory else []
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, again if need be."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TURNSIGNAL_")}
        env = {**kept, **variables(self._settings), "TMPDIR": str(self._directory), "PYTHONPATH": str(self.tree)}
        is_old = self.tree != ROOT
        if is_old:
            for name in NEWER:
                env.pop(name, None)
        with self.log.open("ab") as log:
            module = OLD_MODULE if is_old else MODULE
            command = [*self._limit, sys.executable, "-m", module, "worker", self.app]
            self._process = subprocess.Popen(command, env=env | self._env, cwd=self.tree, stdout=log, stderr=log)

    @property
    def running(self) -> bool:
        """Whether the supervisor runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process id of the supervisor."""
        assert self._process is not None
        return self._process.pid

    @property
    def child(self) -> int | None:
        """The process id of the child that scores (or of the only one), None while there is none."""
        return self.child_of("score" if self.app == "all" else self.app)

    def child_of(self, app: str) -> int | None:
        """Return the process id of an app's child, None while there is none."""
        return next(iter(self._children(f"worker {app} ")), None)

    def _children(self, pattern: str = ".") -> list[int]:
        if not self.running:
            return []
        command = ["pgrep", "-P", str(self.pid), "-f", pattern]
        return [int(pid) for pid in subprocess.run(command, capture_output=True, check=False).stdout.split()]

    def send(self, sign: signal.Signals, app: str = "score") -> bool:
        """Send a signal to a child; False when there is none."""
        child = self.child_of(app)
        if child is None:
            return False
        try:
            os.kill(child, sign)
        except ProcessLookupError:
            return False
        self.kills += sign is signal.SIGKILL
        return True

    def kill(self) -> None:
        """Kill the supervisor and its children, as the death of a machine does."""
        children = self._children()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        for child in children:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue

    def terminate(self) -> None:
        """Ask it to finish (SIGTERM to the supervisor)."""
        if self._process is not None and self.running:
            self._process.terminate()

    def join(self, timeout: float = 120.0) -> int | None:
        """Wait until it has ended, kill it when it does not; return its exit code."""
        if self._process is None:
            return None
        try:
            return self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGCONT)
            self.kill()
            return None

    def log_text(self, since: int = 0) -> str:
        """Return what it said, from a byte on."""
        return self.log.read_bytes()[since:].decode(errors="replace") if self.log.exists() else ""

    @property
    def said(self) -> int:
        """Return the number of bytes that it has said."""
        return self.log.stat().st_size if self.log.exists() else 0

    @property
    def exits(self) -> int:
        """How often a child ended that nobody had killed."""
        return max(0, len(re.findall(r" ended with -?[1-9]", self.log_text())) - self.kills)


def variables(settings: Settings) -> dict[str, str]:
    """Give the settings that differ from their defaults, as they are told to a process, which may know no others."""
    defaults = Settings(brokers="no-such-host:1").model_dump()
    given = settings.model_dump(exclude_none=True)
    told = {name: value for name, value in given.items() if value != defaults[name]}
    shown = {
        name: value.get_secret_value() if isinstance(value, SecretStr) else str(value) for name, value in told.items()
    }
    return {f"TURNSIGNAL_{name.upper()}": value for name, value in shown.items()}


#: Limits are those of a machine that does nothing else; one that runs all tests at once takes several times as long.
_BUSY = 3.0


def wait(condition: Callable[[], bool], timeout: float, what: str, workers: list[FaultyWorker] | None = None) -> None:
    """Wait for a condition; a broker that is not there yet counts as not yet.

    It is looked for after a tenth more of what was waited already, at most half a second: to ask a broker once costs it
    as much as several transactions.
    """
    began, refusal = time.monotonic(), ""
    timeout *= _BUSY
    until = began + timeout
    while time.monotonic() < until:
        try:
            if condition():
                return
            refusal = ""
        except (KafkaException, TimeoutError) as error:
            refusal = f" ({error!r})"
        time.sleep(min(0.5, max(0.1, (time.monotonic() - began) / 10)))
    said = "".join(f"\n--- {worker.name}\n{worker.log_text()[-3000:]}" for worker in workers or [])
    msg = f"expected {what} within {timeout:.0f} s{refusal}{said}"
    raise TimeoutError(msg)
