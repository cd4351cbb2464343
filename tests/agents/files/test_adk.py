"""Spans of Google's Agent Development Kit become the conversations that were held, whoever answers in them."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.logs_of_tools import listed
from tests.agents.files.test_importing import read
from tests.stream.formats.told_conversations import Said, answer_to, conversations

TOLD = conversations(30)
BEGAN = 1_750_000_000
SPOKEN = sorted(
    (f"c{said.conversation}", role, text)
    for talk in TOLD
    for said in talk
    for role, text in (("user", said.typed), ("assistant", answer_to(said)))
)


def content(role: str, *texts: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": text} for text in texts]}


def found(said: Said) -> list[dict[str, Any]]:
    return [{"id": f"kb-{said.conversation}-{said.nth}", "text": "An article.", "score": 0.5}]


def span(said: Said, number: int, name: str, begun: float, ended: float, given: dict[str, str]) -> dict[str, Any]:
    start, end = ((BEGAN + said.at + after) * 1_000_000_000 for after in (begun, ended))
    trace = f"{said.conversation + 1:016x}{said.nth + 1:016x}"
    times = {"startTimeUnixNano": str(int(start)), "endTimeUnixNano": str(int(end))}
    parent = {"parentSpanId": "f0"} if number else {}
    return {"traceId": trace, "spanId": f"f{number}", **parent, "name": name, **times, "attributes": listed(given)}


def model(said: Said, number: int, begun: float, asked: list[Any], got: dict[str, Any], session: str) -> dict[str, Any]:
    request = {"model": "m1", "config": {"system_instruction": "Be kind."}, "contents": asked}
    given = {"gen_ai.system": "gcp.vertex.agent", "gen_ai.request.model": "m1", "gcp.vertex.agent.session_id": session}
    given["gcp.vertex.agent.llm_request"] = orjson.dumps(request).decode()
    given["gcp.vertex.agent.llm_response"] = orjson.dumps({"content": got, "partial": False}).decode()
    return span(said, number, "call_llm", begun, begun + 0.5, given)


def agent(said: Said, number: int, name: str, begun: float, ended: float, session: str) -> dict[str, Any]:
    given = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, "gen_ai.conversation.id": session}
    return span(said, number, f"invoke_agent {name}", begun, ended, given)


def run_of(said: Said, before: list[Said], kind: str) -> list[dict[str, Any]]:
    """The spans of one invocation: an agent that answers itself, searches, asks another as its tool, or hands over."""
    name = f"c{said.conversation}"
    history = [each for one in before for each in (content("user", one.typed), content("model", answer_to(one)))]
    if kind == "hands over":
        quoted = "[other] said:\n<<<BEGIN_QUOTED_AGENT_CONTENT>>>\n{}\n<<<END_QUOTED_AGENT_CONTENT>>>"
        history = [
            each
            for one in before
            for each in (
                content("user", one.typed),
                content("user", "For context: below is what another did", quoted.format(answer_to(one))),
            )
        ]
    asked, answer = [*history, content("user", said.typed)], content("model", answer_to(said))
    spans = [span(said, 0, "invocation", 0, 9, {}), agent(said, 1, "helpdesk", 0, 9, name)]
    if kind == "answers":
        return [*spans, model(said, 2, 1, asked, answer, name)]
    tool = {"searches": "search", "asks another": "other", "hands over": "transfer_to_agent"}[kind]
    call = {"role": "model", "parts": [{"text": "I look."}, {"function_call": {"id": "1", "name": tool, "args": {}}}]}
    result = {"result": found(said)} if kind == "searches" else {"result": "Say that it is open."}
    returned = {"role": "user", "parts": [{"function_response": {"id": "1", "name": tool, "response": result}}]}
    text = orjson.dumps(result).decode()
    empty = {f"gcp.vertex.agent.{each}": "{}" for each in ("llm_request", "llm_response", "tool_call_args")}
    ran = {"gen_ai.operation.name": "execute_tool", **empty, "gcp.vertex.agent.tool_response": text}
    spans += [model(said, 2, 1, asked, call, name), span(said, 3, f"execute_tool {tool}", 2, 6, ran)]
    if kind == "asks another":
        inner = f"tool-{said.conversation}-{said.nth}"
        question = [content("user", "Look up what is open, and how.")]
        spans += [agent(said, 4, "other", 3, 5, inner)]
        spans += [model(said, 5, 3, question, content("model", "Say that it is open."), inner)]
    if kind == "hands over":
        told = content("user", "For context: below is what another did", "[helpdesk] called tool `transfer_to_agent`")
        return [*spans, agent(said, 4, "other", 7, 9, name), model(said, 5, 7, [*asked, told], answer, name)]
    return [*spans, model(said, 6, 7, [*asked, call, returned], answer, name)]


def spans_of(kind: str) -> list[dict[str, Any]]:
    return [span for talk in TOLD for said in talk for span in run_of(said, list(talk[: said.nth]), kind)]


def said_in(turns: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return sorted((turn["conversation_id"], turn["role"], turn["text"]) for turn in turns)


@pytest.mark.parametrize("kind", ["answers", "searches", "asks another", "hands over"])
def test_what_was_typed_and_the_last_answer_are_turns(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    path.write_bytes(
        b"\n".join(orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}) for span in spans_of(kind))
    )
    turns, report = read(path)
    assert report.format == "adk"
    assert said_in(turns) == SPOKEN
    assert {turn["assistant"] for turn in turns} == {"helpdesk"}
    given = {turn["text"]: turn.get("retrieved", []) for turn in turns if turn["role"] == "assistant"}
    assert (sum(map(bool, given.values())) == len(given)) == (kind == "searches")


@pytest.mark.parametrize("column", ["attributes", "attributes_json", "SpanAttributes"])
def test_rows_of_spans_are_read_as_spans(column: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [
        {
            "span_id": span["spanId"],
            "trace_id": span["traceId"],
            "parent_span_id": span.get("parentSpanId"),
            "name": span["name"],
            "start_time_unix_nano": int(span["startTimeUnixNano"]),
            "end_time_unix_nano": int(span["endTimeUnixNano"]),
            column: orjson.dumps({each["key"]: each["value"]["stringValue"] for each in span["attributes"]}).decode(),
        }
        for span in spans_of("searches")
    ]
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    turns, report = read(path)
    assert report.format == "adk"
    assert said_in(turns) == SPOKEN


def test_spans_without_content_say_what_to_set(tmp_path: Path) -> None:
    path = tmp_path / "spans.jsonl"
    spans = spans_of("answers")
    for span in spans:
        for each in span["attributes"]:
            if each["key"].endswith(("llm_request", "llm_response")):
                each["value"] = {"stringValue": "{}"}
    path.write_bytes(b"\n".join(orjson.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [s]}]}]}) for s in spans))
    turns, report = read(path)
    assert turns == []
    assert any("ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS" in warning for warning in report.warnings)
