"""Which answers need a citation: all where a prompt says so, and not those without a claim."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt


def test_at_least_one_source_is_required_beside_its_form() -> None:
    reading = read_prompt("You are Bo. Include at least one source like [1] in your answers.")
    assert [one.check for one in reading.proposals] == ["citation.format(style=numeric)", "citation.required"]
    assert reading.doubtful == 0


@pytest.mark.parametrize("sentence", ["Cite every claim.", "Support each factual statement with a citation."])
def test_an_answer_without_a_claim_needs_no_citation(sentence: str) -> None:
    assert [one.check for one in read_prompt(f"You are Bo. {sentence}").proposals if one.doubt is None] == []
