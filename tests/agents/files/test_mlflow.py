"""Traces of MLflow's become the conversations that were held, by their sessions, whatever stands in their spans."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.test_importing import read
from tests.stream.formats.told_conversations import Said, answer_to, conversations
from turnsignal.stream.formats.values import timestamp

TOLD = conversations(30)
BEGAN = 1_750_000_000
SPOKEN = sorted(
    (f"c{said.conversation}", role, text)
    for talk in TOLD
    for said in talk
    for role, text in (("user", said.typed), ("assistant", answer_to(said)))
)


def json(value: Any) -> str:
    return orjson.dumps(value).decode()


def span(said: Said, named: str, kind: str, times: tuple[float, float], asked: Any, got: Any) -> dict[str, Any]:
    start, end = (int((BEGAN + said.at + after) * 1_000_000_000) for after in times)
    given = {"mlflow.spanType": json(kind), "mlflow.spanInputs": json(asked), "mlflow.spanOutputs": json(got)}
    parent = None if named == "root" else "root"
    times_of = {"start_time_unix_nano": start, "end_time_unix_nano": end}
    return {"trace_id": "Sr7z", "span_id": named, "parent_span_id": parent, **times_of, "attributes": given}


def trace(said: Said, before: list[Said], *, has_root: bool) -> dict[str, Any]:
    """A trace of a planner, a search and an answer: within a chain, or as the spans of a model alone."""
    history = [{"role": "system", "content": "Be kind."}]
    for one in before:
        history += [{"role": "user", "content": one.typed}, {"role": "assistant", "content": answer_to(one)}]
    history.append({"role": "user", "content": said.typed})
    call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    planned = {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}], "model": "m1"}
    answered = {"choices": [{"message": {"role": "assistant", "content": answer_to(said)}}], "model": "m1"}
    documents = [{"page_content": "An article.", "metadata": {}, "id": f"kb-{said.conversation}-{said.nth}"}]
    returned = [*history, planned["choices"][0]["message"], {"role": "tool", "tool_call_id": "1", "content": "So."}]
    spans = [
        span(said, "plan", "CHAT_MODEL", (0.5, 1), {"messages": history, "model": "m1"}, planned),
        span(said, "search", "RETRIEVER", (1, 2), {"query": said.typed}, documents),
        span(said, "say", "CHAT_MODEL", (2, 4), {"messages": returned, "model": "m1"}, answered),
        span(said, "judge", "EVALUATOR", (4, 5), {"question": said.typed}, {"score": 1, "why": "It is right."}),
    ]
    if has_root:
        spans.append(span(said, "root", "AGENT", (0, 5), {"question": said.typed}, answer_to(said)))
    metadata = {"mlflow.trace.session": f"c{said.conversation}", "mlflow.trace.user": "u1"}
    named = {"trace_id": f"tr-{said.conversation}-{said.nth}", "request_time": timestamp(BEGAN + said.at)}
    return {"info": {**named, "trace_metadata": metadata, "tags": {}}, "data": {"spans": spans}}


def traces(*, has_root: bool) -> list[dict[str, Any]]:
    return [trace(said, list(talk[: said.nth]), has_root=has_root) for talk in TOLD for said in talk]


def frame_row(each: dict[str, Any]) -> dict[str, Any]:
    """A trace as a row of the data frame that `search_traces` gives, with its lists as JSON."""
    info = each["info"]
    return {
        "trace_id": info["trace_id"],
        "request_time": info["request_time"],
        "trace_metadata": json(info["trace_metadata"]),
        "spans": json(each["data"]["spans"]),
    }


@pytest.mark.parametrize("has_root", [True, False], ids=["within an agent", "models alone"])
@pytest.mark.parametrize("is_row", [False, True], ids=["as its API gives them", "rows of a data frame"])
def test_each_trace_is_what_was_typed_and_the_last_answer(is_row: bool, has_root: bool, tmp_path: Path) -> None:
    stored = traces(has_root=has_root)
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"\n".join(orjson.dumps(frame_row(each) if is_row else each) for each in stored))
    turns, report = read(path)
    assert report.format == "mlflow"
    assert sorted((turn["conversation_id"], turn["role"], turn["text"]) for turn in turns) == SPOKEN
    assert {turn["user_id"] for turn in turns} == {"u1"}
    found = {turn["text"]: [each["doc_id"] for each in turn["retrieved"]] for turn in turns if "retrieved" in turn}
    assert all(found[answer_to(s)] == [f"kb-{s.conversation}-{s.nth}"] for talk in TOLD for s in talk)


@pytest.mark.parametrize("name", ["input", "messages"])
def test_what_a_method_was_given_under_its_parameters_name_is_what_was_asked(name: str, tmp_path: Path) -> None:
    stored = []
    for said in (said for talk in TOLD for said in talk):
        asked = {"request": {name: [{"role": "user", "content": said.typed}], "stream": False}}
        content = [{"type": "output_text", "text": answer_to(said)}]
        got = {"output": [{"type": "message", "role": "assistant", "content": content}]}
        each = trace(said, [], has_root=False)
        each["data"]["spans"] = [span(said, "root", "AGENT", (0, 5), asked, got)]
        stored.append(each)
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, stored)))
    turns, _ = read(path)
    assert sorted((turn["conversation_id"], turn["role"], turn["text"]) for turn in turns) == SPOKEN


def test_a_row_that_holds_the_request_of_a_model_as_well_is_a_trace(tmp_path: Path) -> None:
    stored = []
    for each, said in zip(traces(has_root=False), (said for talk in TOLD for said in talk), strict=True):
        sent = {"model": "m1", "messages": [{"role": "user", "content": said.typed}]}
        answered = {
            "choices": [{"message": {"role": "assistant", "content": answer_to(said)}}],
            "object": "chat.completion",
        }
        stored.append({**frame_row(each), "request": json(sent), "response": json(answered)})
    path = tmp_path / "traces.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, stored)))
    assert read(path)[1].format == "mlflow"
