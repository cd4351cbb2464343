"""Labelled files: ground truth, predictions, and what else is known of queries, by their ids.

JSON as Waterfall's script reads it, an array of objects; and what else `agents.files.containers` takes: JSON lines, an
object around a list, CSV, packed or not.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from turnsignal.agents.files.containers import kind_of, read_items
from turnsignal.agents.files.standard_input import is_read_once, keep_standard_input
from turnsignal.stream.errors import Refused, TurnsignalError
from turnsignal.stream.reports.labelled import Labelled, LabelledQueries
from turnsignal.stream.text.visible import visible

MOST_QUERIES = 1_000_000  #: of one file
_SHOWN = 5  # problems of a file
_FORM = 'expected queries such as [{"id": "1", "labels": ["billing"]}, …]'


def read_labelled(path: Path, *, labels: bool = True) -> LabelledQueries:
    """Read the queries of a file; labels: one of them has `labels` at least.

    Raises TurnsignalError with the first problems and where they stand, and with how many there are.
    """
    if is_read_once(path):
        with TemporaryDirectory(prefix="turnsignal-") as directory:
            (kept,) = keep_standard_input([path], Path(directory))
            return read_labelled(kept, labels=labels)
    queries = LabelledQueries()
    problems, count = [], 0
    for number, item in enumerate(read_items(path, kind_of(path)), 1):
        if number > MOST_QUERIES:
            msg = f"{path}: expected at most {MOST_QUERIES:,} queries, got more; split it"
            raise TurnsignalError(msg)
        try:
            queries.add(item.load(Counter()))
        except Refused as refused:
            count += 1
            if count <= _SHOWN:
                problems.append(f"entry {number} (line {item.line}): {visible(refused.detail)}")
    if problems:
        more = f"\nand {count - _SHOWN:,} more" if count > _SHOWN else ""
        raise TurnsignalError(f"{path}: {_FORM}, got {count:,} that are none:\n" + "\n".join(problems) + more)
    if not queries:
        msg = f"{path}: {_FORM}, got none"
        raise TurnsignalError(msg)
    if labels and queries.unlabelled == len(queries):
        msg = f"{path}: {_FORM}, got {len(queries):,} without any `labels`"
        raise TurnsignalError(msg)
    return queries


def describe_queries(queries: LabelledQueries, paths: Iterable[Path]) -> int:
    """Fill in text and dimensions from files by id, where the queries lack them; return how many were described."""
    described = set()
    for path in paths:
        for name, other in read_labelled(path, labels=False).by_id.items():
            query = queries.by_id.get(name)
            if query is not None and (other.text or other.dimensions):
                queries.by_id[name] = _described(query, other)
                described.add(name)
    return len(described)


def _described(query: Labelled, other: Labelled) -> Labelled:
    return query._replace(text=query.text or other.text, dimensions={**other.dimensions, **query.dimensions})
