"""Logs whose answers are objects, of which users see one field."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.test_condensed import read, record, user
from tests.agents.files.test_polished import chats, system, truth
from tests.stream.formats.told_conversations import Said, answer_to
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead


def object_of(said: Said, field: str, *, fenced: bool = False) -> str:
    held: dict[str, Any] = {"intent": "help", field: answer_to(said), "sources": [f"kb{said.nth}"]}
    text = json.dumps({"output": held} if field == "say" else held)
    return f"```json\n{text}\n```" if fenced else text


def logged(*, field: str, repeats: str, fenced: bool = False) -> list[dict[str, Any]]:
    records = []
    for chat in chats():
        sent = [system("Answer in JSON.")]
        for each in chat:
            sent = [*sent, user(each.typed)] if repeats else [system("Answer in JSON."), user(each.typed)]
            records.append(record(sent, object_of(each, field, fenced=fenced), each.at))
            again = answer_to(each) if repeats == "field" else object_of(each, field, fenced=fenced)
            sent = [*sent, {"role": "assistant", "content": again}]
    return records


@pytest.mark.parametrize("fenced", [False, True])
@pytest.mark.parametrize(
    ("field", "repeats"), [("answer", "field"), ("say", "field"), ("antwort", "field"), ("answer", "object")]
)
def test_the_field_that_users_saw_is_read(field: str, repeats: str, fenced: bool, tmp_path: Path) -> None:
    records = logged(field=field, repeats=repeats, fenced=fenced)
    assert read(tmp_path / "log.jsonl", records) == truth(chats())


def test_a_field_by_such_a_name_is_read_where_all_answers_have_one(tmp_path: Path) -> None:
    said = read(tmp_path / "log.jsonl", logged(field="reply", repeats=""))
    assert {text for texts in said for text in texts} == {text for texts in truth(chats()) for text in texts}


def test_a_field_by_another_name_that_no_history_tells_is_read_as_it_stands_and_told(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, logged(field="antwort", repeats="object"))))
    with Imported([path], HowToRead()) as imported:
        texts = [orjson.loads(line)["text"] for line in imported.sources[0].path.read_bytes().splitlines()]
        assert any("answers are objects" in warning for warning in imported.reports[0].warnings)
    assert all(text.startswith("{") for text in texts[1::2])


def test_sources_that_were_retrieved_are_citations(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    found = json.dumps([{"id": f"kb{number}", "text": "About this."} for number in range(2)])
    records = []
    for each in (each for chat in chats() for each in chat):
        called = {"role": "assistant", "tool_calls": [{"id": "t1", "type": "function", "function": {"name": "search"}}]}
        sent = [user(each.typed), called, {"role": "tool", "tool_call_id": "t1", "content": found}]
        records.append(record(sent, object_of(each, "answer"), each.at))
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line in imported.sources[0].path.read_bytes().splitlines()]
    answers = [turn for turn in turns if turn["role"] == "assistant"]
    assert len(answers) == len(records)
    cited = [[item["doc_id"] for item in turn.get("metadata", {}).get("citations", ())] for turn in answers]
    retrieved = [{document["doc_id"] for document in turn["retrieved"]} for turn in answers]
    assert all(set(names) <= ids for names, ids in zip(cited, retrieved, strict=True))
    assert [names for names in cited if names]
    assert not any("\0" in key for turn in answers for key in turn.get("metadata", {}))
