"""What stands behind an arrow, a word in brackets or the first cell of a row holds of what those name, and no more."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are the support assistant of a web shop.\n\n"
TABLE = "| Channel | Rule |\n|---|---|\n| SMS | no links |\n| Web | no tables |\n| Slack | no headings |\n"


def everywhere(prompt: str) -> list[str]:
    """Names of the checks that are proposed without doubt for all platforms."""
    return [one.check for one in read_prompt(ROLE + prompt).proposals if one.doubt is None and not one.platforms]


@pytest.mark.parametrize(
    "rules",
    [
        "SMS → under 160 characters, no links\nEmail → under 200 words, no emojis",
        "- Chat -> no emojis\n- Phone -> under 50 words",
        "Instagram => no links\nLinkedIn => no hashtags",
        "(SMS) No links.\n(Email) No emojis.",
        "- [Complaints] No exclamation marks.\n- [Praise] No links.",
        "(in emails) No emojis.",
        "- No links (SMS).",
        TABLE,
    ],
)
def test_a_rule_of_a_channel_holds_nowhere_else(rules: str) -> None:
    assert everywhere(rules) == []


def test_a_platform_in_a_row_binds_its_checks() -> None:
    bound = [one.platforms for one in read_prompt(ROLE + TABLE).proposals if one.doubt is None]
    assert bound == [("web",), ("slack",)]


@pytest.mark.parametrize(
    "rule",
    [
        "- (Important) No emojis.",
        "- [Style] No emojis.",
        "- [1] No emojis.",
        "- Style → no emojis",
        "- General -> no emojis",
        "- Give steps as A → B → C. No emojis.",
    ],
)
def test_a_general_label_narrows_nothing(rule: str) -> None:
    assert len(everywhere(rule)) == 1
