"""What is said of a quote or of a part of the answer is no check of the whole answer."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(rule: str) -> list[str]:
    """Families of the checks of a rule that are not doubted."""
    reading = read_prompt(f"You are Bo, an assistant.\n\n{rule}")
    return [one.check.partition("(")[0] for one in reading.proposals if one.doubt is None]


@pytest.mark.parametrize(
    ("rule", "families"),
    [
        ('End every answer with "NO ADVICE" in capital letters.', ["pattern.require"]),
        ('Always include "NO ADVICE", in capitals.', ["keywords.existence"]),
        ('Include "NO ADVICE" in one sentence.', ["keywords.existence"]),
        ('Start with "Hello" without emojis.', ["pattern.require"]),
        ('Include "fees" without "prices".', []),
    ],
)
def test_what_qualifies_a_quote_is_of_the_quote(rule: str, families: list[str]) -> None:
    assert sure(rule) == families


@pytest.mark.parametrize(
    "rule",
    [
        'Never write "Holm" in lower case.',
        'Do not use the word "Holm" in full.',
        'Do not end with "Holm" in capitals.',
        'Never write "Holm" without "Ltd".',
    ],
)
def test_a_way_to_write_a_quote_is_forbidden_and_not_the_quote(rule: str) -> None:
    assert sure(rule) == []


@pytest.mark.parametrize(
    "rule",
    [
        "Avoid bullet points longer than 15 words.",
        "No bullet points over 15 words.",
        "No bullet points with more than one sentence.",
        "No headings of more than 5 words.",
        "No headings in lower case.",
        "No links of more than 40 characters.",
        "Do not use bullet points with commas.",
        "End with a question that has no commas.",
        "No headings in one-paragraph answers.",
    ],
)
def test_what_qualifies_a_part_is_of_the_part(rule: str) -> None:
    assert [family for family in sure(rule) if family != "pattern.require"] == []


@pytest.mark.parametrize(
    "rule", ["No emojis, just ✅.", "No emojis – ✅ at most.", "No emojis: use ✅ instead.", "No emojis, well, one."]
)
def test_a_ban_that_spares_one_is_doubtful(rule: str) -> None:
    assert sure(rule) == []


@pytest.mark.parametrize(
    ("rule", "count"),
    [
        ("No emojis, at most one exclamation mark.", 2),
        ("No lists of any kind.", 1),
        ("No headings, at most 50 words.", 2),
        ('End every answer with "Bye" and use no emojis.', 2),
        ("Write without commas.", 1),
        ("Answer in lower case without commas.", 2),
    ],
)
def test_what_is_of_the_answer_stays_sure(rule: str, count: int) -> None:
    assert len(sure(rule)) == count
