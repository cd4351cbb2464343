"""Where an answer holds a note or a reasoning beside "the reply", what is said of the reply does not bind the whole."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You help the agents of a web shop.\n\n"


def active(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(ROLE + prompt).proposals if one.doubt is None]


PARTS = [
    "You write two outputs for each case: a note for the agent and a reply for the customer.",
    "For each ticket, produce an internal summary and a reply to the customer.",
    "Write the internal note first, and then the answer to the customer.",
    'Write your reasoning under "Reasoning:" and the answer under "Answer:".',
    "Structure your output as:\n<reasoning>your reasoning</reasoning>\n<answer>the answer</answer>",
    "Output <analysis> and then <answer>.",
    "You work in a loop of thought, action and observation and finish with a final answer.",
    "For each ticket you output:\n1. Summary: what it is about\n2. Reply: the message to the customer",
    "For every request write a message to the customer, a line `---` and a note for colleagues.",
    "Answer the customer. Below the reply write a line `---` and below it a summary for the team.",
    "Write the reply to the customer. Then write a note for the team.",
    "Each output has a reply and an internal note.",
]


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize(
    "rule",
    [
        "The reply must not contain emojis and must be at most 60 words.",
        "Answers have at most 60 words, no emojis and no links.",
        "Reply to the customer: at most 60 words. No emojis.",
        "Final answer:\n- no emojis\n- must not contain links",
    ],
)
def test_what_is_said_of_the_reply_is_doubtful(parts: str, rule: str) -> None:
    assert active(f"{parts}\n\n{rule}") == []


@pytest.mark.parametrize("place", ["in a message", "in the reply", "in messages", "in your replies"])
def test_what_is_forbidden_in_the_message_is_not_in_the_note_beside_it(place: str) -> None:
    parts = "Write a message to the customer and a note for colleagues."
    assert active(f"{parts}\n\nDo not use emojis {place}.") == []
    assert len(active(f"Write a message to the customer.\n\nDo not use emojis {place}.")) == 1


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize(
    "rule", ['Never use the word "cheap".', "The reply is friendly. Never use emojis anywhere.", "Answer in English."]
)
def test_what_is_said_of_all_binds_all(parts: str, rule: str) -> None:
    assert len(active(f"{parts}\n\n{rule}")) == 1


@pytest.mark.parametrize(
    "order",
    [
        "Write a reply to the customer.",
        "Write a reply to the customer. Never put internal notes in it.",
        "Your replies are read by the team.",
        "Every answer is a note for the team.",
    ],
)
def test_a_reply_alone_is_the_answer(order: str) -> None:
    assert len(active(f"{order}\n\nThe reply must be at most 60 words.")) == 1
