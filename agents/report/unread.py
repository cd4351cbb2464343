"""What replay, produce and convert say of their input: what was assumed, left out, and could not be read."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from turnsignal.agents.files.blocks import is_packed
from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.reading import read_lines
from turnsignal.stream.errors import Reason, TurnsignalError
from turnsignal.stream.formats.date_formats import date_formats_of
from turnsignal.stream.formats.times import ZONELESS
from turnsignal.stream.formats.values import conversation_of
from turnsignal.stream.text.counts import count_of
from turnsignal.stream.text.toml import write_value as toml

_DETAIL = 300  #: characters of a reason that are shown
_TIME = 40  #: characters of a time that cannot be read
_AS_DATE = "%d.%m.%Y %H:%M"
_READ_AGAIN = 10_000  #: lines of a file that are read again to show one


def describe_files(reports: Iterable[FileReport], assumed: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Say what became of all files; assumed: of those of turns, by name."""
    for report in reports:
        yield from describe_import(report)
    yield from describe_assumed(assumed)


def describe_import(report: FileReport) -> Iterator[str]:
    """Say what became of a file that was not one of turns."""
    turns = ", ".join(
        f"{n:,} of {role}s" if role in ("user", "assistant") else f"{n:,} of role {role}"
        for role, n in report.turns.items()
    )
    conversations = f" in {count_of(report.conversations, 'conversation')}" if report.conversations else ""
    total = f"{count_of(report.turns.total(), 'turn')}{conversations} ({turns or 'none'})"
    rated = f", {count_of(report.human_scores, 'score')} by people" if report.human_scores else ""
    rated += f", {count_of(report.votes, 'answer')} with a vote" if report.votes else ""
    yield f"{report.name}: {count_of(report.records, 'record')}, {total}{rated}."
    yield from (f"  warning: {warning}" for warning in report.warnings)
    left = {what: n for what, n in report.assumed.items() if what.endswith("left out")}
    if left:
        yield "  left out: " + "; ".join(f"{what.removesuffix(' left out')} ({n:,})" for what, n in left.items())
    yield from describe_assumed(
        {report.name: {what: n for what, n in report.assumed.items() if what not in left}}, "  "
    )


def describe_assumed(assumed: Mapping[str, Mapping[str, int]], before: str = "") -> Iterator[str]:
    """Say what was read of lines that deviate, once for each file."""
    for name, counts in assumed.items():
        if counts:
            phrases = "; ".join(f"{what} ({n:,})" for what, n in counts.items())
            strict = ". --strict refuses such lines." if set(counts) != {ZONELESS} else "."
            yield f"{before}assumed: {phrases}" if before else f"{name}: assumed: {phrases}{strict}"


def describe_set_aside(counts: Mapping[str, int], read: int, became: str = "set aside") -> str:
    """Say how many of all records could not be taken in, the commonest reason first; empty where all were.

    became: what they were instead.
    """
    aside = sum(counts.values())
    if not aside:
        return ""
    reasons = ", ".join(f"{reason} {n:,}" for reason, n in sorted(counts.items(), key=lambda item: -item[1]) if n)
    share = f"{aside / (aside + read):.0%}" if aside >= (aside + read) / 100 else "less than 1%"
    return f"Of {aside + read:,} records {aside:,} were {became} ({share}: {reasons})."


def describe_dead_letters(counts: Mapping[str, int], letters: Path) -> Iterator[str]:
    """Say how many records could not be taken in for each reason, and show the first of each."""
    firsts = _first_letters(letters) if counts else {}
    for reason, n in counts.items():
        letter = firsts.get(reason)
        where = f"; the first: {describe_letter(letter)}" if letter is not None else ""
        yield f"  dead letters, {reason}: {n:,}{where}"
        if letter is not None:
            yield from describe_way_out(reason, letter)


def describe_way_out(reason: str, letter: Mapping[str, Any], *, quoted: bool = True) -> Iterator[str]:
    """Say what to type where records are refused for what a mapping would read, or for what they do not have.

    quoted: with what came, where it may be shown.
    """
    if reason == Reason.MISSING_FIELD:
        yield from _describe_missing(letter)
    if reason == Reason.UNKNOWN_ROLE and " role = {" not in str(letter.get("detail")):
        name = _file_of(letter)
        yield (
            f"    a mapping says who that is: turnsignal convert {name} --propose mapping.toml; there, "
            'role = { path = "role", "…" = "user" } for who asks, "assistant" for who answers'
        )
    if reason == Reason.CONFLICT and letter.get("file") is not None:
        yield (
            "    a turn_id names one turn of its conversation: log another one with each, or none; then the file "
            "and the line name it"
        )
    if reason == Reason.BAD_TIMESTAMP and "date_format" not in str(letter.get("detail")):
        name = _file_of(letter)
        came = _timestamp_at(letter) if quoted else ""
        written = next(iter(date_formats_of([came])), _AS_DATE) if came else _AS_DATE
        yield (
            f"    {f'it says {came!r}; ' if came else ''}a mapping says how times are written: "
            f"turnsignal convert {name} --propose mapping.toml; there, date_format = {toml(written)}"
        )


def _describe_missing(letter: Mapping[str, Any]) -> Iterator[str]:
    """Say what helps turns that do not tell their conversation, or their time."""
    detail = str(letter.get("detail"))
    if "field conversation_id" in detail:
        yield (
            f"    a mapping says which field tells conversations apart: turnsignal convert {_file_of(letter)} "
            "--propose mapping.toml; a log of another make is read with --format"
        )
    elif "timestamp" in detail:
        name = _file_of(letter)
        what = "which field is the time, or by what turns are in order"
        yield f"    a mapping says {what}: turnsignal convert {name} --propose mapping.toml"
        if str(letter.get("file")).endswith((".csv", ".tsv", ".csv.gz", ".tsv.gz")):
            return  # of a table jq makes nothing
        record = _record_at(letter)
        key = next((key for key in record if conversation_of({key: record[key]}) is not None), "conversation_id")
        quoted = orjson.dumps(key).decode()
        yield (
            "    messages that have none are read in the order in which one record of their conversation has them: "
            f'{{{quoted}: "…", "messages": [{{"role": "user", "content": "…"}}, …]}}'
        )
        if key in record and "'" not in key and not is_packed(Path(str(letter["file"]))):
            plain = key.isidentifier() and key.isascii()
            named, inside = (key, f".{key}") if plain else (quoted, f"[{quoted}]")
            grouped = f"group_by({inside if plain else '.' + inside})[] | {{{named}: .[0]{inside}, messages: .}}"
            yield f"    by {key}: jq -sc '{grouped}' {name}"
    elif "field role" in detail or "field text" in detail:
        yield f"    a mapping says which field it is: turnsignal convert {_file_of(letter)} --propose mapping.toml"


def _file_of(letter: Mapping[str, Any]) -> str:
    """Return the file of a dead letter as one types it; a letter of a topic has none."""
    return shlex.quote(str(letter["file"])) if letter.get("file") is not None else "FILE"


def _timestamp_at(letter: Mapping[str, Any]) -> str:
    """Return the time as it stands in a line that was set aside; empty where it cannot be told soon."""
    given = _record_at(letter).get("timestamp")
    return given[:_TIME] if isinstance(given, str) else ""


def _record_at(letter: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a line that was set aside: a dead letter keeps nothing of its record.

    Empty where it is no JSON line, or far down in its file.
    """
    path, number = Path(str(letter.get("file"))), letter.get("line")
    if not isinstance(number, int) or not 0 < number <= _READ_AGAIN or not path.is_file():
        return {}
    try:
        lines = (line for block in read_lines(path) for line in block.lines)
        record = orjson.loads(next(islice(lines, number - 1, None), b""))
    except (orjson.JSONDecodeError, TurnsignalError):
        return {}
    return record if isinstance(record, dict) else {}


def describe_letter(letter: Mapping[str, Any]) -> str:
    """Say where a record stood and why it was not taken in, in one line."""
    detail = "".join(char if char.isprintable() else " " for char in str(letter.get("detail", "")))
    detail = detail if len(detail) <= _DETAIL else detail[: _DETAIL - 1] + "…"
    if "file" not in letter:  # of a topic, as a demo has it
        return f"{letter.get('topic')}, partition {letter.get('partition')}, offset {letter.get('offset')}: {detail}"
    return f"{letter['file']}, line {letter.get('line')}: {detail}"


def _first_letters(letters: Path) -> dict[str, dict[str, Any]]:
    """Return the first dead letter of each reason, by the order of the files and their lines."""
    firsts: dict[str, dict[str, Any]] = {}
    order: dict[str, int] = {}
    if not letters.is_file():
        return firsts
    with letters.open("rb") as rows:
        for line in rows:
            row = orjson.loads(line)
            reason, name = str(row.get("reason")), str(row.get("file"))
            order.setdefault(name, len(order))
            kept = firsts.get(reason)
            if kept is None or (str(kept.get("file")) == name and row.get("line", 0) < kept.get("line", 0)):
                firsts[reason] = row
    return firsts
