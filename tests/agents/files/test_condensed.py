"""Conversations of chains that send the history with the call that rewrites a question, and with no other."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.stream.formats.told_conversations import Said, answer_to, conversations
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead

CONDENSE = (
    "Given the following conversation and a follow up question, rephrase the follow up question to be a standalone "
    "question.\n\nChat History:\n{history}\nFollow Up Input: {typed}\nStandalone question:"
)
REWRITE = (
    "Given a conversation (between Human and Assistant) and a follow up message from Human, rewrite the message to be "
    "a standalone question that captures all relevant context.\n\n<Chat History>\n{history}\n\n<Follow Up Message>\n"
    "{typed}\n\n<Standalone question>\n"
)
Message = dict[str, str]
Rewriting = Callable[[Sequence[Said], str], list[Message]]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def prompt(text: str, asks: str, answers: str) -> Rewriting:
    def rewriting(before: Sequence[Said], typed: str) -> list[Message]:
        history = "\n".join(f"{asks}: {each.typed}\n{answers}: {answer_to(each)}" for each in before)
        return [user(text.format(history=history, typed=typed))]

    return rewriting


def messages(before: Sequence[Said], typed: str) -> list[Message]:
    instructions = "Given the chat history and the user's latest question, reformulate it as a standalone question."
    asked = [{"role": "system", "content": instructions}]
    for each in before:
        asked += [user(each.typed), {"role": "assistant", "content": answer_to(each)}]
    return [*asked, user(typed)]


def record(sent: list[Message], answer: str, at: float) -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": answer}}
    return {"created_at": 1.7e9 + at, "request": {"messages": sent}, "response": {"choices": [choice]}}


def read(path: Path, records: Sequence[dict[str, Any]]) -> Counter[tuple[str, ...]]:
    path.write_bytes(b"\n".join(map(orjson.dumps, sorted(records, key=lambda each: float(each["created_at"])))))
    said: dict[str, list[str]] = {}
    with Imported([path], HowToRead()) as imported:
        for line in imported.sources[0].path.read_bytes().splitlines():
            said.setdefault((turn := orjson.loads(line))["conversation_id"], []).append(turn["text"])
    return Counter(map(tuple, said.values()))


@pytest.mark.parametrize("last", [None, 2])
@pytest.mark.parametrize("unchanged", [False, True])
@pytest.mark.parametrize(
    "rewriting", [prompt(CONDENSE, "Human", "Assistant"), prompt(REWRITE, "user", "assistant"), messages]
)
def test_what_a_rewriting_call_sends_of_the_history_tells_whose_question_it_is(
    rewriting: Rewriting, unchanged: bool, last: int | None, tmp_path: Path
) -> None:
    told = [[each._replace(at=each.at - 963 * each.conversation) for each in chat] for chat in conversations()]
    records = []
    for each in (each for chat in told for each in chat):
        before = told[each.conversation][: each.nth]
        question = each.typed
        if before:
            question += "" if unchanged else f" ({told[each.conversation][0].typed})"
            records.append(record(rewriting(before[-last:] if last else before, each.typed), question, each.at + 1))
        searched = f"Context:\nPage {each.at} tells it.\n\nQuestion: {question}\n\nHelpful answer:"
        records.append(record([user(searched)], answer_to(each), each.at + 3))
    wanted = Counter(tuple(text for each in chat for text in (each.typed, answer_to(each))) for chat in told)
    assert read(tmp_path / "log.jsonl", records) == wanted
