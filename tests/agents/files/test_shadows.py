"""Logs of two models that are asked the same: a shadow's answers are no turns, those that users chose are."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.stream.formats.told_conversations import Said, answer_to, conversations
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead


def other_answer_to(said: Said) -> str:
    return f"It depends on the plan of number {said.at}; our hotline helps with that."


def log(
    path: Path,
    told: list[list[Said]],
    others: Callable[[Said], bool],
    chosen: Callable[[Said], str],
    *,
    gap: int,
    named: bool,
) -> Path:
    """Write a gateway's log in which another model is asked some questions, too. chosen: what histories go on from."""
    records: list[Any] = []
    for questions in told:
        history: list[Any] = []
        for said in questions:
            asked = [*history, {"role": "user", "content": said.typed}]
            answers = {"gpt-4o": (answer_to(said), 0)}
            if others(said):
                answers["gpt-5"] = (other_answer_to(said), gap)
            for model, (answer, late) in answers.items():
                at = said.at + 10 + late
                record = {
                    "created_at": f"2026-11-{20 + at // 86_400}T{at // 3_600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}Z",
                    "request": {"model": model, "messages": asked},
                    "response": {"model": model, "choices": [{"message": {"role": "assistant", "content": answer}}]},
                }
                records.append(record | ({"session_id": f"c{said.conversation}"} if named else {}))
            history = [*asked, {"role": "assistant", "content": chosen(said)}]
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return path


def read(path: Path) -> tuple[list[list[str]], list[str]]:
    """Return the texts of each conversation, and the warnings."""
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line in imported.sources[0].path.read_bytes().splitlines()]
        warnings = imported.reports[0].warnings
    said: dict[str, list[str]] = {}
    for turn in turns:
        said.setdefault(turn["conversation_id"], []).append(turn["text"])
    return sorted(said.values()), warnings


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("gap", [-1, 1, 40])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_answers_of_a_shadow_are_no_turns_and_told(share: float, gap: int, named: bool, tmp_path: Path) -> None:
    told, chance = conversations(60), random.Random(3)
    path = log(tmp_path / "log.jsonl", told, lambda _: chance.random() < share, answer_to, gap=gap, named=named)
    said, warnings = read(path)
    assert said == sorted([text for each in questions for text in (each.typed, answer_to(each))] for questions in told)
    assert any("come back in no history" in warning for warning in warnings)


@pytest.mark.parametrize("often", [2, 1])
def test_answers_that_users_had_of_another_model_in_its_stead_are_turns_and_so_are_those_before(
    often: int, tmp_path: Path
) -> None:
    """often: how many of them the user then went on from."""
    told = conversations(60)

    def is_asked(said: Said) -> bool:
        return said.conversation % 2 == 0

    def chosen(said: Said) -> str:
        return other_answer_to(said) if is_asked(said) and said.at // 60 % often == 0 else answer_to(said)

    said, _ = read(log(tmp_path / "log.jsonl", told, is_asked, chosen, gap=20, named=True))
    texts = {text for each in said for text in each}
    assert {other_answer_to(each) for questions in told for each in questions if is_asked(each)} <= texts
    assert {answer_to(each) for questions in told for each in questions} <= texts
