"""Logs of several vendors' calls: each record is read as what its response is, or refused with its line."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

BEGIN = 1_790_000_000


def read(path: Path, how: HowToRead | None = None) -> tuple[list[dict[str, Any]], FileReport]:
    with Imported([path], how or HowToRead()) as imported:
        (report,) = imported.reports
        return [orjson.loads(line) for line, _ in Recording(imported.sources).lines()], report


def call(number: int, vendor: str) -> dict[str, Any]:
    asked, answered = f"How do I do {number}?", f"Do so {number}"
    messages = {"model": "m", "messages": [{"role": "user", "content": asked}]}
    choices = [{"message": {"role": "assistant", "content": answered}}]
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answered}]}
    blocks = [{"type": "text", "text": answered}]
    exchange: dict[str, tuple[Any, Any]] = {
        "openai": (messages, {"id": f"c{number}", "object": "chat.completion", "choices": choices}),
        "anthropic": (messages, {"id": f"m{number}", "type": "message", "role": "assistant", "content": blocks}),
        "responses": ({"input": asked}, {"id": f"r{number}", "object": "response", "output": [item]}),
        "gemini": (messages, {"candidates": [{"content": {"parts": [{"text": answered}]}}]}),
        "failed": (messages, {"error": {"message": "overloaded"}}),
    }
    request, response = exchange[vendor]
    base = {"timestamp": BEGIN + number * 60, "session_id": f"s{number // 4}"}
    return {**base, "request": request, "response": response}


def written(path: Path, *vendors: str) -> Path:
    path.write_bytes(b"\n".join(orjson.dumps(call(number, vendor)) for number, vendor in enumerate(vendors)))
    return path


@pytest.mark.parametrize("second", ["anthropic", "responses"])
def test_a_second_vendor_far_down_in_a_file_keeps_its_answers(second: str, tmp_path: Path) -> None:
    turns, report = read(written(tmp_path / "log.jsonl", *["openai"] * 60, *[second] * 40))
    assert report.turns == {"user": 100, "assistant": 100}
    assert report.refused == {}
    assert report.assumed[f"records of {second} among those of openai, read as such"] == 40
    assert {turn["text"] for turn in turns if turn["role"] == "assistant"} == {f"Do so {n}" for n in range(100)}


def test_vendors_by_turns_are_read_without_being_asked(tmp_path: Path) -> None:
    turns, report = read(written(tmp_path / "log.jsonl", *["openai", "anthropic", "responses"] * 4))
    assert report.format == "openai, responses, anthropic"
    assert report.turns == {"user": 12, "assistant": 12}
    assert [turn["conversation_id"] for turn in turns[:8]] == [turns[0]["conversation_id"]] * 8


@pytest.mark.parametrize(
    ("asked_for", "other"), [("openai", "anthropic"), ("anthropic", "responses"), ("responses", "openai")]
)
def test_who_chooses_a_format_is_told_the_line_of_another_vendors_response(
    asked_for: str, other: str, tmp_path: Path
) -> None:
    _, report = read(written(tmp_path / "log.jsonl", asked_for, other), HowToRead(asked_for))
    assert report.turns == {"user": 1, "assistant": 1}
    assert report.refused == {"wrong_type": 1}
    line, detail = report.first["wrong_type"]
    assert line == 2
    assert f"got one of {other}: leave --format out" in detail


def test_a_response_that_nobody_knows_is_refused_by_its_keys_and_no_question_is_left_alone(tmp_path: Path) -> None:
    _, report = read(written(tmp_path / "log.jsonl", "openai", "gemini"))
    assert report.turns == {"user": 1, "assistant": 1}
    assert report.first["wrong_type"][0] == 2
    assert "an object with candidates" in report.first["wrong_type"][1]


def test_an_error_in_the_place_of_a_response_is_a_call_that_failed(tmp_path: Path) -> None:
    _, report = read(written(tmp_path / "log.jsonl", "openai", "failed"))
    assert report.turns == {"user": 2, "assistant": 1}
    assert report.refused == {}


def test_records_of_a_log_of_another_kind_are_told_where_nothing_of_them_is_read(tmp_path: Path) -> None:
    trace = {"trace_id": "t1", "type": "GENERATION", "id": "o1", "input": "How?", "output": "So.", "start_time": BEGIN}
    path = tmp_path / "log.jsonl"
    records = [*(call(number, "openai") for number in range(60)), *({**trace, "id": f"o{n}"} for n in range(7))]
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    turns, report = read(path)
    assert len(turns) == 120
    way = f"to read them: turnsignal convert {path} --format langfuse --out langfuse.jsonl"
    assert f"7 records look like langfuse; nothing of them was read; {way}" in report.warnings
    assert report.strangers == 7
    silent = {key: value for key, value in trace.items() if key not in ("input", "output")}
    path.write_bytes(b"\n".join(map(orjson.dumps, [*records[:60], *([silent] * 7)])))
    assert read(path)[1].warnings == []  # they say nothing in any format


@pytest.mark.parametrize("how", [HowToRead(), HowToRead("openai")])
def test_embeddings_moderations_and_rankings_are_left_out_rather_than_refused(how: HowToRead, tmp_path: Path) -> None:
    results: tuple[dict[str, Any], ...] = (
        {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.1]}]},
        {"id": "modr-1", "results": [{"flagged": False, "categories": {}}]},
        {"results": [{"index": 0, "relevance_score": 0.9}]},
    )
    records: list[dict[str, Any]] = []
    for number in range(5):
        records += [{"timestamp": BEGIN, "request": {"input": "How?"}, "response": result} for result in results]
        records.append(call(number, "openai"))
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, records)))
    _, report = read(tmp_path / "log.jsonl", how)
    assert (report.turns, report.refused) == ({"user": 5, "assistant": 5}, {})
    assert report.assumed["calls that are no chat (embeddings, moderations, rankings, images) left out"] == 15


def test_calls_whose_words_a_gateway_keeps_to_itself_are_left_out(tmp_path: Path) -> None:
    records = [call(number, "openai") for number in range(10)]
    kept = orjson.dumps(records[3]).decode().replace("How do I do 3?", "redacted-by-litellm")
    records[3] = orjson.loads(kept.replace("Do so 3", "redacted-by-litellm"))
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, records)))
    turns, report = read(tmp_path / "log.jsonl")
    assert (len(turns), report.assumed["messages that were redacted left out"]) == (18, 2)
    assert not any("redacted" in turn["text"] for turn in turns)
