"""Observations of Langfuse: what tools found, and its own judges."""

from collections import Counter

from turnsignal.stream.formats.langfuse import Langfuse

JUDGES = "langfuse-llm-as-a-judge"


def test_what_a_tool_found_is_the_answers_where_it_is_a_list_of_documents() -> None:
    row = {
        "trace_id": "t1",
        "id": "o1",
        "type": "TOOL",
        "name": "search",
        "output": '[{"id": "pay", "text": "Cards."}]',
    }
    (call,) = Langfuse().read(row, Counter())
    assert (call.kind, call.documents) == ("retrieval", [{"doc_id": "pay", "text": "Cards."}])


def test_langfuses_own_judges_are_evaluators_by_their_environment() -> None:
    assumed: Counter[str] = Counter()
    row = {"trace_id": "t1", "id": "o1", "type": "GENERATION", "input": "Is it so?", "output": '{"score": 1}'}
    trace = {"id": "t1", "session_id": None, "input": "Is it so?", "output": '{"score": 1}'}
    assert not list(Langfuse().read({**row, "environment": JUDGES}, assumed))
    assert not list(Langfuse().read({**trace, "environment": JUDGES}, assumed))
    assert assumed["evaluators' observations left out"] == 1
    assert len(list(Langfuse().read({**row, "environment": "production"}, assumed))) == 1
