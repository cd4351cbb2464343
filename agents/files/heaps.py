"""Heaps: calls, or rows, on disk, dealt by their group, so that each group can be taken whole in bounded memory."""

from collections.abc import Iterator
from typing import Generic, Self, TypeVar
from zlib import crc32

import msgspec

from turnsignal.agents.files.spool import Spool
from turnsignal.stream.formats.protocol import Call, Row
from turnsignal.stream.formats.sequence import shows_no_frame

_HEAPS = 64  #: that calls are dealt into; the largest is held in memory


Part = TypeVar("Part", Call, Row)


class Heaps(Generic[Part]):
    """Parts on disk, until the end of this context. of: heaps; one keeps the order in which they were put."""

    def __init__(self, of: int = _HEAPS, *, kind: type[Part]) -> None:
        decoder = msgspec.msgpack.Decoder(tuple[str, kind])  # type: ignore[valid-type]
        self._spools = [Spool(decoder) for _ in range(of)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of everything."""
        for spool in self._spools:
            spool.close()

    def put(self, group: str, part: Part) -> None:
        """Add a part to its group."""
        self._spools[crc32(group.encode("utf-8", "replace")) % len(self._spools)].put((group, part))

    def all(self) -> Iterator[tuple[str, Part]]:
        """Give every part with its group, one heap after another, each in its order."""
        for spool in self._spools:
            yield from spool.all()

    def groups(self) -> Iterator[tuple[str, list[Part]]]:
        """Give each group whole, one heap after another."""
        for spool in self._spools:
            groups: dict[str, list[Part]] = {}
            for group, part in spool.all():
                groups.setdefault(group, []).append(part)
            yield from groups.items()


def frames_first(conversations: Heaps[Call], later: Heaps[Call]) -> Iterator[tuple[str, list[Call]]]:
    """Give each conversation whole, those that lack what others show of questions last."""
    for name, calls in conversations.groups():
        if shows_no_frame(calls):
            for call in calls:
                later.put(name, call)
        else:
            yield name, calls
    yield from later.groups()
