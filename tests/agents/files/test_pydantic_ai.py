"""Messages of Pydantic AI's, however they are stored, become the conversations that were held."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.test_importing import read
from tests.stream.formats.told_conversations import Said, answer_to, conversations
from turnsignal.stream.formats.values import timestamp

Messages = list[dict[str, Any]]
BEGAN = 1_750_000_000
TOLD = conversations(40)
SPOKEN = sorted(
    [(f"c{said.conversation}", *each) for talk in TOLD for said in talk for each in (("user", said.typed),)]
    + [(f"c{said.conversation}", "assistant", answer_to(said)) for talk in TOLD for said in talk]
)


def request(said: Said, *parts: dict[str, Any], **ids: str) -> dict[str, Any]:
    return {"kind": "request", "instructions": "Be kind.", "parts": list(parts), "timestamp": None, **ids}


def stamp(said: Said, after: float = 0.0) -> str:
    return timestamp(BEGAN + said.at + after)


def response(said: Said, after: float, *parts: dict[str, Any], **ids: str) -> dict[str, Any]:
    more = {"usage": {"details": {}}, "model_name": "m1", "finish_reason": "stop", "state": "complete"}
    return {"kind": "response", "parts": list(parts), "timestamp": stamp(said, after), **more, **ids}


def found(said: Said) -> list[dict[str, Any]]:
    return [{"id": f"kb-{said.conversation}-{said.nth}", "text": "An article.", "score": 0.5}]


def run_of(said: Said, *, newer: bool) -> Messages:
    """What one run adds: a search, an answer that is refused, and one that its user sees."""
    ids = {"run_id": f"r{said.conversation}-{said.nth}", "conversation_id": f"c{said.conversation}"} if newer else {}
    call = {"tool_name": "search", "tool_call_id": f"call-{said.conversation}-{said.nth}"}
    typed = {"part_kind": "user-prompt", "content": [said.typed, {"kind": "image-url", "url": "https://x.example/1"}]}
    returned = {"part_kind": "tool-return", **call, "content": found(said), "timestamp": stamp(said, 1)}
    beside = {"part_kind": "user-prompt", "content": "A page that the tool gives.", "timestamp": stamp(said, 1)}
    retry = "retry-feedback" if newer else "retry-prompt"
    again = {"part_kind": retry, "content": "Name a source.", "tool_name": None, "timestamp": stamp(said, 2)}
    return [
        request(said, {**typed, "timestamp": stamp(said)}, **ids),
        response(
            said,
            1,
            {"part_kind": "thinking", "content": "I look."},
            {"part_kind": "text", "content": "Let me look."},
            {"part_kind": "tool-call", **call, "args": '{"q": 1}'},
            **ids,
        ),
        request(said, returned, beside, **ids),
        response(said, 2, {"part_kind": "text", "content": "I do not know."}, **ids),
        request(said, again, **ids),
        response(said, 3, {"part_kind": "text", "content": answer_to(said)}, **ids),
    ]


def rows(runs: Sequence[Messages], name: str) -> list[Any]:
    return [{"session_id": name, "messages": [each for run in runs for each in run]}]


def texts(runs: Sequence[Messages], name: str) -> list[Any]:
    said = orjson.dumps([each for run in runs for each in run]).decode()
    return [{"conversation_id": name, "message_list": said}]


def new_ones(runs: Sequence[Messages], name: str) -> list[Any]:
    return [{"id": f"{name}-{at}", "thread_id": name, "message_list": orjson.dumps(run)} for at, run in enumerate(runs)]


def all_so_far(runs: Sequence[Messages], name: str) -> list[Any]:
    until = [[each for run in runs[: at + 1] for each in run] for at in range(len(runs))]
    return [{"id": f"{name}-{at}", "session_id": name, "messages": said} for at, said in enumerate(until)]


def one_a_row(runs: Sequence[Messages], name: str) -> list[Any]:
    said = [each for run in runs for each in run]
    return [{"id": f"{name}-{at}", "session_id": name, "message": each} for at, each in enumerate(said)]


def lists(runs: Sequence[Messages], name: str) -> list[Any]:
    return list(runs)


def long_lists(runs: Sequence[Messages], name: str) -> list[Any]:
    return [[each for run in runs[: at + 1] for each in run] for at in range(len(runs))]


def turns_of(path: Path, kept: Callable[[Sequence[Messages], str], list[Any]], *, newer: bool) -> Any:
    stored = [
        row for talk in TOLD for row in kept([run_of(said, newer=newer) for said in talk], f"c{talk[0].conversation}")
    ]
    path.write_bytes(b"\n".join(orjson.dumps(row, default=bytes.decode) for row in stored))
    return read(path)


@pytest.mark.parametrize("newer", [False, True], ids=["first version", "with ids of runs"])
@pytest.mark.parametrize("kept", [rows, texts, new_ones, all_so_far])
def test_however_a_table_keeps_them_they_are_the_conversations_that_were_held(
    kept: Callable[[Sequence[Messages], str], list[Any]], newer: bool, tmp_path: Path
) -> None:
    turns, report = turns_of(tmp_path / "log.jsonl", kept, newer=newer)
    assert report.format == "pydanticai"
    assert sorted((turn["conversation_id"], turn["role"], turn["text"]) for turn in turns) == SPOKEN
    documents = {turn["text"]: turn.get("retrieved", []) for turn in turns if turn["role"] == "assistant"}
    assert all([each["doc_id"] for each in documents[answer_to(s)]] == [found(s)[0]["id"]] for t in TOLD for s in t)
    assert report.refused == {}


@pytest.mark.parametrize("kept", [lists, long_lists])
def test_a_list_a_line_names_its_conversation_in_its_messages(
    kept: Callable[[Sequence[Messages], str], list[Any]], tmp_path: Path
) -> None:
    turns, _ = turns_of(tmp_path / "log.jsonl", kept, newer=True)
    assert sorted((turn["conversation_id"], turn["role"], turn["text"]) for turn in turns) == SPOKEN


def test_lists_of_all_messages_so_far_need_no_ids(tmp_path: Path) -> None:
    turns, _ = turns_of(tmp_path / "log.jsonl", long_lists, newer=False)
    assert sorted((turn["role"], turn["text"]) for turn in turns) == sorted(each[1:] for each in SPOKEN)
    assert len({turn["conversation_id"] for turn in turns}) == len(TOLD)


@pytest.mark.parametrize("newer", [False, True], ids=["first version", "with ids of runs"])
def test_one_message_a_row_is_a_turn_or_a_step(newer: bool, tmp_path: Path) -> None:
    turns, _ = turns_of(tmp_path / "log.jsonl", one_a_row, newer=newer)
    seen = [(turn["conversation_id"], turn["role"], turn["text"]) for turn in turns]
    assert sorted(seen) == SPOKEN


@pytest.mark.parametrize("newer", [False, True], ids=["first version", "with ids of runs"])
def test_the_messages_of_one_conversation_are_it(newer: bool, tmp_path: Path) -> None:
    talk = max(TOLD, key=len)
    path = tmp_path / "messages.json"
    path.write_bytes(orjson.dumps([each for said in talk for each in run_of(said, newer=newer)]))
    turns, _ = read(path)
    spoken = [text for said in talk for text in (said.typed, answer_to(said))]
    assert [turn["text"] for turn in turns if "know" not in turn["text"]] == spoken
    assert len({turn["conversation_id"] for turn in turns}) == 1


@pytest.mark.parametrize("named", ["final_result", "give_answer"])
def test_the_object_that_a_run_ends_with_is_its_answer(named: str, tmp_path: Path) -> None:
    said: Messages = []
    for each in max(TOLD, key=len):
        call = {"tool_name": named, "tool_call_id": f"call-{each.nth}"}
        result = {"answer": answer_to(each), "sources": ["kb-1"]}
        done = {"part_kind": "tool-return", **call, "content": "Final result processed.", "timestamp": stamp(each, 3)}
        said += [
            request(each, {"part_kind": "user-prompt", "content": each.typed, "timestamp": stamp(each)}),
            response(each, 2, {"part_kind": "tool-call", **call, "args": result}),
            request(each, done),
        ]
    for at in range(len(said) - 2, 1, -1):  # as one version joins requests that follow each other
        if said[at]["kind"] == said[at + 1]["kind"] == "request":
            said[at]["parts"] += said.pop(at + 1)["parts"]
    path = tmp_path / "log.jsonl"
    path.write_bytes(orjson.dumps({"session_id": "s", "messages": said}))
    turns, _ = read(path)
    spoken = [text for each in max(TOLD, key=len) for text in (each.typed, answer_to(each))]
    assert [turn["text"] for turn in turns] == spoken
