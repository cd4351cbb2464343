"""Spans that say their messages as attributes and once more as events or log records: each message was said once."""

import itertools
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.test_questions_beside import ALL, at, exchanges
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

Record = dict[str, Any]
MESSAGES, EVENTS, RECORDS, DETAILS = "attributes", "events", "log records", "a record of details"
CONTENT = [
    (MESSAGES,),
    (EVENTS,),
    (RECORDS,),
    (DETAILS,),
    (MESSAGES, EVENTS),
    (MESSAGES, RECORDS),
    (MESSAGES, DETAILS),
]


def valued(value: Any) -> Record:
    if isinstance(value, dict):
        return {"kvlistValue": {"values": attributes(value)}}
    return {"stringValue": value}


def attributes(values: Record) -> list[Record]:
    return [{"key": key, "value": valued(value)} for key, value in values.items()]


def in_parts(messages: list[Record]) -> str:
    parted = [{"role": m["role"], "parts": [{"type": "text", "content": m["content"]}]} for m in messages]
    return orjson.dumps(parted).decode()


def spans(content: tuple[str, ...]) -> tuple[list[Record], list[Record]]:
    """A span of each exchange, and the log records beside them."""
    made: list[Record] = []
    logged: list[Record] = []
    for n, (name, number, before, question, answer) in enumerate(exchanges(), 1):
        begun = round(datetime.fromisoformat(at(name, number)).timestamp() * 1e9)
        ids = {"traceId": f"{n:032x}", "spanId": f"{n:016x}"}
        asked, got = [*before, {"role": "user", "content": question}], {"role": "assistant", "content": answer}
        about = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": name}
        messages = {"gen_ai.input.messages": in_parts(asked), "gen_ai.output.messages": in_parts([got])}
        events = [(f"gen_ai.{m['role']}.message", {"content": m["content"]}) for m in asked]
        events.append(("gen_ai.choice", {"message": got}))
        span = ids | {"name": "chat", "startTimeUnixNano": str(begun), "endTimeUnixNano": str(begun + 10**9)}
        span["attributes"] = attributes(about | (messages if MESSAGES in content else {}))
        timed = [{"timeUnixNano": str(begun + k * 10**6)} for k in range(len(events))]
        if EVENTS in content:
            told = zip(timed, events, strict=True)
            span["events"] = [time | {"name": event, "attributes": attributes(said)} for time, (event, said) in told]
        made.append(span)
        if RECORDS in content:
            told = zip(timed, events, strict=True)
            logged += [ids | time | {"eventName": event, "body": valued(said)} for time, (event, said) in told]
        if DETAILS in content:
            details = {"eventName": "gen_ai.client.inference.operation.details"}
            logged.append(ids | timed[0] | details | {"attributes": attributes(about | messages)})
    return made, logged


@pytest.mark.parametrize("content", CONTENT, ids=" and ".join)
@pytest.mark.parametrize("is_reversed", [False, True])
def test_what_a_span_says_twice_was_said_once(content: tuple[str, ...], is_reversed: bool, tmp_path: Path) -> None:
    made, logged = spans(content)
    lines: list[Record] = [{"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]} for span in made]
    records = [{"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]} for record in logged]
    files = [tmp_path / "spans.jsonl", tmp_path / "logs.jsonl"][: 1 + bool(records)]
    for path, written in zip(files, (lines, records), strict=False):
        path.write_bytes(b"\n".join(map(orjson.dumps, written[:: -1 if is_reversed else 1])))
    with Imported(files, HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    turns.sort(key=lambda turn: (turn["conversation_id"], turn["timestamp"]))
    grouped = itertools.groupby(turns, key=lambda turn: turn["conversation_id"])
    assert [turn["text"] for _, group in grouped for turn in group] == ALL
