"""States that chains and graphs put out: the answer is found among what repeats the question."""

from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.formats.assembly import join_trace
from turnsignal.stream.formats.langfuse import Langfuse
from turnsignal.stream.formats.langsmith import LangSmith
from turnsignal.stream.formats.openinference import OpenInference
from turnsignal.stream.formats.protocol import Call

ASKED, ANSWERED = "How do I pay abroad?", "By card, in your account."
HISTORY = [{"role": "user", "content": "Where are you?"}, {"role": "assistant", "content": "In Berlin."}]
MESSAGES = [*HISTORY, {"role": "user", "content": ASKED}]
LANGCHAIN = [{"type": "human", "content": "Where are you?"}, {"type": "ai", "content": "In Berlin."}]
PAIRS = [["Where are you?", "In Berlin."]]
FOUND = [{"page_content": "Cards are taken.", "metadata": {"source": "pay.md"}}]
SPOKEN = {"lc": 1, "id": ["langchain", "AIMessage"], "kwargs": {"content": ANSWERED, "type": "ai"}}
STATES: list[tuple[Any, Any]] = [
    ({"question": ASKED}, {"question": ASKED, "context": FOUND, "answer": ANSWERED}),
    ({"question": ASKED}, {"context": FOUND, "question": ASKED, "answer": ANSWERED}),
    ({"question": ASKED}, {"question": ASKED, "documents": FOUND, "generation": ANSWERED, "web_search": "No"}),
    ({"question": ASKED}, {"question": ASKED, "documents": FOUND, "generation": SPOKEN}),
    ({"question": ASKED}, {"question": ASKED, "rewritten_question": "Pay abroad how", "answer": ANSWERED}),
    ({"query": ASKED}, {"query": ASKED, "result": ANSWERED, "source_documents": FOUND}),
    ({"topic": ASKED}, {"topic": ASKED, "joke": ANSWERED}),
    ({"question": ASKED}, {"question": ASKED, "answer": {"answer": ANSWERED, "sources": ["a", "b"]}}),
    ({"inputs": {"question": ASKED}}, {"output": {"question": ASKED, "answer": ANSWERED}}),
    ({"args": [{"question": ASKED}], "kwargs": {}}, {"question": ASKED, "answer": ANSWERED}),
    ({"question": ASKED, "answer": "In Berlin."}, {"question": ASKED, "answer": ANSWERED}),
    ({"user_query": ASKED}, {"user_query": ASKED, "intent": "how to pay", "final_response": ANSWERED}),
    *(
        ({asked: ASKED, told: history}, {asked: ASKED, told: history, answered: ANSWERED})
        for history in (HISTORY, LANGCHAIN, PAIRS)
        for asked, told, answered in (
            ("question", "chat_history", "answer"),
            ("question", "history", "answer"),
            ("input", "chat_history", "output"),
            ("input", "chat_history", "response"),
        )
    ),
    ({"messages": MESSAGES}, {"messages": MESSAGES, "context": FOUND, "answer": ANSWERED}),
    ({"messages": MESSAGES[-1:]}, {"messages": MESSAGES, "context": FOUND, "answer": ANSWERED}),
    ({"question": ASKED, "messages": HISTORY}, {"question": ASKED, "messages": HISTORY, "answer": ANSWERED}),
]


def _in_langsmith(given: Any, output: Any) -> Call:
    run = {"id": "r1", "run_type": "chain", "inputs": given, "outputs": output}
    return _joined(*LangSmith().read(run, Counter()))


def _in_langfuse(given: Any, output: Any) -> Call:
    row = {"trace_id": "t1", "id": "o1", "type": "CHAIN", "input": given, "output": output}
    return _joined(*Langfuse().read(row, Counter()))


def _in_a_trace(given: Any, output: Any) -> Call:
    return _joined(*Langfuse().read({"id": "t1", "session_id": "c1", "input": given, "output": output}, Counter()))


def _in_openinference(given: Any, output: Any) -> Call:
    attributes = {"openinference.span.kind": "CHAIN", "input.value": given, "output.value": output}
    return _joined(*OpenInference().read({"trace_id": "t1", "span_id": "s1", "attributes": attributes}, Counter()))


def _joined(*calls: Call) -> Call:
    (call,) = join_trace(calls, Counter())
    return call


READERS = [_in_langsmith, _in_langfuse, _in_a_trace, _in_openinference]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(("given", "output"), STATES)
def test_the_answer_in_a_state_is_not_the_question_that_it_repeats(read: Any, given: Any, output: Any) -> None:
    call = read(given, output)
    assert [message.text for message in call.outputs] == [ANSWERED]
    assert call.inputs[-1].text == ASKED
    if FOUND in output.values():
        assert [each["doc_id"] for each in call.outputs[0].documents] == ["pay.md"]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    "output",
    [
        {"question": ASKED, "documents": FOUND},
        {"question": ASKED, "rewritten_question": "Pay abroad how", "route": "vectorstore"},
        {"question": ASKED, "chat_history": HISTORY, "answer": None},
    ],
)
def test_a_state_of_a_run_that_did_not_end_holds_no_answer(read: Any, output: Any) -> None:
    call = read({"question": ASKED}, output)
    assert not call.outputs
    assert call.inputs[-1].text == ASKED


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("output", "text"),
    [
        ({"question": "Which plan is it?", "options": ["Basic", "Pro"]}, "Which plan is it?"),
        ({"answer": ASKED, "score": 1}, ASKED),
        ({"model": "m1", "message": {"role": "assistant", "content": ANSWERED}}, ANSWERED),
    ],
)
def test_an_assistant_may_ask_and_may_repeat_the_user(read: Any, output: Any, text: str) -> None:
    call = read({"input": ASKED, "model": "m1"}, output)
    assert [message.text for message in call.outputs] == [text]


def test_a_graph_that_was_interrupted_has_not_answered_and_asks_once() -> None:
    called = {"type": "ai", "content": "", "tool_calls": [{"name": "refund", "args": {}, "id": "c1"}]}
    output = {"messages": [*MESSAGES[-1:], called], "__interrupt__": [{"value": {"question": "Approve the refund?"}}]}
    for read in READERS:
        call = read({"messages": MESSAGES[-1:]}, output)
        assert not call.outputs
        assert [message.text for message in call.inputs] == [ASKED]
