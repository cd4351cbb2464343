"""Allowance: what one batch may take before it ends with what is done, in seconds and in bytes that it writes.

Bytes count as much as time: whoever writes a batch has to do so within one transaction, and a short record may cause a
long one, as where the rest of a long text is written once more.
"""

import math
from collections.abc import Callable

from turnsignal.stream.conversations.clock import deadline

#: Seconds after which a batch ends with what is done. Short, because a worker answers its probes between two batches.
SECONDS = 0.5
#: Bytes of outputs and states after which it does: two or three times those of a full batch of ordinary turns.
BYTES = 16_000_000


class Allowance:
    """What is left for one batch.

    clock: tells seconds that never go backwards, without it nothing is limited.
    """

    __slots__ = ("_is_late", "_left")

    def __init__(self, clock: Callable[[], float] | None, seconds: float = SECONDS, most: int = BYTES) -> None:
        self._is_late = deadline(clock, seconds)
        self._left: float = most if clock else math.inf

    def write(self, size: int) -> None:
        """Take in that so many bytes are to be written."""
        self._left -= size

    def is_over(self, size: int = 0) -> bool:
        """Say whether the batch has taken what it may, with so many bytes more that are to be written."""
        self._left -= size
        return self._left <= 0 or self._is_late()
