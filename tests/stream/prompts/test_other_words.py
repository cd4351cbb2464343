"""Common rules in other words are recognised, and what narrows them keeps them from being active."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

WORDS_80 = ["length.number_words(at_most=80,by_spaces=true)"]
SAME = [
    ("Cap your answers at 80 words.", "Write at most 80 words."),
    ("Word limit: 80.", "Write at most 80 words."),
    ("Max words: 80", "Write at most 80 words."),
    ("Keep it under 400 characters, folks.", "Keep it under 400 characters."),
    ("Use plain text.", "Use plain text only."),
    ("Reply in plain text.", "Use plain text only."),
    ("Under no circumstances should you post links.", "Never use links."),
    ("Each reply must end in a question.", "Each reply must end with a question."),
    ("Answer always on English language.", "Answer in English."),
    ('Reply with JSON only, e.g. {"a": 1}.', "Reply with JSON only."),
    ("Return valid JSON, such as {}.", "Return valid JSON."),
]
LEADS = [
    "The following rules are absolute and apply to every response:",
    "Kindly observe below points while replying to customer:",
    "Assistant guidelines (internal)\n",
]
NARROW = ["Internal note\n", "Points for refunds:", "Notes (internal)\n"]


def active(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(("rule", "plain"), SAME)
def test_other_words_ask_for_the_same_checks(rule: str, plain: str) -> None:
    assert active(f"You are Bo. {rule}") == active(f"You are Bo. {plain}") != []


@pytest.mark.parametrize(
    "rule",
    [
        "Cap the note at 80 words.",
        "Use plain text for addresses.",
        "Never post links to rivals.",
        "Limit complaints to 80 words.",
    ],
)
def test_other_words_of_something_narrower_are_not_active(rule: str) -> None:
    assert active(f"You are Bo. {rule}") == []


@pytest.mark.parametrize("lead", LEADS)
def test_a_lead_in_other_words_narrows_nothing(lead: str) -> None:
    assert active(f"{lead}\n- At most 80 words.") == WORDS_80


@pytest.mark.parametrize("lead", NARROW)
def test_a_lead_that_names_a_text_narrows(lead: str) -> None:
    assert active(f"{lead}\n- At most 80 words.") == []


def test_lines_in_lower_case_are_rules_of_their_own() -> None:
    case = "if people ask for food send them to the kiosk"
    prompt = f'hey ur a bot for a zoo\nat most 80 words\n{case}\nalways end with "roar"'
    reading = read_prompt(prompt)
    assert [one.doubt for one in reading.proposals] == [None, None]
    assert case in reading.uncovered


@pytest.mark.parametrize(
    "prompt",
    [
        "you talk to guests and when they are angry\nat most 80 words",
        "you help people\nfor refunds\nat most 80 words",
        "if they complain\nat most 80 words",
    ],
)
def test_a_line_that_is_a_condition_goes_on_in_the_next(prompt: str) -> None:
    assert active(prompt) == []
