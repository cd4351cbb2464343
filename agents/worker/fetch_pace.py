"""Fetch pace: where a fetch brought few records, the next ones gather at the broker before they are asked for.

A consumer that asks again at once fetches record by record at the rates that people type, and a fetch costs more than
the record that it brings. What comes after a silence is fetched at once, and a backlog as fast as it can be.
"""

from collections.abc import Iterable

#: Records in one fetch from which on more of them are likely to wait.
_MANY = 100


class FetchPace:
    """When the next fetch of each broker may be sent.

    rest: seconds from one fetch that is answered at once to the next; 0 is none.
    """

    def __init__(self, rest: float) -> None:
        self._rest = rest
        self._sent: dict[int, float] = {}
        self._offsets: dict[tuple[str, int], int] = {}

    def pause(self, node: int, topics: Iterable[tuple[str, Iterable[tuple[int, int, int]]]], now: float) -> float:
        """Return for how many seconds a fetch waits, and take it as sent after that.

        node: the broker's id; topics: of the request, with (partition, offset, bytes); now: monotonic seconds.
        """
        brought = 0
        for topic, partitions in topics:
            for partition, offset, _ in partitions:
                brought += offset - self._offsets.get((topic, partition), offset)
                self._offsets[topic, partition] = offset
        due = self._sent.get(node, now - self._rest) + self._rest
        pause = max(0.0, due - now) if 0 < brought < _MANY else 0.0
        self._sent[node] = now + pause
        return pause
