"""JSON lines: a file of one record in a line, read whole, with the line that is none named."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import orjson

from turnsignal.stream.errors import TurnsignalError

logger = logging.getLogger("turnsignal.files")

R = TypeVar("R")


def read_json_lines(path: Path, what: str, decode: Callable[[bytes], R]) -> Iterator[tuple[int, R]]:
    """Give the records of a file with their line numbers; empty lines are passed over.

    what: it is a list of; decode: reads a line, raises ValueError that says what was expected and what came. A last
    line whose object does not end was cut off as it was written: it is left out, with a line in the log. Raises
    TurnsignalError, with file and line, for any other line that cannot be read, and for a file that cannot.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        msg = f"{path}: expected a list of {what}, got: {error.strerror}"
        raise TurnsignalError(msg) from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = decode(line)
        except ValueError as error:
            if number == len(lines) and _is_cut(line):
                logger.warning("%s:%d: left out, as its end is missing", path, number)
                return
            msg = f"{path}:{number}: {error}"
            raise TurnsignalError(msg) from None
        yield number, record


def _is_cut(line: bytes) -> bool:
    """Say whether a line without a newline is the beginning of an object, as a process leaves it that was stopped."""
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return line.lstrip().startswith(b"{")
    return False
