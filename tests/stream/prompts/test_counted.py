"""What is said of the things that a sentence counts is of them; a rule of its own beside them is of the answer."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant.\n\n"


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(ROLE + prompt).proposals if one.doubt is None]


def passed(check: str, answer: str) -> bool:
    return parse_check(check).check(Response(answer, [], citation_reader())).result.name == "PASS"


@pytest.mark.parametrize("counted", ["three bullets", "two hashtags", "three to five bullet points", "one hashtag"])
@pytest.mark.parametrize(
    "said", ["in lowercase", "without commas", "and in lowercase", "that have no commas", "in French"]
)
def test_how_counted_things_are_written_binds_no_answer(counted: str, said: str) -> None:
    checks = sure(f"- Include {counted} {said}.")
    assert not any(check.startswith(("case.", "punctuation.", "language.")) for check in checks)


@pytest.mark.parametrize(
    ("rule", "start"),
    [
        ("Answer in three bullets without commas.", "punctuation.no_comma"),
        ("Use up to three bullets, and write in lowercase.", "case.lower"),
        ("Use no more than five bullets and answer in English.", "language.is"),
        ("Use two hashtags, no emojis.", "pattern.forbid(regex='[\\\\x{1F1E6}"),
        ("Use at most five bullets per answer, without emojis.", "pattern.forbid(regex='[\\\\x{1F1E6}"),
    ],
)
def test_a_rule_beside_counted_things_is_of_the_answer(rule: str, start: str) -> None:
    assert any(check.startswith(start) for check in sure(f"- {rule}"))


def test_lists_of_more_than_so_many_forbid_no_lists() -> None:
    assert not any("1,3" in check for check in sure("- No lists of more than 5 bullet points."))


def test_hashtags_are_counted_and_headings_are_none() -> None:
    checks = sure("- Use exactly two hashtags.")
    assert len(checks) == 2
    good = [
        "# Boots\n\nWarm and dry.\n#boots #winter",
        "Warm, #1 in town 🎉#boots\n\n**#winter**",
        "See https://a.example/#top #a #b",
    ]
    assert all(passed(check, answer) for check in checks for answer in good)
    bad = ["# Boots\n\n#winter", "#a #b #c"]
    assert not any(all(passed(check, answer) for check in checks) for answer in bad)


def test_a_form_is_no_keyword() -> None:
    assert read_prompt(f"{ROLE}- Use uppercase for SQL keywords and lowercase for identifiers.").proposals == ()
