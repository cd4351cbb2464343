"""In a line of capitals nothing tells a name from a topic, so what must not be mentioned is listed."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


@pytest.mark.parametrize(
    "rule",
    ["NEVER MENTION POLITICS OR RELIGION.", "DO NOT MENTION INTERNAL TOOLS.", "NEVER NAME COMPETITORS LIKE ACME."],
)
def test_a_topic_in_capitals_is_no_name(rule: str) -> None:
    reading = read_prompt(f"YOU ARE A SHOP ASSISTANT. {rule}")
    assert [one.check for one in reading.proposals if one.doubt is None] == []
    assert rule in reading.uncovered or any(rule in one.sentences for one in reading.proposals)


def test_what_is_quoted_or_has_small_letters_beside_it_is_read() -> None:
    for rule in ('NEVER SAY "BUDDY".', "Never mention Acme or Zeta."):
        assert len([one for one in read_prompt(rule).proposals if one.doubt is None]) == 1
