"""A first clause says when the rest holds, unless it gives an order of its own or is said in passing."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(prompt: str) -> list[str]:
    return [one.check for one in read_prompt(prompt).proposals if one.doubt is None]


@pytest.mark.parametrize(
    "clause",
    [
        "Outside of opening hours (8-18)",
        "Should the customer be angry",
        "Asked about prices",
        "Having solved it",
        "Over the phone",
        "Without an order number",
        "Effective 1 June",
        "Today only",
        "Usually",
        "Alternatively",
        "Minus the greeting",
    ],
)
@pytest.mark.parametrize("rule", ["never use emojis.", "keep your reply under 50 words.", 'end with "Bye."'])
def test_a_rule_behind_a_case_binds_no_other_answer(clause: str, rule: str) -> None:
    assert sure(f"{clause}, {rule}") == []


@pytest.mark.parametrize(
    "clause",
    ["Finally", "In general", "As always", "Please note", "For clarity", "Stay in character", "British English"],
)
def test_a_rule_behind_what_is_no_case_binds_all_answers(clause: str) -> None:
    assert len(sure(f"{clause}, never use emojis.")) == 1
