"""Recent rows: the score rows that this worker committed last, which say of each score why.

A conversation's state has its means, not its rows. These are kept in memory alone, as they were written, so that taking
a batch in costs next to nothing; whoever wants to read one searches for it.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import orjson

from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.records.wire import SCORES

MAX_ROWS = 4_000  #: about 8 MB


class RecentRows:
    """The last score rows, batch by batch; those of a conversation that was forgotten since are not shown."""

    def __init__(self, limit: int = MAX_ROWS) -> None:
        self._limit = limit
        self._count = 0
        #: key and value of each row, and the conversations that were forgotten at the end of the batch
        self._batches: deque[tuple[list[tuple[bytes | None, bytes | None]], frozenset[bytes]]] = deque()

    def update(self, batch: BatchResult) -> None:
        """Keep the rows of a committed batch; the oldest ones leave."""
        rows = [(output.key, output.value) for output in batch.outputs if output.topic == SCORES][-self._limit :]
        forgotten = frozenset([key for key, value in batch.changes.items() if value is None])
        if not rows and not forgotten:
            return
        self._batches.append((rows, forgotten))
        self._count += len(rows) + len(forgotten)
        while self._count > self._limit and len(self._batches) > 1:
            old_rows, old_forgotten = self._batches.popleft()
            self._count -= len(old_rows) + len(old_forgotten)

    def of(self, key: bytes) -> list[dict[str, Any]]:
        """Return the rows of a conversation, the oldest first, with `replaced` on those that a later row corrects."""
        rows: list[dict[str, Any]] = []
        for batch, forgotten in reversed(self._batches):
            if key in forgotten:
                break
            rows += [orjson.loads(value) for name, value in reversed(batch) if name == key and value is not None]
        replaced = {row.get("replaces") for row in rows}
        for row in rows:
            row["replaced"] = row["id"] in replaced or "replaced_by" in row
        return rows[::-1]

    def newest(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield key and value of every row of conversations that are not forgotten, the newest first."""
        gone: set[bytes] = set()
        for batch, forgotten in list(reversed(self._batches)):
            gone |= forgotten
            for key, value in reversed(batch):
                if key is not None and value is not None and key not in gone:
                    yield key, value
