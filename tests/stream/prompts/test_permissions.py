"""What a prompt permits some text frees every rule that it touches, wherever it stands, and is listed itself."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

FORMAL = "You are an intranet's assistant.\n1. No bullet points.\n2. Never use headings.\n3. Be kind.\n"
LONG = "You are an intranet's assistant.\n1. At most 40 words.\n2. Be kind.\n"


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    "sentence",
    [
        "Recipes and contracts may be as long and as structured as needed.",
        "Checklists may be as structured as needed.",
        "Recipes can use as much formatting as they like.",
        "For contracts any format is fine.",
        "Contracts may ignore the rules above.",
        "Legal texts can look any way you like.",
        "Reports are free to use whatever layout fits.",
    ],
)
def test_what_may_take_any_form_frees_each_rule_of_form_and_is_listed(sentence: str) -> None:
    assert len(sure(FORMAL)) == 2
    assert sure(f"{FORMAL}4. {sentence}") == []
    assert sentence in read_prompt(f"{FORMAL}4. {sentence}").uncovered


@pytest.mark.parametrize(
    "sentence", ["Contracts may be as formal and as detailed as needed.", "Recipes can be in any form."]
)
def test_what_may_take_any_length_frees_a_limit(sentence: str) -> None:
    assert len(sure(LONG)) == 1
    assert sure(f"{LONG}3. {sentence}") == []


@pytest.mark.parametrize(
    "sentence",
    [
        "Users may use any format.",
        "Recipes may not use formatting.",
        "Contracts may never be as structured as reports.",
        "Answers may be as friendly as you like.",
    ],
)
def test_what_is_denied_or_said_of_users_frees_nothing(sentence: str) -> None:
    assert len(sure(f"{FORMAL}4. {sentence}")) >= 2
