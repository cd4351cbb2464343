"""What is said of every reply is no condition, and what is not to be added is forbidden."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


@pytest.mark.parametrize(
    "sentence",
    ["Whenever you reply, use at most 50 words.", "Every time you answer, use at most 50 words.", "Don't add emojis."],
)
def test_a_rule_of_every_reply_is_sure(sentence: str) -> None:
    reading = read_prompt(f"You are Bo. {sentence}")
    assert len(reading.proposals) == 1
    assert reading.doubtful == 0


@pytest.mark.parametrize(
    "sentence", ["Whenever you reply to Ann, use at most 50 words.", "Don't add emojis to titles."]
)
def test_a_rule_of_some_replies_is_not(sentence: str) -> None:
    assert read_prompt(f"You are Bo. {sentence}").doubtful == 1
