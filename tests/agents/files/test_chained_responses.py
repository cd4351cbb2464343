"""Responses that follow one another by ids: tools on the way, whole seconds, and what runs in the background."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.linking import NOT_LOGGED

Record = dict[str, Any]
TALKS = {
    f"c{n}": [
        (f"How do I open door {n} from side {k}?" if k else "Hello", f"Turn key {n} in lock {k}." if k else "Hi there!")
        for k in range(n % 4 + 1)
    ]
    for n in range(24)
}
BEGUN = 1_760_000_000.3
ORDERS: dict[str, Callable[[list[Record]], list[Record]]] = {
    "as logged": list,
    "newest first": lambda records: records[::-1],
    "shuffled": lambda records: Random(5).sample(records, len(records)),
}


def steps() -> Iterator[tuple[str, int, int, int, str, str]]:
    """Each call: its conversation, its exchange, its step of how many, the question, and the answer."""
    dice = Random(11)
    for name, talk in TALKS.items():
        for number, (asked, answer) in enumerate(talk):
            tools = dice.choice((0, 0, 1, 2, 3))
            for step in range(tools + 1):
                yield name, number, step, tools, asked, answer


def logged(by: str, gap: float, *, with_record_times: bool = False) -> list[Record]:
    """The log of these calls, linked by chains or by ids of conversations. gap: seconds between steps."""
    records: list[tuple[float, Record]] = []
    previous: dict[str, str] = {}
    for name, number, step, tools, asked, answer in steps():
        time = BEGUN + 3 * int(name[1:]) + 60 * number + gap * step
        named = f"resp_{Random(f'{name} {number} {step}').getrandbits(64):x}"
        called = f"call_{name}_{number}_"
        sent: Any = [{"type": "function_call_output", "call_id": f"{called}{step - 1}", "output": "locked"}]
        got: Record = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]}
        if step < tools:
            got = {"type": "function_call", "call_id": f"{called}{step}", "name": "look", "arguments": "{}"}
        request = {"model": "m", "instructions": "You help with doors.", "input": sent if step else asked}
        response: Record = {"id": named, "object": "response", "created_at": int(time), "status": "completed"}
        if by == "chain":
            response["previous_response_id"] = previous.get(name)
        else:
            response["conversation"] = {"id": name}
        previous[name] = named
        record: Record = {"request": request, "response": response | {"output": [got]}}
        if with_record_times:
            record["timestamp"] = datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")
        records.append((time, record))
    return [record for _, record in sorted(records, key=lambda each: each[0])]


def read(path: Path, records: Sequence[Record]) -> tuple[list[list[str]], str]:
    """What was said in each conversation, in the order of its times, and what is told of it."""
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    said: dict[str, list[tuple[str, str]]] = defaultdict(list)
    with Imported([path], HowToRead()) as imported:
        for line, _ in Recording(imported.sources).lines():
            turn = orjson.loads(line)
            said[turn["conversation_id"]].append((turn["timestamp"], turn["text"]))
        (report,) = imported.reports
        told = "\n".join((*report.warnings, *report.assumed))
    return sorted([text for _, text in sorted(turns)] for turns in said.values()), told


TRUE = sorted([text for pair in talk for text in pair] for talk in TALKS.values())


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("gap", [0.0, 0.15, 0.7, 2.0])
@pytest.mark.parametrize("by", ["chain", "conversation"])
def test_a_chain_through_tools_is_one_conversation_in_its_order(
    by: str, gap: float, order: str, tmp_path: Path
) -> None:
    said, told = read(tmp_path / "log.jsonl", ORDERS[order](logged(by, gap)))
    assert said == TRUE
    assert not [words for words in ("not recorded", "nobody says anything", NOT_LOGGED) if words in told]


@pytest.mark.parametrize("by", ["chain", "conversation"])
def test_a_time_of_the_record_tells_more_than_a_whole_second(by: str, tmp_path: Path) -> None:
    records = logged(by, 0.15, with_record_times=True)
    for record in records:
        for item in (*record["response"]["output"], *(record["request"]["input"] if by != "chain" else ())):
            if isinstance(item, dict):
                item.pop("call_id", None)  # the times alone are left
    assert read(tmp_path / "log.jsonl", ORDERS["shuffled"](records))[0] == TRUE


def test_a_record_that_was_written_later_leaves_a_response_its_second(tmp_path: Path) -> None:
    (record, *_) = logged("chain", 0.0)
    record["timestamp"] = "2030-01-01T00:00:00.250Z"
    path = tmp_path / "log.jsonl"
    path.write_bytes(orjson.dumps(record))
    with Imported([path], HowToRead()) as imported:
        times = [orjson.loads(line)["timestamp"] for line, _ in Recording(imported.sources).lines()]
    assert all(time.startswith("2025-10-09") for time in times)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("partly", ["", "Turn k"])
@pytest.mark.parametrize("sends_again", [False, True])
def test_of_a_response_in_the_background_the_last_state_counts(
    sends_again: bool, partly: str, order: str, tmp_path: Path
) -> None:
    polled: list[Record] = []
    for record in logged("chain", 0.7):
        begun = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": partly}]}]
        for status, output in (("queued", []), ("in_progress", begun if partly else [])):
            response = record["response"] | {"status": status, "output": output}
            polled.append({"request": record["request"], "response": response})
        polled.append(record if sends_again else {"response": record["response"]})
    said, told = read(tmp_path / "log.jsonl", ORDERS[order](polled))
    assert said == TRUE
    assert "not recorded" not in told


def test_a_chain_whose_beginning_is_in_another_file_is_told(tmp_path: Path) -> None:
    first, *others = [each for each in logged("chain", 2.0) if "Hello" not in str(each["request"]["input"])]
    _, told = read(tmp_path / "log.jsonl", [first, *others])
    assert NOT_LOGGED in told


def test_a_chain_that_goes_round_and_a_long_one_are_read_at_once(tmp_path: Path) -> None:
    silent = {"input": [{"type": "function_call_output", "call_id": "c", "output": ""}]}
    call = [{"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}]
    base = {"object": "response", "created_at": 1_760_000_000}
    chain = [
        {"request": silent, "response": base | {"id": f"r{n}", "previous_response_id": f"r{n - 1}", "output": call}}
        for n in range(5_000)  # deeper than Python calls
    ]
    chain[0]["response"]["previous_response_id"] = "r5"
    asked = {
        "request": {"input": "Why?"},
        "response": base | {"id": "a", "previous_response_id": "r4999", "output": []},
    }
    assert read(tmp_path / "log.jsonl", [*chain[::-1], asked])[0] == [["Why?"]]


def anthropic(sent: Any, got: Record) -> Record:
    """A call as Anthropic has it, that sends what is new alone."""
    returned = [{"type": "tool_result", "tool_use_id": each["call_id"], "content": each["output"]} for each in sent]
    block = {"type": "tool_use", "id": got.get("call_id"), "name": "look", "input": {}}
    is_step = got["type"] == "function_call"
    content = [block if is_step else {"type": "text", "text": got["content"][0]["text"]}]
    return {
        "request": {"messages": [{"role": "user", "content": returned}]},
        "response": {"type": "message", "role": "assistant", "content": content},
    }


def openai(sent: Any, got: Record) -> Record:
    """A call as chat completions have it, that sends what is new alone."""
    returned = [{"role": "tool", "tool_call_id": each["call_id"], "content": each["output"]} for each in sent]
    called = {"id": got.get("call_id"), "type": "function", "function": {"name": "look", "arguments": "{}"}}
    is_step = got["type"] == "function_call"
    message = {"content": None, "tool_calls": [called]} if is_step else {"content": got["content"][0]["text"]}
    return {
        "request": {"messages": returned},
        "response": {"object": "chat.completion", "choices": [{"message": {"role": "assistant"} | message}]},
    }


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("vendor", [anthropic, openai])
def test_other_vendors_tools_of_one_second_stand_in_their_order_too(
    vendor: Callable[[Any, Record], Record], order: str, tmp_path: Path
) -> None:
    records: list[Record] = []
    for each in logged("conversation", 0.15):
        sent, (got,), response = each["request"]["input"], each["response"]["output"], each["response"]
        record = vendor([] if isinstance(sent, str) else sent, got)
        if isinstance(sent, str):
            record["request"]["messages"] = [{"role": "user", "content": sent}]
        record["response"]["id"] = response["id"]
        records.append(record | {"created_at": response["created_at"], "session_id": response["conversation"]["id"]})
    said, told = read(tmp_path / "log.jsonl", ORDERS[order](records))
    assert said == TRUE
    assert "not recorded" not in told
