"""Logs of a gateway, made of conversations whose truth is known, and what is read of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from tests.stream.formats.told_conversations import Said
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead


def call_after(
    said: Said, late: int, messages: Sequence[Any], answer: str, *, named: bool, model: str = "gpt-4o"
) -> dict[str, Any]:
    """A record of a call, so many seconds after a question was asked. named: with its conversation's id."""
    at = said.at + late
    record = {
        "created_at": f"2026-11-{20 + at // 86_400}T{at // 3_600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}Z",
        "request": {"model": model, "messages": list(messages)},
        "response": {"model": model, "choices": [{"message": {"role": "assistant", "content": answer}}]},
    }
    return record | ({"session_id": f"c{said.conversation}"} if named else {})


def read(path: Path, records: Sequence[Any]) -> tuple[list[list[str]], list[str]]:
    """Write records, and return the texts of each conversation that is read, and the warnings."""
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line in imported.sources[0].path.read_bytes().splitlines()]
        warnings = imported.reports[0].warnings
    said: dict[str, list[str]] = {}
    for turn in turns:
        said.setdefault(turn["conversation_id"], []).append(turn["text"])
    return sorted(said.values()), warnings
