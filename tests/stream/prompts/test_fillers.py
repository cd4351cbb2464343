"""Fillers: a word for an empty part of the answer is no prescribed answer."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"


@pytest.mark.parametrize(
    "prompt",
    [
        '## Decisions\nA list. If there are no decisions, write "None".',
        '## Decisions\nA list. If there are no decisions, write "Nothing was decided."',
        '- If the owner is missing, write "n/a".',
    ],
)
def test_what_fills_an_empty_part_is_no_answer(prompt: str) -> None:
    assert read_prompt(ROLE + prompt).exempt == ()


@pytest.mark.parametrize(
    ("sentence", "answer"),
    [
        ('If there is nothing to report, answer "None".', "None"),
        ('If there are no results, say "I could not find this."', "I could not find this."),
        ('If you do not know, write "I do not know this."', "I do not know this."),
    ],
)
def test_what_is_answered_is(sentence: str, answer: str) -> None:
    assert [one.text for one in read_prompt(f"{ROLE}- {sentence}").exempt] == [answer]
