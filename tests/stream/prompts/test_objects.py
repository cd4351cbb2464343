"""What is said of a text that is not the answer is of that text, for each of its properties, and by "it" too."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(ROLE + prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    "ban", ["and without emojis", "and with no headings", "and never use emojis", "short, with no emojis"]
)
@pytest.mark.parametrize(
    "made",
    [
        "Write commit messages in English",
        "Draft changelog entries in English",
        "Save notes in English",
        "Name variables in English",
        "Create a headline in English",
        "Generate error texts in English",
    ],
)
def test_a_second_property_is_of_what_the_sentence_makes_too(made: str, ban: str) -> None:
    assert sure(f"- {made} {ban}.") == []


@pytest.mark.parametrize(
    "rule",
    [
        "Keep the subject line short and without emojis.",
        "Make button labels short, no emojis.",
        "Call the tool in English, with no emojis.",
        "Format the filename in small letters and without emojis.",
        "Comment your code in English, and keep it short with no emojis.",
    ],
)
def test_how_something_is_kept_or_put_is_of_that(rule: str) -> None:
    assert sure(f"- {rule}") == []


@pytest.mark.parametrize(
    "rule",
    [
        "Answer in English and without emojis.",
        "Write everything in English, without emojis.",
        "Write short sentences and no emojis.",
        "Write clearly and without emojis.",
        "Write the way a friend talks, no emojis.",
        "Keep things simple, without emojis.",
        "Keep your tone calm and never use emojis.",
        "Keep the customer informed and never use emojis.",
        "Use short sentences and no emojis.",
        "Format the answer as prose, with no emojis.",
        "Be warm, and use no emojis.",
    ],
)
def test_what_the_answer_is_made_of_is_the_answer(rule: str) -> None:
    assert any(check.startswith("pattern.forbid") for check in sure(f"- {rule}"))


@pytest.mark.parametrize("where", ["in them", "there", "in these", "within them"])
@pytest.mark.parametrize("other", ["Write docstrings in English.", "Sign emails politely.", "Draft reminders first."])
def test_a_pronoun_stands_for_what_was_made(other: str, where: str) -> None:
    assert sure(f"- {other} No emojis {where}.") == []


@pytest.mark.parametrize("answer", ["Write short answers.", "Keep your replies friendly.", "Write short sentences."])
def test_a_pronoun_may_stand_for_the_answer(answer: str) -> None:
    assert len(sure(f"- {answer} No emojis in them.")) == 1


def test_there_is_no_place_where_it_only_says_that_something_is() -> None:
    assert len(sure("- Sign emails politely.\n- There must be no emojis.")) == 1
