"""Files that the genuine SDKs wrote (tests/data/formats/genuine/make.py) become the conversation that was held."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead

DATA = Path(__file__).parents[2] / "data" / "formats" / "genuine"
HELD = [
    ("user", "How do I reset my lamp?"),
    ("assistant", "Hold the red button for five seconds [1]."),
    ("user", "Which button?"),
    ("assistant", "The one below the shade [2]."),
]
BOTH = ["d-reset", "d-parts"]
#: file → the format that it is taken for, its conversations, the documents of each answer, and fields of them
FILES: dict[str, tuple[str, int, list[str], dict[str, str]]] = {
    "otel-old": ("otel", 1, [], {"assistant": "lamps", "version": "v7", "environment": "production"}),
    "otel-new": ("otel", 1, [], {"assistant": "lamps", "version": "v7", "environment": "production"}),
    "openllmetry": ("otel", 1, [], {"assistant": "lamps", "version": "v7"}),
    "openinference": ("openinference", 1, [], {"assistant": "lamps", "user_id": "u-4711"}),
    "openinference-langchain": ("openinference", 1, BOTH, {"assistant": "lamps"}),
    "langsmith": ("langsmith", 1, BOTH, {"assistant": "lamps", "version": "v7", "user_id": "u-4711"}),
    "langfuse-spans": ("langfuse", 1, BOTH, {"assistant": "lamps", "version": "v7", "user_id": "u-4711"}),
    "langfuse-observe": ("langfuse", 1, BOTH, {"user_id": "u-4711"}),
    "langchain": ("langchain", 2, [], {}),
    "openai": ("openai", 1, [], {"model": "gpt-4.1-mini-2025-04-14", "user_id": "u-4711"}),
    "responses": ("responses", 1, ["d-reset"], {"model": "gpt-4.1-mini-2025-04-14"}),
    "anthropic": ("anthropic", 1, ["d-reset"], {"model": "claude-sonnet-4-5"}),
}


def test_every_file_that_was_made_is_read_by_a_test() -> None:
    assert {path.stem for path in DATA.glob("*.jsonl")} == FILES.keys()


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_a_genuine_sdk_is_the_conversation_that_was_held(name: str) -> None:
    format_name, conversations, documents, fields = FILES[name]
    with Imported([DATA / f"{name}.jsonl"], HowToRead()) as imported:
        (report,) = imported.reports
        turns: list[dict[str, Any]] = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    assert report.format == format_name
    assert report.refused == {}
    by_conversation: dict[str, list[dict[str, Any]]] = {}
    for turn in turns:
        by_conversation.setdefault(turn["conversation_id"], []).append(turn)
    assert len(by_conversation) == conversations
    for held in by_conversation.values():
        assert [(turn["role"], turn["text"]) for turn in held] == HELD
        assert [turn["timestamp"] for turn in held] == sorted({turn["timestamp"] for turn in held})
        for answer in held[1::2]:
            assert [document["doc_id"] for document in answer.get("retrieved", [])] == documents
            assert fields.items() <= answer.items()


@pytest.mark.parametrize(
    "name", ["openinference", "langsmith", "langfuse-spans", "langfuse-observe", "openai", "anthropic"]
)
def test_a_conversation_has_the_id_that_the_application_gave_it(name: str) -> None:
    with Imported([DATA / f"{name}.jsonl"], HowToRead()) as imported:
        assert {orjson.loads(line)["conversation_id"] for line, _ in Recording(imported.sources).lines()} == {"lamp-17"}


def test_a_citation_that_an_api_delivers_names_the_document_that_it_searched() -> None:
    with Imported([DATA / "anthropic.jsonl"], HowToRead()) as imported:
        answers = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()][1::2]
    assert [answer["metadata"]["citations"][0]["doc_id"] for answer in answers] == ["d-reset", "d-reset"]


_OTEL = "message content is not recorded in 2 traces: set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"
_INFERENCE = "redacted: set OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS to false"
_SMITH = "is not recorded in 2 traces: set LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS to false"
#: file whose content a switch of its tool hid → what is still read of the four messages, and what is said
HIDDEN: dict[str, tuple[list[tuple[str, str]], str]] = {
    "otel-old": ([], _OTEL),
    "otel-new": ([], _OTEL),
    "otel-new-cut": ([], "4 lists of messages are cut off: unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT"),
    "openllmetry": ([], "of OpenLLMetry, set TRACELOOP_TRACE_CONTENT=true"),
    "openinference": ([], _INFERENCE),
    "openinference-inputs": (HELD[1::2], _INFERENCE),
    "openinference-messages": (HELD, ""),  # the whole request is beside them
    "openinference-text": (HELD, ""),
    "openinference-langchain": ([], _INFERENCE),
    "langsmith": ([], _SMITH),
    "langsmith-inputs": (HELD[1::2], _SMITH),
    "langfuse-spans": (
        [],
        "redacted: leave capture_input and capture_output on where the assistant runs, mask no whole",
    ),
}


def test_every_file_with_hidden_content_is_read_by_a_test() -> None:
    assert {path.stem for path in (DATA / "hidden").glob("*.jsonl")} == HIDDEN.keys()


@pytest.mark.parametrize("name", HIDDEN)
def test_the_switch_that_hid_the_content_is_named_and_what_stands_in_its_place_is_nobodys_words(name: str) -> None:
    remaining, told = HIDDEN[name]
    with Imported([DATA / "hidden" / f"{name}.jsonl"], HowToRead()) as imported:
        (report,) = imported.reports
        turns: list[dict[str, Any]] = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    assert [(turn["role"], turn["text"]) for turn in turns] == remaining
    assert not any("REDACTED" in str(turn) for turn in turns)
    assert told in " ".join(report.warnings)
    assert bool(report.warnings) == bool(told)
