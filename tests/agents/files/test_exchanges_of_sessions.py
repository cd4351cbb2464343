"""Records that name their conversation alone, or nothing at all: each exchange counts once, and none is lost."""

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

Written = Callable[..., dict[str, Any]]


def said(*texts: str) -> list[dict[str, str]]:
    return [{"role": role, "content": text} for role, text in zip(itertools.cycle(("user", "assistant")), texts)]


def at(minute: int) -> str:
    return f"2026-01-01T{minute // 60:02d}:{minute % 60:02d}:00Z"


def whole(minute: int, *texts: str, **more: Any) -> dict[str, Any]:
    return {"timestamp": at(minute), "messages": said(*texts), **more}


def asked(minute: int, *texts: str, **more: Any) -> dict[str, Any]:
    reply = {"choices": [{"message": {"role": "assistant", "content": texts[-1]}}]}
    return {
        "timestamp": at(minute),
        "request": {"model": "m", "messages": said(*texts[:-1])},
        "response": reply,
        **more,
    }


def responses(minute: int, *texts: str, **more: Any) -> dict[str, Any]:
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": texts[-1]}]}]
    request = {"model": "m", "input": said(*texts[:-1])}
    return {"timestamp": at(minute), "request": request, "response": {"object": "response", "output": output}, **more}


def langchain(minute: int, *texts: str, **more: Any) -> dict[str, Any]:
    kinds = zip(itertools.cycle(("human", "ai")), texts)
    messages = [{"type": kind, "data": {"content": text}} for kind, text in kinds]
    return {"timestamp": at(minute), "messages": messages, **more}


def conversations(path: Path, records: list[dict[str, Any]]) -> Counter[str]:
    """Turns by conversation."""
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    assert len({(turn["conversation_id"], turn["turn_id"]) for turn in turns}) == len(turns)
    return Counter(turn["conversation_id"] for turn in turns)


@pytest.mark.parametrize("write", [whole, asked, responses, langchain])
@pytest.mark.parametrize("order", [1, -1])
def test_exchanges_that_name_their_session_alone_are_all_read_in_any_order(
    write: Written, order: int, tmp_path: Path
) -> None:
    records = [write(n, f"question {n}", f"answer {n}", session_id=f"s{n % 2}") for n in range(10)]
    assert conversations(tmp_path / "log.jsonl", records[::order]) == {"s0": 10, "s1": 10}


@pytest.mark.parametrize("write", [whole, asked])
@pytest.mark.parametrize("order", [1, -1])
def test_histories_that_grow_within_a_session_are_taken_in_once_in_any_order(
    write: Written, order: int, tmp_path: Path
) -> None:
    texts = [text for n in range(5) for text in (f"question {n}", f"answer {n}")]
    records = [write(n, *texts[: 2 * n + 2], session_id="s") for n in range(5)]
    assert conversations(tmp_path / "log.jsonl", records[::order]) == {"s": 10}


@pytest.mark.parametrize("write", [whole, asked])
def test_a_history_that_grows_without_any_id_is_one_conversation(write: Written, tmp_path: Path) -> None:
    texts = ("Hi there", "Hello!", "Where is my order?", "On its way.", "When?", "Tomorrow.")
    records = [write(n, *texts[: 2 * n + 2]) for n in range(3)]
    assert list(conversations(tmp_path / "log.jsonl", records).values()) == [6]


@pytest.mark.parametrize("write", [whole, asked])
def test_the_same_exchange_with_many_people_is_many_conversations(write: Written, tmp_path: Path) -> None:
    records = [write(30 * n, "When are you open?", "From 9 to 5.", id=f"r{n}") for n in range(20)]
    assert list(conversations(tmp_path / "log.jsonl", records).values()) == [2] * 20


def test_a_record_that_came_twice_counts_once(tmp_path: Path) -> None:
    record = asked(0, "question", "answer", session_id="s")
    assert conversations(tmp_path / "log.jsonl", [record, record]) == {"s": 2}


def with_examples(of: int, **more: Any) -> list[dict[str, Any]]:
    """Conversations of three exchanges whose calls all begin with two examples."""
    records = []
    for number in range(of):
        history = ["2 + 2?", "4", "3 + 3?", "6"]
        for turn in range(3):
            history += [f"question {number}.{turn}", f"answer {number}.{turn}"]
            named = {key: f"{value}-{number}" for key, value in more.items()}
            records.append(asked(len(records), *history, **named))
    return records


@pytest.mark.parametrize("names", [{}, {"session_id": "s"}])
def test_examples_that_every_prompt_begins_with_were_said_by_nobody(names: dict[str, str], tmp_path: Path) -> None:
    turns = conversations(tmp_path / "log.jsonl", with_examples(6, **names))
    assert sorted(turns.values()) == [6] * 6


def test_what_few_conversations_begin_with_is_no_example(tmp_path: Path) -> None:
    assert sorted(conversations(tmp_path / "log.jsonl", with_examples(4)).values()) == [10] * 4
    others = [asked(1000 + number, f"other {number}", "yes") for number in range(20)]
    turns = conversations(tmp_path / "log.jsonl", [*with_examples(6), *others])
    assert turns.total() == 6 * 10 + 20 * 2


def test_a_greeting_that_everybody_was_given_was_said(tmp_path: Path) -> None:
    records = []
    for number in range(8):
        greeting = asked(10 * number, "hi", "Hello, how can I help you?", session_id=f"s{number}")
        question = asked(
            10 * number + 1, "hi", "Hello, how can I help you?", f"q{number}", "a", session_id=f"s{number}"
        )
        records += [greeting, question]
    assert conversations(tmp_path / "log.jsonl", records) == Counter({f"s{number}": 4 for number in range(8)})


def test_a_question_that_is_sent_again_after_its_call_failed_was_asked_once(tmp_path: Path) -> None:
    failed = {"timestamp": at(0), "request": {"messages": said("How?")}, "response": None, "error": "overloaded"}
    records = [failed, asked(1, "How?", "So."), asked(2, "How?", "So.", "Why?", "Because.")]
    assert list(conversations(tmp_path / "log.jsonl", records).values()) == [4]
    records = [failed, asked(20, "How?", "So.")]
    assert sorted(conversations(tmp_path / "log.jsonl", records).values()) == [1, 2]


def test_calls_that_send_the_last_question_alone_ask_it_once_however_many_tools_it_takes(tmp_path: Path) -> None:
    calling = {"role": "assistant", "content": None, "tool_calls": [{"id": "k", "type": "function", "function": {}}]}
    came = {"role": "tool", "tool_call_id": "k", "content": "three documents"}

    def sent(minute: int, messages: list[dict[str, Any]], answer: dict[str, Any]) -> dict[str, Any]:
        response = {"id": f"c{minute}", "object": "chat.completion", "choices": [{"message": answer}]}
        return {"timestamp": at(minute), "session_id": "s", "request": {"messages": messages}, "response": response}

    first, second = said("How?")[:1], said("Why?")[:1]
    records = [
        sent(0, first, {"role": "assistant", "content": "So."}),
        sent(1, second, calling),
        sent(2, [*second, calling, came], calling),
        sent(3, [*second, calling, came, calling, came], {"role": "assistant", "content": "Because."}),
    ]
    assert conversations(tmp_path / "log.jsonl", records) == Counter({"s": 4})


def test_two_responses_that_follow_the_same_one_answer_one_question(tmp_path: Path) -> None:
    def followed(name: str, previous: str | None, *texts: str) -> dict[str, Any]:
        record = responses(int(name), *texts)
        record["response"] |= {"id": f"resp_{name}", "previous_response_id": previous}
        return record

    records = [
        followed("1", None, "How?", "So."),
        followed("2", "resp_1", "Why?", "Bad."),
        followed("3", "resp_1", "Why?", "Because."),
        followed("4", "resp_3", "Thanks", "Welcome."),
    ]
    assert list(conversations(tmp_path / "log.jsonl", records).values()) == [3 + 4]
