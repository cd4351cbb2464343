"""A heading, label or tag that sounds general binds no answer where its counterpart stands beside it."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

ROLE = "You are Bo, an assistant for the users of an app.\n\n"


def doubt(prompt: str) -> str | None:
    return next(one.doubt for one in read_prompt(ROLE + prompt).proposals if one.check.startswith("pattern.forbid"))


PAIRS = [
    ("Voice", "Text"),
    ("Text messages", "Calls"),
    ("Note", "Letter"),
    ("Overview", "Details"),
    ("Default", 'Deep dive (user says "more")'),
    ("Standard", "Premium"),
    ("Output 1", "Output 2"),
    ("Turn 1", "Turn 2"),
    ("Agent message", "Customer message"),
    ("Response to the user", "Log"),
    ("Final answer", "Reasoning"),
    ("Output", "Internal note"),
]


@pytest.mark.parametrize(("heading", "beside"), PAIRS)
def test_a_heading_beside_its_counterpart_narrows(heading: str, beside: str) -> None:
    reason = f"stands under “{heading}”"
    assert doubt(f"## {heading}\n- No emojis.\n\n## {beside}\n- Be formal.") == reason


@pytest.mark.parametrize(("label", "beside"), [("Reply", "Actions"), ("Response", "Reasoning"), ("Output", "Log")])
def test_a_label_beside_its_counterpart_narrows(label: str, beside: str) -> None:
    assert doubt(f"{label}: no emojis.\n{beside}: what to do.") == f"stands under “{label}”"


@pytest.mark.parametrize(("tag", "beside"), [("answer", "steps"), ("reply", "notes"), ("overview", "details")])
def test_a_tag_beside_its_counterpart_narrows(tag: str, beside: str) -> None:
    assert doubt(f"<{tag}>\nNo emojis.\n</{tag}>\n<{beside}>\nBe formal.\n</{beside}>") == f"stands under “{tag}”"


GENERAL = [
    ("Voice", "Style"),
    ("Output", "Steps"),
    ("Text", "Tone"),
    ("Response", "Actions"),
    ("Output format", "Output length"),
    ("Overview", "Rules"),
    ("Rule 1", "Rule 2"),
]


@pytest.mark.parametrize(("heading", "beside"), GENERAL)
def test_a_heading_beside_another_kind_narrows_nothing(heading: str, beside: str) -> None:
    assert doubt(f"## {heading}\n- No emojis.\n\n## {beside}\n- Be formal.") is None


def test_both_is_of_the_two_headings_beside_it() -> None:
    assert doubt("Trips:\n- one heading\n\nChats:\n- be brief\n\nBoth:\n- no emojis") is None
    assert doubt("Trips:\n- one heading\n\nBoth:\n- no emojis") == "stands under “Both”"
