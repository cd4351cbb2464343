"""What can be read once: standard input, `-` in the place of a file, and pipes; kept in files while a command reads.

A log is opened more than once, to say what it is before it is read: of a pipe, each time takes a piece away.
"""

import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from turnsignal.stream.errors import ConfigError, TurnsignalError

DASH = Path("-")


def keep_standard_input(paths: Sequence[Path], directory: Path) -> list[Path]:
    """Return the paths, `-` and each pipe replaced by a file in the directory that holds what came through it.

    Raises ConfigError when one of them stands there twice: it can be read once. TurnsignalError when it cannot be read.
    """
    kept: list[Path] = []
    read: set[tuple[int, int]] = set()
    for path in paths:
        if path != DASH and not is_read_once(path):
            kept.append(path)
            continue
        if (which := _which(path)) in read:
            times = len([each for each in paths if _which(each) == which])
            what = "- once, which is standard input" if path == DASH else f"{path} once"
            msg = f"expected {what}, got it {times} times"
            raise ConfigError(msg)
        read.add(which)
        kept.append(directory / ("stdin" if len(read) == 1 else f"stdin-{len(read)}"))
        _keep(path, kept[-1])
    return kept


@contextmanager
def naming(named: Path, path: Path) -> Iterator[None]:
    """Let errors about a file name it as the user did."""
    try:
        yield
    except TurnsignalError as error:
        if named == path:
            raise
        raise type(error)(str(error).replace(str(path), str(named))) from error


def is_read_once(path: Path) -> bool:
    """Say whether a path is a pipe, as `<(…)` and /dev/stdin are, or a terminal."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or _is_terminal(path)


def _which(path: Path) -> tuple[int, int]:
    """Return what tells apart files that may have several names."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path == DASH else path.stat()
    except (OSError, ValueError):  # standard input is none of the system's, or closed
        return (-1, 0)
    return status.st_dev, status.st_ino


def _keep(path: Path, to: Path) -> None:
    if sys.stdin.isatty() if path == DASH else _is_terminal(path):
        print("turnsignal: reading standard input; Ctrl-D ends it", file=sys.stderr)
    with to.open("wb") as file:
        if path == DASH:
            _copy(sys.stdin.buffer, file)
            return
        try:
            with path.open("rb") as pipe:
                _copy(pipe, file)
        except OSError as error:
            msg = f"{path}: expected a file that can be read, got {error.strerror}"
            raise TurnsignalError(msg) from None


def _copy(pipe: IO[bytes], file: IO[bytes]) -> None:
    shutil.copyfileobj(pipe, file, 1 << 20)


def _is_terminal(path: Path) -> bool:
    try:
        if not path.is_char_device():  # to open a pipe would be to begin to read it
            return False
        with path.open("rb", buffering=0) as file:
            return file.isatty()
    except OSError:
        return False
