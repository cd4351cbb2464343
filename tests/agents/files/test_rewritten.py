"""Questions that a program rewrites before it asks them, and checks of an answer that find nothing."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead

CONDENSE = (
    "Given the following conversation and a follow up question, rephrase the follow up question to be a standalone "
    "question.\n\nChat History:\nHuman: {before}\nAssistant: {answer}\n{label}{typed}\nStandalone question:"
)
TALK = (
    ("How do I reset my router?", "Hold the button for ten seconds.", "How do I reset my router?"),
    ("And on my phone?", "Open the app and choose Reset.", "How do I reset my router on my phone?"),
    ("thanks", "You are welcome.", "Is there anything else about resetting the router?"),
)


def call(number: int, messages: list[dict[str, str]], answer: str) -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": answer}}
    request = {"messages": messages, "metadata": {"conversation_id": "c1"}}
    return {"created_at": f"2026-11-20T10:{number:02d}:00Z", "request": request, "response": {"choices": [choice]}}


def said(path: Path, calls: list[dict[str, Any]]) -> list[str]:
    path.write_bytes(b"\n".join(map(orjson.dumps, calls)))
    with Imported([path], HowToRead()) as imported:
        return [orjson.loads(line)["text"] for line in imported.sources[0].path.read_bytes().splitlines()]


@pytest.mark.parametrize("label", ["Follow Up Input: ", "<Follow Up Message>\n", "Latest question: "])
def test_a_question_that_was_rewritten_is_read_as_its_user_typed_it(label: str, tmp_path: Path) -> None:
    calls, before = [], ("", "")
    for number, (typed, answer, question) in enumerate(TALK):
        if number:
            prompt = CONDENSE.format(before=before[0], answer=before[1], label=label, typed=typed)
            calls.append(call(2 * number, [{"role": "user", "content": prompt}], question))
        asked = [{"role": "system", "content": "Answer from: …"}, {"role": "user", "content": question}]
        calls.append(call(2 * number + 1, asked, answer))
        before = typed, answer
    assert said(tmp_path / "log.jsonl", calls) == [text for typed, answer, _ in TALK for text in (typed, answer)]


def test_a_question_that_stands_behind_its_history_is_told_from_what_it_became(tmp_path: Path) -> None:
    calls, history = [], list[dict[str, str]]()
    for number, (typed, answer, question) in enumerate(TALK):
        if number:
            asked = [{"role": "system", "content": "Rewrite the last question so that it stands alone."}, *history]
            calls.append(call(2 * number, [*asked, {"role": "user", "content": typed}], question))
        asked = [{"role": "system", "content": "Answer from: …"}, {"role": "user", "content": question}]
        calls.append(call(2 * number + 1, asked, answer))
        history += [{"role": "user", "content": typed}, {"role": "assistant", "content": answer}]
    assert said(tmp_path / "log.jsonl", calls) == [text for typed, answer, _ in TALK for text in (typed, answer)]


@pytest.mark.parametrize("corrected", [False, True])
def test_a_check_that_finds_nothing_and_says_the_answer_again_is_nobodys(corrected: bool, tmp_path: Path) -> None:
    check = "Review your previous answer for claims without a source. If it is fine, repeat it unchanged."
    calls, wanted = [], []
    for chat in range(6):
        history: list[dict[str, str]] = []
        for at in range(3):
            question, draft = f"What is {chat}{at} in our list?", f"The number {chat}{at} stands on page {at} of it."
            answer = f"{draft} See there." if corrected and at else draft
            asked = [*history, {"role": "user", "content": question}]
            calls.append(call(0, asked, draft))
            checked = [*asked, {"role": "assistant", "content": draft}, {"role": "user", "content": check}]
            calls.append(call(0, checked, answer))
            history = [*asked, {"role": "assistant", "content": answer}]
            wanted += [question, answer]
    for number, each in enumerate(calls):
        each["request"]["metadata"]["conversation_id"] = f"c{number // 6}"
        each["created_at"] = f"2026-11-20T10:{number // 2:02d}:{number % 2 * 5:02d}Z"
    assert sorted(said(tmp_path / "log.jsonl", calls)) == sorted(wanted)


def test_a_prompt_of_countless_lines_that_asks_for_another_question_is_read(tmp_path: Path) -> None:
    prompt = "Rephrase the question to be standalone.\n" + "\n" * 300_000 + "User question: And now?"
    said_before = [{"role": "user", "content": prompt}]
    calls = [call(0, said_before, "What is it now?"), call(1, [{"role": "user", "content": "What is it now?"}], "Ten.")]
    assert said(tmp_path / "log.jsonl", calls) == ["And now?", "Ten."]
