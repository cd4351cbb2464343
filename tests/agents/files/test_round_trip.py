"""The simulation, written out as teams' tools log it and read back, has the scores that it has as turns."""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.replaying.run import replay_files
from turnsignal.stream.pipeline.truth_scoring import OF_TRUTH
from turnsignal.stream.simulation import Traffic, simulate
from turnsignal.stream.suite import Suite

NOW = 1_800_000_000.0
Turn = dict[str, Any]
#: history as it was sent, the answer or None, ids and fields
Write = Callable[[list[Turn], Turn | None, str, dict[str, Any]], Iterator[Turn]]


def documents(answer: Turn | None) -> list[Turn]:
    given = answer["retrieved"] if answer and "retrieved" in answer else []
    return [{**document, "id": document["doc_id"]} for document in given]


def messages(history: list[Turn]) -> list[Turn]:
    return [{"role": turn["role"], "content": turn["text"]} for turn in history]


def ends(history: list[Turn], answer: Turn | None) -> tuple[str, str]:
    return history[-1]["timestamp"], (answer or history[-1])["timestamp"]


def openai(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = ends(history, answer)
    choices = [{"message": {"role": "assistant", "content": answer["text"]}}] if answer else []
    response = {"id": trace, "choices": choices, "created": datetime.fromisoformat(end).timestamp()}
    yield {
        "timestamp": start,
        "metadata": {"conversation_id": history[-1]["conversation_id"], **fields},
        "request": {"messages": messages(history)},
        "response": response,
        "documents": documents(answer),
    }


def langfuse(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = ends(history, answer)
    both = {"trace_id": trace, "session_id": history[-1]["conversation_id"], "start_time": start, "end_time": end}
    both["metadata"] = orjson.dumps(fields).decode()
    yield {**both, "id": "r", "type": "RETRIEVER", "output": orjson.dumps(documents(answer)).decode()}
    text = answer["text"] if answer else None
    model = {"provided_model_name": fields.get("model")}
    yield {**both, **model, "id": "g", "type": "GENERATION", "input": messages(history), "output": text}


def langsmith(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = ends(history, answer)
    metadata = {"metadata": {"thread_id": history[-1]["conversation_id"], **fields}}
    both = {"trace_id": trace, "session_id": "project", "start_time": start, "end_time": end, "extra": metadata}
    outputs = {"output": answer["text"]} if answer else None
    yield {**both, "id": trace, "run_type": "chain", "inputs": {"messages": messages(history)}, "outputs": outputs}
    retrieved = {"documents": documents(answer)}
    yield {**both, "id": "r", "parent_run_id": trace, "run_type": "retriever", "inputs": {}, "outputs": retrieved}


def otel(history: list[Turn], answer: Turn | None, trace: str, fields: dict[str, Any]) -> Iterator[Turn]:
    start, end = (str(round(datetime.fromisoformat(time).timestamp() * 1e6) * 1000) for time in ends(history, answer))
    parts = [{"role": turn["role"], "parts": [{"type": "text", "content": turn["text"]}]} for turn in history]
    said = [{"role": "assistant", "parts": [{"type": "text", "content": answer["text"]}]}] if answer else []
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": history[-1]["conversation_id"],
        "gen_ai.agent.name": fields["assistant"],
        "gen_ai.input.messages": orjson.dumps(parts).decode(),
        "gen_ai.output.messages": orjson.dumps(said).decode(),
        **{f"gen_ai.{name}": fields[key] for name, key in NAMES.items() if key in fields},
        **({"platform": fields["platform"]} if "platform" in fields else {}),
    }
    found = {"gen_ai.operation.name": "retrieval"}
    found["gen_ai.retrieval.documents"] = orjson.dumps(documents(answer)).decode()
    spans = [
        {
            "traceId": trace,
            "spanId": span,
            "startTimeUnixNano": start,
            "endTimeUnixNano": end,
            "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
        }
        for span, attributes in (("a", chat), ("b", found))
    ]
    yield {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


NAMES = {"prompt.version": "version", "response.model": "model"}
FIELDS = ("assistant", "version", "model", "platform")


def logged(turns: list[Turn], write: Write) -> Iterator[Turn]:
    """What a tool would have logged of turns: each call with the whole history; the last message may have no answer."""
    conversations: dict[str, list[Turn]] = {}
    for turn in turns:
        conversations.setdefault(turn["conversation_id"], []).append(turn)
    for name, spoken in conversations.items():
        for number, turn in enumerate(spoken):
            is_last = number == len(spoken) - 1
            if turn["role"] == "assistant" or is_last:
                answer = turn if turn["role"] == "assistant" else None
                history = spoken[:number] if answer else spoken
                if history:
                    fields = {key: turn[key] for key in FIELDS if key in turn}
                    yield from write(history, answer, f"{name}-{number}", fields)


def rows(path: Path, out: Path) -> dict[tuple[str, str, float], dict[str, Any]]:
    with Imported([path], HowToRead()) as imported:
        replay_files(imported.sources, out, Suite(), NOW, workers=1)
    scored = map(orjson.loads, (out / "scores.jsonl").read_bytes().splitlines())
    return {
        (row["conversation_id"], row["stage"], round(row["time"], 1)): {
            score["scorer"]: (score["value"], score.get("label"), score.get("unscored"))
            for score in row["scores"]
            if score["scorer"] not in OF_TRUTH  # logs hold no labels
        }
        for row in scored
    }


@pytest.mark.parametrize("write", [openai, langfuse, langsmith, otel])
def test_the_simulation_has_the_same_scores_however_it_was_logged(write: Write, tmp_path: Path) -> None:
    knobs = Traffic(seed=3, turns=900, rate=1.0)
    turns = [orjson.loads(record.value) for record in simulate(knobs) if record.value is not None]
    (tmp_path / "turns.jsonl").write_bytes(b"\n".join(map(orjson.dumps, turns)))
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, logged(turns, write))))
    own, read = rows(tmp_path / "turns.jsonl", tmp_path / "a"), rows(tmp_path / "log.jsonl", tmp_path / "b")
    assert len(own) > 800
    assert sum(read.get(key) == scores for key, scores in own.items()) >= 0.999 * len(own)
