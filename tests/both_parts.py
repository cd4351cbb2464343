"""Both parts: tests that need a broker beside those that need none, for the former mostly wait.

    python tests/both_parts.py [ARGS of pytest ...]

What needs no broker has the terminal; what the others say comes behind it. Ends with 1 where any test failed.
"""

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_BY_FILE = ("--dist", "loadfile")
_BROKER = ("-n", "2", *_BY_FILE, "-m", "kafka")  #: one broker for each process; a third starves them all
_OTHERS = ("-n", "auto", *_BY_FILE, "--no-loadscope-reorder", "-m", "not kafka")
_NONE = 5  #: how pytest ends where no test is of that kind


def main(arguments: list[str]) -> int:
    """Run both; return 1 where any test failed, else 0."""
    pytest = (sys.executable, "-m", "pytest")
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        beside = (*pytest, *_BROKER, *(arguments or ["tests/kafka"]))
        print("Tests on a broker run beside the others; what they say comes last.", flush=True)
        with (
            subprocess.Popen(beside, stdout=said, stderr=subprocess.STDOUT) as on_a_broker,
            subprocess.Popen((*pytest, *_OTHERS, *arguments)) as others,
            _left_to_end(on_a_broker, others),
        ):
            others.wait()
            on_a_broker.wait()
        said.seek(0)
        print(said.read(), flush=True)
    codes = {"without": others.returncode, "on": on_a_broker.returncode}
    for part, code in codes.items():
        if code == _NONE:
            print(f"None of these tests runs {part} a broker.")
    return int(any(code not in (0, _NONE) for code in codes.values()))


@contextmanager
def _left_to_end(*parts: subprocess.Popen[bytes]) -> Iterator[None]:
    """Let both parts end the brokers and workers that they started: Ctrl-C reaches them, SIGTERM is handed on."""

    def end(sign: int, _: FrameType | None) -> None:
        if sign == signal.SIGTERM:
            for part in parts:
                part.send_signal(signal.SIGINT)

    before = {sign: signal.signal(sign, end) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
