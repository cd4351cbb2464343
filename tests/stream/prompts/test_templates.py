"""The headings below "Format:" are those of answers, and not of the prompt: they are listed."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


@pytest.mark.parametrize(
    "lead", ["Format:", "Structure:", "Use this template:", "Write a report. Follow this structure:", "Answer format:"]
)
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_headings_of_a_template_are_listed(lead: str, gap: str) -> None:
    reading = read_prompt(f"Summarize commits.\n{lead}{gap}## What's new\nOne list.\n\n## Fixes\n## Overview\n")
    assert {"What's new", "Fixes", "Overview"} <= set(reading.uncovered)


def test_headings_of_the_prompt_are_not() -> None:
    reading = read_prompt("# Format\n## Length\nAt most 50 words.\n\n## Tone\nBe kind.")
    assert reading.uncovered == ("Be kind.",)
    assert [one.doubt for one in reading.proposals] == [None]
