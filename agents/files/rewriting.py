"""Rewriting: logs that no format reads and no mapping can, each with what makes one of them that is read.

Their calls repeat what was said before, so that a mapping would read every turn again with each call.
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from turnsignal.agents.files.containers import Kind
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.formats.values import at_path

_COLUMNS = 3  #: objects with the same keys "0", "1", …, from which a file is one of columns


class _Rewriting(NamedTuple):
    """A log: its name, the paths that all its records have, and the jq filter that a record of it goes through."""

    name: str
    paths: tuple[str, ...]
    filter: str


_REWRITINGS = (
    _Rewriting(
        "Bedrock's log of InvokeModel",
        ("schemaType", "input.inputBodyJson.messages", "output.outputBodyJson.content"),
        "{timestamp, request: .input.inputBodyJson, response: .output.outputBodyJson}",
    ),
    _Rewriting(
        "Bedrock's log of Converse",
        ("schemaType", "input.inputBodyJson.messages", "output.outputBodyJson.output.message"),
        "{timestamp, request: .input.inputBodyJson, response: {choices: [.output.outputBodyJson.output]}}",
    ),
    _Rewriting(
        "a log of Gemini's requests and responses",
        ("request.contents", "response.candidates"),
        "{timestamp, request: {messages: .request.contents}, "
        "response: {choices: [{message: .response.candidates[0].content}]}}",
    ),
)


def refuse_rewritable(path: Path, kind: Kind, sample: Sequence[Mapping[str, Any]]) -> None:
    """Raise TurnsignalError with what to type where the first records of a file are of a log to be rewritten first."""
    if len(sample) == 1 and _are_columns(sample[0]):
        msg = (
            f"{path}: expected records, got columns, as pandas writes them by default; "
            'write them with df.to_json(path, orient="records")'
        )
        raise TurnsignalError(msg)
    for one in _REWRITINGS:
        if sample and all(at_path(record, wanted) is not None for record in sample[:1] for wanted in one.paths):
            each = "" if kind is Kind.LINES else ".[] | "
            name = shlex.quote(str(path))
            msg = (
                f"{path}: expected a log that is read as it is, got {one.name}; as messages it is read: "
                f"jq -c '{each}{one.filter}' {name} > log.jsonl; where your records name their session, "
                "add it as session_id"
            )
            raise TurnsignalError(msg)


def _are_columns(record: Mapping[str, Any]) -> bool:
    """Say whether an object holds columns: objects whose keys are the numbers of the same rows."""
    columns = list(record.values())
    if len(columns) < _COLUMNS or not all(isinstance(column, dict) and column for column in columns):
        return False
    rows = columns[0].keys()
    return all(column.keys() == rows for column in columns) and list(rows) == list(map(str, range(len(rows))))
