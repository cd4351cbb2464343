"""What stands in inputs and outputs: messages, texts, and the arguments of functions that were observed."""

from collections import Counter
from typing import Any

import orjson
import pytest

from turnsignal.stream.formats import FORMATS, recognise
from turnsignal.stream.formats.messages import spoken
from turnsignal.stream.formats.protocol import Call

HISTORY = [{"role": "user", "content": "How?"}, {"role": "assistant", "content": "So."}]


@pytest.mark.parametrize(
    ("positional", "named", "texts"),
    [
        (["Why?"], {}, ["Why?"]),
        ([], {"question": "Why?"}, ["Why?"]),
        ([], {"messages": HISTORY}, ["How?", "So."]),
        (["Why?", HISTORY], {}, ["How?", "So.", "Why?"]),
        ([HISTORY], {"question": "Why?", "top_k": 5}, ["How?", "So.", "Why?"]),
        (["Why?", [*HISTORY, {"role": "user", "content": "Why?"}]], {}, ["How?", "So.", "Why?"]),
        ([7, None], {"verbose": True}, []),
        (["user-17", "Where is my parcel?"], {}, ["Where is my parcel?"]),
        (["user-17", "Hello"], {}, ["Hello"]),
        ([{"user": "u1", "message": "Why?"}], {}, ["Why?"]),
        ([], {"user_id": "u1", "message": "Why?"}, ["Why?"]),
        ([], {"user_message": "Why?", "lang": "en"}, ["Why?"]),
        ([], {"request": {"message": "Why?", "user": "u1"}}, ["Why?"]),
        ([], {"ask": "Why?", "tenant": "acme"}, ["Why?"]),
        ([], {"left": "Why?", "right": "How?"}, []),
    ],
)
def test_a_question_among_arguments_follows_the_history_among_them(
    positional: list[Any], named: dict[str, Any], texts: list[str]
) -> None:
    given = {"args": positional, "kwargs": named}
    assert [message.text for message in spoken(given, "user", Counter())] == texts


def test_which_of_several_texts_was_said_is_told() -> None:
    assumed: Counter[str] = Counter()
    spoken({"args": ["Why is that?", "Because of this"], "kwargs": {}}, "user", assumed)
    spoken({"args": ["user-17", "Why is that?"], "kwargs": {}}, "user", assumed)
    assert assumed["calls of a function with several texts, of which one was taken for the question"] == 1


def test_a_whole_completion_is_its_first_choice() -> None:
    completion = {"id": "x", "choices": [{"index": 0, "message": {"role": "assistant", "content": "So."}}]}
    assert [message.text for message in spoken(completion, "assistant", Counter())] == ["So."]


DECLINED = "That I will not do."
DECLINING = {"role": "assistant", "content": None, "refusal": DECLINED}
ASKED = {"role": "user", "content": "How?"}
RUN = {"id": "r", "run_type": "llm", "inputs": {"messages": [ASKED]}}
CALL = {"id": "g", "trace_id": "t", "type": "GENERATION", "input": [ASKED]}
CHAT = {"session_id": "c", "messages": [ASKED]}
PIECES = [{"choices": [{"index": 0, "delta": {"refusal": part}}]} for part in ("That I will ", "not do.")]


def of_otel(answer: dict[str, Any]) -> dict[str, Any]:
    given = {"gen_ai.operation.name": "chat", "gen_ai.output.messages": orjson.dumps([answer]).decode()}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in given.items()]
    return {"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "a", "spanId": "b", "attributes": attributes}]}]}]}


def of_responses(*output: dict[str, Any]) -> dict[str, Any]:
    return {"request": {"input": "How?"}, "response": {"id": "r", "object": "response", "output": list(output)}}


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("openai", CHAT | {"response": {"choices": [{"message": DECLINING}]}}),
        ("openai", CHAT | {"response": DECLINING}),
        ("openai", CHAT | {"response": PIECES}),
        ("openai", CHAT | {"object": "chat.completion.chunk", "choices": [{"delta": {"refusal": DECLINED}}]}),
        ("responses", of_responses({"type": "refusal", "refusal": DECLINED})),
        ("responses", of_responses({"role": "assistant", "content": [{"type": "refusal", "refusal": DECLINED}]})),
        ("otel", of_otel(DECLINING)),
        ("otel", of_otel({"role": "assistant", "parts": [{"type": "refusal", "content": DECLINED}]})),
        ("langsmith", RUN | {"outputs": {"choices": [{"message": DECLINING}]}}),
        ("langsmith", RUN | {"outputs": {"messages": [{"type": "ai", "additional_kwargs": {"refusal": DECLINED}}]}}),
        ("langfuse", CALL | {"output": DECLINING}),
        ("langfuse", CALL | {"output": {"choices": [{"message": DECLINING}]}}),
    ],
)
def test_the_words_by_which_a_model_declines_are_its_answer(name: str, record: dict[str, Any]) -> None:
    assert list(recognise([record])) == [name]
    (call,) = FORMATS[name].read(record, Counter())
    assert isinstance(call, Call)
    assert [(message.role, message.text) for message in call.outputs] == [("assistant", DECLINED)]


def test_a_row_of_a_database_whose_content_is_null_says_by_what_words_it_declines() -> None:
    row = DECLINING | {"session_id": "c", "created_at": "2026-11-18T09:00:00Z"}
    assert list(recognise([row])) == ["turnsignal"]
    (turn,) = FORMATS["turnsignal"].read(row, Counter())
    assert isinstance(turn, dict)
    assert turn["text"] == DECLINED
