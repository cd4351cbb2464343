"""Agents that word their calls of tools: neither these nor what came back are turns, and answers are what was meant."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.agents.files.test_questions_beside import ALL, TALKS, at, exchanges, written
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.acting import read_acts
from turnsignal.stream.formats.protocol import Message

Record = dict[str, Any]


def acted(question: str) -> str:
    return orjson.dumps({"action": "search", "action_input": question}).decode()


#: a framework → what asks a tool, what it returned, how an answer is worded, and how a question is
WORDED: dict[str, tuple[Callable[[str], str], str, Callable[[str], str], Callable[[str], str]]] = {
    "llamaindex": (
        lambda question: f'Thought: I look it up.\nAction: search\nAction Input: {{"query": "{question}"}}',
        "Observation: See the handbook.",
        lambda answer: f"Thought: I can answer without using any more tools.\nAnswer: {answer}",
        lambda question: question,
    ),
    "langchain": (
        lambda question: f"```json\n{acted(question)}\n```",
        "TOOL RESPONSE: \n---------------------\nSee the handbook.",
        lambda answer: orjson.dumps({"action": "Final Answer", "action_input": answer}).decode(),
        lambda question: question,
    ),
    "smolagents": (
        lambda question: f'Thought: I look it up.\n<code>\nprint(search("{question}"))\n</code>',
        "Observation:\nSee the handbook.",
        lambda answer: f'Thought: I know it.\n<code>\nfinal_answer("{answer}")\n</code>',
        lambda question: f"New task:\n{question}",
    ),
}


@pytest.mark.parametrize("framework", WORDED)
@pytest.mark.parametrize("is_named", [True, False])
@pytest.mark.parametrize("keeps_acts", [True, False])
def test_what_agents_do_in_text_is_no_turn(framework: str, is_named: bool, keeps_acts: bool, tmp_path: Path) -> None:
    act, returned, worded, typed = WORDED[framework]
    records: list[Record] = []
    kept: dict[str, list[Record]] = {name: [] for name in TALKS}
    for name, number, _, question, answer in exchanges():
        asked = [*kept[name], {"role": "user", "content": typed(question)}]
        steps = [{"role": "assistant", "content": act(question)}, {"role": "user", "content": returned}]
        final = {"role": "assistant", "content": worded(answer)}
        for order, (sent, got) in enumerate(((asked, steps[0]), ([*asked, *steps], final))):
            about = {"session_id": name} if is_named else {}
            made = {"id": f"r-{name}-{number}-{order}", "object": "chat.completion", "choices": [{"message": got}]}
            time = at(name, number).replace("00Z", f"0{order}Z")
            records.append(about | {"timestamp": time, "request": {"messages": sent}, "response": made})
        kept[name] = [*asked, *steps, final] if keeps_acts else [*asked, {"role": "assistant", "content": answer}]
    with Imported([written(tmp_path / "log.jsonl", records)], HowToRead()) as imported:
        turns = [orjson.loads(line) for line, _ in Recording(imported.sources).lines()]
    turns.sort(key=lambda turn: (turn["timestamp"][:15], turn["conversation_id"], turn["timestamp"]))
    assert [turn["text"] for turn in turns] == ALL
    assert len({turn["conversation_id"] for turn in turns}) == len(TALKS)


@pytest.mark.parametrize(
    "texts",
    [
        ["How?", "So.", "Observation: it still sticks."],
        ["How?", "Action: turn the handle.\nThen push.", "Observation: it still sticks."],
        ["How?", '{"action": "turn", "object": "handle"}', "Observation: it still sticks."],
        ["How?", "Thought: nobody knows.", "And then?"],
        ["How?", 'Call `final_answer("x")` in your code.', "Thanks"],
    ],
)
def test_what_people_say_is_none_of_that(texts: list[str]) -> None:
    messages = [Message("assistant" if at % 2 else "user", text) for at, text in enumerate(texts)]
    read_acts(messages)
    assert [message.text for message in messages] == texts
    assert {message.role for message in messages} == {"user", "assistant"}


def test_an_answer_in_code_has_its_own_words() -> None:
    message = Message("assistant", "Thought: Done.\n<code>\nfinal_answer('It\\'s \\\\d.\\nSee below.')\n</code>")
    read_acts([message])
    assert message.text == "It's \\d.\nSee below."
