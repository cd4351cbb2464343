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
