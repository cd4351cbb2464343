"""Markup around what an answer says neither breaks a rule nor hides that it is broken."""

import pytest

from turnsignal.stream.checks import parse_check
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are a helpful assistant.\n\n"
PASS = {
    'Start every answer with "Summary:".': [
        "**Summary:** Fine.",
        "**Summary**: Fine.",
        "## Summary:\nFine.",
        "> Summary: Fine.",
    ],
    'Start each reply with "Note:" or "Tip:".': ["**Tip:** Rest.", "*Note*: Rest."],
    "Never use exclamation marks.": [
        "![Boot](boot.png) Warm.",
        "See [a page](https://x.example/a!b).",
        "https://x.example/#!/boots",
        "In code, `a != b`.",
    ],
    "End each message with a question.": [
        "What is $x$ here? $$2x = 4$$",
        "What is it?\n\n\\[ 2x = 4 \\]",
        "What does it print?\n\n```python\nprint(1)\n```",
    ],
    "Never end with a question.": [
        'It is called "Who Is It?"',
        "It is called “Who Is It?”.",
        "It is called *Who Is It?*",
    ],
}
FAIL = {
    'Start every answer with "Summary:".': ["In Summary: fine.", "The **Summary:** fine."],
    'Start each reply with "Note:" or "Tip:".': ["A tip: rest."],
    "Never use exclamation marks.": [
        "Hi!",
        "Hi![1] Yes.",
        "**Hi!** Yes.",
        "![Wow!](x.png)",
        "Wow! ![Boot](x.png)",
        "Hi!Now",
    ],
    "End each message with a question.": ["It is two. $$2x = 4$$", "What? It is two.", "$$2x = 4$$"],
    "Never end with a question.": [
        "Is that all?",
        "**Is that all?**",
        "Fine. *Is that all?*",
        'Is it "red"?',
        "All? 😊",
    ],
}


def passes(rule: str, answer: str) -> bool:
    """Whether an answer passes the one check that a rule asks for."""
    (proposal,) = read_prompt(ROLE + rule).proposals
    assert proposal.doubt is None
    return parse_check(proposal.check).check(Response(answer, [], citation_reader())).result.name == "PASS"


@pytest.mark.parametrize(("rule", "answer"), [(rule, answer) for rule, answers in PASS.items() for answer in answers])
def test_markup_breaks_no_rule(rule: str, answer: str) -> None:
    assert passes(rule, answer)


@pytest.mark.parametrize(("rule", "answer"), [(rule, answer) for rule, answers in FAIL.items() for answer in answers])
def test_markup_hides_no_broken_rule(rule: str, answer: str) -> None:
    assert not passes(rule, answer)
