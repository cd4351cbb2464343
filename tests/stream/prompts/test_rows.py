"""A row's other cells may say when its rule holds."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def sure(head: str, row: str) -> list[tuple[str, ...]]:
    ruled = "|---" * head.count("|") + "|"
    reading = read_prompt(f"You are a concierge.\n\n| {head} |\n{ruled}\n| {row} |")
    return [one.platforms for one in reading.proposals if one.doubt is None]


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("Rule | Applies to", "Never use emojis | phone"),
        ("Rule | Exceptions", "Never use emojis | hearts"),
        ("Rule | Status", "Never use emojis | retired"),
        ("Rule | Gadget", "Never use emojis | phone"),
        ("# | Rule | Valid from", "1 | Never use emojis | 1 June"),
        ("Channel | Rule", "Voice | Never use emojis"),
    ],
)
def test_a_cell_may_narrow_the_rule_beside_it(head: str, row: str) -> None:
    assert sure(head, row) == []


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("Rule | Applies to", "Never use emojis | all channels"),
        ("Rule | Exceptions", "Never use emojis | none"),
        ("Rule | Status", "Never use emojis |"),
        ("# | Rule | Owner | Why", "1 | Never use emojis | Legal | they break"),
        ("Topic | Rule", "Style | Never use emojis"),
        ("Channel | Rule", "All | Never use emojis"),
    ],
)
def test_a_cell_that_leaves_no_case_out_narrows_nothing(head: str, row: str) -> None:
    assert sure(head, row) == [()]


@pytest.mark.parametrize(
    ("head", "row"), [("Rule | Channel", "No tables | Slack"), ("Channel | Rule", "Slack | No tables")]
)
def test_a_rule_of_a_platform_holds_there(head: str, row: str) -> None:
    assert sure(head, row) == [("slack",)]
