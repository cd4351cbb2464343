"""A spool: records of one type on disk, in their order, so that any number of them takes bounded memory."""

import struct
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import IO, Generic, TypeVar

import msgspec

_HELD = 1 << 18  #: bytes before they go to disk
_LENGTH = struct.Struct("<I")
_encode = msgspec.msgpack.Encoder().encode

T = TypeVar("T")


class Spool(Generic[T]):
    """Records on disk until it is closed. decoder: of their type."""

    def __init__(self, decoder: "msgspec.msgpack.Decoder[T]") -> None:
        self._decode = decoder.decode
        self._file: IO[bytes] = SpooledTemporaryFile(_HELD)  # noqa: SIM115 - until close

    def put(self, record: T) -> None:
        """Add a record behind the others."""
        data = _encode(record)
        self._file.write(_LENGTH.pack(len(data)) + data)

    def all(self) -> Iterator[T]:
        """Give every record, in their order; nothing is put meanwhile."""
        self._file.seek(0)
        while length := self._file.read(_LENGTH.size):
            yield self._decode(self._file.read(_LENGTH.unpack(length)[0]))

    def close(self) -> None:
        """Let go of all."""
        self._file.close()
