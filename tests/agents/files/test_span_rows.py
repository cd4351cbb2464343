"""Spans as rows of tables and interfaces have them are read as the same spans are that OTLP has."""

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.containers import Kind, kind_of, read_items
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead, as_records

THINGS = ("invoice", "parcel", "router", "badge", "voucher", "contract", "meter", "ticket")
CONVERSATIONS, EXCHANGES = 8, 3
BEGAN = 1_794_992_400

Row = dict[str, Any]
Spans = list[Row]


def said() -> dict[str, list[str]]:
    """What is said in each conversation, question and answer by turns."""
    return {
        f"c{number}": [
            text
            for at in range(EXCHANGES)
            for text in (
                f"How do I renew my {THINGS[(number + at) % 8]} number {number}{at}?",
                f"Open page {number}{at} of the {THINGS[(number + at) % 8]} [kb-{number}].",
            )
        ]
        for number in range(CONVERSATIONS)
    }


def spans_of(model: Callable[[str, list[str]], Row], found: Row, agent: Callable[[str, str, str], Row]) -> Spans:
    """A request of each question: an agent, what it found, and its model, which gets the history. Times in seconds."""
    spans: Spans = []
    for number, (conversation, texts) in enumerate(said().items()):
        for at in range(EXCHANGES):
            trace, began = f"{number + 1:016x}{at + 1:016x}", BEGAN + 1_000 * at + number
            until = texts[: 2 * at + 2]
            each = [agent(conversation, *until[-2:]), {**found}, model(conversation, until)]
            for nth, attributes in enumerate(each):
                parent = f"{number + 1:08x}{at + 1:07x}1"
                own = f"{number + 1:08x}{at + 1:07x}{nth + 1}"
                times = {"start": began + nth, "end": began + (9 if nth == 0 else nth + 1)}
                ids = {"trace": trace, "span": own, "parent": parent if nth else ""}
                spans.append({**ids, **times, "name": f"step {nth}", "attributes": attributes})
    return spans


def parts(role: str, *texts: str) -> str:
    roles = (role, "assistant" if role == "user" else "user")
    listed = [{"role": roles[at % 2], "parts": [{"type": "text", "content": text}]} for at, text in enumerate(texts)]
    return orjson.dumps(listed).decode()


def otel() -> Spans:
    def agent(conversation: str, question: str, answer: str) -> Row:
        own = {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": conversation}
        return {
            **own,
            "gen_ai.input.messages": parts("user", question),
            "gen_ai.output.messages": parts("assistant", answer),
        }

    def model(conversation: str, texts: list[str]) -> Row:
        own = {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": conversation}
        return {
            **own,
            "gen_ai.input.messages": parts("user", *texts[:-1]),
            "gen_ai.output.messages": parts("assistant", texts[-1]),
        }

    documents = orjson.dumps([{"id": "kb-1", "text": "All about it."}]).decode()
    return spans_of(model, {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents}, agent)


def openinference() -> Spans:
    def agent(conversation: str, question: str, answer: str) -> Row:
        kind = {"openinference.span.kind": "CHAIN", "session.id": conversation}
        return {**kind, "input.value": question, "output.value": answer}

    def model(conversation: str, texts: list[str]) -> Row:
        attributes = {"openinference.span.kind": "LLM", "session.id": conversation, "llm.model_name": "m1"}
        for at, text in enumerate(texts):
            side = "llm.output_messages.0" if at == len(texts) - 1 else f"llm.input_messages.{at}"
            attributes[f"{side}.message.role"] = ("user", "assistant")[at % 2]
            attributes[f"{side}.message.content"] = text
        return attributes

    documents = {f"retrieval.documents.0.document.{key}": value for key, value in (("id", "kb-1"), ("content", "It."))}
    return spans_of(model, {"openinference.span.kind": "RETRIEVER", **documents}, agent)


def pydantic() -> Spans:
    """Spans of Pydantic AI's first version, which has its messages as events in one attribute."""

    def events(texts: list[str]) -> list[Row]:
        roles = [("user", "assistant")[at % 2] for at in range(len(texts))]
        return [
            {"event.name": f"gen_ai.{role}.message", "role": role, "content": text}
            for role, text in zip(roles, texts, strict=True)
        ]

    def agent(conversation: str, question: str, answer: str) -> Row:
        own = {"agent_name": "support", "gen_ai.conversation.id": conversation, "final_result": answer}
        return {**own, "all_messages_events": orjson.dumps(events([question, answer])).decode()}

    def model(conversation: str, texts: list[str]) -> Row:
        chosen = {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": texts[-1]}}
        return {"gen_ai.operation.name": "chat", "events": orjson.dumps([*events(texts[:-1]), chosen]).decode()}

    found = orjson.dumps([{"id": "kb-1", "text": "All about it."}]).decode()
    return spans_of(model, {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": found}, agent)


def lines(rows: Spans) -> bytes:
    return b"\n".join(map(orjson.dumps, rows))


def text(value: Any) -> str:
    return orjson.dumps(value).decode()


def iso(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat()


def nested(attributes: Row) -> Row:
    """Attributes as Phoenix keeps them: a name's parts within each other, and numbers as lists."""
    tree: Row = {}
    for key, value in attributes.items():
        at = tree
        *before, last = key.split(".")
        for part in before:
            at = at.setdefault(part, {})
        at[last] = value

    def listed(inner: Any) -> Any:
        if not isinstance(inner, dict):
            return inner
        if inner and all(map(str.isdigit, inner)):
            return [listed(inner[key]) for key in sorted(inner, key=int)]
        return {key: listed(value) for key, value in inner.items()}

    return {key: listed(value) for key, value in tree.items()}


def otlp(span: Row) -> Row:
    times = {"startTimeUnixNano": str(span["start"] * 10**9), "endTimeUnixNano": str(span["end"] * 10**9)}
    listed = [{"key": key, "value": {"stringValue": value}} for key, value in span["attributes"].items()]
    ids = {"traceId": span["trace"], "spanId": span["span"], "parentSpanId": span["parent"]}
    return {**ids, **times, "name": span["name"], "attributes": listed}


def clickhouse(span: Row) -> Row:
    return {
        "Timestamp": datetime.fromtimestamp(span["start"], UTC).strftime("%Y-%m-%d %H:%M:%S.%f000"),
        "TraceId": span["trace"],
        "SpanId": span["span"],
        "ParentSpanId": span["parent"],
        "SpanName": span["name"],
        "SpanKind": "Client",
        "ServiceName": "support",
        "ResourceAttributes": {"service.name": "support"},
        "SpanAttributes": span["attributes"],
        "Duration": (span["end"] - span["start"]) * 10**9,
        "Events.Name": [],
        "Events.Attributes": [],
    }


def logfire(span: Row) -> Row:
    return {
        "start_timestamp": iso(span["start"]),
        "end_timestamp": iso(span["end"]),
        "trace_id": span["trace"],
        "span_id": span["span"],
        "parent_span_id": span["parent"] or None,
        "kind": "span",
        "span_name": span["name"],
        "message": span["name"],
        "service_name": "support",
        "attributes": text(span["attributes"]),
        "otel_resource_attributes": text({"service.name": "support"}),
    }


def phoenix(span: Row) -> Row:
    kind = span["attributes"]["openinference.span.kind"].lower()
    return {
        "id": "U3BhbjoxMg==",
        "context": {"traceId": span["trace"], "spanId": span["span"]},
        "parentId": span["parent"] or None,
        "spanKind": kind,
        "startTime": iso(span["start"]),
        "endTime": iso(span["end"]),
        "attributes": text(nested(span["attributes"])),
    }


def phoenix_row(span: Row) -> Row:
    kept = {key: value for key, value in span["attributes"].items() if key != "openinference.span.kind"}
    return {
        "trace_rowid": int(span["trace"][:16], 16) * 10 + int(span["trace"][16:], 16),
        "span_id": span["span"],
        "parent_id": span["parent"] or None,
        "span_kind": span["attributes"]["openinference.span.kind"],
        "start_time": iso(span["start"]),
        "end_time": iso(span["end"]),
        "attributes": nested(kept),
    }


def columns(span: Row, prefix: str) -> Row:
    own = {f"{prefix}{key}": value for key, value in span["attributes"].items()}
    ids = {"context.trace_id": span["trace"], "context.span_id": span["span"], "parent_id": span["parent"] or None}
    return {**ids, "start_time": iso(span["start"]), "end_time": iso(span["end"]), **own}


def table(rows: Spans) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(key for row in rows for key in row)))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def by_index(spans: Spans) -> bytes:
    rows = {span["span"]: columns(span, "attributes.") for span in spans}
    return orjson.dumps(
        {key: {name: row[name] for name in row if name != "context.span_id"} for key, row in rows.items()}
    )


def by_trace(spans: Spans) -> bytes:
    traces: dict[str, Spans] = {}
    for span in spans:
        traces.setdefault(span["trace"], []).append(otlp(span))
    return orjson.dumps(traces)


def graphql(spans: Spans) -> bytes:
    edges = [{"node": phoenix(span)} for span in spans]
    return orjson.dumps({"data": {"node": {"spans": {"edges": edges, "pageInfo": {"hasNextPage": False}}}}})


SHAPES: dict[str, tuple[Callable[[], Spans], Callable[[Spans], bytes]]] = {
    "ClickHouse": (otel, lambda spans: lines(list(map(clickhouse, spans)))),
    "ClickHouse, OpenInference": (openinference, lambda spans: lines(list(map(clickhouse, spans)))),
    "ClickHouse's JSON": (
        otel,
        lambda spans: lines([{**clickhouse(span), "SpanAttributes": nested(span["attributes"])} for span in spans]),
    ),
    "ClickHouse as CSV": (
        otel,
        lambda spans: table([{**clickhouse(span), "SpanAttributes": repr(span["attributes"])} for span in spans]),
    ),
    "ClickHouse's columns": (
        otel,
        lambda spans: lines(
            [
                {**clickhouse(span), "SpanAttributes": None}
                | {f"SpanAttributes['{key}']": value for key, value in span["attributes"].items()}
                for span in spans
            ]
        ),
    ),
    "another name": (
        otel,
        lambda spans: lines([{**logfire(span), "attributes": None, "attrs": span["attributes"]} for span in spans]),
    ),
    "Logfire": (otel, lambda spans: lines(list(map(logfire, spans)))),
    "Logfire as CSV": (otel, lambda spans: table(list(map(logfire, spans)))),
    "Logfire, Pydantic AI": (pydantic, lambda spans: lines(list(map(logfire, spans)))),
    "Pydantic AI": (pydantic, lambda spans: lines(list(map(otlp, spans)))),
    "Phoenix's database": (openinference, lambda spans: lines(list(map(phoenix_row, spans)))),
    "Phoenix's GraphQL": (openinference, graphql),
    "columns": (otel, lambda spans: lines([columns(span, "") for span in spans])),
    "a data frame's columns": (openinference, lambda spans: lines([columns(span, "attributes.") for span in spans])),
    "a data frame by its index": (openinference, by_index),
    "spans by trace": (otel, by_trace),
}


def turns_of(path: Path, content: bytes) -> tuple[list[Row], list[str]]:
    path.write_bytes(content)
    with Imported([path], HowToRead()) as imported:
        assert not any(report.refused for report in imported.reports)
        warnings = [warning for report in imported.reports for warning in report.warnings]
        return [orjson.loads(line) for line, _ in Recording(imported.sources).lines()], warnings


@pytest.mark.parametrize("shape", SHAPES)
def test_a_row_is_read_as_the_span_that_it_is(shape: str, tmp_path: Path) -> None:
    spans, write = SHAPES[shape]
    expected, _ = turns_of(tmp_path / "otlp.jsonl", lines(list(map(otlp, spans()))))
    turns, warnings = turns_of(tmp_path / f"rows.{'csv' if 'CSV' in shape else 'jsonl'}", write(spans()))
    by_conversation: dict[str, list[str]] = {}
    for turn in turns:
        by_conversation.setdefault(turn["conversation_id"], []).append(turn["text"])
    assert by_conversation == said()
    kept = ("conversation_id", "role", "text", "timestamp", "retrieved", "turn_id")
    if "database" in shape:  # which numbers its traces
        kept = kept[:-1]
    assert [{key: turn.get(key) for key in kept} for turn in turns] == [
        {key: turn.get(key) for key in kept} for turn in expected
    ]
    assert all(turn.get("retrieved") for turn in turns if turn["role"] == "assistant")
    assert not warnings


def test_a_data_frame_without_its_index_keeps_conversations_and_documents(tmp_path: Path) -> None:
    rows = [columns(span, "attributes.") for span in openinference()]
    for row in rows:
        del row["context.span_id"]
    turns, _ = turns_of(tmp_path / "rows.jsonl", lines(rows))
    assert {turn["conversation_id"] for turn in turns} == said().keys()
    assert len(turns) == 2 * CONVERSATIONS * EXCHANGES
    assert all(turn.get("retrieved") for turn in turns if turn["role"] == "assistant")


@pytest.mark.parametrize("indented", [True, False])
def test_a_large_object_keyed_by_ids_is_read_record_by_record(indented: bool, tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    traces = {f"t{n}": [{"span_id": f"s{n}", "trace_id": f"t{n}", "text": "x" * 1_000}] for n in range(2_500)}
    path.write_bytes(orjson.dumps(traces, option=orjson.OPT_INDENT_2 if indented else 0))
    kind = kind_of(path)
    assert kind is Kind.KEYED
    records = [record for item in read_items(path, kind) for record in as_records(orjson.loads(item.value))]
    assert records == [row for rows in traces.values() for row in rows]


@pytest.mark.parametrize(
    "record",
    [
        {"input1": {"text": "Hi"}, "output1": {"score": 1}},
        {"response2": {"text": "Hi"}},
        {"conversation_a": [{"role": "user", "content": "Hi"}], "conversation_b": [{"role": "user", "content": "Hi"}]},
        {"model_1": "a", "turns_1": [{"role": "user", "content": "Hi"}]},
    ],
)
def test_an_object_of_fields_is_one_record(record: Row) -> None:
    assert as_records(record) == [record]


def test_records_under_ids_are_given_them() -> None:
    assert as_records({"a": {"id": "a", "text": "x"}, "b": {"id": "b", "text": "y"}}) == [
        {"id": "a", "text": "x"},
        {"id": "b", "text": "y"},
    ]
    assert as_records({"q1": {"text": "x"}, "q2": {"text": "y"}}) == [
        {"text": "x", "id": "q1"},
        {"text": "y", "id": "q2"},
    ]
    assert as_records({"0": {"text": "x"}, "1": {"text": "y"}}) == [{"text": "x"}, {"text": "y"}]
