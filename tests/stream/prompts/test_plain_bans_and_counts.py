"""Openers, lines, emojis, mentions, named sections and named links: what is asked, kept and broken."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.prompts.reader import read_prompt

CASES = [
    ("Never open with a question.", ["We open at 8. And you?"], ["Looking for shoes? We have some."]),
    ("Do not begin your answer with a heading.", ["Yes.\n\n## More"], ["# Shoes\nThey fit."]),
    ("Reply with exactly three lines.", ["a\nb\nc", "a\n\nb\nc\n"], ["a\nb", "a\nb\nc\nd"]),
    ("Use no more than two emojis.", ["👍🏽 🇩🇪 ok", "👨\u200d👩\u200d👧 🎉"], ["🎉🎉🎉", "🇩🇪🇩🇪 🎉"]),
    ("Don't tag people with @.", ["Write to a@b.example."], ["Thanks @ada!"]),
    ("Do NOT include a References section at the end.", ["See the references."], ["Yes.\n\n## References\n1. A"]),
    ("Every answer must include a link to acme.example.", ["See https://acme.example/a."], ["See our site."]),
    ("No subheadings.", ["# Title\nText"], ["# Title\n## Part\nText"]),
    ("Never use semicolons.", ["Tom &amp; Ada"], ["Yes; no", "R&D; more"]),
    ("No hashtags.", ["Take lot #4b to gate #12."], ["#shoes", "#2024goals"]),
    ("Always include at least one code example.", ["```\nmake\n```", "Call `f()`."], ["Call it."]),
]


@pytest.mark.parametrize(("rule", "kept", "broken"), CASES)
def test_it_is_asked_kept_and_broken(rule: str, kept: list[str], broken: list[str]) -> None:
    (proposal,) = read_prompt(f"You are the assistant of a shop.\n\n- {rule}\n").proposals
    assert proposal.doubt is None
    check = parse_check(proposal.check)
    labels = [check.check(Response(text, [], citation_reader())).result.name for text in (*kept, *broken)]
    assert labels == ["PASS"] * len(kept) + ["FAIL"] * len(broken)


@pytest.mark.parametrize(
    "rule", ["Start with a question.", "Do not begin a sentence with a question.", "At most five lines."]
)
def test_what_says_something_else_asks_nothing_of_the_kind(rule: str) -> None:
    assert not read_prompt(f"You are the assistant of a shop.\n\n- {rule}\n").proposals
