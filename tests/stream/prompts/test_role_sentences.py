"""A rule in what the assistant is or does is listed, also as a prompt begins."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


@pytest.mark.parametrize(
    "sentence",
    [
        "You condense reports into three sentences.",
        "You translate everything into German.",
        "You assist guests in Spanish and keep replies brief.",
        "You extract names from texts and output them as JSON.",
        "You are Zed, a bot who answers in one sentence.",
        "The bot greets every user by name.",
        "You have 50 words.",
        "Your reports have a title and a date.",
        "Refusals are short and polite.",
        "Users want answers in English.",
    ],
)
def test_a_rule_in_a_role_is_listed(sentence: str) -> None:
    assert sentence in read_prompt(f"You are a support bot. {sentence} No emojis.").uncovered


def test_a_role_alone_is_no_rule() -> None:
    assert read_prompt("You are a support bot for Acme. You answer questions about tea. No emojis.").uncovered == ()


def test_what_follows_a_template_is_a_sentence_of_its_own() -> None:
    template = '{"name": "...", "age": 0, "street": "...", "city": "...", "country": "...", "phone": "..."}'
    assert "Use null for missing values." in read_prompt(f"Reply:\n{template}\nUse null for missing values.").uncovered
