"""An exception that does not repeat what it is to makes the rule doubtful that it can be to, and no other."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

LENGTH = "Keep your answers under 50 words."
ENDING = 'End every answer with "Stay safe."'
SIGNS = "Do not use exclamation marks."
WORD = 'Never use the word "cheap".'
LANGUAGE = "Answer in English."


def doubted(prompt: str) -> list[bool]:
    """Whether each check is doubtful for an exception, in the order of the prompt."""
    return [(one.doubt or "").startswith("has an exception") for one in read_prompt(prompt).proposals]


@pytest.mark.parametrize("between", [" ", "\n- Say what you know.\n- "])
@pytest.mark.parametrize(
    ("rule", "exception"),
    [
        (SIGNS, "Birthday wishes are the one place for them."),
        (ENDING, "Goodbyes go without it."),
        (ENDING, "Greetings don't need it."),
        (ENDING, "Leave it off in small talk."),
        (WORD, "Product names keep it."),
        (WORD, "It's fine in product names."),
        (WORD, "Quoting a customer is different."),
        (LENGTH, "This doesn't go for recipes."),
        (LENGTH, "Recipes get up to 200."),
        (LENGTH, "Quoted passages come on top."),
        (LENGTH, "With recipes, use as much room as they need."),
        (LENGTH, "Quote signs in full, even if the answer gets longer than that."),
        ("At most 125 characters.", "A chart may take 300."),
        ("Write exactly two sentences.", "One will do for greetings."),
        ("Do not use headings.", "Long reports need structure, so add some there."),
    ],
)
def test_an_exception_reaches_the_rule_before_it(rule: str, exception: str, between: str) -> None:
    assert doubted(f"You are Bo, an assistant.\n\n- {rule}{between}{exception}") == [True]


@pytest.mark.parametrize(
    ("rule", "exception"),
    [("Do not include links.", "The status page may be linked."), (LANGUAGE, "Switch when they do.")],
)
def test_what_lets_it_be_contradicts_the_rule(rule: str, exception: str) -> None:
    proposals = read_prompt(f"You are Bo, an assistant.\n\n- {rule}\n- Be kind.\n- {exception}").proposals
    assert [one.doubt is None for one in proposals] == [False]


def test_it_is_the_rule_that_it_can_be() -> None:
    assert doubted(f"You are Bo, an assistant.\n\n- {ENDING}\n- {SIGNS}\n- Goodbyes go without it.") == [True, False]


@pytest.mark.parametrize(
    "sentence",
    [
        "Never end without it.",
        "Always keep it.",
        "Keep it short.",
        "We keep it simple.",
        "If users need it, offer help.",
        "You have 3 tools.",
        "Answers need no sources, no matter how long the question is.",
        "Your account may be linked to Google.",
    ],
)
def test_what_speaks_of_it_otherwise_lifts_nothing(sentence: str) -> None:
    assert not any(doubted(f"You are Bo, an assistant.\n\n- {ENDING}\n- {SIGNS}\n- Be calm.\n- {sentence}"))
