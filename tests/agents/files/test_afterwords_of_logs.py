"""Logs of a program that puts the same words behind every question: what users typed is read, and counted."""

from pathlib import Path

import orjson
import pytest

from tests.stream.formats.told_conversations import behind, calls_of, conversations, typed_in
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.sequence import TYPED


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_what_was_taken_off_is_counted(history: bool, named: bool, tmp_path: Path) -> None:
    told = conversations()
    calls = calls_of(told, behind("\n\nCite every claim."), history=history, named=named)
    records = [
        {
            "created_at": f"2026-11-20T{call.line // 60:02}:{call.line % 60:02}:00Z",
            "request": {
                "messages": [{"role": each.role, "content": each.text} for each in call.inputs],
                "metadata": {"conversation_id": call.conversation},
            },
            "response": {"choices": [{"message": {"role": "assistant", "content": call.outputs[0].text}}]},
        }
        for call in calls
    ]
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line in imported.sources[0].path.read_bytes().splitlines()]
        assumed = imported.reports[0].assumed
    assert sorted(each["text"] for each in turns if each["role"] == "user") == sorted(typed_in(told))
    assert assumed[TYPED] == len(calls)
