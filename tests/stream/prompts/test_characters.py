"""Limits in characters are patterns, for lengths of answers only."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are the assistant of Kivo, a shop for tools.\n\n"


def active(rule: str) -> list[str]:
    return [one.check for one in read_prompt(f"{ROLE}- {rule}\n").proposals if one.doubt is None]


def passes(checks: list[str], length: int) -> bool:
    response = Response(f"  \n{'é ' * (length // 2)}{'x' * (length % 2 or 1)}\n ", [], citation_reader())
    return all("pass" in str(parse_check(check).check(response).result).lower() for check in checks)


@pytest.mark.parametrize(
    ("rule", "least", "most"),
    [
        ("Each message must fit into 160 characters.", 1, 160),
        ("Replies must be under 1000 characters.", 1, 999),
        ("1,500 characters max.", 1, 1500),
        ("Each reply is 140–160 characters.", 140, 160),
        ("Use no more than 300 characters.", 1, 300),
        ("Keep answers under 280 characters, including spaces.", 1, 279),
        ("Keep it to 500 characters or less.", 1, 500),
        ("Don't exceed 4,096 characters.", 1, 4096),
        ("Write at least 200 characters.", 200, 9999),
    ],
)
def test_a_length_in_characters_is_a_pattern(rule: str, least: int, most: int) -> None:
    checks = active(rule)
    assert checks
    assert passes(checks, (least + 2) // 2 * 2 + 1 if least > 1 else 1)
    assert not passes(checks, most + 3) or most == 9999
    assert passes(checks, most - 2)
    assert not passes(checks, least - 4) or least == 1


@pytest.mark.parametrize(
    "rule",
    [
        "Passwords have at least 8 characters.",
        "The story has at most 3 characters.",
        "Titles have at most 60 characters.",
        "The input has at most 500 characters.",
        "Users may send up to 500 characters.",
        "Do not use special characters.",
        "Use at most 280 characters. Long questions may be longer.",
        "You need not keep it under 280 characters.",
        "Do not exceed 80000 characters.",
    ],
)
def test_what_is_no_length_of_all_answers_is_not_active(rule: str) -> None:
    assert active(rule) == []


def test_of_two_limits_each_may_be_of_something_else() -> None:
    assert active("Keep it under 160 characters. Keep messages under 400 characters.") == []
