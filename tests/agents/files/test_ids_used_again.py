"""Ids that are unique in a file, or in a conversation, alone: no record is lost, and no two strangers are joined."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

APART = "conversations whose id an unlike one has, too, kept apart"
TWICE = "records that came twice left out"


def openai(number: int, asked: str, answered: str) -> dict[str, Any]:
    said = [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}]
    return {"id": number, "messages": said}


def sharegpt(number: int, asked: str, answered: str) -> dict[str, Any]:
    return {
        "id": f"chat_{number}",
        "conversations": [{"from": "human", "value": asked}, {"from": "gpt", "value": answered}],
    }


def langchain(number: int, asked: str, answered: str) -> dict[str, Any]:
    return {"id": number, "messages": [{"type": "human", "content": asked}, {"type": "ai", "content": answered}]}


def read(folder: Path, *files: list[dict[str, Any]]) -> tuple[list[list[str]], Counter[str]]:
    """What is said in each conversation of files, and what was assumed."""
    paths = [folder / f"day-{number}.jsonl" for number, _ in enumerate(files)]
    for path, records in zip(paths, files, strict=True):
        path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    with Imported(paths, HowToRead()) as imported:
        said: dict[str, list[str]] = {}
        for turn in sorted((orjson.loads(line) for line, _ in Recording(imported.sources).lines()), key=_order):
            said.setdefault(turn["conversation_id"], []).append(turn["text"])
        return sorted(said.values()), imported.reports[0].assumed


def _order(turn: dict[str, Any]) -> str:
    return str(turn["timestamp"])


@pytest.mark.parametrize("record", [openai, sharegpt, langchain])
def test_records_of_two_files_that_are_numbered_alike_are_two_conversations_each(record: Any, tmp_path: Path) -> None:
    first = [record(number, f"question {number}", f"answer {number}") for number in range(3)]
    second = [record(number, f"other question {number}", f"other answer {number}") for number in range(3)]
    said, assumed = read(tmp_path, first, second)
    expected = [[f"{other}question {n}", f"{other}answer {n}"] for other in ("", "other ") for n in range(3)]
    assert said == sorted(expected)
    assert (assumed[APART], assumed[TWICE]) == (3, 0)


@pytest.mark.parametrize("record", [openai, sharegpt, langchain])
def test_a_file_that_is_given_twice_counts_once(record: Any, tmp_path: Path) -> None:
    records = [record(number, f"question {number}", f"answer {number}") for number in range(3)]
    said, assumed = read(tmp_path, records, records)
    assert (len(said), assumed[APART], assumed[TWICE]) == (3, 0, 3)


def test_records_that_are_numbered_within_a_session_all_count(tmp_path: Path) -> None:
    records = [
        {
            "id": number,
            "session_id": session,
            "messages": [{"role": "user", "content": f"Question {number}"}],
            "choices": [{"message": {"role": "assistant", "content": "Hello"}}],
        }
        for session in ("s1", "s2")
        for number in range(3)
    ]
    said, _ = read(tmp_path, records)
    assert said == [["Question 0", "Hello", "Question 1", "Hello", "Question 2", "Hello"]] * 2


def test_completions_of_one_id_at_other_times_all_count(tmp_path: Path) -> None:
    records = [
        {
            "request": {"messages": [{"role": "user", "content": "Hi"}]},
            "response": {
                "id": "chatcmpl-7",
                "created": 1_794_992_400 + at,
                "choices": [{"message": {"role": "assistant", "content": "Hey"}}],
            },
        }
        for at in (0, 600, 600)
    ]
    said, assumed = read(tmp_path, records)
    assert (said, assumed[TWICE]) == ([["Hi", "Hey"]] * 2, 1)


def test_a_conversation_that_stands_in_two_exports_goes_on_from_the_first(tmp_path: Path) -> None:
    short, longer = sharegpt(1, "a", "A"), sharegpt(1, "a", "A")
    longer["conversations"] += [{"from": "human", "value": "b"}, {"from": "gpt", "value": "B"}]
    stranger = {**longer, "id": "chat_2"}
    assert read(tmp_path, [short], [longer])[0] == [["a", "A", "b", "B"]]
    assert read(tmp_path, [short], [stranger])[0] == [["a", "A"], ["a", "A", "b", "B"]]
