"""A response that was logged as the pieces of its stream is one answer."""

from collections import Counter
from typing import Any

import orjson
import pytest

from turnsignal.stream.formats import FORMATS, recognise
from turnsignal.stream.formats.bodies import messages_in
from turnsignal.stream.formats.pieces import joined

CHUNKS: list[dict[str, Any]] = [
    {"id": "r1", "object": "chat.completion.chunk", "created": 1_794_218_401, "choices": [{"index": 0, "delta": delta}]}
    for delta in ({"role": "assistant", "content": ""}, {"content": "Turn it "}, {"content": "off."}, {})
]
EVENTS: list[dict[str, Any]] = [
    {"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": []}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Turn it "}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "off."}},
    {"type": "message_stop"},
]
OUTPUTS: list[dict[str, Any]] = [
    {"type": "response.created"},
    {"type": "response.output_text.delta", "delta": "Turn it "},
    {"type": "response.output_text.delta", "delta": "off."},
]


def lines(pieces: list[dict[str, Any]]) -> str:
    return "".join(f"data: {orjson.dumps(piece).decode()}\n\n" for piece in pieces) + "data: [DONE]\n\n"


@pytest.mark.parametrize("pieces", [CHUNKS, EVENTS, OUTPUTS])
@pytest.mark.parametrize("spell", [list, lambda pieces: orjson.dumps(pieces).decode(), lines])
def test_the_pieces_of_a_stream_are_one_message(pieces: list[dict[str, Any]], spell: Any) -> None:
    (message,) = messages_in(spell(pieces), Counter())
    assert (message.role, message.text) == ("assistant", "Turn it off.")


@pytest.mark.parametrize("spell", [list, lines])
def test_a_request_with_the_pieces_of_its_response_is_a_call_of_openai(spell: Any) -> None:
    record = {"request": {"messages": [{"role": "user", "content": "It hums."}]}, "response": spell(CHUNKS)}
    assert list(recognise([record])) == ["openai"]
    (call,) = FORMATS["openai"].read(record, Counter())
    assert ([message.text for message in call.inputs], [message.text for message in call.outputs]) == (
        ["It hums."],
        ["Turn it off."],
    )
    assert (call.origin, call.end) == ("openai:r1", 1_794_218_401.0)


def test_other_lists_and_texts_are_no_stream() -> None:
    for value in ([], [{"role": "user", "content": "Hi"}], "data: soon", [{"type": "message_stop"}], None, ["a"], 3):
        assert joined(value) is None


def test_further_choices_are_left_out_and_tools_calls_are_no_answer() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "No."}}]}
    assert [message.text for message in messages_in([CHUNKS[1], other, CHUNKS[2]], Counter())] == ["Turn it off."]
    called = {"choices": [{"index": 0, "delta": {"tool_calls": [{"id": "t1", "function": {"name": "find"}}]}}]}
    assert messages_in([CHUNKS[1], called], Counter())[0].called == ["t1"]
