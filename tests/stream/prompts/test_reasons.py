"""A clause of reason beside a rule takes nothing from it; a case, another subject or an exception still does."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt
from turnsignal.stream.prompts.reasons import without_reason

BEFORE = (
    "Your words will be read aloud by a speech engine, so",
    "Because messages go out by SMS,",
    "Since our widget is narrow,",
    "As callers cannot see you,",
    "Due to limited space,",
    "For legal reasons,",
    "Users skim; therefore",
)
BEHIND = (
    ", we are a bank.",
    ", you're a dwarf, not a clerk.",
    ": they are read aloud badly.",
    " (our renderer breaks on them).",
    " because our brand is calm.",
)
RULES = ("never use emojis", "do not use tables", "no lists")


def doubts(sentence: str) -> list[str | None]:
    return [one.doubt for one in read_prompt(f"You are the assistant of a shop.\n\n- {sentence}\n").proposals]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("reason", BEFORE)
def test_a_reason_before_a_rule_takes_nothing_from_it(reason: str, rule: str) -> None:
    assert doubts(f"{reason} {rule}.") == [None]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("reason", BEHIND)
def test_nor_does_one_behind_it(rule: str, reason: str) -> None:
    assert doubts(f"{rule.capitalize()}{reason}") == [None]


@pytest.mark.parametrize(
    "sentence",
    [
        "The title is cut off, so use at most 60 characters.",
        "If the user is on a phone, never use emojis.",
        "No lists: they are allowed only in recipes.",
        "Product descriptions are read aloud, so never use emojis.",
        "Because some callers are children, never use emojis for them.",
        "Write like a friend would text: lowercase only, short.",
    ],
)
def test_what_names_a_case_or_another_text_does(sentence: str) -> None:
    assert None not in doubts(sentence)


@pytest.mark.parametrize("sentence", ["Tone: messages are always in English.", "Answers are in German, so be brief."])
def test_what_asks_for_something_is_no_reason(sentence: str) -> None:
    assert without_reason(sentence) == sentence


def test_a_reason_above_a_list_narrows_nothing() -> None:
    prompt = "You are the assistant of a school.\n\nSince most {} are on a phone:\n- no tables"
    assert [one.doubt for one in read_prompt(prompt.format("learners")).proposals] == [None]
    narrowed = [one.doubt for one in read_prompt(prompt.format("premium learners")).proposals]
    assert narrowed == ["stands under “Since most premium learners are on a phone”"]
