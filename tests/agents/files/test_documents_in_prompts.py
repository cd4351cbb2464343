"""Prompts that hold what was found, and the bare question behind: what was typed is read, or that it is not is told."""

import random
from pathlib import Path
from typing import Any

import pytest

from tests.agents.files.gateway_logs import call_after, read
from tests.stream.formats.told_conversations import ASKED, Said, answer_to, conversations
from turnsignal.stream.formats.asked_first import AskedFirst

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


@pytest.mark.parametrize(
    "line",
    [
        "Sources:\n{}",
        "Context: {}",
        "### Relevant documents\n{}",
        "Here are some documents that may help:\n\n{}",
        "<context>\n{}\n</context>",
        "---\n{}",
    ],
)
def test_a_question_before_documents_is_what_was_typed(line: str, tmp_path: Path) -> None:
    told, records = log("{question}\n\n" + line.format("{passages}"), history=False, named=True)
    conversation, warnings = read(tmp_path / "log.jsonl", records)
    assert conversation == sorted(
        [text for each in questions for text in (each.typed, answer_to(each))] for questions in told
    )
    assert not any("hold documents" in warning for warning in warnings)


def test_what_users_write_below_a_line_of_their_own_stays(tmp_path: Path) -> None:
    told = conversations(60)
    records = []
    for number, each in enumerate(each for questions in told for each in questions):
        typed = f"{each.typed}\n\nSource: the app" if number % 2 else f"{each.typed}\n---\nsent from my phone"
        records.append(call_after(each, 9, [{"role": "user", "content": typed}], answer_to(each), named=True))
    kept = [text for texts in read(tmp_path / "log.jsonl", records)[0] for text in texts if "\n" in text]
    assert len(kept) == len(records)


def test_documents_that_are_graded_one_by_one_are_no_questions_of_users(tmp_path: Path) -> None:
    """A program asks the same of each document, so that what stands above the line is no question of its own."""
    texts = [f"How do I pay {n // 5}?\n\nDocument:\n{' '.join(WORDS)} {n} {' '.join(WORDS[::-1])}" for n in range(50)]
    asked = AskedFirst()
    for text in texts:
        asked.add(text)
    asked.conclude()
    assert not any(map(asked.question_in, texts))


def test_documents_behind_questions_that_nothing_tells_apart_are_told(tmp_path: Path) -> None:
    _, records = log("{question}\n\nSources:\n{passages}", history=False, named=True)
    for number, record in enumerate(records):  # one line in four messages is hardly a program's
        message = record["request"]["messages"][-1]
        message["content"] = message["content"].replace(
            "Sources:", f"{('Notes', 'Source', 'Docs', 'Results')[number % 4]}:"
        )
    _, warnings = read(tmp_path / "log.jsonl", records)
    assert any("questions hold documents, such as “" in warning for warning in warnings)
    _, records = log("{question}", history=False, named=True)
    assert not any("hold documents" in warning for warning in read(tmp_path / "log.jsonl", records)[1])
