"""What stands in inputs and outputs: messages, texts, and the arguments of functions that were observed."""

from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.formats.messages import spoken

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
