"""What a sentence asks for beside its checks is named, and nothing else is."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        (
            "Replies have at most 90 words, cite nobody, and are written in the present tense.",
            "are written in the present tense",
        ),
        ('No emojis, no tables, no "as you know".', 'no "as you know"'),
        ("Return only the recipe, no headings and no comments.", "Return only the recipe, no comments"),
        ("Be kind, no slang and no emojis.", "Be kind, slang"),
        ("Write in flowing prose, without bullet points or headings.", "Write in flowing prose"),
        ("No all-caps words.", "single words in capitals"),
    ],
)
def test_what_no_check_tells_beside_one_is_named(rule: str, left: str) -> None:
    (listed,) = [one for one in read_prompt(f"You are Bo. {rule}").uncovered if one.startswith(rule)]
    assert listed.startswith(f"{rule} (no check: ")
    assert listed.endswith(f"{left})")


@pytest.mark.parametrize(
    "rule",
    [
        "Keep it short: 2-4 sentences.",
        "Answer briefly, in at most 40 words.",
        "No emojis, headings or tables.",
        "Finally, never use emojis.",
        "All of your answers, wherever they are read, must never use emojis.",
        "For clarity, use no tables.",
        "Never write in capitals.",
    ],
)
def test_a_sentence_that_its_checks_account_for_is_not_listed(rule: str) -> None:
    assert read_prompt(f"You are Bo. {rule}").uncovered == ()
