"""Calls of a program without a conversation's id, in a log whose answers have one: titles asked outside the session."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.stream.formats.told_conversations import Said, answer_to, conversations
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead

HELP, TITLE = "You are the assistant of Acme.", "Write a title of at most five words for this conversation."


def call(said: Said, late: int, messages: list[Any], answer: str, session: str | None = None) -> dict[str, Any]:
    at = said.at + late
    time = f"2026-11-{20 + at // 86_400}T{at // 3_600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}Z"
    response = {"choices": [{"message": {"role": "assistant", "content": answer}}]}
    record = {"created_at": time, "request": {"messages": messages}, "response": response}
    return record | ({"session_id": session} if session else {})


def title_for(said: Said, way: str) -> list[Any]:
    asked = {"role": "user", "content": said.typed}
    exchange = f"User: {said.typed}\nAssistant: {answer_to(said)}"
    return {
        "instructions": [{"role": "system", "content": TITLE}, asked],
        "prompt": [{"role": "user", "content": f"{TITLE}\n\n{exchange}"}],
        "history": [asked, {"role": "assistant", "content": answer_to(said)}, {"role": "user", "content": TITLE}],
    }[way]


def read(path: Path, records: list[Any]) -> tuple[list[list[str]], list[str]]:
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line in imported.sources[0].path.read_bytes().splitlines()]
        warnings = imported.reports[0].warnings
    said: dict[str, list[str]] = {}
    for turn in turns:
        said.setdefault(turn["conversation_id"], []).append(turn["text"])
    return sorted(said.values()), warnings


def answers(told: list[list[Said]]) -> list[Any]:
    records = []
    for questions in told:
        history: list[Any] = [{"role": "system", "content": HELP}]
        for said in questions:
            history = [*history, {"role": "user", "content": said.typed}]
            records.append(call(said, 10, history, answer_to(said), f"c{said.conversation}"))
            history = [*history, {"role": "assistant", "content": answer_to(said)}]
    return records


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("way", ["instructions", "prompt", "history"])
def test_titles_without_an_id_are_no_conversations(way: str, every: int, tmp_path: Path) -> None:
    told = conversations(60)
    titles = [
        call(questions[0], 13, title_for(questions[0], way), f"About {number}: {questions[0].typed[:12]}")
        for number, questions in enumerate(told[::every])
    ]
    said, _ = read(tmp_path / "log.jsonl", [*answers(told), *titles])
    assert said == sorted([text for each in questions for text in (each.typed, answer_to(each))] for questions in told)


def test_a_call_without_an_id_that_nothing_else_tells_of_is_told(tmp_path: Path) -> None:
    told = conversations(6)
    lonely = call(told[0][0], 900, [{"role": "user", "content": "Sum up the news of the day."}], "It rained a lot.")
    said, warnings = read(tmp_path / "log.jsonl", [*answers(told), lonely])
    assert len(said) == 7
    assert any("1 of " in warning and "“Sum up the news of the day.”" in warning for warning in warnings)
    assert not any("name no conversation" in each for each in read(tmp_path / "log.jsonl", answers(told))[1])
