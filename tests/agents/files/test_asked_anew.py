"""A question that got no answer, and comes again: soon it is a program that tries again, later it is its user."""

from pathlib import Path
from typing import Any

import pytest

from tests.agents.files.gateway_logs import call_after, read
from tests.stream.formats.told_conversations import answer_to, conversations


def log(late: int, *, history: bool, named: bool, model: str = "gpt-4o") -> tuple[list[Any], list[list[str]], int]:
    """Conversations in which each second question fails first, and is asked again so many seconds later."""
    records, truth, failed = [], [], 0
    for questions in conversations(40):
        before: list[Any] = []
        texts: list[str] = []
        for said in questions:
            sent = [*before, {"role": "user", "content": said.typed}]
            if said.nth % 2:
                failed += 1
                records.append(call_after(said, 9 - late, sent, "", named=named, model=model))
                texts += [said.typed] * (late > 10)
            records.append(call_after(said, 9, sent, answer_to(said), named=named))
            texts += [said.typed, answer_to(said)]
            before = [*sent, {"role": "assistant", "content": answer_to(said)}] if history else []
        truth.append(texts)
    return sorted(records, key=lambda record: record["created_at"]), sorted(truth), failed


@pytest.mark.parametrize(("history", "named"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("late", [3, 40])
def test_what_failed_and_comes_again_soon_was_asked_once_and_later_twice(
    late: int, history: bool, named: bool, tmp_path: Path
) -> None:
    records, truth, failed = log(late, history=history, named=named)
    assert failed
    assert read(tmp_path / "log.jsonl", records)[0] == truth


def test_another_model_may_be_tried_later(tmp_path: Path) -> None:
    records, _, failed = log(40, history=False, named=True, model="gpt-4o-mini")
    assert len(records) * 2 - failed * 2 == sum(map(len, read(tmp_path / "log.jsonl", records)[0]))


@pytest.mark.parametrize("attempts", [1, 2, 3])
@pytest.mark.parametrize(("history", "named"), [(True, True), (True, False), (False, True)])
def test_however_often_a_program_tries_a_first_question_it_begins_one_conversation(
    attempts: int, history: bool, named: bool, tmp_path: Path
) -> None:
    records, truth = [], []
    for questions in conversations(40, short=("and then, for number {number}?",)):
        before: list[Any] = []
        for said in questions:
            sent = [*before, {"role": "user", "content": said.typed}]
            failed = attempts * (said.nth == 0)
            records += [call_after(said, 9 - 2 * number, sent, "", named=named) for number in range(failed, 0, -1)]
            records.append(call_after(said, 9, sent, answer_to(said), named=named))
            before = [*sent, {"role": "assistant", "content": answer_to(said)}] if history else []
        truth.append([text for said in questions for text in (said.typed, answer_to(said))])
    records.sort(key=lambda record: record["created_at"])
    assert read(tmp_path / "log.jsonl", records)[0] == sorted(truth)
