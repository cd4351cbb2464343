"""Strangers: records of another format within a log, as of files that were put together, of which nothing is read."""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from turnsignal.stream.errors import Refused
from turnsignal.stream.formats import FORMATS, recognise
from turnsignal.stream.formats.protocol import Call

Part = TypeVar("Part")
_NAMED = 3  #: files that are named, where there are no more
_TRIED = 1000  #: silent records that are looked at


class Strangers:
    """The silent records of one log. own: the formats that it is read as."""

    def __init__(self, own: str) -> None:
        self._own = set(own.split(" in ")[0].split(", "))
        self._left = _TRIED
        self._names: Counter[str] = Counter()

    def watch(self, record: Mapping[str, Any], parts: Iterable[Part]) -> Iterator[Part]:
        """Give what is read of a record, and look at the record where that is silent."""
        is_silent = True
        for part in parts:
            is_silent = is_silent and _is_silent(part)
            yield part
        if is_silent and self._left:
            self._left -= 1
            names = recognise([record])
            if names and self._own.isdisjoint(names) and _says_something(record, next(iter(names))):
                self._names[next(iter(names))] += 1

    @property
    def count(self) -> int:
        """Records of other formats, of which nothing was read."""
        return self._names.total()

    def warnings(self, files: Sequence[str]) -> list[str]:
        """Say what other formats there are in files, and what to type."""
        given = " ".join(map(shlex.quote, files)) if len(files) <= _NAMED else "FILES"
        return [
            f"{'at least ' if self._left == 0 else ''}{times:,} records look like {name}; nothing of them was read; to "
            f"read them: turnsignal convert {given} --format {name} --out {name}.jsonl"
            for name, times in self._names.items()
        ]


def _is_silent(part: object) -> bool:
    return isinstance(part, Call) and not (part.inputs or part.outputs or part.documents)


def _says_something(record: Mapping[str, Any], name: str) -> bool:
    """Say whether a format reads anything in a record; the spans around calls say nothing in any."""
    try:
        return not all(map(_is_silent, FORMATS[name].read(record, Counter())))
    except (Refused, ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return True
