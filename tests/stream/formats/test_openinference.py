"""Spans of OpenInference are read from OTLP, and from the rows of a table that Phoenix makes of them."""

from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.formats import recognise
from turnsignal.stream.formats.openinference import OpenInference
from turnsignal.stream.formats.openllmetry import OpenLLMetry
from turnsignal.stream.formats.protocol import Assumed, Call, LogFormat

ROOT = {
    "context.span_id": "a1",
    "context.trace_id": "t1",
    "parent_id": None,
    "name": "query",
    "span_kind": "CHAIN",
    "start_time": "2026-11-18 09:00:00+00:00",
    "end_time": "2026-11-18 09:00:25+00:00",
    "attributes.session.id": "s1",
    "attributes.input.value": "How?",
    "attributes.output.value": "So [d1].",
}
DOCUMENTS = [{"document.id": "d1", "document.content": "x"}, {"document": {"id": "d2", "score": 0.5}}]
RETRIEVER = {
    **ROOT,
    "context.span_id": "a2",
    "parent_id": "a1",
    "span_kind": "RETRIEVER",
    "attributes.output.value": None,
    "attributes.retrieval.documents": DOCUMENTS,
}


def test_rows_of_phoenix_are_spans() -> None:
    assert list(recognise([ROOT])) == ["openinference"]
    root, retrieval = (call for row in (ROOT, RETRIEVER) for call in OpenInference().read(row, Counter()))
    assert (root.kind, root.trace, root.conversation, root.start) == ("whole", "t1", "s1", 1_794_992_400.0)
    assert [message.text for message in (*root.inputs, *root.outputs)] == ["How?", "So [d1]."]
    assert (retrieval.kind, retrieval.trace) == ("retrieval", "t1")
    assert retrieval.documents == [{"doc_id": "d1", "text": "x"}, {"doc_id": "d2", "score": 0.5}]


def test_a_table_as_csv_spells_its_lists_as_python_does() -> None:
    (call,) = OpenInference().read({**RETRIEVER, "attributes.retrieval.documents": repr(DOCUMENTS)}, Counter())
    assert [document["doc_id"] for document in call.documents] == ["d1", "d2"]


@pytest.mark.parametrize(
    "cell", ["[{'", "[{'a': " * 5_000, "[{'a': __import__('os')}]", "{'a': 1e999}", "[{" + "'" * 99]
)
def test_a_cell_that_is_no_list_gives_no_documents(cell: Any) -> None:
    (call,) = OpenInference().read({**RETRIEVER, "attributes.retrieval.documents": cell}, Counter())
    assert call.documents == []


def test_messages_of_a_row_stand_whole_in_their_column() -> None:
    messages = [{"message.role": "user", "message.content": "How?"}]
    row = {**ROOT, "span_kind": "LLM", "attributes.llm.input_messages": messages}
    (call,) = OpenInference().read(row, Counter())
    assert [(message.role, message.text) for message in call.inputs] == [("user", "How?")]


@pytest.mark.parametrize(
    ("reader", "attributes"),
    [
        (OpenInference(), {"openinference.span.kind": "LLM", "output.value": "So."}),
        (OpenLLMetry(), {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "How?"}),
    ],
)
def test_without_a_version_of_its_own_an_answer_has_that_of_its_service(
    reader: LogFormat, attributes: dict[str, str]
) -> None:
    resource = {"attributes": [{"key": "service.version", "value": {"stringValue": "v1"}}]}
    own = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    span = {"traceId": "t", "spanId": "s", "attributes": own}
    record = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"spans": [span]}]}]}
    (call,) = reader.read(record, Assumed())
    assert isinstance(call, Call)
    assert call.fields["version"] == "v1"


def test_a_span_that_says_its_messages_as_gen_ai_alone_is_read() -> None:
    span = {
        "traceId": "t1",
        "spanId": "s1",
        "attributes": {
            "openinference.span.kind": "LLM",
            "gen_ai.input.messages": '[{"role": "user", "content": "How?"}]',
            "gen_ai.output.messages": '[{"role": "assistant", "content": "So."}]',
        },
    }
    (call,) = OpenInference().read(span, Counter())
    assert [message.text for message in (*call.inputs, *call.outputs)] == ["How?", "So."]
