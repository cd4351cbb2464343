"""Reshaping: exports that no mapping reads, because what belongs together stands apart, and what puts it together."""

from collections.abc import Sequence
from typing import NamedTuple

from turnsignal.stream.formats.protocol import Record
from turnsignal.stream.formats.values import at_path

_FEW = 5  #: records that all have to be of the export


class Reshaping(NamedTuple):
    """An export: its name, the paths that its first records have, and the jq filter that makes records of it.

    paths: each with the value there, where it has to be that one; options: of jq; absent: a path that no record has.
    """

    name: str
    paths: tuple[str, ...]
    options: str
    filter: str
    absent: str = ""


_RESHAPINGS = (
    Reshaping(
        'a table as pandas writes it with orient="split"',
        ("columns", "data"),
        "-c",
        ".columns as $names | .data[] | [$names, .] | transpose | map({(.[0]): .[1]}) | add",
    ),
    Reshaping(
        "Anthropic's batches, whose requests and results stand apart",
        ("custom_id", "params.messages"),
        "-cn",
        "reduce inputs as $half ({}; .[$half.custom_id] += $half) | .[] | select(.params and .result.message) | "
        "{custom_id, request: .params, response: .result.message}",
        "result",
    ),
    Reshaping(
        "messages of Pydantic AI",
        ("parts", "kind"),
        "-cs",
        '{messages: [flatten[] | {role: (if .kind == "request" then "user" else "assistant" end), '
        "timestamp: (.timestamp // .parts[0].timestamp), content: ([.parts[] | "
        'select(.part_kind == "user-prompt" or .part_kind == "text") | .content] | join(""))} | '
        'select(.content != "")]}',
    ),
    Reshaping(
        "Slack's export of a channel",
        ("type=message", "text", "ts"),
        "-cs",
        "flatten[] | {conversation_id: (.thread_ts // .ts), turn_id: .ts, "
        'role: (if .bot_id then "assistant" else "user" end), text, timestamp: (.ts | tonumber)}',
        "role",
    ),
)


def reshaping_of(sample: Sequence[Record]) -> Reshaping | None:
    """Return what makes records of an export of which these are the first; None for all others."""
    few = sample[:_FEW]
    return next((each for each in _RESHAPINGS if few and all(_is_of(each, record) for record in few)), None)


def _is_of(export: Reshaping, record: Record) -> bool:
    for path, _, wanted in (path.partition("=") for path in export.paths):
        value = at_path(record, path)
        if value is None or (wanted and value != wanted):
            return False
    return not export.absent or at_path(record, export.absent) is None
