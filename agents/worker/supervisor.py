"""The supervisor: keeps worker processes at work, one per app, started again whenever they end or stand still.

A worker shows signs of life only while its work goes on, so one that hangs in an await and one that hangs on the CPU
look alike from here: silent. Both are killed and started again; what they had not committed does not exist.
"""

import contextlib
import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from turnsignal.agents.app_table import environment_of
from turnsignal.agents.process.confining import keep_private
from turnsignal.agents.process.exits import EXIT_REFUSED

logger = logging.getLogger("turnsignal.supervisor")

#: Tells a worker which file descriptor to show signs of life on; not TURNSIGNAL_…, which are settings of the user's.
SUPERVISOR_PIPE = "_TURNSIGNAL_SUPERVISOR_PIPE"
#: Names a worker to its consumer group: one that is started again within the session timeout goes on as the same
#: member, and nothing is dealt out anew.
INSTANCE = "_TURNSIGNAL_INSTANCE"

#: Tells a worker that one before it has worked under the same settings: what refuses its start then may pass.
WORKED = "_TURNSIGNAL_WORKED"

ALIVE, MOVED = b".", b"+"  #: signs of life of a worker, the second one when it has committed something

REMIND_SECONDS = 300.0  #: between lines that say again which worker refused
START_SECONDS = 120.0  #: a process may take this long to show its first sign of life
BACK_OFF = (0.1, 0.5, 1.0, 2.0, 5.0)  #: seconds before starting again, the longer the oftener it ended young
#: Index of the longest of them after a process that had committed something, as the next one begins further on or more
#: carefully, and after one that was killed from outside, as waiting does not keep whoever did it from doing it again.
SOON = 1
YOUNG = 30.0  #: seconds; who lives longer has recovered, and the next start is quick again
STOP_SECONDS = 30.0  #: time to finish after SIGTERM


@dataclass(slots=True)
class Worker:
    """One worker process.

    last_sign: of life (monotonic clock); failures: how often in a row it ended young; due: when it is to be started
    again, or its refusal to be said again; refused: when it said that an operator is needed, 0 for never; worked:
    whether any process of it ever showed life; moved: whether this one has committed something; killed: whether it was
    for its silence, and has yet to end.
    """

    app: str
    process: subprocess.Popen[bytes] | None = None
    pipe: int = -1
    started: float = 0.0
    last_sign: float = 0.0
    alive: bool = False
    failures: int = 0
    due: float = 0.0
    refused: float = 0.0
    worked: bool = False
    moved: bool = False
    killed: bool = False


class Supervisor:
    """Run `turnsignal worker APP` processes until told to stop.

    A worker that refuses to start needs an operator: it is not started again, and the others go on without it.

    commands: app → command; stall: seconds of silence after which a process is killed; log: where the processes write,
    None is this one's own standard error; remind: seconds between lines that say again which worker refused.
    """

    def __init__(
        self,
        commands: Mapping[str, Sequence[str]],
        stall: float,
        env: Mapping[str, str] | None = None,
        log: IO[bytes] | None = None,
        remind: float = REMIND_SECONDS,
    ) -> None:
        self._commands = commands
        self._stall = stall
        self._log = log
        self._remind = remind
        self._env = dict(os.environ if env is None else env)
        self._workers = [Worker(app) for app in commands]
        self._instance = uuid.uuid4().hex
        self._stopping = 0.0
        self._exit = 0

    def run(self) -> int:
        """Supervise until SIGTERM or SIGINT (in a thread: `stop`), or all have refused; return the exit code."""
        keep_private()  # it has the secrets of all workers in its environment, and needs no debugger
        if threading.current_thread() is threading.main_thread():
            for sign in (signal.SIGTERM, signal.SIGINT):
                signal.signal(sign, lambda *_: self.stop())
        while True:
            now = time.monotonic()
            for worker in self._workers:
                self._watch_worker(worker, now)
            if all(worker.process is None and (self._stopping or worker.refused) for worker in self._workers):
                return self._exit
            self._listen(0.2)

    @property
    def refused(self) -> list[str]:
        """The apps that wait for an operator."""
        return [worker.app for worker in self._workers if worker.refused]

    def stop(self) -> None:
        """Ask every process to finish."""
        if not self._stopping:
            self._stopping = time.monotonic()
            logger.info("stopping; workers have %.0f s to finish", STOP_SECONDS)
            for worker in self._workers:
                if worker.process is not None:
                    worker.process.terminate()

    def _watch_worker(self, worker: Worker, now: float) -> None:
        process = worker.process
        if process is None:
            if not self._stopping and now >= worker.due:
                if worker.refused:
                    self._log_refusal(worker, now)
                else:
                    self._start(worker, now)
            return
        code = process.poll()
        if code is not None:
            self._ended(worker, code, now)
        elif not worker.killed and now - worker.last_sign > self._patience(worker):
            logger.error(
                "worker %s (pid %d) is silent for %.0f s: killed", worker.app, process.pid, now - worker.last_sign
            )
            process.kill()
            worker.killed = True
        elif self._stopping and now - self._stopping > STOP_SECONDS:
            process.kill()

    def _patience(self, worker: Worker) -> float:
        return self._stall if worker.alive else max(self._stall, START_SECONDS)

    def _start(self, worker: Worker, now: float) -> None:
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        own = {SUPERVISOR_PIPE: str(writing), INSTANCE: f"{worker.app}-{self._instance}"}
        env = environment_of(worker.app, self._env) | own
        if worker.worked:
            env[WORKED] = "yes"
        worker.process = subprocess.Popen(
            self._commands[worker.app],
            env=env,
            pass_fds=(writing,),
            stdin=subprocess.DEVNULL,
            stdout=self._log or subprocess.DEVNULL,  # Faust's spinner; what is worth reading goes to the log
            stderr=self._log,
            start_new_session=True,  # Ctrl-C is for the supervisor, which asks them to finish
        )
        os.close(writing)
        worker.pipe, worker.started, worker.last_sign, worker.alive, worker.moved = reading, now, now, False, False
        worker.killed = False
        logger.info("worker %s started, pid %d", worker.app, worker.process.pid)

    def _ended(self, worker: Worker, code: int, now: float) -> None:
        with contextlib.suppress(BlockingIOError):
            worker.moved |= MOVED in os.read(worker.pipe, 4096)
        os.close(worker.pipe)
        worker.process = None
        if self._stopping:
            logger.info("worker %s ended with %d", worker.app, code)
            self._exit = self._exit or (0 if code in (0, -signal.SIGTERM, -signal.SIGKILL) else code)
            return
        if code == EXIT_REFUSED:
            self._exit = EXIT_REFUSED
            worker.refused = now
            self._log_refusal(worker, now)
            return
        worker.failures = worker.failures + 1 if now - worker.started < YOUNG else 0
        soon = worker.moved or code == -signal.SIGKILL
        pause = BACK_OFF[min(worker.failures, SOON if soon else len(BACK_OFF) - 1)]
        worker.due = now + pause
        logger.warning("worker %s ended with %d, to be started again in %.1f s", worker.app, code, pause)

    def _log_refusal(self, worker: Worker, now: float) -> None:
        others = ", ".join(other.app for other in self._workers if not other.refused)
        logger.error(
            "worker %s refused to go on %.0f s ago and is not started again: mend what its last line names, then"
            " restart; still at work: %s",
            worker.app,
            now - worker.refused,
            others or "none",
        )
        worker.due = now + self._remind

    def _listen(self, seconds: float) -> None:
        """Take in signs of life."""
        pipes = {worker.pipe: worker for worker in self._workers if worker.process is not None}
        readable, _, _ = select.select(list(pipes), [], [], seconds) if pipes else ([], [], [])
        if not pipes:
            time.sleep(seconds)
        for pipe in readable:
            if signs := os.read(pipe, 4096):
                pipes[pipe].moved |= MOVED in signs
                pipes[pipe].last_sign, pipes[pipe].alive, pipes[pipe].worked = time.monotonic(), True, True
            else:
                time.sleep(0.05)  # its end is closed: it is about to end


def worker_command(app: str) -> list[str]:
    """Return the command of one worker process; like `turnsignal` itself, it imports nothing from where it is run."""
    return [sys.executable, "-P", "-m", "turnsignal.agents.cli", "worker", app, "--no-supervisor"]
