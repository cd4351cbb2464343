"""Waterfall's EvaluationData folder: read as a file of turns, and written from answers that have labels."""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import orjson

from turnsignal.stream.errors import Refused, TurnsignalError
from turnsignal.stream.records.turns import decode_turn
from turnsignal.stream.reports.evaluation_data import FILES, evaluation_records, read_evaluation_records, turns_of

MOST_QUERIES = 86_400  #: of a folder, whose times are seconds of a day


def evaluation_files(folder: Path) -> list[Path]:
    """Return the files that such a folder holds, or may hold."""
    return [folder / file.path for file in FILES.values()]


def read_evaluation_data(folder: Path, turns: Path) -> int:
    """Write the queries of a folder as turns; return how many there are.

    Raises TurnsignalError when there are none, or when a file or a record cannot be read, naming it.
    """
    known: dict[str, dict[str, Any]] = {}
    for name, file in FILES.items():
        path = folder / file.path
        if not path.is_file():
            continue
        try:
            data = orjson.loads(path.read_bytes())
            for query, value in read_evaluation_records(file, data if isinstance(data, list) else [data]):
                known.setdefault(query, {})[name] = value
        except (OSError, ValueError) as error:
            msg = f"{path}: expected JSON with an entry for each query, got: {error}"
            raise TurnsignalError(msg) from None
    if not any("response" in of or "routed_to" in of for of in known.values()):
        names = ", ".join(FILES[name].path for name in ("routed_to", "response"))
        msg = f"{folder}: expected what a system did with queries ({names}), got none"
        raise TurnsignalError(msg)
    if len(known) > MOST_QUERIES:
        msg = f"{folder}: expected at most {MOST_QUERIES:,} queries, got {len(known):,}; split it"
        raise TurnsignalError(msg)
    with turns.open("wb") as out:
        for number, (query, of) in enumerate(known.items()):
            for turn in turns_of(query, number, of):
                line = orjson.dumps(turn)
                try:
                    decode_turn(line)
                except Refused as refused:
                    msg = f"{folder}, query {query[:80]!r}: {refused.shown}"
                    raise TurnsignalError(msg) from None
                out.write(line + b"\n")
    return len(known)


class EvaluationFolder(ExitStack):
    """Waterfall's folder, written one answer after another: `add` each that has labels."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._files: dict[str, IO[str]] = {}
        self.count = 0

    def add(self, turn: Mapping[str, Any], question: str) -> None:
        """Write one answer into the files that it says something for."""
        self.count += 1
        for name, record in evaluation_records(turn, question):
            file = self._files.get(name)
            if file is None:
                path = self._folder / FILES[name].path
                path.parent.mkdir(parents=True, exist_ok=True)
                file = self._files[name] = self.enter_context(path.open("w", encoding="utf-8", newline="\n"))
                self.callback(file.write, "\n]\n")
                file.write("[\n")
            else:
                file.write(",\n")
            file.write(json.dumps(record, ensure_ascii=False))
