"""Writing: files that a user names take their place when they are whole, and never that of a file that is read.

A run that fails or is interrupted leaves what stood there before.
"""

import errno
import gzip
import os
import shlex
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import IO, cast

from turnsignal.agents.files.reading import read_lines
from turnsignal.agents.files.standard_input import DASH
from turnsignal.agents.process.disks import NO_ROOM
from turnsignal.stream.errors import ConfigError, TurnsignalError

_NAMED = 40  #: characters of its name that a file has while it is written
_STDIN, _STDOUT = 0, 1  #: their file descriptors
_TIMELESS = 0  #: the time in the header of gzip: same turns, same bytes


@contextmanager
def written(path: Path, *, zipped: bool = False) -> Iterator[IO[bytes]]:
    """Give a file that takes the place of another, or of none, once all went well; zipped: what is written is packed.

    A link stays one, and what it leads to is replaced. Pipes and devices are written to at once. Raises TurnsignalError
    when it cannot be written.
    """
    beside: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_there = path.exists()
        if not is_there or path.is_file():
            if is_there and not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            path = path.resolve()
            beside = path.with_name(f".{path.name[:_NAMED]}.{token_hex(4)}.unfinished")
        with path.open("wb") if beside is None else beside.open("xb") as file:  # x: nobody else's, nor through a link
            if zipped:
                with gzip.GzipFile("", "wb", 6, file, _TIMELESS) as packed:
                    yield cast("IO[bytes]", packed)
            else:
                yield file
        if beside is not None:
            if is_there:
                shutil.copymode(path, beside)
            beside.replace(path)
    except BrokenPipeError:  # of what is printed meanwhile
        raise
    except OSError as error:
        if error.errno in NO_ROOM:
            raise  # nobody knows of which of the files that are written meanwhile
        msg = f"{path}: expected a file that can be written, got: {error.strerror}"
        raise TurnsignalError(msg) from None
    finally:
        if beside is not None:
            beside.unlink(missing_ok=True)


def write_file(path: Path, content: bytes) -> None:
    """Write a file all at once or not at all.

    Raises TurnsignalError when it cannot be written, OSError that names it when there is no room.
    """
    try:
        with written(path) as file:
            file.write(content)
    except OSError as error:
        error.filename = str(path)  # nothing else is written meanwhile
        raise


def spare_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise ConfigError where a file that is to be written is one that is read, by whatever name, or is another's.

    The input - is the file that standard input comes from, if any. Pipes and devices are spared nothing.
    """
    read = {identity: path for path in inputs if (identity := _identity(path)) is not None}
    taken: set[object] = set()
    for path in outputs:
        identity = _identity(path) if path.exists() else path.resolve()
        if identity is None:
            continue
        if identity in read:
            name = "standard input" if read[identity] == DASH else str(read[identity])
            msg = f"{path}: expected a file that is not read, got one of the inputs ({name}); write to another file"
            raise ConfigError(msg)
        if identity in taken:
            msg = f"{path}: expected a file of its own for each output, got one for two; write to another file"
            raise ConfigError(msg)
        taken.add(identity)


def spare_others_lines(path: Path, what: str, decode: Callable[[bytes], object]) -> None:
    """Raise ConfigError where a file is there whose first line is none of those that are to be written.

    what: they are; decode: raises Refused for any other. Pipes, devices and empty files may be written, and so may what
    standard output goes to.
    """
    if not path.is_file() or _identity(path) == _identity_of(_STDOUT):
        return
    try:
        for line in islice((line for block in read_lines(path) for line in block.lines), 1):
            decode(line)
    except OSError:
        return  # writing it says why that cannot be
    except TurnsignalError:
        name = shlex.quote(str(path))
        msg = f"{path}: expected no file, or one of {what}, got one that holds something else; name another file, "
        msg += f"or remove it first: rm {name}"
        raise ConfigError(msg) from None


def _identity(path: Path) -> object:
    """Return what a regular file is known by, whatever its name; None for anything else."""
    return _identity_of(_STDIN if path == DASH else path)


def _identity_of(file: Path | int) -> object:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None
