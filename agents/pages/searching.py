"""Searching: everything that a worker keeps, walked through in slices, so that turns, probes and scrapes never wait."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, MutableMapping
from typing import Any, Protocol

SLICE, PAUSE = 0.001, 0.002  #: seconds of searching, and between two slices


class Pauses:
    """Pause after every slice of a search. clock: monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since = clock()

    async def pause_if_due(self) -> None:
        """Let others go on, if a slice has been worked through."""
        if self._clock() - self._since > SLICE:
            await asyncio.sleep(PAUSE)
            self._since = self._clock()


class Searchable(Protocol):
    """Who keeps the state of one partition."""

    store: MutableMapping[bytes, bytes]

    def describe(self, key: bytes) -> dict[str, Any] | None:
        """Spell out what is kept under a key."""
        ...


async def snapshots(processors: Iterable[Searchable]) -> AsyncIterator[tuple[Searchable, bytes, bytes]]:
    """Yield who keeps it, key and value of everything that is kept; batches are committed meanwhile."""
    pauses = Pauses()
    for processor in list(processors):
        store = processor.store
        for key in list(store):
            value = store.get(key)
            if value is not None:
                yield processor, key, value
            await pauses.pause_if_due()
