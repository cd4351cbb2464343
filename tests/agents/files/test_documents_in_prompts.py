"""Prompts that hold what was found, and the bare question behind: what was typed is read, or that it is not is told."""

import random
from pathlib import Path
from typing import Any

import pytest

from tests.agents.files.gateway_logs import call_after, read
from tests.stream.formats.told_conversations import ASKED, Said, answer_to, conversations

WORDS = [
    "page",
    "app",
    "step",
    "cost",
    "door",
    "river",
    "card",
    "glass",
    "train",
    "paper",
    "market",
    "light",
    "garden",
    "number",
    "letter",
    "stone",
    "bread",
    "window",
    "road",
    "cloud",
    "music",
    "table",
    "ring",
    "water",
    "engine",
    "field",
    "corner",
    "spring",
    "bottle",
    "tower",
]


def log(prompt: str, *, history: bool, named: bool) -> tuple[list[list[Said]], list[Any]]:
    """A log whose program puts documents around each last question, and sends earlier ones as they were typed."""
    told = conversations(60, asked=[f"{question.rstrip('?.')}?" for question in ASKED])
    chance, records = random.Random(5), []
    for questions in told:
        before: list[Any] = []
        for said in questions:
            passages = "\n\n".join(f"[{at}] {' '.join(chance.choices(WORDS, k=40))}." for at in (1, 2))
            sent = {"role": "user", "content": prompt.format(passages=passages, question=said.typed)}
            records.append(call_after(said, 9, [*before, sent], answer_to(said), named=named))
            answer = {"role": "assistant", "content": answer_to(said)}
            before = [*before, {"role": "user", "content": said.typed}, answer] if history else []
    return told, records


@pytest.mark.parametrize(
    "prompt", ["Context:\n{}", "Search results:\n{}", "Use the following information to answer:\n\n{}"]
)
@pytest.mark.parametrize(("history", "named"), [(True, True), (True, False), (False, True)])
def test_a_bare_question_behind_documents_is_what_was_typed(
    prompt: str, history: bool, named: bool, tmp_path: Path
) -> None:
    told, records = log(prompt.format("{passages}\n\n{question}"), history=history, named=named)
    said, warnings = read(tmp_path / "log.jsonl", records)
    assert said == sorted([text for each in questions for text in (each.typed, answer_to(each))] for questions in told)
    assert not any("hold documents" in warning for warning in warnings)


def test_documents_behind_questions_that_nothing_tells_apart_are_told(tmp_path: Path) -> None:
    _, records = log("{question}\n\nSources:\n{passages}", history=False, named=True)
    _, warnings = read(tmp_path / "log.jsonl", records)
    assert any("questions hold documents, such as “Sources: [1] " in warning for warning in warnings)
    _, records = log("{question}", history=False, named=True)
    assert not any("hold documents" in warning for warning in read(tmp_path / "log.jsonl", records)[1])
