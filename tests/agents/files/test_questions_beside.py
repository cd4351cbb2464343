"""Messages with their question or their answer beside them, under any names: nothing is lost, no id is an answer."""

import csv
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.errors import TurnsignalError

Record = dict[str, Any]
TALKS = {
    "c1": [
        ("How do I open it?", "Turn the handle."),
        ("It sticks, why?", "Oil the hinge."),
        ("Thanks a lot!", "With joy."),
    ],
    "c2": [("Where is the key?", "Below the mat."), ("Is it safe there?", "For an hour.")],
    "c3": [("Who built this house?", "A carpenter did.")],
}
ALL = [text for talk in TALKS.values() for exchange in talk for text in exchange]


def exchanges() -> list[tuple[str, int, list[Record], str, str]]:
    """Conversation, number, what was said before, question and answer of each exchange, in the order of their times."""
    made = []
    for name, talk in TALKS.items():
        history: list[Record] = []
        for number, (question, answer) in enumerate(talk):
            made.append((name, number, list(history), question, answer))
            history += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    return sorted(made, key=lambda each: each[1])


def at(name: str, number: int) -> str:
    return f"2026-11-18T09:{10 * int(name[1:]) + number:02d}:00Z"


def typed(history: list[Record]) -> list[Record]:
    return [{"type": {"user": "human"}.get(each["role"], "ai"), "content": each["content"]} for each in history]


HISTORIES: dict[str, Callable[[list[Record], str, str], Record]] = {
    "flat": lambda history, question, answer: {"history": history, "question": question, "answer": answer},
    "other names": lambda history, question, answer: {
        "user_message": question,
        "chat_history": history,
        "assistant_message": answer,
    },
    "pairs without roles": lambda history, question, answer: {
        "question": question,
        "chat_history": [
            [asked["content"], given["content"]] for asked, given in zip(history[::2], history[1::2], strict=True)
        ],
        "answer": answer,
    },
    "null at first": lambda history, question, answer: {"input": question, "past": history or None, "output": answer},
    "absent at first": lambda history, question, answer: {
        "query": question,
        "response": answer,
        **({"messages": history} if history else {}),
    },
    "behind a prompt": lambda history, question, answer: {
        "messages": [{"role": "system", "content": "Be kind."}, *history],
        "question": question,
        "answer": answer,
    },
    "langchain's types": lambda history, question, answer: {
        "input": question,
        "chat_history": typed(history),
        "answer": answer,
    },
    "in two objects": lambda history, question, answer: {
        "request": {"question": question, "chat_history": history},
        "response": {"answer": answer, "documents": [{"id": "d1"}]},
    },
    "as JSON in texts": lambda history, question, answer: {
        "request": orjson.dumps({"question": question, "history": history}).decode(),
        "response": orjson.dumps({"answer": answer}).decode(),
    },
}
DECOYS: dict[str, Record] = {
    "an id": {"response_id": "resp-1"},
    "a time": {"TimeGenerated": "2026-11-18T09:00:00Z"},
    "a state": {"result": "success"},
    "a code": {"response_status": "200 OK"},
    "a reason": {"completion_reason": "stop"},
    "a source": {"answer_source": "from the handbook"},
    "a reference": {"expected_response": "What should have come."},
    "a place": {"resource": "/subscriptions/1/chat"},
}


def read(path: Path) -> list[Record]:
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    return sorted(turns, key=lambda turn: (turn["conversation_id"], turn["timestamp"]))


def written(path: Path, records: list[Record]) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    return path


@pytest.mark.parametrize("shape", HISTORIES)
def test_a_question_beside_its_history_is_asked_and_answered(shape: str, tmp_path: Path) -> None:
    records = [
        {"session_id": name, "ts": at(name, number), **HISTORIES[shape](history, question, answer)}
        for name, number, history, question, answer in exchanges()
    ]
    turns = read(written(tmp_path / "log.jsonl", records))
    assert [turn["text"] for turn in turns] == ALL
    assert {turn["conversation_id"] for turn in turns} == TALKS.keys()
    if shape == "in two objects":
        assert all([each["doc_id"] for each in turn["retrieved"]] == ["d1"] for turn in turns[1::2])


def test_short_answers_are_answers(tmp_path: Path) -> None:
    said = [("c1", "Which day?", "Tomorrow."), ("c2", "Is it open?", "Yes."), ("c3", "Cancel it", "It is done.")]
    asked = [("c4", "Where is it?", "Here.")]
    before = [{"role": "user", "content": "Is it in?"}, {"role": "assistant", "content": "Yes."}]
    records = [
        {"session_id": name, "ts": at(name, number), "history": past, "question": question, "answer": answer}
        for number, (past, (name, question, answer)) in enumerate([*(([], each) for each in said), (before, asked[0])])
    ]
    turns = read(written(tmp_path / "log.jsonl", records))
    texts = [text for _, *exchange in said for text in exchange]
    assert [turn["text"] for turn in turns] == [*texts, "Is it in?", "Yes.", "Where is it?", "Here."]


def test_a_service_that_gives_everybody_one_answer_is_read_whole(tmp_path: Path) -> None:
    failed = "That went wrong, please try again."
    records = []
    for name in ("c1", "c2", "c3"):
        past: list[Record] = []
        for number in range(3):
            question = f"How do I do {name} {number}?"
            records.append(
                {"session_id": name, "ts": at(name, number), "history": [*past], "question": question, "answer": failed}
            )
            past += [{"role": "user", "content": question}, {"role": "assistant", "content": failed}]
    turns = read(written(tmp_path / "log.jsonl", records))
    assert [turn["text"] for turn in turns] == [text for each in records for text in (each["question"], failed)]


def test_a_history_whose_question_nobody_answers_is_not_taken_for_the_whole(tmp_path: Path) -> None:
    records = [
        {"session_id": name, "ts": at(name, number), "history": history, "question": question}
        for name, number, history, question, _ in exchanges()
    ]
    with pytest.raises(TurnsignalError, match="write a mapping"):
        read(written(tmp_path / "log.jsonl", records))


def test_cells_that_hold_histories_are_read_as_well(tmp_path: Path) -> None:
    table = StringIO()
    rows = csv.writer(table)
    rows.writerow(["session_id", "ts", "question", "history", "answer"])
    for name, number, history, question, answer in exchanges():
        rows.writerow([name, at(name, number), question, orjson.dumps(history).decode(), answer])
    (tmp_path / "log.csv").write_text(table.getvalue())
    assert [turn["text"] for turn in read(tmp_path / "log.csv")] == ALL


@pytest.mark.parametrize("decoy", DECOYS)
@pytest.mark.parametrize("answered", ["text", "message", "messages"])
def test_an_answer_is_not_taken_for_what_only_bears_its_name(decoy: str, answered: str, tmp_path: Path) -> None:
    records = []
    for name, number, history, question, answer in exchanges():
        message = {"role": "assistant", "content": answer}
        held = {"text": {"reply": answer}, "message": {"reply": message}, "messages": {"reply": [message]}}[answered]
        asked = [*history, {"role": "user", "content": question}]
        records.append({"session_id": name, "ts": at(name, number), **DECOYS[decoy], "prompt": asked, **held})
    assert [turn["text"] for turn in read(written(tmp_path / "log.jsonl", records))] == ALL


def test_an_answer_of_any_name_is_known_by_those_who_repeat_it(tmp_path: Path) -> None:
    records = [
        {
            "session_id": name,
            "ts": at(name, number),
            "prompt": [*history, {"role": "user", "content": question}],
            "says_nora": f"{answer} Ask me more whenever you like.",
        }
        for name, number, history, question, answer in exchanges()
    ]
    for record in records:
        for message in record["prompt"]:
            message["content"] += " Ask me more whenever you like." if message["role"] == "assistant" else ""
    turns = read(written(tmp_path / "log.jsonl", records))
    assert [turn["text"].removesuffix(" Ask me more whenever you like.") for turn in turns] == ALL


def test_what_is_said_within_messages_already_is_not_said_again(tmp_path: Path) -> None:
    records = []
    for name, talk in TALKS.items():
        messages = [
            {"role": role, "content": text}
            for exchange in talk
            for role, text in zip(("user", "assistant"), exchange, strict=True)
        ]
        first, last = messages[0]["content"], messages[-1]["content"]
        records.append({"conversation_id": name, "prompt": first, "messages": messages, "completion": last})
    with Imported([written(tmp_path / "log.jsonl", records)], HowToRead()) as imported:
        turns = [orjson.loads(line)["text"] for line, _ in Recording(imported.sources).lines()]
    assert sorted(turns) == sorted(ALL)


def test_a_day_alone_is_no_time_where_something_says_the_hour(tmp_path: Path) -> None:
    answers = [{"message": {"role": "assistant", "content": "Turn the handle."}}]
    record = {
        "date": "2026-11-18",
        "request": {"messages": [{"role": "user", "content": "How do I open it?"}]},
        "response": {"object": "chat.completion", "choices": answers},
    }
    made = 1_763_460_000 + 31_536_000  # 10:00 of that day
    for more in ({"timestamp_ms": made * 1000}, {"response": record["response"] | {"created": made}}):
        turns = read(written(tmp_path / "log.jsonl", [record | more]))
        assert [turn["timestamp"][:19] for turn in turns] == ["2026-11-18T10:00:00"] * 2


@pytest.mark.parametrize("wrapped", ["input", "data"])
def test_a_question_and_its_history_within_one_object_are_asked_once(wrapped: str, tmp_path: Path) -> None:
    records: list[Record] = []
    for name, number, history, question, answer in exchanges():
        asked = {"history": history, "question": question}
        held = (
            {"input": asked, "output": {"answer": answer}}
            if wrapped == "input"
            else {"data": asked | {"answer": answer}}
        )
        records.append({"session_id": name, "ts": at(name, number), **held})
    assert [turn["text"] for turn in read(written(tmp_path / "log.jsonl", records))] == ALL


def test_a_column_of_what_users_say_is_no_user_and_a_trace_of_a_service_no_export(tmp_path: Path) -> None:
    records = [
        {
            "trace_id": f"t-{name}-{number}",
            "ts": at(name, number),
            "messages": [*history, {"role": "user", "content": question}],
            "user": question,
            "assistant": answer,
        }
        for name, number, history, question, answer in exchanges()
    ]
    turns = read(written(tmp_path / "log.jsonl", records))
    assert sorted(turn["text"] for turn in turns) == sorted(ALL)
    assert not any("user_id" in turn for turn in turns)


@pytest.mark.parametrize("form", ["lines", "array", "pretty", "wrapped"])
def test_messages_under_turns_are_of_the_conversation_that_their_record_names(form: str, tmp_path: Path) -> None:
    records = [
        {
            "session_id": name,
            "started_at": at(name, 0),
            "turns": [
                {"role": role, "content": text}
                for exchange in talk
                for role, text in zip(("user", "assistant"), exchange, strict=True)
            ],
        }
        for name, talk in TALKS.items()
    ]
    path = written(tmp_path / "log.jsonl", records)
    if form != "lines":
        value = {"array": records, "wrapped": {"conversations": records}}.get(form, records[0])
        path.write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2))
    if form == "pretty":
        path.write_bytes(b"\n".join(orjson.dumps(record, option=orjson.OPT_INDENT_2) for record in records))
    turns = read(path)
    assert [turn["text"] for turn in turns] == ALL
    assert {turn["conversation_id"] for turn in turns} == TALKS.keys()


@pytest.mark.parametrize("key", ["feedback", "metadata", "user"])
def test_an_object_beside_some_questions_is_no_request_of_theirs(key: str, tmp_path: Path) -> None:
    records: list[Record] = [
        {"id": str(number), "thread": f"c{number // 3}", "query": f"How {number}?", "answer": f"So {number}."}
        for number in range(9)
    ]
    for number, record in enumerate(records):
        record[key] = {"rating": "like"} if number % 2 else None
        record["created_at"] = 1_790_000_000 + number
    path = written(tmp_path / "log.jsonl", records)
    with pytest.raises(TurnsignalError, match=r"write a mapping with `turnsignal convert .* --propose"):
        read(path)
