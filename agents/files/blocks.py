"""Blocks: a file's bytes a bounded piece at a time, unpacked where they are gzip or zstd."""

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from turnsignal.stream.errors import ConfigError, TurnsignalError

BLOCK = 1 << 20  #: bytes that are read at a time
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"  #: what such files begin with

Progress = Callable[[int], None]


def read_blocks(path: Path, progress: Progress = lambda _: None) -> Iterator[bytes]:
    """Give a file's bytes, unpacked; progress: told how many of them as they lie on disk.

    Raises TurnsignalError when they cannot be read, ConfigError where what unpacks zstd is not installed.
    """
    head = _head(path)
    with open_file(path) as file:
        try:
            if head.startswith(GZIP):
                yield from _unzip(path, file, progress)
            elif head == ZSTD:
                yield from _unpack_zstd(path, file, progress)
            else:
                yield from _plain(file, progress)
        except OSError as error:
            raise _unreadable(path, error) from None


def is_packed(path: Path) -> bool:
    """Say whether a file's lines lie in it packed, so that none can be read again where it stands."""
    head = _head(path)
    return head.startswith(GZIP) or head == ZSTD


def open_file(path: Path) -> IO[bytes]:
    """Open a file to be read; raises TurnsignalError when that cannot be done."""
    try:
        return path.open("rb")
    except OSError as error:
        raise _unreadable(path, error) from None


def _head(path: Path) -> bytes:
    with open_file(path) as file:
        try:
            return file.read(4)
        except OSError as error:
            raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> TurnsignalError:
    return TurnsignalError(f"{path}: expected a file that can be read, got {error.strerror}")


def _plain(file: IO[bytes], progress: Progress) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        progress(len(block))
        yield block


def _unzip(path: Path, file: IO[bytes], progress: Progress) -> Iterator[bytes]:
    """Give the contents of all gzip members, a bounded piece at a time."""
    unzip = zlib.decompressobj(wbits=31)
    try:
        while block := file.read(BLOCK // 4):
            progress(len(block))
            while block:
                if unzip.eof:
                    if not block.strip(b"\0"):
                        break  # padding
                    unzip = zlib.decompressobj(wbits=31)
                piece = unzip.decompress(block, BLOCK)
                if piece:
                    yield piece
                block = unzip.unused_data if unzip.eof else unzip.unconsumed_tail
    except zlib.error as error:
        raise _damaged(path, "gzip", error) from None
    if not unzip.eof:
        raise _cut(path, "gzip")


def _unpack_zstd(path: Path, file: IO[bytes], progress: Progress) -> Iterator[bytes]:
    """Give the contents of all zstd frames, a bounded piece at a time."""
    zstd = _zstd(path)
    unpack = zstd.ZstdDecompressor()
    try:
        while block := file.read(BLOCK // 4):
            progress(len(block))
            while block or not (unpack.needs_input or unpack.eof):
                if unpack.eof:
                    unpack = zstd.ZstdDecompressor()
                piece = unpack.decompress(block, BLOCK)
                if piece:
                    yield piece
                block = unpack.unused_data if unpack.eof else b""
    except zstd.ZstdError as error:
        raise _damaged(path, "zstd", error) from None
    if not unpack.eof:
        raise _cut(path, "zstd")


def _zstd(path: Path) -> Any:
    try:
        from backports import zstd
    except ImportError:
        msg = (
            f"{path}: expected text, plain or in gzip, got zstd, for which backports.zstd is not installed; "
            "try: pip install backports.zstd, or unpack the file first: zstd -d FILE"
        )
        raise ConfigError(msg) from None
    return zstd


def _damaged(path: Path, kind: str, error: Exception) -> TurnsignalError:
    return TurnsignalError(f"{path}: expected {kind}, got data that is damaged: {error}")


def _cut(path: Path, kind: str) -> TurnsignalError:
    return TurnsignalError(f"{path}: expected a whole {kind} file, got one that ends early; fetch or write it again")
