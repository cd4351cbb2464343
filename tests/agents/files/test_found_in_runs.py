"""Searches that are logged as steps of a run, beside the calls of a model: answers have what they got."""

from pathlib import Path
from typing import Any

import orjson

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

TEXTS = ["How do I pay?", "By card.", "By post?", "No."]


def read(path: Path, *records: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return the text of each turn, with the documents that it has."""
    path.write_bytes(b"\n".join(map(orjson.dumps, records)))
    with Imported([path], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    return [(turn["text"], [document["doc_id"] for document in turn.get("retrieved", [])]) for turn in turns]


def asked(turn: int) -> list[dict[str, str]]:
    """Return the messages that the call for a turn sends."""
    return [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(TEXTS[: 2 * turn + 1])]


def test_a_tools_step_beside_that_of_the_model_is_what_was_retrieved(tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = []
    for turn, answer in enumerate(TEXTS[1::2]):
        shared = {"threadId": "t1", "parentId": f"run-{turn}", "createdAt": f"2026-11-01T08:0{turn}:00Z"}
        documents = [{"id": f"kb-{turn}", "text": "Cards are taken."}]
        search = {"id": f"s{turn}", "type": "tool", "input": '{"query": "pay"}'}
        steps += [
            {**shared, **search, "output": orjson.dumps(documents).decode()},
            {**shared, "id": f"b{turn}", "type": "tool", "input": '{"id": 7}', "output": '{"booked": true}'},
            {**shared, "id": f"l{turn}", "type": "llm", "input": orjson.dumps(asked(turn)).decode(), "output": answer},
        ]
    ids: list[list[str]] = [[], ["kb-0"], [], ["kb-1"]]
    assert read(tmp_path / "steps.jsonl", *steps) == list(zip(TEXTS, ids, strict=True))


def test_spans_of_a_retriever_in_the_record_of_a_trace_are_what_was_retrieved(tmp_path: Path) -> None:
    def span(trace: str, kind: str, inputs: Any, outputs: Any) -> dict[str, Any]:
        attributes = {"mlflow.spanType": kind, "mlflow.spanInputs": inputs, "mlflow.spanOutputs": outputs}
        return {
            "trace_id": trace,
            "attributes": {key: orjson.dumps(value).decode() for key, value in attributes.items()},
        }

    traces = []
    for turn, answer in enumerate(TEXTS[1::2]):
        info = {"request_time": f"2026-11-01T08:0{turn}:00Z", "trace_metadata": {"mlflow.trace.session": "s1"}}
        documents = [{"page_content": "Cards are taken.", "id": f"kb-{turn}"}]
        choices = {"choices": [{"message": {"role": "assistant", "content": answer}}]}
        spans = [
            span(f"tr-{turn}", "RETRIEVER", {"query": "pay"}, documents),
            span(f"tr-{turn}", "CHAT_MODEL", {"messages": asked(turn)}, choices),
        ]
        traces.append({"info": info, "data": {"spans": spans}})
    ids: list[list[str]] = [[], ["kb-0"], [], ["kb-1"]]
    assert read(tmp_path / "traces.jsonl", *traces) == list(zip(TEXTS, ids, strict=True))
