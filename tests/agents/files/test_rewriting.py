"""Logs that nothing reads as they are get a line of jq, and what it makes of them is read; columns get pandas' word."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.errors import TurnsignalError

TEXTS = ("How?", "So.", "Why?", "Because.")


def calls(content: str, assistant: str = "assistant") -> list[tuple[str, list[dict[str, Any]], dict[str, Any]]]:
    """Two calls of a model: when, what it was sent, what it said."""
    roles = ("user", assistant) * 2
    messages = [{"role": role, content: [{"text": text}]} for role, text in zip(roles, TEXTS, strict=True)]
    return [(f"2026-11-01T09:0{n}:00Z", messages[:n], messages[n]) for n in (1, 3)]


def bedrock(messages: list[dict[str, Any]], output: dict[str, Any]) -> dict[str, Any]:
    log = {"schemaType": "ModelInvocationLog", "input": {"inputBodyJson": {"messages": messages}}}
    return log | {"output": {"outputBodyJson": output}}


LOGS = {
    "converse": [
        {"timestamp": at, **bedrock(sent, {"output": {"message": said}})} for at, sent, said in calls("content")
    ],
    "invoke": [
        {"timestamp": at, **bedrock(sent, {"id": f"m-{at}", "type": "message", **said})}
        for at, sent, said in calls("content")
    ],
    "gemini": [
        {"timestamp": at, "request": {"contents": sent}, "response": {"candidates": [{"content": said}]}}
        for at, sent, said in calls("parts", "model")
    ],
}


def refused(path: Path) -> str:
    with pytest.raises(TurnsignalError) as error, Imported([path], HowToRead()):
        pass
    return str(error.value)


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize("is_array", [False, True])
@pytest.mark.parametrize("name", LOGS)
def test_what_the_line_of_jq_makes_of_a_log_is_read(name: str, tmp_path: Path, *, is_array: bool) -> None:
    path = tmp_path / "my log.json"
    path.write_bytes(orjson.dumps(LOGS[name]) if is_array else b"\n".join(map(orjson.dumps, LOGS[name])))
    command = refused(path).partition("it is read: ")[2].partition("; where")[0]
    assert command.startswith("jq -c ")
    subprocess.run(command, shell=True, check=True, cwd=tmp_path)
    with Imported([tmp_path / "log.jsonl"], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    assert [turn["text"] for turn in turns] == list(TEXTS)
    assert len({turn["conversation_id"] for turn in turns}) == 1


def test_columns_as_pandas_writes_them_are_refused_with_how_to_write_records(tmp_path: Path) -> None:
    columns = {"role": {"0": "user", "1": "assistant"}, "text": {"0": "How?", "1": "So."}, "id": {"0": "a", "1": "b"}}
    (tmp_path / "log.json").write_bytes(orjson.dumps(columns))
    assert 'df.to_json(path, orient="records")' in refused(tmp_path / "log.json")
