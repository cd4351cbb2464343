"""Prompts of rails and of retrievers' filters in a gateway's log: they quote what a user typed, and answer nobody."""

from pathlib import Path

import pytest

from tests.agents.files.gateway_logs import call_after, read
from tests.stream.formats.told_conversations import answer_to, conversations

RAIL = (
    "Your task is to check if the user message below complies with the policy.\n\nPolicy:\n- no harmful data\n\n"
    'User message: "{question}"\n\nQuestion: Should the user message be blocked (Yes or No)?\nAnswer:'
)
OUTPUT_RAIL = (
    "Your task is to check if the bot message below complies with the policy.\n\nPolicy:\n- no insults\n\n"
    'Bot message: "{answer}"\n\nQuestion: Should the message be blocked (Yes or No)?\nAnswer:'
)
FILTER = (
    "Given the following question and context, return YES if the context is relevant and NO if it isn't.\n\n"
    "> Question: {question}\n> Context:\n>>>\nPage {number} says how.\n>>>\n> Relevant (YES / NO):"
)
EXTRACTOR = (
    "Given the following question and context, extract any part of the context *AS IS* that is relevant.\n\n"
    "> Question: {question}\n> Context:\n>>>\nPage {number} says how.\n>>>\nExtracted relevant parts:"
)
FACTS = (
    "You are given a task to identify if the hypothesis is grounded in the evidence.\nAnswer with yes/no. "
    '"evidence": Page {number} says how.\n"hypothesis": {answer}\n"entails":'
)
STATEMENTS = (
    "Given a question and an answer, break down each sentence of the answer into statements, as JSON.\n"
    'input: {{"question": "{question}", "answer": "{answer}"}}\nOutput: '
)
PROMPTS = {
    "an input rail": (RAIL, "No"),
    "an output rail": (OUTPUT_RAIL, "No"),
    "a guard of one's own": ("Message: {question}\n\nQuestion: Is this about Acme's products?\nAnswer:", "yes"),
    "a filter": (FILTER, "YES"),
    "a check of facts": (FACTS, "yes"),
    "a judge given JSON": (STATEMENTS, '{{"statements": ["{number}"]}}'),
    "an extractor": (EXTRACTOR, "Page {number} says how."),
}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("role", ["user", "system"])
@pytest.mark.parametrize("which", PROMPTS)
def test_what_quotes_a_users_words_between_labels_is_no_turn(
    which: str, role: str, named: bool, tmp_path: Path
) -> None:
    told = conversations(60)
    prompt, got = PROMPTS[which]
    records = []
    for questions in told:
        history = [{"role": "system", "content": "You are the assistant of Acme."}]
        for said in questions:
            parts = {"question": said.typed, "answer": answer_to(said), "number": said.at // 60}
            asked = [{"role": role, "content": prompt.format(**parts)}]
            history = [*history, {"role": "user", "content": said.typed}]
            late = 13 if which in ("an output rail", "a check of facts", "a judge given JSON") else 8
            records.append(call_after(said, late, asked, got.format(**parts), named=named, model="small"))
            records.append(call_after(said, 10, history, answer_to(said), named=named))
            history = [*history, {"role": "assistant", "content": answer_to(said)}]
    said_in, _ = read(tmp_path / "log.jsonl", records)
    expected = [[text for each in questions for text in (each.typed, answer_to(each))] for questions in told]
    assert said_in == sorted(expected)
