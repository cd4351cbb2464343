"""Logs whose drafts another call words anew, before anybody sees them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.agents.files.test_condensed import Message, read, record, user
from tests.stream.formats.told_conversations import Said, answer_to, conversations
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead

POLISH = (
    "Customer asked: {asked}\n\nDraft answer: {draft}",
    "Question: {asked}\nDraft:\n{draft}\n\nWrite the final answer in our tone of voice.",
    "{draft}",
)


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def history_of(chat: Sequence[Said], nth: int) -> list[Message]:
    said = [system("You are Ada.")]
    for each in chat[:nth]:
        said += [user(each.typed), {"role": "assistant", "content": answer_to(each)}]
    return [*said, user(chat[nth].typed)]


def chats() -> list[list[Said]]:
    return [[each._replace(at=each.at - 963 * each.conversation) for each in chat] for chat in conversations()]


def truth(told: Sequence[Sequence[Said]]) -> dict[tuple[str, ...], int]:
    return {tuple(text for each in chat for text in (each.typed, answer_to(each))): 1 for chat in told}


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("prompt", POLISH)
def test_an_answer_that_histories_have_is_read_in_the_place_of_its_draft(
    prompt: str, rounds: int, tmp_path: Path
) -> None:
    told, records = chats(), list[dict[str, Any]]()
    for each in (each for chat in told for each in chat):
        drafts = [f"{number} rough {answer_to(each).lower()}" for number in range(rounds)]
        texts = [*drafts, answer_to(each)]
        records.append(record(history_of(told[each.conversation], each.nth), texts[0], each.at))
        for number, text in enumerate(texts[1:], 1):
            sent = prompt.format(asked=each.typed, draft=texts[number - 1])
            records.append(
                record([system("Rewrite it in the company's tone of voice."), user(sent)], text, each.at + 2 * number)
            )
    assert read(tmp_path / "log.jsonl", records) == truth(told)


@pytest.mark.parametrize(
    ("asked", "got"),
    [
        ("Translate to German. Only output the translation.", "Auf Deutsch: {}"),
        ("Is that correct? Reason.", "It is: {}"),
    ],
)
def test_what_is_got_for_an_answer_that_stays_in_the_history_is_no_answer(asked: str, got: str, tmp_path: Path) -> None:
    told, records = chats(), list[dict[str, Any]]()
    for each in (each for chat in told for each in chat):
        records.append(record(history_of(told[each.conversation], each.nth), answer_to(each), each.at))
        records.append(record([system(asked), user(answer_to(each))], got.format(answer_to(each)), each.at + 2))
    assert read(tmp_path / "log.jsonl", records) == truth(told)


@pytest.mark.parametrize("answered", [False, True])
def test_translators_before_and_after_the_answer_begin_no_conversation_and_are_told(
    answered: bool, tmp_path: Path
) -> None:
    told, records = chats(), list[dict[str, Any]]()
    for each in (each for chat in told for each in chat):
        asked = [system("Translate the user's message to English."), user(f"Auf Deutsch: {each.typed}")]
        records.append(record(asked, each.typed, each.at - 1))
        records.append(record(history_of(told[each.conversation], each.nth), answer_to(each), each.at))
        if answered:
            sent = [system("Translate to German."), user(answer_to(each))]
            records.append(record(sent, f"Auf Deutsch: {answer_to(each)}", each.at + 2))
    path = tmp_path / "log.jsonl"
    assert read(path, records) == truth(told)
    with Imported([path], HowToRead()) as imported:
        assert any("translate" in warning for warning in imported.reports[0].warnings)
