"""Documents of Anthropic's requests belong to the turn that they came in, however often later requests repeat them."""

from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.formats.anthropic import AnthropicMessages

Blocks = list[dict[str, Any]]


def result(name: str) -> dict[str, Any]:
    return {"type": "search_result", "source": name, "title": name, "content": [{"type": "text", "text": f"On {name}"}]}


def page(name: str) -> dict[str, Any]:
    return {"type": "document", "title": name, "source": {"type": "text", "data": f"On {name}"}}


def asked(text: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": [*blocks, {"type": "text", "text": text}]}


def looked_up(*blocks: dict[str, Any]) -> Blocks:
    call = {"type": "tool_use", "id": "k1", "name": "find", "input": {}}
    return [
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "k1", "content": list(blocks)}]},
    ]


def answered(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def read(messages: Blocks, *citations: dict[str, Any], before: Blocks | None = None) -> tuple[list[str], list[str]]:
    """The ids of a turn's documents, and of those that its answer cites."""
    content = [*(before or []), {"type": "text", "text": "So.", "citations": list(citations)}]
    response = {"id": "msg_1", "type": "message", "role": "assistant", "content": content}
    (call,) = AnthropicMessages().read({"request": {"messages": messages}, "response": response}, Counter())
    cited = [item.get("doc_id") for output in call.outputs for item in (output.metadata or {}).get("citations", [])]
    return [document["doc_id"] for document in call.documents], cited


def at(index: int, kind: str = "search_result") -> dict[str, Any]:
    location = {"search_result": "search_result_location", "document": "char_location"}[kind]
    return {"type": location, f"{kind}_index": index, "cited_text": "On"}


FIRST = [asked("Do you ship to Malta?"), *looked_up(result("malta"), result("islands")), answered("We do.")]


def test_what_was_looked_up_for_earlier_questions_is_theirs_and_citations_count_it_still() -> None:
    now = [*FIRST, asked("How long does it take?"), *looked_up(result("times")), *looked_up(result("strikes"))]
    assert read(now, at(3)) == (["times", "strikes"], ["strikes"])


def test_a_document_of_an_earlier_turn_that_is_cited_stands_behind_those_of_this_one() -> None:
    now = [*FIRST, asked("How long does it take?"), *looked_up(result("times"))]
    assert read(now, at(1), at(2)) == (["times", "islands"], ["islands", "times"])


def test_thanks_have_no_documents_of_what_was_looked_up_before() -> None:
    assert read([*FIRST, asked("Thanks!")]) == ([], [])


def test_documents_within_the_question_itself_are_its_own() -> None:
    before = [asked("Do you ship to Malta?", result("malta")), answered("We do.")]
    assert read([*before, asked("And to Crete?", result("crete"), result("greece"))], at(1)) == (
        ["crete", "greece"],
        ["crete"],
    )


def test_documents_beside_a_question_or_a_tools_result_are_one_message_with_it() -> None:
    attached = {"role": "user", "content": [result("crete")]}
    assert read([*FIRST, attached, asked("And to Crete?")])[0] == ["crete"]
    stopped = looked_up(result("crete"))
    assert read([*FIRST, asked("And to Crete?"), *stopped, asked("Be brief, please.")])[0] == ["crete"]


@pytest.mark.parametrize("block", [page, result])
def test_documents_given_once_with_the_first_message_are_those_of_later_turns_that_have_none(block: Any) -> None:
    begun = [asked("What is in it?", block("contract")), answered("Terms.")]
    assert read([*begun, asked("Which?"), answered("Many."), asked("Name one.")])[0] == ["contract"]
    given_alone = [{"role": "user", "content": [block("contract")]}, answered("I read it."), asked("Name one.")]
    assert read(given_alone)[0] == ["contract"]


def test_documents_given_at_the_beginning_make_way_for_what_is_looked_up_and_are_cited_still() -> None:
    begun = [asked("What is in it?", page("contract")), answered("Terms."), asked("Are they usual?")]
    now = [*begun, *looked_up(result("customs"))]
    assert read(now)[0] == ["customs"]
    assert read(now, at(0, "document")) == (["customs", "contract"], ["contract"])


def test_what_the_server_finds_while_it_answers_is_this_turns() -> None:
    found = {"type": "web_search_result", "url": "https://ferries.example", "title": "Ferries"}
    search = [{"type": "web_search_tool_result", "tool_use_id": "k2", "content": [found]}]
    assert read([*FIRST, asked("Is there a ferry?")], before=search)[0] == ["https://ferries.example"]
    earlier = [*FIRST, asked("Is there a ferry?"), {"role": "assistant", "content": search}, asked("How often?")]
    cited = {"type": "web_search_result_location", "url": "https://ferries.example", "cited_text": "Daily"}
    assert read(earlier)[0] == []
    assert read(earlier, cited)[0] == ["https://ferries.example"]
