"""Heaps: calls on disk, dealt by the name of their group, so that each group can be taken whole in bounded memory."""

from collections.abc import Iterator
from zlib import crc32

import msgspec

from turnsignal.agents.files.spool import Spool
from turnsignal.stream.formats.protocol import Call
from turnsignal.stream.formats.sequence import shows_no_frame

_HEAPS = 64  #: that calls are dealt into; the largest is held in memory


class Heaps:
    """Calls on disk, until the end of this context. of: heaps; one keeps the order in which calls were put."""

    def __init__(self, of: int = _HEAPS) -> None:
        decoder = msgspec.msgpack.Decoder(tuple[str, Call])
        self._spools = [Spool(decoder) for _ in range(of)]

    def __enter__(self) -> "Heaps":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of everything."""
        for spool in self._spools:
            spool.close()

    def put(self, group: str, call: Call) -> None:
        """Add a call to its group."""
        self._spools[crc32(group.encode("utf-8", "replace")) % len(self._spools)].put((group, call))

    def all(self) -> Iterator[tuple[str, Call]]:
        """Give every call with its group, one heap after another, each in its order."""
        for spool in self._spools:
            yield from spool.all()

    def groups(self) -> Iterator[tuple[str, list[Call]]]:
        """Give each group whole, one heap after another."""
        for spool in self._spools:
            groups: dict[str, list[Call]] = {}
            for group, call in spool.all():
                groups.setdefault(group, []).append(call)
            yield from groups.items()


def frames_first(conversations: Heaps, later: Heaps) -> Iterator[tuple[str, list[Call]]]:
    """Give each conversation whole, those that lack what others show of questions last."""
    for name, calls in conversations.groups():
        if shows_no_frame(calls):
            for call in calls:
                later.put(name, call)
        else:
            yield name, calls
    yield from later.groups()
