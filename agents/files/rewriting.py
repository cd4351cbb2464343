"""Rewriting: logs that no format reads and no mapping can, each with what makes one of them that is read.

Their calls repeat what was said before, so that a mapping would read every turn again with each call.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from turnsignal.agents.files.containers import Kind
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.formats.values import at_path, items, mapping, nested

_LOOKED_AT = 20  #: records, of which the first may be of calls that failed
_KEYS = 40  #: of a line that may hold one
_KEY = re.compile(r"[\w@.-]{1,60}")
_COLUMNS = 3  #: objects with the same keys "0", "1", …, from which a file is one of columns


class _Rewriting(NamedTuple):
    """A log: its name, the paths that its records have, and the jq filter that a record of it goes through.

    paths: `a[].b` is that of any item of the list a, in which a streamed answer stands piece by piece; note: what else
    to know of it.
    """

    name: str
    paths: tuple[str, ...]
    filter: str
    note: str = ""


_IN_S3 = (
    "; bodies above 100 KB stand in S3 files of their own (inputBodyS3Path): their calls are left out; to keep them, "
    "put each file's content into inputBodyJson, or outputBodyJson, first"
)
_CONVERSE = (
    "select(.input.inputBodyJson) | def m: if any(.content[]?; .toolUse) then .tool_calls = "
    "[.content[].toolUse // empty | {id: .toolUseId}] else . end; "
    "{timestamp, request: (.input.inputBodyJson + {model: .modelId} | .messages |= map(m)), "
    'response: {choices: [{message: (.output.outputBodyJson | if type == "array" then {role: "assistant", '
    'content: [{text: (map(.contentBlockDelta.delta.text // empty) | join(""))}, '
    "(.[].contentBlockStart.start // empty)]} else .output.message end | m)}]}}"
)
_INVOKE = (
    "select(.input.inputBodyJson) | {timestamp, request: (.input.inputBodyJson + {model: .modelId}), "
    "response: .output.outputBodyJson}"
)
_GEMINI = (
    'def j: if type == "string" then fromjson else . end; def m: {role: "user"} + . | if any(.parts[]?; .functionCall) '
    "then .tool_calls = [.parts[].functionCall // empty | {id: .name}] else . end; "
    "{timestamp: %(time)s, request: {model: %(model)s, messages: [(%(request)s | j).contents[]? | m]}, "
    'response: {choices: [{message: ([%(response)s | j | if type == "array" then .[] else . end | '
    '.candidates[0].content.parts[]?] | {role: "model", parts: [{text: (map(select(.thought != true).text // empty) | '
    'join(""))}, (.[] | select(.functionCall))]} | m)}]}}'
)
_REQUESTS = _GEMINI % {"time": ".timestamp", "model": ".request.model", "request": ".request", "response": ".response"}
_VERTEX = _GEMINI % {
    "time": ".logging_time",
    "model": ".model",
    "request": ".full_request",
    "response": ".full_response",
}
_BODY = "output.outputBodyJson"
_REWRITINGS = (
    *(
        _Rewriting(f"Bedrock's log of {name}", ("schemaType", "input.inputBodyJson.messages", path), how, _IN_S3)
        for name, path, how in (
            ("InvokeModel", f"{_BODY}.content", _INVOKE),
            ("InvokeModelWithResponseStream", f"{_BODY}[].message.role", _INVOKE),
            ("Converse", f"{_BODY}.output.message", _CONVERSE),
            ("ConverseStream", f"{_BODY}[].messageStart", _CONVERSE),
        )
    ),
    _Rewriting("a log of Gemini's requests and responses", ("request.contents", "response.candidates"), _REQUESTS),
    _Rewriting("a log of Gemini's streamed responses", ("request.contents", "response[].candidates"), _REQUESTS),
    _Rewriting("Vertex AI's log of generateContent", ("full_request.contents", "full_response.candidates"), _VERTEX),
    _Rewriting(
        "Vertex AI's log of streamGenerateContent", ("full_request.contents", "full_response[].candidates"), _VERTEX
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
    for key in ("", *_keys_of_lines(sample)):
        inside = [mapping(nested(record.get(key))) if key else record for record in sample[:_LOOKED_AT]]
        # A tool of its own may keep such a call under some key of some records: then they are read as the tool's.
        fewest = sum(map(bool, inside)) / 2 if key else 1
        for one in _REWRITINGS:
            fitting = sum(all(_has(record, wanted) for wanted in one.paths) for record in inside)
            if fitting and fitting >= fewest:
                raise TurnsignalError(_describe(path, kind, one, key))


def _describe(path: Path, kind: Kind, one: _Rewriting, key: str) -> str:
    """Say what a log is, and with what it is read. key: under which each record stands, empty where it is one itself.

    Lines of other kinds may stand between those that hold a record.
    """
    each = "" if kind is Kind.LINES else ".[] | "
    inside = f'.["{key}"] | if type == "string" then (fromjson? // empty) else . end | objects | ' if key else ""
    where = f" in its lines' {key}" if key else ""
    return (
        f"{path}: expected a log that is read as it is, got {one.name}{where}; as messages it is read: "
        f"jq -c '{each}{inside}{one.filter}' {shlex.quote(str(path))} > log.jsonl; where your records name their "
        f"session, add it as session_id{one.note}"
    )


def _keys_of_lines(sample: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the keys under which loggers' lines, such as CloudWatch's, may hold a record each."""
    keys = dict.fromkeys(key for record in sample[:_LOOKED_AT] for key in list(record)[:_KEYS])
    return [key for key in keys if _KEY.fullmatch(key)][:_KEYS]


def _has(record: Mapping[str, Any], path: str) -> bool:
    """Say whether something stands at a path, of which `[].` leads into the items of a list."""
    held, _, inside = path.partition("[].")
    value = at_path(record, held)
    if not inside:
        return value is not None
    return any(at_path(item, inside) is not None for item in items(nested(value)))


def _are_columns(record: Mapping[str, Any]) -> bool:
    """Say whether an object holds columns: objects whose keys are the numbers of the same rows."""
    columns = list(record.values())
    if len(columns) < _COLUMNS or not all(isinstance(column, dict) and column for column in columns):
        return False
    rows = columns[0].keys()
    return all(column.keys() == rows for column in columns) and list(rows) == list(map(str, range(len(rows))))
