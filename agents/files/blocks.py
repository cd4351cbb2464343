"""Blocks: a file's bytes a bounded piece at a time, unpacked where they are gzip or zstd."""

import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from turnsignal.stream.errors import ConfigError, TurnsignalError

BLOCK = 1 << 20  #: bytes that are read at a time
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"  #: what such files begin with

_BLANKS = 16 * BLOCK  #: bytes without a word, in a row, after which nothing more is expected
_UNPACKED = 64 * BLOCK  #: bytes that may come out of a file however small it is
_TIMES = 250  #: as large as it is packed is what comes out of it at most, beyond those; logs reach 10 to 50

Progress = Callable[[int], None]


def read_blocks(path: Path, progress: Progress = lambda _: None) -> Iterator[bytes]:
    """Give a file's bytes, unpacked; progress: told how many of them as they lie on disk.

    Raises TurnsignalError when they cannot be read, or hold nothing for long or far more than a log would; ConfigError
    where what unpacks zstd is not installed.
    """
    head = _head(path)
    is_gzip, is_zstd = head.startswith(GZIP), head == ZSTD
    read = blank = unpacked = 0

    def on_read(size: int) -> None:
        nonlocal read
        read += size
        progress(size)

    with open_file(path) as file:
        try:
            unpack = _unzip(path, file, on_read) if is_gzip else _unpack_zstd(path, file, on_read) if is_zstd else None
            for block in unpack or _plain(file, on_read):
                blank = blank + len(block) if block.isspace() else 0
                unpacked += len(block)
                if blank > _BLANKS:
                    raise _too_large(path, f"more than {_BLANKS >> 20} MB of blank lines in a row")
                if unpacked > max(_UNPACKED, _TIMES * read) and unpack is not None:
                    raise _too_large(path, f"one that unpacks to more than {_TIMES} times its size; unpack it first")
                yield block
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


def _too_large(path: Path, what: str) -> TurnsignalError:
    return TurnsignalError(f"{path}: too_large: expected a log, got {what}")


def _damaged(path: Path, kind: str, error: Exception) -> TurnsignalError:
    return TurnsignalError(f"{path}: expected {kind}, got data that is damaged: {error}")


def _cut(path: Path, kind: str) -> TurnsignalError:
    ended = f"got one that ends early, after {path.stat().st_size:,} bytes"
    return TurnsignalError(f"{path}: expected a whole {kind} file, {ended}; fetch or write it again")
