"""Calls of a program without a conversation's id, in a log whose answers have one: titles asked outside the session."""

from pathlib import Path
from typing import Any

import pytest

from tests.agents.files.gateway_logs import call_after, read
from tests.stream.formats.told_conversations import Said, answer_to, conversations

HELP, TITLE = "You are the assistant of Acme.", "Write a title of at most five words for this conversation."


def title_for(said: Said, way: str) -> list[Any]:
    asked = {"role": "user", "content": said.typed}
    exchange = f"User: {said.typed}\nAssistant: {answer_to(said)}"
    return {
        "instructions": [{"role": "system", "content": TITLE}, asked],
        "prompt": [{"role": "user", "content": f"{TITLE}\n\n{exchange}"}],
        "history": [asked, {"role": "assistant", "content": answer_to(said)}, {"role": "user", "content": TITLE}],
    }[way]


def answers(told: list[list[Said]]) -> list[Any]:
    records = []
    for questions in told:
        history: list[Any] = [{"role": "system", "content": HELP}]
        for said in questions:
            history = [*history, {"role": "user", "content": said.typed}]
            records.append(call_after(said, 10, history, answer_to(said), named=True))
            history = [*history, {"role": "assistant", "content": answer_to(said)}]
    return records


@pytest.mark.parametrize("every", [1, 3])
@pytest.mark.parametrize("way", ["instructions", "prompt", "history"])
def test_titles_without_an_id_are_no_conversations(way: str, every: int, tmp_path: Path) -> None:
    told = conversations(60)
    titles = [
        call_after(first, 13, title_for(first, way), f"About {number}: {first.typed[:12]}", named=False)
        for number, (first, *_) in enumerate(told[::every])
    ]
    said, _ = read(tmp_path / "log.jsonl", [*answers(told), *titles])
    assert said == sorted([text for each in questions for text in (each.typed, answer_to(each))] for questions in told)


def test_a_call_without_an_id_that_nothing_else_tells_of_is_told(tmp_path: Path) -> None:
    told = conversations(6)
    asked = [{"role": "user", "content": "Sum up the news of the day."}]
    lonely = call_after(told[0][0], 900, asked, "It rained a lot.", named=False)
    said, warnings = read(tmp_path / "log.jsonl", [*answers(told), lonely])
    assert len(said) == 7
    assert any("1 of " in warning and "“Sum up the news of the day.”" in warning for warning in warnings)
    assert not any("name no conversation" in each for each in read(tmp_path / "log.jsonl", answers(told))[1])
