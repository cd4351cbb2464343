"""Everyday wordings of a formal rule that say nothing of some answers only."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    "rule",
    [
        "Answer politely and in no more than 90 words.",
        "Be quick: 25 words tops.",
        "Replies to the user have no more than 50 words.",
        "dont use emojis cuz my boss hates them.",
        "lowercase letters only, no capital letters.",
    ],
)
def test_a_rule_of_all_answers_is_read_without_doubt(rule: str) -> None:
    assert len(sure(f"You are a bot of Acme. {rule}")) == 1


@pytest.mark.parametrize(
    "rule",
    [
        "Replies to agents have no more than 50 words.",
        "Replies to customers have no more than 50 words, replies to agents 200.",
        "dont use emojis if my boss hates them.",
    ],
)
def test_one_of_some_answers_is_not(rule: str) -> None:
    assert sure(f"You are a bot of Acme. {rule}") == []


ABOUT = "The assistant answers questions on knitting. The assistant's answers never exceed 100 words."


def test_a_prompt_that_says_you_to_nobody_is_about_its_reader() -> None:
    assert len(sure(f"{ABOUT} The assistant doesn't use emojis.")) == 2


@pytest.mark.parametrize("judged", ["You rate its answers.", "Score the log below."])
def test_one_that_has_its_reader_judge_the_assistant_is_not(judged: str) -> None:
    assert sure(f"{ABOUT} {judged}") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "pls answer qs about menu + opening hrs.",
        "plz help wit orders.",
        "The content of <answer> is a single number.",
        "The <final> tag holds the result.",
    ],
)
def test_a_sloppy_order_and_what_a_tag_holds_are_listed(sentence: str) -> None:
    reading = read_prompt(f"You are a bot of Acme. Never use emojis. {sentence}")
    assert sentence in reading.uncovered or any(sentence in one.sentences for one in reading.proposals)
