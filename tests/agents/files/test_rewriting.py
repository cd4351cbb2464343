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


def bedrock(messages: list[dict[str, Any]], output: Any) -> dict[str, Any]:
    log = {"schemaType": "ModelInvocationLog", "modelId": "claude", "input": {"inputBodyJson": {"messages": messages}}}
    return log | {"output": {"outputBodyJson": output}}


def halves(text: str) -> tuple[str, str]:
    return text[:2], text[2:]


def invoked_in_pieces(text: str) -> list[dict[str, Any]]:
    begun = {"type": "message_start", "message": {"id": f"m-{text}", "role": "assistant", "content": []}}
    return [begun, *({"type": "content_block_delta", "delta": {"text": half}} for half in halves(text))]


def conversed_in_pieces(text: str) -> list[dict[str, Any]]:
    deltas = [{"contentBlockDelta": {"delta": {"text": half}}} for half in halves(text)]
    return [{"messageStart": {"role": "assistant"}}, *deltas, {"messageStop": {"stopReason": "end_turn"}}]


def generated_in_pieces(text: str) -> list[dict[str, Any]]:
    return [{"candidates": [{"content": {"role": "model", "parts": [{"text": half}]}}]} for half in halves(text)]


def vertex(at: str, request: Any, response: Any) -> dict[str, Any]:
    return {"logging_time": at, "model": "gemini", "full_request": request, "full_response": response}


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
    "converse in pieces": [
        {"timestamp": at, **bedrock(sent, conversed_in_pieces(said["content"][0]["text"]))}
        for at, sent, said in calls("content")
    ],
    "invoke in pieces": [
        {"timestamp": at, **bedrock(sent, invoked_in_pieces(said["content"][0]["text"]))}
        for at, sent, said in calls("content")
    ],
    "gemini in pieces": [
        {"timestamp": at, "request": {"contents": sent}, "response": generated_in_pieces(said["parts"][0]["text"])}
        for at, sent, said in calls("parts", "model")
    ],
    "vertex": [
        vertex(at, {"contents": sent}, {"candidates": [{"content": said}]})
        for at, sent, said in calls("parts", "model")
    ],
    "vertex in pieces, as text": [
        vertex(
            at,
            *(
                orjson.dumps(each).decode()
                for each in ({"contents": sent}, generated_in_pieces(said["parts"][0]["text"]))
            ),
        )
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
    turns = rewritten(path, tmp_path)
    assert [turn["text"] for turn in turns] == list(TEXTS)
    assert len({turn["conversation_id"] for turn in turns}) == 1
    model = {"g": {None}, "v": {"gemini"}}.get(name[0], {"claude"})
    assert {turn.get("model") for turn in turns if turn["role"] == "assistant"} == model


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize("is_text", [False, True])
@pytest.mark.parametrize(("name", "key"), [("invoke", "message"), ("converse", "@message"), ("gemini", "jsonPayload")])
def test_such_a_log_within_another_loggers_lines_gets_a_line_of_jq_for_these(
    name: str, key: str, tmp_path: Path, *, is_text: bool
) -> None:
    inside = [orjson.dumps(record).decode() if is_text else record for record in LOGS[name]]
    lines = [{"ingestionTime": 1, key: "START RequestId"}, *({"ingestionTime": 1, key: each} for each in inside)]
    path = tmp_path / "log of lines.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    assert [turn["text"] for turn in rewritten(path, tmp_path)] == list(TEXTS)


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize("name", ["invoke", "converse"])
def test_calls_of_bedrock_whose_body_is_in_s3_are_left_out_and_that_is_said(name: str, tmp_path: Path) -> None:
    moved = {**LOGS[name][0], "input": {"inputBodyS3Path": "s3://logs/1.json"}}
    path = tmp_path / "bedrock.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, [moved, *LOGS[name]])))
    assert "(inputBodyS3Path): their calls are left out" in refused(path)
    assert [turn["text"] for turn in rewritten(path, tmp_path)] == list(TEXTS)


def rewritten(path: Path, to: Path) -> list[dict[str, Any]]:
    """The turns of what the line of jq makes of a log."""
    command = refused(path).partition("it is read: ")[2].partition("; where")[0]
    assert command.startswith("jq -c ")
    subprocess.run(command, shell=True, check=True, cwd=to)
    with Imported([to / "log.jsonl"], HowToRead()) as imported:
        return [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]


@pytest.mark.skipif(shutil.which("jq") is None, reason="jq is not installed")
@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize("of", ["bedrock", "vertex"])
def test_what_is_said_beside_a_call_of_a_tool_is_no_answer_and_a_failed_call_stops_nothing(
    of: str, tmp_path: Path, *, is_streamed: bool
) -> None:
    key, assistant = ("content", "assistant") if of == "bedrock" else ("parts", "model")
    tool = {"toolUse": {"toolUseId": "k", "name": "find"}} if of == "bedrock" else {"functionCall": {"name": "find"}}
    came = {"toolResult": {"toolUseId": "k"}} if of == "bedrock" else {"functionResponse": {"name": "find"}}
    asked = [{"role": "user", key: [{"text": "How?"}]}]
    remark = {"role": assistant, key: [{"text": "One moment."}, tool]}
    found = [*asked, remark, {"role": "user", key: [came]}]
    records: list[dict[str, Any]] = []
    for second, sent, said in (
        (0, asked, None),
        (3, asked, remark),
        (6, found, {"role": assistant, key: [{"text": "So."}]}),
    ):
        at, parts = f"2026-11-01T09:00:0{second}Z", said[key] if said else []
        if of == "vertex":
            chunks = [{"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts]
            whole = {"candidates": [{"content": said}]}
            records.append(vertex(at, {"contents": sent}, (chunks if is_streamed else whole) if said else None))
            continue
        starts = [{"contentBlockStart": {"start": part}} for part in parts if "toolUse" in part]
        pieces = [*conversed_in_pieces("".join(part.get("text", "") for part in parts)), *starts]
        output = pieces if is_streamed else {"output": {"message": said}}
        records.append({"timestamp": at, **bedrock(sent, output if said else None)})
    path = tmp_path / "log of tools.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    assert [turn["text"] for turn in rewritten(path, tmp_path)] == ["How?", "So."]


def test_columns_as_pandas_writes_them_are_refused_with_how_to_write_records(tmp_path: Path) -> None:
    columns = {"role": {"0": "user", "1": "assistant"}, "text": {"0": "How?", "1": "So."}, "id": {"0": "a", "1": "b"}}
    (tmp_path / "log.json").write_bytes(orjson.dumps(columns))
    assert 'df.to_json(path, orient="records")' in refused(tmp_path / "log.json")
