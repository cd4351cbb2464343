"""Of a tree of messages the branch is read that its user sees; what stands in another place where it is empty, too."""

from typing import Any

from tests.stream.formats.test_proposing import read
from turnsignal.stream.formats.followed import lead_to
from turnsignal.stream.formats.proposing import propose_mapping

SAID = ("How?", "So.", "And then?", "This.")


def chatgpt(name: str) -> dict[str, Any]:
    """A conversation as ChatGPT exports it, in which each answer was given anew once, and a search was made."""
    nodes: dict[str, Any] = {f"{name}-root": {"id": f"{name}-root", "message": None, "parent": None, "children": []}}
    last = f"{name}-root"

    def add(parent: str, role: str, content: dict[str, Any]) -> str:
        at = f"{name}-{len(nodes)}"
        message = {"id": at, "author": {"role": role}, "create_time": 1_794_218_400.5 + len(nodes), "content": content}
        nodes[at] = {"id": at, "message": message, "parent": parent, "children": []}
        return at

    last = add(last, "system", {"content_type": "text", "parts": [""]})
    for number, text in enumerate(SAID):
        role = ("user", "assistant")[number % 2]
        if role == "assistant":
            add(last, role, {"content_type": "text", "parts": [f"Draft of {text}"]})
        last = add(last, role, {"content_type": "text", "parts": [f"{text} ({name})"]})
    if name == "c1":
        add(last, "assistant", {"content_type": "code", "text": 'search("it")'})
    return {"title": "T", "create_time": 1.0, "mapping": nodes, "current_node": last, "conversation_id": name}


def test_the_branch_is_read_that_the_user_sees() -> None:
    log = [chatgpt(f"c{number}") for number in range(4)]
    proposed = propose_mapping(log, "conversations.json")
    turns = [turn for turn in read(proposed, log) if turn["role"] != "system"]
    assert [(turn["conversation_id"], turn["text"]) for turn in turns] == [
        (f"c{number}", f"{text} (c{number})") for number in range(4) for text in SAID
    ]
    assert not proposed.doubts


def test_a_tree_whose_last_item_is_missing_is_read_whole() -> None:
    nodes: list[tuple[Any, ...]] = [({"id": "a"},), ({"id": "b", "parent": "a"},)]
    assert lead_to("c", nodes) == nodes
    assert lead_to("a", nodes) == nodes[:1]
    assert lead_to("a", [({"id": "a", "parent": "b"},), ({"id": "b", "parent": "a"},)])


def test_answers_are_read_as_blocks_where_their_text_is_empty() -> None:
    log = [
        {
            "conversationId": f"c{chat}",
            "sender": ("User", "GPT-4o")[number % 2],
            "text": text if number % 2 == 0 else "",
            "content": None if number % 2 == 0 else [{"type": "text", "text": text}],
            "createdAt": 1_794_218_400 + 60 * chat + number,
        }
        for chat in range(3)
        for number, text in enumerate(SAID)
    ]
    turns = read(propose_mapping(log, "log.json"), log)
    assert [(turn["role"], turn["text"]) for turn in turns] == list(
        zip(["user", "assistant"] * 2, SAID, strict=True)
    ) * 3


def test_instructions_that_differ_are_questions() -> None:
    log = [
        {"instruction": f"What is {number} + 1?", "input": "", "output": f"It is {number + 1}."} for number in range(9)
    ]
    proposed = propose_mapping(log, "alpaca.json")
    assert (proposed.read, proposed.of) == (9, 9)
    assert 'question = "instruction"' in proposed.text
