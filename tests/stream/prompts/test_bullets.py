"""A number of bullets is counted whatever marks them, unless the prompt names the mark."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.prompts.reader import read_prompt


def passes(prompt: str, answer: str) -> bool:
    """Whether an answer passes all that a prompt asks for without doubt."""
    checks = [parse_check(one.check) for one in read_prompt(prompt).proposals if one.doubt is None]
    assert checks
    return all(check.check(Response(answer, [], citation_reader())).result is Result.PASS for check in checks)


@pytest.mark.parametrize("mark", ["- ", "* ", "+ ", "• ", "•", "– ", "  ◦ "])
def test_bullets_of_any_kind_are_counted(mark: str) -> None:
    three = f"Here:\n{mark}one\n{mark}two, which\ngoes on\n\n{mark}three"
    assert passes("Use exactly 3 bullet points.", three)
    assert passes("Use at most 3 bullets.", three)
    assert not passes("Use at most 2 bullets.", three)
    assert not passes("Use at least 4 bullets.", three)


def test_what_only_looks_like_a_bullet_is_none() -> None:
    assert passes(
        "Use at most 1 bullet point.", "A well-known - and old - case:\n- one\n---\n-5 degrees\n```\n- code\n```"
    )


def test_a_prompt_that_names_the_mark_gets_the_check_of_ifeval() -> None:
    prompt = "Your answer must contain exactly 3 bullet points. Use the markdown bullet points such as: * This is one."
    assert [one.check for one in read_prompt(prompt).proposals] == ["format.number_bullet_lists(at_least=3,at_most=3)"]


def test_a_number_too_large_for_a_pattern_is_left_to_the_check_that_counts() -> None:
    prompt = "Use at most 80 bullets."
    assert [one.check for one in read_prompt(prompt).proposals] == ["format.number_bullet_lists(at_most=80)"]
