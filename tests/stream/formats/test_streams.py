"""Responses that were logged as the lines of their stream, read as the ones that they are together."""

from collections import Counter
from typing import Any

import orjson
import pytest

from turnsignal.stream.formats import FORMATS, recognise
from turnsignal.stream.formats.envelopes import open_envelopes
from turnsignal.stream.formats.protocol import LogFormat, Record
from turnsignal.stream.formats.streams import response_in

MESSAGE = [
    {"type": "message_start", "message": {"id": "m1", "type": "message", "role": "assistant", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "By "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "card."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {"cited_text": "A"}}},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t1", "name": "pay"}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
    {"type": "message_stop"},
]
RESPONSE = {
    "id": "r1",
    "object": "response",
    "output": [
        {"type": "file_search_call", "results": [{"file_id": "kb-1", "text": "Cards are taken."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "By card."}]},
    ],
}
EVENTS = [
    {"type": "response.created", "response": {**RESPONSE, "output": []}},
    {"type": "response.output_text.delta", "delta": "By card."},
    {"type": "response.completed", "response": RESPONSE},
]
REQUESTS = {
    "anthropic": {"model": "c", "messages": [{"role": "user", "content": "How do I pay?"}]},
    "responses": {"model": "g", "input": "How do I pay?"},
}


def lines(events: list[dict[str, Any]]) -> str:
    return "".join(f"event: {event['type']}\ndata: {orjson.dumps(event).decode()}\n\n" for event in events)


STREAMS = {"anthropic": lines(MESSAGE[:5] + MESSAGE[-1:]), "responses": lines(EVENTS)}


def read(name: str, record: Record, log: LogFormat) -> None:
    (call,) = log.read(record, Counter())
    assert [message.text for message in call.inputs + call.outputs] == ["How do I pay?", "By card."], name
    assert [document["doc_id"] for document in call.documents] == (["kb-1"] if name == "responses" else [])


def test_a_message_has_its_blocks_with_their_citations() -> None:
    assert response_in(lines(MESSAGE)) == {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "content": [
            {"type": "text", "text": "By card.", "citations": [{"cited_text": "A"}]},
            {"type": "tool_use", "id": "t1", "name": "pay"},
        ],
    }


@pytest.mark.parametrize("text", ["data: soon", "event: of the year", "data: {", "data: [1]", "data: [DONE]"])
def test_other_texts_stay(text: str) -> None:
    assert response_in(text) == text


@pytest.mark.parametrize("name", STREAMS)
def test_a_request_with_the_stream_of_its_response_is_a_call(name: str) -> None:
    body = orjson.dumps(REQUESTS[name]).decode()
    for record in (
        {"request": REQUESTS[name], "response": STREAMS[name]},
        {"request": {"uri": "/v1", "body": body}, "response": {"status": 200, "body": STREAMS[name]}},
    ):
        assert list(recognise([record])) == [name]
        read(name, record, FORMATS[name])


@pytest.mark.parametrize("name", STREAMS)
def test_under_other_names_request_and_response_are_known_by_what_they_hold(name: str) -> None:
    record = {"req_body": orjson.dumps(REQUESTS[name]).decode(), "resp_body": STREAMS[name], "status": 200}
    opened = open_envelopes([record])
    assert opened is not None
    read(name, record, opened.format)
