"""Which answers need a citation: all where a prompt says so, and not those without a claim."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


@pytest.mark.parametrize("sentence", ["Cite every claim.", "Support each factual statement with a citation."])
def test_an_answer_without_a_claim_needs_no_citation(sentence: str) -> None:
    assert [one.check for one in read_prompt(f"You are Bo. {sentence}").proposals if one.doubt is None] == []
