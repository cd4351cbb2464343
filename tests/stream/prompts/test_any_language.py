"""Where answers are in the language of whoever asks, checks that read English alone are doubtful."""

import pytest

from turnsignal.stream.prompts.reader import read_prompt

READS_ENGLISH = ["Always end with a question.", "Write at least 20 words.", "Use at most 2 sentences."]


@pytest.mark.parametrize("rule", READS_ENGLISH)
@pytest.mark.parametrize("other", ["Reply in the user's language.", "Answer in the same language as the question."])
def test_what_reads_english_is_doubtful_beside_other_languages(rule: str, other: str) -> None:
    proposal = next(one for one in read_prompt(f"{other}\n{rule}").proposals if rule in one.sentences)
    assert proposal.doubt is not None
    assert "another language" in proposal.doubt


@pytest.mark.parametrize("rule", READS_ENGLISH)
@pytest.mark.parametrize("other", ["Be kind.", "Answer in English, whatever language the user writes in."])
def test_it_is_not_beside_one_language(rule: str, other: str) -> None:
    proposal = next(one for one in read_prompt(f"{other}\n{rule}").proposals if rule in one.sentences)
    assert proposal.doubt is None


def test_other_checks_are_not() -> None:
    (proposal,) = read_prompt("Reply in the user's language.\nNever use emojis.").proposals
    assert proposal.doubt is None
