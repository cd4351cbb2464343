"""What holds for every format: it is short, alone, sure of its own, silent about the rest, and never crashes."""

import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from turnsignal.stream.errors import Refused
from turnsignal.stream.formats import FORMATS, recognise
from turnsignal.stream.formats.human_scores import HumanScore
from turnsignal.stream.formats.protocol import Call

ROOT = Path(__file__).parents[2]
SHARED = {
    "doubts",
    "hints",
    "__init__",
    "assembly",
    "answering",
    "answered_anew",
    "answers",
    "beside",
    "bodies",
    "branches",
    "chains",
    "tool_results",
    "columns",
    "completeness",
    "date_formats",
    "documents",
    "fitting",
    "doubles",
    "asides",
    "instructions",
    "remarks",
    "sequence",
    "examples",
    "behind",
    "pasted",
    "nameless",
    "one_offs",
    "shadows",
    "errands",
    "polished",
    "prompts",
    "structured",
    "afterwords",
    "shared_endings",
    "endings",
    "rounds",
    "briefings",
    "bursts",
    "came_twice",
    "envelopes",
    "halves",
    "mapped_times",
    "labels",
    "mapping",
    "mending",
    "given_documents",
    "messages",
    "otlp",
    "attributes",
    "span_rows",
    "texts_by_turns",
    "paths",
    "pieces",
    "proposing",
    "proposed_votes",
    "quotations",
    "request_ids",
    "shared_ids",
    "returned",
    "resumed",
    "many_ask",
    "questions",
    "one_text",
    "states",
    "langfuse_spans",
    "asked_again",
    "asked_first",
    "templates",
    "untimed_rows",
    "turns",
    "mapped_speakers",
    "asked_together",
    "call_order",
    "call_table",
    "acting",
    "agent_messages",
    "span_events",
    "cut_off",
    "who_answers",
    "silence",
    "speakers",
    "staff",
    "followed",
    "strangers",
    "stood",
    "streams",
    "protocol",
    "repeats",
    "reshaping",
    "finished",
    "found_in_runs",
    "row_doubts",
    "row_ties",
    "several_at_once",
    "row_order",
    "rows",
    "unseen",
    "human_scores",
    "assessments",
    "feedback_stats",
    "open_webui",
    "thumbs",
    "half_said",
    "rewritten",
    "heads",
    "linking",
    "times",
    "transcripts",
    "unnamed",
    "values",
    "zones",
    "vendors",
}
LEAVES = {path.stem: path for path in (ROOT / "stream" / "formats").glob("*.py") if path.stem not in SHARED}
KEYS = (
    *(
        "messages",
        "role",
        "content",
        "choices",
        "message",
        "delta",
        "object",
        "id",
        "type",
        "input",
        "output",
        "request",
    ),
    *("response", "conversations", "from", "value", "trace_id", "run_type", "inputs", "outputs", "attributes", "spans"),
    *("resourceSpans", "scopeSpans", "key", "stringValue", "metadata", "timestamp", "observations", "conversation_id"),
    *("text", "openinference.span.kind", "gen_ai.operation.name", "gen_ai.prompt.0.role", "llm.output_messages.0"),
    *("citations", "documents", "kwargs", "data", "lc", "generations", "events", "traceId", "spanId", "context"),
)
WORDS = (
    "user",
    "assistant",
    "chat",
    "LLM",
    "GENERATION",
    "chain",
    "llm",
    "retriever",
    "message",
    "response",
    "text",
    "[]",
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 2**63)
    | st.floats(allow_nan=False)
    | st.sampled_from(WORDS)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=25,
)
RECORDS = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6)


#: format → the word by which README's table "What do you have?" names it
NAMED = {
    "turnsignal": "turns as the pipeline takes them",
    "openai": "OpenAI",
    "responses": "OpenAI",
    "agents": "Agents SDK",
    "anthropic": "Anthropic",
    "otel": "OpenTelemetry GenAI",
    "adk": "Agent Development Kit",
    "openinference": "OpenInference",
    "openllmetry": "OpenLLMetry",
    "langfuse": "Langfuse",
    "mlflow": "MLflow",
    "langsmith": "LangSmith",
    "langchain": "LangChain",
    "pydanticai": "Pydantic AI",
    "sharegpt": "ShareGPT",
    "apim": "Azure API Management",
    "dialogflow": "Google's conversational agents",
}


def test_readmes_table_names_every_format() -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("### What do you have?")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| ")]
    assert NAMED.keys() == FORMATS.keys()
    assert [word for word in NAMED.values() if not any(word in row for row in rows)] == []


def test_every_leaf_is_in_the_table_and_in_the_contract_that_keeps_them_apart() -> None:
    modules = {type(each).__module__.rpartition(".")[2] for each in FORMATS.values()}
    assert modules == LEAVES.keys()
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (apart,) = [contract for contract in contracts if contract["name"] == "formats know no other format"]
    assert {name.rpartition(".")[2] for name in apart["modules"]} == LEAVES.keys()


@pytest.mark.parametrize("name", sorted(LEAVES))
def test_a_leaf_is_short(name: str) -> None:
    assert len(LEAVES[name].read_text(encoding="utf-8").splitlines()) <= 120


@pytest.mark.parametrize("sample", [[], [{}], [{"a": 1}], [{"messages": []}], [{"messages": "x", "choices": 3}]])
def test_nothing_is_recognised_in_what_says_nothing(sample: list[dict[str, Any]]) -> None:
    assert set(recognise(sample)) <= {"openai"}


@examples(100)
@given(st.lists(RECORDS, max_size=3))
def test_looking_at_records_never_raises(sample: list[dict[str, Any]]) -> None:
    assert recognise(sample).keys() <= FORMATS.keys()


@pytest.mark.parametrize("name", FORMATS)
@examples(40)
@given(record=RECORDS)
def test_reading_a_record_gives_calls_or_turns_or_a_reason(name: str, record: dict[str, Any]) -> None:
    try:
        parts = list(FORMATS[name].read(record, Counter()))
    except Refused:
        return
    assert all(isinstance(part, Call | HumanScore | dict) for part in parts)
    assert all(part.origin.startswith(f"{name}:") for part in parts if isinstance(part, Call))


@pytest.mark.parametrize("name", FORMATS)
@examples(15)
@given(turn_id=st.text(max_size=30))
def test_any_turn_id_can_be_asked_for_its_origin(name: str, turn_id: str) -> None:
    assert all(isinstance(value, str) for value in FORMATS[name].origin(turn_id).values())
