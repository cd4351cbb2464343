"""The process that users' Python checks run in: reads a request a line, writes what the function returned.

The script uses only the standard library of Python 3.9 or newer; agents.python_checks.host starts it in turnsignal's
Python or in the user's own. So it starts as fast as Python does, and holds nothing of ours (sockets, secrets, memory)
that a user's function could read.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

LONGEST_ANSWER = 16_000  #: bytes
GRACE = 1.0  #: seconds after its time limit until a call ends the process itself, because the worker may be gone


def main(group: str) -> None:
    """Answer each line [token, seconds, name, what] with [token, {"returned": …} or {"error": …}] until input ends.

    what: {"load": [family, target]} first, then {"response": …}. The worker accepts an answer only with the request's
    token, which no function can know in advance.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    _silence()
    # Import from the worker's working directory, as `python -m` does, and not from this script's directory.
    sys.path[0] = os.getcwd()
    functions: dict[str, Callable[[Any], object]] = {}
    for line in requests:
        token, seconds, name, what = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)
        if "load" in what:
            family, target = what["load"]
            answer = _load_into(functions, name, family, target, group)
        else:
            answer = run(functions[name], what["response"])
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.write(f'["{token}", {answer}]\n'.encode("ascii"))
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # also ends children of the functions, because no other process will


def load(family: str, target: str, group: str) -> Callable[[Any], object]:
    """Return the function at `package.module:function`, or that of an entry point; raises whatever goes wrong."""
    if family == "python.entry_point":
        # The Python is the user's, and may be older than ours.
        newer = sys.version_info >= (3, 10)
        offered = entry_points(group=group) if newer else entry_points().get(group, ())
        matching = [point for point in offered if point.name == target]
        if len(matching) != 1:
            names = ", ".join(sorted(point.name for point in offered)) or "none"
            msg = f"expected one entry point {target!r} in the group {group}, got {len(matching)}; there are: {names}"
            raise LookupError(msg)
        function = matching[0].load()
    else:
        module, _, path = target.partition(":")
        function = import_module(module)
        for part in path.split("."):
            function = getattr(function, part)
    if not callable(function):
        msg = f"expected a function, got {type(function).__name__}"
        raise TypeError(msg)
    return function  # type: ignore[no-any-return]


def run(function: Callable[[Any], object], response: dict[str, Any]) -> str:
    """Run a function; return {"returned": …} or {"error": reason} as JSON."""
    try:
        returned = function(response)
    except BaseException as error:
        return json.dumps({"error": f"raised {describe(error)}"})
    try:
        answer = json.dumps({"returned": returned})
    except BaseException:
        problem = f"returned a {type(returned).__name__}, where plain true, false or {{…}} is expected"
        return json.dumps({"error": problem})
    if len(answer) > LONGEST_ANSWER:
        return json.dumps({"error": f"returned {len(answer)} bytes, where at most {LONGEST_ANSWER} are expected"})
    return answer


def describe(error: BaseException) -> str:
    """Describe an error by its type and its message, if the message can be read, without control characters."""
    try:
        text = str(error)[:1000]
    except BaseException:
        text = "no words"
    line = f"{type(error).__name__}: {text}"
    return "".join(letter if letter.isprintable() else " " for letter in line)


def _load_into(functions: dict[str, Callable[[Any], object]], name: str, family: str, target: str, group: str) -> str:
    try:
        functions[name] = load(family, target, group)
    except BaseException as error:
        return json.dumps({"error": describe(error)})
    return json.dumps({"returned": True})


def _silence() -> None:
    """Connect print, warnings and input() of the functions to /dev/null, away from our pipes and the terminal."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)


if __name__ == "__main__":
    main(sys.argv[1])
