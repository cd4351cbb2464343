"""What chains were asked with the history beside the question, where no call of a model and no id is logged."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.test_questions_beside import ALL, TALKS, at, exchanges, written
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

Record = dict[str, Any]


def serialised(role: str, text: str) -> Record:
    kind, named = ("human", "HumanMessage") if role == "user" else ("ai", "AIMessage")
    place = ["langchain", "schema", "messages", named]
    return {"lc": 1, "type": "constructor", "id": place, "kwargs": {"content": text, "type": kind}}


def paired(history: list[Record]) -> list[list[str]]:
    texts = [each["content"] for each in history]
    return [list(pair) for pair in zip(texts[::2], texts[1::2], strict=True)]


HISTORIES: dict[str, Callable[[list[Record]], Any]] = {
    "messages": lambda history: history,
    "serialised": lambda history: [serialised(each["role"], each["content"]) for each in history],
    "types": lambda history: [
        {"type": {"user": "human"}.get(m["role"], "ai"), "content": m["content"]} for m in history
    ],
    "roles and texts": lambda history: [[{"user": "human"}.get(m["role"], "ai"), m["content"]] for m in history],
    "questions and answers": paired,
    "a text": lambda history: "\n".join(
        f"{'Human' if each['role'] == 'user' else 'AI'}: {each['content']}" for each in history
    ),
    "JSON in a text": lambda history: orjson.dumps(history).decode(),
}
NAMES = {"input": "chat_history", "question": "chat_history", "query": "history", "user_input": "previous_messages"}


def langsmith(number: int, time: str, given: Record, answer: str) -> Record:
    ids = {"id": f"run-{number}", "trace_id": f"run-{number}", "parent_run_id": None, "run_type": "chain"}
    times = {"start_time": time, "end_time": time}
    return ids | times | {"name": "support", "inputs": given, "outputs": {"output": answer}, "session_id": "project-1"}


def langfuse(number: int, time: str, given: Record, answer: str) -> Record:
    return {"id": f"trace-{number}", "timestamp": time, "sessionId": None, "input": given, "output": {"answer": answer}}


def openinference(number: int, time: str, given: Record, answer: str) -> Record:
    row = {
        "context.span_id": f"{number:016x}",
        "context.trace_id": f"{number:032x}",
        "parent_id": None,
        "name": "chain",
    }
    kind = {"attributes.openinference.span.kind": "CHAIN"}
    said = {"attributes.input.value": orjson.dumps(given).decode(), "attributes.output.value": answer}
    return row | {"start_time": time, "end_time": time} | kind | said


@pytest.mark.parametrize("write", [langsmith, langfuse, openinference])
@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("question", NAMES)
def test_the_history_beside_a_question_says_which_conversation_it_goes_on(
    write: Callable[[int, str, Record, str], Record], history: str, question: str, tmp_path: Path
) -> None:
    records = [
        write(n, at(name, number), {question: asked, NAMES[question]: HISTORIES[history](before)}, answer)
        for n, (name, number, before, asked, answer) in enumerate(exchanges(), 1)
    ]
    with Imported([written(tmp_path / "log.jsonl", records)], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    turns.sort(key=lambda turn: (turn["timestamp"][:15], turn["conversation_id"], turn["timestamp"]))
    assert [turn["text"] for turn in turns] == ALL
    assert len({turn["conversation_id"] for turn in turns}) == len(TALKS)


@pytest.mark.parametrize("write", [langsmith, langfuse, openinference])
@pytest.mark.parametrize("key", ["context", "source_documents"])
def test_documents_beside_an_answer_are_those_of_the_answer(
    write: Callable[[int, str, Record, str], Record], key: str, tmp_path: Path
) -> None:
    found = [{"page_content": f"Oil {n}.", "metadata": {"source": f"{n}.md"}, "type": "Document"} for n in range(3)]
    record = write(1, at("c1", 0), {"input": "It sticks, why?"}, "")
    given = {"answer": "Oil the hinge.", key: found}
    for name, value in (
        ("outputs", given),
        ("output", given),
        ("attributes.output.value", orjson.dumps(given).decode()),
    ):
        if name in record:
            record[name] = value
    with Imported([written(tmp_path / "log.jsonl", [record])], HowToRead()) as imported:
        _, answer = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    assert answer["text"] == "Oil the hinge."
    assert [document["doc_id"] for document in answer["retrieved"]] == ["0.md", "1.md", "2.md"]


def test_a_model_beside_messages_is_no_question(tmp_path: Path) -> None:
    given = {"messages": [{"role": "user", "content": "It sticks, why?"}], "model": "gpt-4.1-mini"}
    with Imported(
        [written(tmp_path / "log.jsonl", [langsmith(1, at("c1", 0), given, "Oil it.")])], HowToRead()
    ) as read:
        texts = [orjson.loads(line)["text"] for line, _ in Recording(read.sources).lines()]
    assert texts == ["It sticks, why?", "Oil it."]
