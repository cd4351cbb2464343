"""Given: turns, feedback and a suite as a caller of the library has them, made ready for the engine of the command."""

import os
from collections.abc import Iterable, Mapping
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import orjson

from turnsignal.agents.suite_files import load_redaction
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.feedback import Feedback
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.suite import Suite, load_suite

PathLike = str | os.PathLike[str]

#: Turns or feedback: the path of a file, several paths, or the records themselves.
Given = PathLike | Iterable[PathLike] | Iterable[Mapping[str, Any] | Turn | Feedback]


def choose_suite(suite: Suite | PathLike | None, redaction: PathLike | None) -> Suite:
    """Return a suite, or read its file (None: the built-in one), over texts that a redaction file goes through, if any.

    Raises ConfigError when a file is not there or not right.
    """
    chosen = suite if isinstance(suite, Suite) else load_suite(None if suite is None else Path(suite))
    return chosen if redaction is None else chosen.redacted_by(load_redaction(Path(redaction)))


def as_files(given: Given, what: str, into: Path) -> list[Path]:
    """Return the files that are given, or write the records that are given into one file and return that.

    what: `turn` or `feedback`, for errors; into: the file, whose directory is made. Raises TurnsignalError naming the
    record that is none.
    """
    if isinstance(given, str | os.PathLike):
        return [Path(given)]
    if isinstance(given, Mapping | Turn | Feedback):
        given = [given]
    records = iter(given)
    first = next(records, None)
    if isinstance(first, str | os.PathLike):
        return [Path(str(path)) for path in chain([first], records)]
    into.parent.mkdir(parents=True, exist_ok=True)
    with into.open("wb") as file:
        for number, record in enumerate(chain([] if first is None else [first], records), 1):
            file.write(as_line(record, f"{what} {number}") + b"\n")
    return [into]


def as_line(record: object, name: str) -> bytes:
    """Write a record as one line of JSON.

    name: which record it is. Raises TurnsignalError when it is no record, or holds what JSON cannot hold.
    """
    if not isinstance(record, Mapping | Turn | Feedback | msgspec.Struct):
        msg = f"{name}: expected a dict, or a turnsignal.Turn or turnsignal.Feedback; got {type(record).__name__}"
        raise TurnsignalError(msg)
    try:
        return orjson.dumps(record, default=_as_json, option=orjson.OPT_SERIALIZE_NUMPY)
    except orjson.JSONEncodeError as error:
        msg = f"{name}: expected values that JSON can hold, got one that it cannot: {error}"
        raise TurnsignalError(msg) from None


def _as_json(value: object) -> object:
    """Return a value that orjson takes for one of a kind that it does not know."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, date):  # a subclass of datetime, such as pandas' Timestamp
        return value.isoformat()
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError
