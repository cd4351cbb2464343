"""Logs of two models that are asked the same: a shadow's answers are no turns, those that users chose are."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.agents.files.gateway_logs import call_after, read
from tests.stream.formats.told_conversations import Said, answer_to, conversations


def other_answer_to(said: Said) -> str:
    return f"It depends on the plan of number {said.at}; our hotline helps with that."


def log(
    told: list[list[Said]], others: Callable[[Said], bool], chosen: Callable[[Said], str], *, gap: int, named: bool
) -> list[Any]:
    """A gateway's log in which another model is asked some questions, too. chosen: what histories go on from."""
    records: list[Any] = []
    for questions in told:
        history: list[Any] = []
        for said in questions:
            asked = [*history, {"role": "user", "content": said.typed}]
            records.append(call_after(said, 10, asked, answer_to(said), named=named))
            if others(said):
                records.append(call_after(said, 10 + gap, asked, other_answer_to(said), named=named, model="gpt-5"))
            history = [*asked, {"role": "assistant", "content": chosen(said)}]
    return records


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("gap", [-1, 1, 40])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_answers_of_a_shadow_are_no_turns_and_told(share: float, gap: int, named: bool, tmp_path: Path) -> None:
    told, chance = conversations(60), random.Random(3)
    records = log(told, lambda _: chance.random() < share, answer_to, gap=gap, named=named)
    said, warnings = read(tmp_path / "log.jsonl", records)
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

    said, _ = read(tmp_path / "log.jsonl", log(told, is_asked, chosen, gap=20, named=True))
    texts = {text for each in said for text in each}
    assert {other_answer_to(each) for questions in told for each in questions if is_asked(each)} <= texts
    assert {answer_to(each) for questions in told for each in questions} <= texts
