"""What a prompt says of its assistant by name is said to its reader; what it says of others is not."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

EMOJIS = "Meridian never uses emojis."


def active(prompt: str) -> dict[str, tuple[str, ...]]:
    return {one.check.split("(")[0]: one.sentences for one in read_prompt(prompt).proposals if one.doubt is None}


@pytest.mark.parametrize(
    "opening",
    [
        "You are Meridian, the assistant of a bank.",
        "Your name is Meridian.",
        "You are a concierge called Meridian.",
        "The assistant is Meridian, made by a bank.",
        "You play Meridian, a smith.",
    ],
)
def test_a_rule_about_the_assistant_by_name_binds_and_is_quoted_as_written(opening: str) -> None:
    assert active(f"{opening} {EMOJIS}") == {"pattern.forbid": (EMOJIS,)}


@pytest.mark.parametrize(
    "rule",
    ["Meridian must answer in German.", "The assistant always answers in German.", "Meridian answers in German."],
)
def test_modals_and_verbs_are_read_as_if_they_were_said_to_it(rule: str) -> None:
    assert active(f"You are Meridian, an assistant. {rule}") == {"language.is": (rule,)}


@pytest.mark.parametrize(
    "prompt",
    [
        "You are Meridian, a concierge. Lumen never uses emojis.",
        "You are a tutor. Meridian never uses emojis.",
        "You have two personas, Meridian and Lumen. Meridian never uses emojis.",
        "You are Meridian. If a child writes, Meridian never uses emojis.",
        "You are the assistant of a bank. Another assistant takes complaints. The assistant never uses emojis.",
        "You play a customer of a bank. The assistant never uses emojis.",
        "You are a tester. The chatbot never uses emojis.",
    ],
)
def test_what_is_said_of_somebody_else_or_of_a_case_binds_nothing(prompt: str) -> None:
    assert active(prompt) == {}


def test_a_name_before_a_noun_is_no_subject() -> None:
    assert active("You are Meridian. Meridian replies must never be in German.") == {}


def test_what_it_says_in_a_case_is_prescribed_as_if_it_were_told_to() -> None:
    rule = 'If the child is right, Meridian says "Well done!" and stops there.'
    assert [one[:] for one in read_prompt(f"You are Meridian, a tutor. {rule}").exempt] == [("Well done!", rule)]


@pytest.mark.parametrize("heading", ["# How Meridian writes", "Meridian's habits:"])
def test_a_heading_with_its_name_narrows_nothing(heading: str) -> None:
    assert active(f"You are Meridian, a tutor.\n\n{heading}\n- {EMOJIS}\n") == {"pattern.forbid": (EMOJIS,)}


@pytest.mark.parametrize(
    ("prompt", "is_own"),
    [
        ("You are Meridian, a smith. She never uses emojis.", True),
        ("You are Meridian. Meridian is brief. He never uses emojis.", True),
        ("You are Meridian, the helper of Doctor Lee. He never uses emojis.", False),
        ("You help a smith. He never uses emojis.", False),
    ],
)
def test_she_and_he_go_on_about_it_behind_what_is_of_nobody_else(prompt: str, *, is_own: bool) -> None:
    assert bool(active(prompt)) is is_own


def test_how_it_writes_is_listed_where_no_check_covers_it() -> None:
    reading = read_prompt("You are Cora, an assistant. Cora replies in plain text.")
    assert reading.uncovered == ("Cora replies in plain text.",)
