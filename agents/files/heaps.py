"""Heaps: calls on disk, dealt by the name of their group, so that each group can be taken whole in bounded memory."""

import struct
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO
from zlib import crc32

import msgspec

from turnsignal.stream.formats.protocol import Call

_HEAPS = 64  #: that calls are dealt into; the largest is held in memory
_HELD = 1 << 18  #: bytes of a heap before it goes to disk
_LENGTH = struct.Struct("<I")


class Heaps:
    """Calls on disk, until the end of this context. of: heaps; one keeps the order in which calls were put."""

    def __init__(self, of: int = _HEAPS) -> None:
        self._files: list[IO[bytes]] = [SpooledTemporaryFile(_HELD) for _ in range(of)]  # noqa: SIM115 - until close
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(tuple[str, Call]).decode

    def __enter__(self) -> "Heaps":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of everything."""
        for file in self._files:
            file.close()

    def put(self, group: str, call: Call) -> None:
        """Add a call to its group."""
        data = self._encode((group, call))
        file = self._files[crc32(group.encode("utf-8", "replace")) % len(self._files)]
        file.write(_LENGTH.pack(len(data)) + data)

    def all(self) -> Iterator[tuple[str, Call]]:
        """Give every call with its group, one heap after another, each in its order."""
        for file in self._files:
            yield from self._read(file)

    def groups(self) -> Iterator[tuple[str, list[Call]]]:
        """Give each group whole, one heap after another."""
        for file in self._files:
            groups: dict[str, list[Call]] = {}
            for group, call in self._read(file):
                groups.setdefault(group, []).append(call)
            yield from groups.items()

    def _read(self, file: IO[bytes]) -> Iterator[tuple[str, Call]]:
        file.seek(0)
        while length := file.read(_LENGTH.size):
            yield self._decode(file.read(_LENGTH.unpack(length)[0]))
