"""Host: run users' Python checks in a separate process, within a time limit.

Such a check may raise, hang, print, crash or use up its memory: its result is `error`, counted, and nothing else stops.
Without Python checks in the suite, no process is started.
"""

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from statistics import median
from time import monotonic
from typing import IO, Any, NamedTuple, cast

from turnsignal.agents.process import confining
from turnsignal.agents.process.confining import keep_private
from turnsignal.stream.checks.protocol import CheckResult, Result
from turnsignal.stream.checks.python import GROUP, Hosted, errored, plain, read_returned
from turnsignal.stream.checks.time_quota import SHARE, CheckQuota
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.records.turns import Document
from turnsignal.stream.suite import Suite
from turnsignal.stream.text.visible import one_line

OLDEST = (3, 9)  #: the oldest Python that process.py can run in
START = 30.0  #: seconds for Python to start and load all functions
LONG = 0.5  #: share of the time limit: a longer call is charged, because a busier machine would overrun the limit

TRIES = 20  #: calls over which a cost is measured

#: the environment variables that users' functions see; a list of allowed names, because any other may hold a secret
VARIABLES = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "TMPDIR", "TZ", "VIRTUAL_ENV"}
)

_SCRIPT = Path(__file__).with_name("process.py")
_CONFINED = [sys.executable, "-I", "-S", str(Path(confining.__file__))]
_LONGEST = 65_536  #: bytes of one answer
_STRAY = "wrote into a pipe that is not its own and was killed"
_REFUSAL = (
    "is not asked: calls that ended the process or took more than half of their time have used its part of the"
    f" {SHARE:.0%} of the last minute that all Python checks share"
)


class ProcessLostError(Exception):
    """The process can no longer be used: it has overrun its time, or ended."""


class StrayLineError(ProcessLostError):
    """The process wrote a line that does not answer the request."""


class CheckProcess:
    """A process with the functions of some checks; a `stream.checks.python.Runner`.

    It handles one response at a time. A process that overruns its time, ends or writes out of turn is killed together
    with its children and replaced; a quota bounds the total cost of this for all checks. The process ends when
    the worker closes its pipes. The checks of a suite share the process and could change one another's functions, which
    is acceptable because a suite has one author.

    python: the interpreter to run in; clock: seconds that never go back, for the quota.
    """

    def __init__(
        self, checks: Sequence[Hosted], python: str = sys.executable, clock: Callable[[], float] = monotonic
    ) -> None:
        self._targets = [[check.name, check.inner.family, check.inner.target] for check in checks]
        self._python, self._clock = python, clock
        self._quota = CheckQuota(check.name for check in checks)
        self._broken: dict[str, str] = {}
        self._loaded = False
        self._asked: set[str] = set()  # in this process
        self._suspects: set[str] = set()  # checks charged with loading it, because they may have ended the last one
        self._got = b""  # read from the pipe and not yet parsed
        self._process = self._start()

    def load(self) -> dict[str, str]:
        """Wait until the functions are loaded; return name → error for each function that could not be loaded.

        Raises ProcessLostError, naming the function, if the process ends while loading it.
        """
        if self._loaded:
            return self._broken
        self._broken = {}
        deadline = monotonic() + START
        for name, family, target in self._targets:
            try:
                answer = self._exchange(name, {"load": [family, target]}, START, deadline)
            except (ProcessLostError, TimeoutError) as lost:
                msg = f"loading {target} {lost or f'took longer than {START:g} s'}"
                raise ProcessLostError(msg) from None
            if "error" in answer:
                self._broken[name] = one_line(str(answer["error"]))
        self._loaded = True
        return self._broken

    def __call__(self, check: Hosted, response: Response) -> CheckResult:
        """Run one check on one response; a result of `error` gives the reason if there is no answer."""
        name, target = check.name, check.inner.target
        began = self._clock()
        if self._quota.is_exhausted(name, began):
            return errored(f"{target} {_REFUSAL}")
        try:
            self._make_ready(began)
            began = self._clock()
            asked, answer = self._ask_surely(check, response, began)
        except ProcessLostError as lost:
            self._replace({name}, began)
            return errored(f"{target}: {lost}")
        now = self._clock()
        if now - asked > LONG * check.timeout:
            self._quota.charge(name, now, now - asked)
        if "error" in answer:
            return errored(f"{target} {one_line(str(answer['error']))}")
        return read_returned(answer.get("returned"), len(response.text))

    def close(self) -> None:
        """End the process."""
        self._kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                cast("IO[bytes]", pipe).close()

    def _ask_surely(self, check: Hosted, response: Response, began: float) -> tuple[float, dict[str, Any]]:
        """Run the check so that a ProcessLostError is its own fault; return the start time and the answer.

        Any function that has run in the process may have written a stray line. So before charging a check, run this one
        again, alone in a new process: if it answers, one of the others wrote the line.
        """
        try:
            return began, self._ask(check, response)
        except StrayLineError:
            others = self._asked - {check.name}
            if not others:
                raise
        self._replace(set(), began)
        self._make_ready(began)
        asked = self._clock()
        answer = self._ask(check, response)
        self._charge(others, began)
        return asked, answer

    def _make_ready(self, now: float) -> None:
        """Make sure that the process has loaded its functions and waits for a request."""
        if self._loaded and self._is_spoilt():
            self._replace(set(self._asked), now)
            now = self._clock()
        if not self._loaded:
            self.load()
            self._charge(self._suspects, now)

    def _ask(self, check: Hosted, response: Response) -> dict[str, Any]:
        broken = self._broken.get(check.name)
        if broken is not None:
            return {"error": f"could not be loaded: {broken}"}
        self._asked.add(check.name)
        try:
            return self._exchange(check.name, {"response": plain(response)}, check.timeout, monotonic() + check.timeout)
        except TimeoutError:
            msg = f"overran its time of {check.timeout * 1000:g} ms and was killed"
            raise ProcessLostError(msg) from None

    def _exchange(self, name: str, what: dict[str, Any], seconds: float, deadline: float) -> dict[str, Any]:
        """Write a request with a token that cannot be guessed, and read the line that repeats it."""
        token = token_hex(8)
        self._write(_line([token, seconds, name, what]), deadline)
        match self._read(deadline):
            case [echoed, dict(answer)] if echoed == token and not self._got:
                return answer
        raise StrayLineError(_STRAY)

    def _is_spoilt(self) -> bool:
        """Return whether the process has written anything, or ended, since its last answer."""
        try:
            os.read(cast("IO[bytes]", self._process.stdout).fileno(), 1)
        except BlockingIOError:
            return bool(self._got)
        return True

    def _charge(self, names: Collection[str], since: float) -> None:
        """Charge each check with an equal part of the time since then, because any of them may be the cause."""
        now = self._clock()
        for name in names:
            self._quota.charge(name, now, (now - since) / len(names))

    def _replace(self, suspects: set[str], since: float) -> None:
        """Start a new process, and charge the suspects with its start and the time since then."""
        self.close()
        self._loaded, self._got, self._asked, self._suspects = False, b"", set(), suspects
        self._process = self._start()
        self._charge(suspects, since)

    def _kill(self) -> int:
        """Kill the process and its children; return its exit code, also if it had already ended."""
        if self._process.returncode is None:  # not yet reaped, so the process id cannot have been reused
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        return self._process.wait()

    def _start(self) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [*_CONFINED, self._python, str(_SCRIPT), GROUP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            start_new_session=True,  # not inherited: the terminal and its Ctrl-C
            bufsize=0,
        )
        for pipe in (process.stdin, process.stdout):
            os.set_blocking(cast("IO[bytes]", pipe).fileno(), False)
        return process

    def _write(self, data: bytes, deadline: float) -> None:
        pipe, left = cast("IO[bytes]", self._process.stdin).fileno(), memoryview(data)
        while left:
            try:
                left = left[os.write(pipe, left) :]
            except BlockingIOError:
                _wait(pipe, select.POLLOUT, deadline)
            except BrokenPipeError:
                raise self._ended() from None

    def _read(self, deadline: float) -> Any:
        pipe = cast("IO[bytes]", self._process.stdout).fileno()
        while b"\n" not in self._got:
            _wait(pipe, select.POLLIN, deadline)
            piece = os.read(pipe, _LONGEST)
            if not piece:
                raise self._ended()
            self._got += piece
            if len(self._got) > _LONGEST:
                raise StrayLineError(_STRAY)
        line, _, self._got = self._got.partition(b"\n")
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            raise StrayLineError(_STRAY) from None

    def _ended(self) -> ProcessLostError:
        code = self._kill()
        return ProcessLostError(
            f"ended its process by {signal.Signals(-code).name}" if code < 0 else f"ended its process with {code}"
        )


@contextmanager
def hosted(suite: Suite) -> Iterator[Suite]:
    """Yield the suite with a process for its Python checks; the suite itself if it has none.

    With Python checks, other processes of this user can no longer read our environment or memory. Raises ConfigError
    that names a wrong interpreter, or the check whose function cannot be loaded, and why.
    """
    checks = [check for _, check in suite.parsed_checks if isinstance(check, Hosted)]
    if not checks:
        yield suite
        return
    keep_private()
    python = suite.python or sys.executable
    if suite.python is not None:
        _refuse_wrong_python(suite.python)
    process = CheckProcess(checks, python)
    try:
        _refuse_broken(process, python)
        yield suite.run_by(process)
    finally:
        process.close()


class CheckTrial(NamedTuple):
    """A Python check that was called on an example: the cost of a call, or what went wrong."""

    line: str
    failed: bool


def try_checks(suite: Suite) -> list[CheckTrial]:
    """Call each Python check on an example."""
    read = citation_reader()
    documents = [Document(doc_id=f"doc_{number}", title="Settings") for number in range(1, 9)]
    example = Response("Open Settings and choose Security [doc_1]. " * 25, documents, read, "web")
    return [_try(check, example) for _, check in suite.parsed_checks if isinstance(check, Hosted)]


def _try(check: Hosted, example: Response) -> CheckTrial:
    spent = []
    for _ in range(TRIES):
        begin = monotonic()
        finding = check.check(example)
        if finding.result is Result.ERROR:
            return CheckTrial(f"{check.name}: on an example: {finding.explanation}", failed=True)
        spent.append(monotonic() - begin)
    return CheckTrial(f"{check.name}: {describe_cost(median(spent), len(example.text), check.timeout)}", failed=False)


def describe_cost(seconds: float, characters: int, timeout: float) -> str:
    """Describe the cost of a call, with advice if it takes more than half of its time limit."""
    cost = f"{seconds * 1e6:,.0f} µs a call on an example of {characters:,} characters"
    if seconds <= LONG * timeout:
        return cost
    return (
        f"{cost}; more than half of its time of {timeout * 1000:g} ms, so that it is asked for {SHARE:.0%} of a minute"
        " at most: raise timeout"
    )


def _refuse_wrong_python(python: str) -> None:
    """Run the interpreter once, confined, to check that the path is a Python of a sufficient version."""
    got = "nothing there" if not os.path.lexists(python) else "no file that can be executed"
    if os.path.isfile(python) and os.access(python, os.X_OK):
        question = "import sys; print('%d %d' % sys.version_info[:2])"  # in words that any Python understands
        try:
            done = subprocess.run(
                [*_CONFINED, python, "-E", "-S", "-c", question],
                check=False,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                env=_environment(),
                timeout=START,
            )
        except subprocess.TimeoutExpired:
            got = f"a program that says nothing for {START:g} s"
        else:
            version = re.fullmatch(rb"(\d+) (\d+)\s*", done.stdout)
            if version and (int(version[1]), int(version[2])) >= OLDEST:
                return
            last = (
                done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"it ended with {done.returncode}"]
            )[-1]
            got = (
                f"Python {int(version[1])}.{int(version[2])}"
                if version
                else f"a program that is none: {one_line(last)}"
            )
    msg = f"python: expected a Python of {'.'.join(map(str, OLDEST))} or newer at {python}, got {got}"
    raise ConfigError(msg)


def _refuse_broken(process: CheckProcess, python: str) -> None:
    try:
        broken = process.load()
    except ProcessLostError as lost:
        msg = f"checks: expected functions that can be loaded; {lost}"
        raise ConfigError(msg) from None
    for name, reason in broken.items():
        msg = (
            f"checks: {name}: expected a function that can be loaded, got {reason};"
            f" looked in {Path.cwd()}, PYTHONPATH and what is installed for {python}"
        )
        raise ConfigError(msg)


def _environment() -> dict[str, str]:
    variables = {name: value for name, value in os.environ.items() if name in VARIABLES or name.startswith("LC_")}
    # A fixed hash seed, so that the order of sets is the same live and in a replay.
    return variables | {"PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8:backslashreplace"}


def _line(value: object) -> bytes:
    return json.dumps(value).encode("ascii") + b"\n"


def _wait(pipe: int, what: int, deadline: float) -> None:
    poll = select.poll()
    poll.register(pipe, what)
    if not poll.poll(max(0.0, deadline - monotonic()) * 1000):
        raise TimeoutError
