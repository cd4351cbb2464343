"""What is forbidden in one kind only, or in one way to show it, is not forbidden wherever it stands."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    "prompt",
    [
        "Do not use Markdown links.",
        "No Markdown links; write the URL in full.",
        "Avoid emoji headings.",
        "Do not use HTML tables.",
        "Do not use headings with emojis.",
        "No tables containing emojis or question marks.",
        "Never write lists as plain text.",
        "Never output URLs as plain text.",
        'Never use "click here" as link text.',
        "Never use emojis as bullets.",
    ],
)
def test_one_kind_of_a_thing_is_not_the_thing(prompt: str) -> None:
    assert sure(prompt) == []


@pytest.mark.parametrize(
    "prompt",
    [
        "Do not use Markdown.",
        "No Markdown headings.",
        "Never answer with emojis.",
        "Do not include URLs in your answers.",
    ],
)
def test_a_thing_alone_is_forbidden_wherever_it_stands(prompt: str) -> None:
    assert len(sure(prompt)) == 1


@pytest.mark.parametrize(
    "exception",
    ["In a crisis, list the numbers as bullets.", "If there is danger, lists are OK.", "Show opening hours as a list."],
)
def test_a_list_that_another_sentence_asks_for_breaks_a_ban_of_lists(exception: str) -> None:
    assert sure(f"No bullet points.\n\n{exception}") == []


PLACES = [
    "No text before the first heading.",
    "Avoid nesting lists.",
    "No naked links.",
    "Never finish a post with hashtags.",
]


@pytest.mark.parametrize("rule", PLACES)
def test_where_or_how_a_thing_stands_forbids_none_of_it(rule: str) -> None:
    reading = read_prompt(f"You are Bo, an assistant.\n\n- {rule}\n")
    assert (reading.proposals, reading.uncovered) == ((), (rule,))
