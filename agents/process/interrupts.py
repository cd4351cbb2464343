"""Interrupts: Ctrl-C, SIGTERM and a terminal that is closed end a command only where that leaves nothing behind.

A KeyboardInterrupt between the start of a process and the `finally` that ends it would leave the process running. So a
signal is held back and raised only within blocks that allow it.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Self

from turnsignal.agents.process.exits import EXIT_HUNG_UP, EXIT_TERMINATED

_ENDING = {signal.SIGTERM: EXIT_TERMINATED, signal.SIGHUP: EXIT_HUNG_UP}


class Terminated(KeyboardInterrupt):
    """A signal came that is not Ctrl-C: end as with that, but for the exit code."""

    def __init__(self, exit_code: int) -> None:
        super().__init__()
        self.exit_code = exit_code


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Raise Terminated on SIGTERM and SIGHUP inside a block, so that what it would leave behind goes as with Ctrl-C.

    One that the program was started to ignore, or that somebody else handles, stays as it is.
    """
    is_main = threading.current_thread() is threading.main_thread()
    taken = [sign for sign in _ENDING if is_main and signal.getsignal(sign) == signal.SIG_DFL]
    for sign in taken:
        signal.signal(sign, _terminate)
    try:
        yield
    finally:
        for sign in taken:
            signal.signal(sign, signal.SIG_DFL)


def _terminate(sign: int, _: FrameType | None) -> None:
    signal.signal(sign, signal.SIG_IGN)  # another one does not interrupt the cleanup
    raise Terminated(_ENDING[signal.Signals(sign)])


class Interrupts:
    """Hold Ctrl-C and SIGTERM back inside a `with` block, except within `let`.

    sign: the first signal received, 0 for none; later signals are ignored, so that they do not interrupt the cleanup.
    """

    def __init__(self) -> None:
        self.sign = 0
        self._letting = False
        self._before: dict[int, Any] = {}

    @property
    def exit_code(self) -> int:
        """The exit code that shells give a program that a signal ended: 130 for Ctrl-C, 143 for SIGTERM."""
        return 128 + self.sign if self.sign else 0

    @contextmanager
    def let(self) -> Iterator[None]:
        """Raise KeyboardInterrupt inside this block on a signal, at once if one has already been received."""
        if self.sign:
            raise KeyboardInterrupt
        self._letting = True
        try:
            yield
        finally:
            self._letting = False

    def _on_signal(self, sign: int, _: FrameType | None) -> None:
        first, self.sign = not self.sign, self.sign or sign
        if first and self._letting:
            raise KeyboardInterrupt

    def __enter__(self) -> Self:
        for sign in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(sign) is not signal.SIG_IGN:  # a shell's background job leaves Ctrl-C to others
                self._before[sign] = signal.signal(sign, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for sign, handler in self._before.items():
            signal.signal(sign, handler)
