"""A line that says which cases are meant narrows what stands below it, without "#", bold or a colon, too."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are the assistant of a clinic.\n\n"
ABOVE_A_LIST = "{}\n- be kind\n- no emojis\n- at most 60 words"
ABOVE_A_PARAGRAPH = "{}\n\nBe kind. No emojis. At most 60 words."


def active(prompt: str) -> list[str]:
    return [one.check.partition("(")[0] for one in read_prompt(ROLE + prompt).proposals if one.doubt is None]


CASES = [
    "Guests under 18",
    "Orders over 500 euros",
    "Groups of more than 10",
    "Flights under three hours",
    "**Teams of 5**",
    "65+",
    "65 and older",
    "More than 10 guests",
    "One-star reviews",
    "Start-ups",
    "People who ask for a lawyer",
    "Customers that were charged twice",
    "Callers you don't know",
    "If the user is angry",
    "Red flags (chest pain, trouble breathing, one-sided weakness)",
    "Warning signs (fever, a rash that will not go)",
    "**Seniors** (over 65)",
]


@pytest.mark.parametrize("form", [ABOVE_A_LIST, ABOVE_A_PARAGRAPH])
@pytest.mark.parametrize("line", CASES)
def test_a_line_that_says_who_or_when_narrows(line: str, form: str) -> None:
    assert active(form.format(line)) == []


@pytest.mark.parametrize("line", ["Use cases", "No booking", "When a guest calls at night"])
def test_a_line_right_above_a_list_leads_it_like_one_with_a_colon(line: str) -> None:
    assert active(ABOVE_A_LIST.format(line)) == []


@pytest.mark.parametrize("line", ["Max 3 sentences", "Never use tables.", "Keep it short", "You must", "Your answers"])
def test_a_rule_or_what_is_general_narrows_nothing(line: str) -> None:
    assert {"pattern.forbid", "length.number_words"} <= set(active(ABOVE_A_LIST.format(line)))


def test_a_part_with_its_length_above_a_list_narrows_it() -> None:
    assert active("**Teaser** (max 40 words)\n- no emojis") == []


def test_a_count_on_a_line_among_others_narrows_nothing() -> None:
    assert active("2 headings\n\nNo emojis.\n\nAt most 60 words.") == ["pattern.forbid", "length.number_words"]


@pytest.mark.parametrize(
    "prompt",
    [
        "1. Be kind.\n   1.1 Greet people by name.\n2. No emojis.",
        "1. Be kind.\n1.1 Greet people by name.\n2. No emojis.",
        "Every reply ends with the line:\nHarrow County – 555 0142\n\nNo emojis.",
        "End each answer with:\n\nKind regards\nYour team\n\nNo emojis.",
        "Decide which agent takes over: sales or support. Do not use emojis.",
        "Listen more than you talk: be brief. Do not use emojis.",
        "Keep these in mind:\n- no emojis",
        "FORM\n- no emojis",
        "<dont>\nTicket prices\nEmojis\n</dont>",
    ],
)
def test_what_is_no_title_of_a_case_narrows_nothing(prompt: str) -> None:
    assert active(prompt) == ["pattern.forbid"]


@pytest.mark.parametrize(
    "prompt",
    [
        "1. Refunds\n   1.1 No emojis.\n2. Be kind.",
        "During the call: be brief. Do not use emojis.",
        "- Escalate the case: be brief. Do not use emojis.",
        "Every reply starts with the line:\nHello\n\n## Refunds\nNo emojis.",
    ],
)
def test_what_is_a_title_of_a_case_still_narrows(prompt: str) -> None:
    assert active(prompt) == []


def test_each_line_in_a_tag_that_forbids_is_forbidden() -> None:
    lines = 'Bullet points\nThe word "seats" (we say "places")\nAnswers over 70 words'
    names = ["pattern.forbid", "keywords.forbidden_words", "length.number_words"]
    assert active(f"<dont>\n{lines}\n</dont>") == names
