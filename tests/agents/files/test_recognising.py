"""What a file holds is found out right on sixty files, five of each format, and asked about where two fit."""

import csv
import gzip
import io
import random
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.recognising import HowToRead, as_records, choose_format
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.formats import FORMATS

DATA = Path(__file__).parents[2] / "data"
LOGS = DATA / "formats"
#: format → its exports: made by hand, then by a genuine SDK where there is one
EXPORTS: dict[str, tuple[str, ...]] = {
    "turnsignal": ("../golden.jsonl",),
    "openai": ("openai.jsonl", "genuine/openai.jsonl"),
    "responses": ("responses.jsonl", "genuine/responses.jsonl"),
    "agents": ("agents.jsonl",),
    "anthropic": ("anthropic.jsonl", "genuine/anthropic.jsonl"),
    "otel": ("otel.jsonl", "otel-events.jsonl", "genuine/otel-old.jsonl", "genuine/otel-new.jsonl"),
    "adk": ("adk.jsonl",),
    "openinference": ("openinference.json", "genuine/openinference.jsonl", "genuine/openinference-langchain.jsonl"),
    "openllmetry": ("openllmetry.jsonl",),
    "langfuse": ("langfuse.jsonl", "langfuse-traces.json", "genuine/langfuse-spans.jsonl"),
    "mlflow": ("mlflow.jsonl",),
    "langsmith": ("langsmith.jsonl", "genuine/langsmith.jsonl"),
    "langchain": ("langchain.json", "genuine/langchain.jsonl"),
    "pydanticai": ("pydanticai.jsonl",),
    "sharegpt": ("sharegpt.jsonl",),
    "apim": ("apim.jsonl",),
    "dialogflow": ("dialogflow.jsonl",),
}


def records_of(name: str) -> list[dict[str, Any]]:
    content = (LOGS / name).read_bytes()
    try:
        return as_records(orjson.loads(content))
    except orjson.JSONDecodeError:
        return [orjson.loads(line) for line in content.splitlines()]


def as_csv(records: list[dict[str, Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for record in records for key in record)))
    writer.writeheader()
    for record in records:
        cells = {
            key: orjson.dumps(value).decode() if isinstance(value, dict | list) else value
            for key, value in record.items()
        }
        writer.writerow(cells)
    return out.getvalue().encode()


def shuffled(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records in another order, each with its keys in another order, too."""
    chance = random.Random(7)
    mixed = [dict(chance.sample(list(record.items()), len(record))) for record in records]
    return chance.sample(mixed, len(mixed))


def contents(name: str) -> list[bytes]:
    """Five files of a format: its exports as they are, then what else people make of one."""
    records = records_of(EXPORTS[name][0])
    lines = [orjson.dumps(record) for record in records]
    has_columns = name in ("turnsignal", "langfuse", "langsmith", "dialogflow")
    others = [
        orjson.dumps(records, option=orjson.OPT_INDENT_2),
        as_csv(records) if has_columns else b"\r\n".join(lines),
        gzip.compress(b"\n".join(map(orjson.dumps, shuffled(records)))),
        orjson.dumps({"object": "list", "data": records}),
    ]
    return [*((LOGS / export).read_bytes() for export in EXPORTS[name]), *others][:5]


FILES = [(name, number) for name in EXPORTS for number in range(5)]


def test_there_are_sixty_files_or_more_and_five_of_each_format() -> None:
    assert EXPORTS.keys() == FORMATS.keys()
    assert len(FILES) >= 60
    assert all(len(contents(name)) == 5 for name in EXPORTS)


@pytest.mark.parametrize(("name", "number"), FILES)
def test_a_file_is_taken_for_what_it_is(name: str, number: int, tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_bytes(contents(name)[number])
    _, chosen, _, why = choose_format(path, HowToRead())
    assert chosen == name
    assert why


@pytest.mark.parametrize(
    ("first", "second"), [("sharegpt", "langfuse"), ("dialogflow", "openai"), ("langsmith", "openinference")]
)
def test_a_file_of_two_formats_is_asked_about(first: str, second: str, tmp_path: Path) -> None:
    path = tmp_path / "export.jsonl"
    path.write_bytes(
        b"\n".join(orjson.dumps(record) for one in (first, second) for record in records_of(EXPORTS[one][0]))
    )
    with pytest.raises(ConfigError, match=rf"fits .*{first}.*{second}|fits .*{second}.*{first}"):
        choose_format(path, HowToRead())


@pytest.mark.parametrize(
    "message",
    [
        {"type": "message", "user": "U1", "text": "Hello", "ts": "1790000000.0001"},
        {"type": "message", "id": "m1", "from": {"id": "u", "role": "user"}, "text": "Hello"},
    ],
)
def test_messages_of_chat_programs_are_not_anthropics_and_the_way_out_is_named(
    message: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "export.json"
    path.write_bytes(orjson.dumps([message, message]))
    with pytest.raises(TurnsignalError, match="--propose"):
        choose_format(path, HowToRead())


def test_letters_of_one_byte_are_refused_with_what_converts_them_and_damage_is_not(tmp_path: Path) -> None:
    path = tmp_path / "old.jsonl"
    line = '{"messages": [{"role": "user", "content": "Für Käse größer"}, {"role": "assistant", "content": "Ja"}]}'
    path.write_bytes(line.encode("latin-1"))
    with pytest.raises(TurnsignalError, match=r"got letters of one byte.*iconv -f WINDOWS-1252 -t UTF-8"):
        choose_format(path, HowToRead())
    path.write_bytes("\n".join([line] * 5).encode() + b'\n{"a": "\xff\xfe\xff"}')
    assert choose_format(path, HowToRead())[1] == "openai"
