"""Runs of LangSmith: what stands in their metadata."""

import json
from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.formats.langsmith import LangSmith


@pytest.mark.parametrize(
    ("metadata", "version"),
    [
        ({"revision_id": "2026.11.1"}, "2026.11.1"),
        ({"revision_id": "abc123", "version": "v7"}, "v7"),
        ({"revision_id": None}, None),
    ],
)
def test_the_revision_of_a_deployment_is_its_version_unless_another_is_named(
    metadata: Any, version: str | None
) -> None:
    run = {"id": "r1", "run_type": "chain", "inputs": {"question": "How?"}, "extra": {"metadata": metadata}}
    (call,) = LangSmith().read(run, Counter())
    assert call.fields.get("version") == version


def test_what_a_tool_found_is_the_answers_where_it_is_a_list_of_documents() -> None:
    found = [{"id": "pay", "text": "Cards are taken."}]
    outputs: list[Any] = [
        {"output": found},
        {"output": json.dumps(found)},
        {"output": {"type": "tool", "content": json.dumps(found), "tool_call_id": "c1"}},
        {"output": {"lc": 1, "kwargs": {"type": "tool", "content": "Cards …", "artifact": _documents("pay")}}},
    ]
    for output in outputs:
        (call,) = LangSmith().read({"id": "r1", "run_type": "tool", "outputs": output}, Counter())
        assert (call.kind, [each["doc_id"] for each in call.documents]) == ("retrieval", ["pay"])


@pytest.mark.parametrize("output", [{"output": "sent"}, {"output": [{"id": 7, "status": "sent"}]}, {}])
def test_what_a_tool_did_is_no_document(output: Any) -> None:
    (call,) = LangSmith().read({"id": "r1", "run_type": "tool", "outputs": output}, Counter())
    assert (call.kind, call.documents) == ("context", [])


def _documents(named: str) -> list[Any]:
    """LangChain's, as it serialises them."""
    return [{"lc": 1, "kwargs": {"page_content": "Cards are taken.", "metadata": {"source": named}}}]
